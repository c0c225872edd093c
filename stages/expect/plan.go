package expect

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"switchyard/stages/experiment"
)

// Expectation is one part of the section, decoded.
type Expectation struct {
	Name          string
	Published     string
	Value         *float64 // the published one; nil where none is
	SQL           string   // empty only where Impossible is not
	Relation      Relation
	Reason        string
	Impossible    string // why it cannot be judged; "" where it can
	FixedRequests bool

	section experiment.Section
}

// Plan is what an experiment expects.
type Plan struct {
	Experiment   *experiment.Experiment
	Expectations []Expectation
}

// settings are an expectation's keys.
type settings struct {
	Published     string  `yaml:"published" required:"true" doc:"where the figure stands, or who wants it"`
	Value         float64 `yaml:"value" doc:"the published figure; leave it out where only a direction is published"`
	SQL           string  `yaml:"sql" doc:"computes ours from the tables: one row with value and, where there is an interval, lo and hi; for an order a row a name"`
	Reason        string  `yaml:"reason" doc:"why this relation and tolerance"`
	Impossible    string  `yaml:"cannot_be_judged" doc:"the fact whose lack prevents judging, in place of a relation"`
	FixedRequests bool    `yaml:"fixed_requests" default:"false" doc:"judge saturated configurations too: the figure belongs to this number of requests"`

	Relation relationSettings `yaml:"relation"`
}

// relationSettings has one of these keys.
type relationSettings struct {
	Within        float64   `yaml:"within" min:"0" unit:"share" doc:"value at most this share of the published one away from it"`
	PlusMinus     float64   `yaml:"plus_minus" min:"0" doc:"value at most so far from the published one"`
	Between       []float64 `yaml:"between" doc:"value from the first number to the second"`
	GreaterThan   float64   `yaml:"greater_than" doc:"value above this number"`
	LessThan      float64   `yaml:"less_than" doc:"value below this number"`
	GreaterColumn string    `yaml:"greater_than_column" doc:"value above this column of the answer"`
	LessColumn    string    `yaml:"less_than_column" doc:"value below this column of the answer"`
	Order         []string  `yaml:"order" doc:"the names of the rows, in their order"`
}

// Settings returns what an expectation takes, as a pointer to a struct with
// parameter tags.
func Settings() any { return new(settings) }

// NewPlan decodes the section. Every error is an *experiment.Error.
func NewPlan(e *experiment.Experiment) (*Plan, error) {
	p := &Plan{Experiment: e}
	var errs []error
	for _, part := range e.Expectations {
		x, err := decode(part)
		p.Expectations, errs = append(p.Expectations, x), append(errs, err)
	}
	return p, experiment.Join(errs...)
}

func decode(part experiment.Expectation) (Expectation, error) {
	var s settings
	if err := part.Section.Decode(1, &s); err != nil {
		return Expectation{}, err
	}
	x := Expectation{
		Name: part.Name, Published: s.Published, SQL: strings.TrimSpace(s.SQL), Reason: s.Reason,
		Impossible: s.Impossible, FixedRequests: s.FixedRequests, section: part.Section,
	}
	if slices.Contains(part.Section.Keys(), "value") {
		x.Value = &s.Value
	}
	var errs []error
	fail := func(key, expected string) { errs = append(errs, part.Section.Errorf(key, expected, nil)) }
	if strings.TrimSpace(x.Published) == "" {
		fail("published", "where the figure stands, or who wants it")
	}
	if x.SQL == "" && (x.Impossible == "" || slices.Contains(part.Section.Keys(), "sql")) {
		fail("sql", "a query of the experiment's tables, such as: select mean as value, lo, hi from summary where ...")
	}
	below, _ := part.Section.Section("relation")
	given := below.Keys()
	switch {
	case x.Impossible != "" && len(given) > 0:
		fail("relation", "no relation beside cannot_be_judged")
	case x.Impossible != "":
	case slices.Contains(part.Section.Keys(), "cannot_be_judged"):
		fail("cannot_be_judged", "the fact whose lack prevents judging")
	case len(given) != 1:
		fail("relation", "one of within, plus_minus, between, greater_than, less_than, greater_than_column, less_than_column, order")
	default:
		var wrong error
		if x.Relation, wrong = newRelation(given[0], s.Relation, x.Value, part.Section); wrong != nil {
			errs = append(errs, wrong)
		}
		if strings.TrimSpace(x.Reason) == "" {
			fail("reason", "why this relation and tolerance")
		}
	}
	return x, experiment.Join(errs...)
}

// newRelation makes the relation of one key.
func newRelation(key string, s relationSettings, value *float64, section experiment.Section) (Relation, error) {
	fail := func(key, expected string) (Relation, error) { return Relation{}, section.Errorf(key, expected, nil) }
	if (key == "within" || key == "plus_minus") && value == nil {
		return fail("value", "the published figure, which "+key+" is about")
	}
	if key == "within" && *value == 0 {
		return fail("relation.within", "plus_minus, since a share of 0 is 0")
	}
	r := Relation{Lo: math.Inf(-1), Hi: math.Inf(1)}
	switch key {
	case "within":
		half := s.Within * math.Abs(*value)
		r.Lo, r.Hi, r.Text = *value-half, *value+half, fmt.Sprintf("%s within %s %%", short(*value), short(100*s.Within))
	case "plus_minus":
		r.Lo, r.Hi, r.Text = *value-s.PlusMinus, *value+s.PlusMinus, fmt.Sprintf("%s ± %s", short(*value), short(s.PlusMinus))
	case "between":
		if len(s.Between) != 2 || s.Between[0] > s.Between[1] {
			return fail("relation.between", "two numbers, the lower first: [0.3, 0.34]")
		}
		r.Lo, r.Hi, r.Text = s.Between[0], s.Between[1], fmt.Sprintf("%s to %s", short(s.Between[0]), short(s.Between[1]))
	case "greater_than":
		r.Lo, r.Strict, r.Text = s.GreaterThan, true, "> "+short(s.GreaterThan)
	case "less_than":
		r.Hi, r.Strict, r.Text = s.LessThan, true, "< "+short(s.LessThan)
	case "greater_than_column", "less_than_column":
		r.Strict, r.Above, r.Column = true, key == "greater_than_column", s.LessColumn+s.GreaterColumn
		if !columnName.MatchString(r.Column) || slices.Contains([]string{"value", "lo", "hi"}, r.Column) {
			return fail("relation."+key, "the name of a column of the SQL beside value, lo and hi")
		}
		r.Text = map[bool]string{true: "> ", false: "< "}[r.Above] + r.Column
	case "order":
		if len(s.Order) < 2 {
			return fail("relation.order", "two names or more")
		}
		for i, name := range s.Order {
			if slices.Contains(s.Order[:i], name) {
				return fail("relation.order", "each name once, and "+name+" is there twice")
			}
		}
		if value != nil {
			return fail("value", "no value: an order has none")
		}
		r.Order, r.Text = s.Order, strings.Join(s.Order, ", ")
	}
	return r, nil
}
