package choose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"switchyard/sim/cascade"
	"switchyard/sim/selection"
	"switchyard/stages/experiment"
)

// Search is what every optimiser of assignments has beside its own parameters.
type Search struct {
	Budget    int              `yaml:"budget" default:"0" min:"0" unit:"evaluations" doc:"assignments that a run may evaluate; 0 = 1,000,000, as in LLMSelector's released code"`
	Dollars   float64          `yaml:"dollars" default:"0" min:"0" unit:"$" doc:"what a run may spend on answers, each paid once; 0 = no limit"`
	Tolerance float64          `yaml:"tolerance" default:"-1" min:"-1" max:"1" unit:"share" doc:"accuracy that may be given up for a lower cost: after the run, single changes are made that save most, while the training accuracy stays within this of what the run found; -1 = none are"`
	Lambda    float64          `yaml:"lambda" default:"0" min:"0" max:"1e12" unit:"share/$" doc:"accuracy that a dollar a question must bring: what is looked for is accuracy - lambda x cost"`
	Diagnoser selection.Oracle `yaml:"diagnoser"`
}

// Rule is one entry of the table of optimisers: one of assignments, or a rule
// that chooses for each question anew.
type Rule struct {
	Name, Summary string
	Ties, Stop    string // of optimisers of assignments
	Source        string
	New           func() any // its own parameters, a pointer to a tagged struct

	search *selection.Entry
	route  *cascade.Entry
}

// PerQuestion reports whether it chooses for each question anew.
func (r Rule) PerQuestion() bool { return r.route != nil }

// Rules lists the optimisers by name: those of package selection, then those of
// package cascade. What cascade calls single is selection's, in one module.
func Rules() []Rule {
	var rules []Rule
	for _, e := range selection.Optimisers() {
		rules = append(rules, Rule{Name: e.Name, Summary: e.Summary, Ties: e.Ties, Stop: e.Stop, Source: e.Source,
			New: func() any { return e.New() }, search: &e})
	}
	for _, e := range cascade.Routers() {
		if e.Name == "single" {
			continue
		}
		rules = append(rules, Rule{Name: e.Name, Summary: "for each question: " + e.Summary, Source: e.Source,
			New: func() any { return e.New() }, route: &e})
	}
	return rules
}

// optimiser is a decoded item of optimisers.
type optimiser struct {
	rule    Rule
	search  Search
	route   Route
	params  any
	asks    bool // it asks a diagnoser
	starts  bool // where it starts matters
	repeats bool // it may differ from start to start, if only by what it draws
	label   string
	key     string
}

func (d *decoder) optimiser(s experiment.Section) (*optimiser, error) {
	rule, err := find(s, "optimiser", "an optimiser; see list optimisers", Rules(), func(r Rule) string { return r.Name })
	if err != nil {
		return nil, err
	}
	o := &optimiser{rule: rule, params: rule.New()}
	into := []any{new(OptimiserParams), o.params}
	if rule.PerQuestion() {
		into = append(into, &o.route)
	} else {
		into = append(into, &o.search)
	}
	if err := s.Decode(1, into...); err != nil {
		return nil, err
	}
	o.label, o.key = label(o.params), "optimiser "+rule.Name+"\n"+canonical(o.params)
	if rule.search != nil {
		if o.search.Tolerance >= 0 && o.search.Budget > 0 {
			return nil, s.Errorf("tolerance", "no budget beside it: what the run leaves of it would decide", nil)
		}
		o.needs()
		if !o.asks { // what it does not ask decides nothing
			o.search.Diagnoser = selection.Oracle{Accuracy: 1, Noise: "redrawn"}
		}
		o.label = strings.TrimSpace(o.label + " " + label(&o.search))
		o.key += "\n" + canonical(&o.search)
	} else {
		o.label = strings.TrimSpace(o.label + " " + label(&o.route))
		o.key += "\n" + canonical(&o.route)
	}
	return o, nil
}

// needs notes what the table of optimisers says that this one needs.
func (o *optimiser) needs() {
	if asker, ok := o.params.(selection.Asker); ok {
		o.asks = asker.Asks()
	}
	o.starts = o.rule.search.Starts
	o.repeats = o.starts || o.rule.search.Draws
}

// fits says whether the optimiser can work in the setting.
func (c *Config) fits() error {
	at, o, able := c.point.Part("optimiser").Section, c.optimiser, &c.setting.able
	switch {
	case o.rule.PerQuestion() && !able.outcomes:
		return at.Errorf("optimiser", "one that chooses an assignment, in a world such as "+c.WorldPoint+": "+o.rule.Name+" chooses for each question anew, which needs recorded outcomes of models, and a system of one module", nil)
	case o.rule.search != nil && o.rule.search.NeedsScores && !able.scores:
		return at.Errorf("optimiser", "another in world "+c.WorldPoint+": "+selection.ErrNoScores.Error(), nil)
	case o.asks && !able.culprits && able.paid:
		return at.Errorf("optimiser", "one that asks no diagnoser (alpha: 0) in world "+c.WorldPoint+", or a section diagnoser there: {model: ...}", nil)
	case o.asks && able.paid && o.search.Diagnoser != (selection.Oracle{Accuracy: 1, Noise: "redrawn"}):
		return at.Errorf("diagnoser", "none in world "+c.WorldPoint+", where a model judges: see the world's own section diagnoser", nil)
	case o.asks && !able.culprits:
		return at.Errorf("optimiser", "one that asks no diagnoser (alpha: 0) in world "+c.WorldPoint+", which does not know what module failed", nil)
	}
	if err := o.affords(at, c); err != nil {
		return err
	}
	if o.rule.PerQuestion() {
		if err := o.params.(cascade.Params).Suits(able.example); err != nil {
			return misfit(at, "optimiser", fmt.Errorf("world %s: %w", c.WorldPoint, err))
		}
	}
	return o.reaches(at, c)
}

// affords says whether what the optimiser does about costs means anything.
func (o *optimiser) affords(at experiment.Section, c *Config) error {
	if !c.setting.able.free {
		return nil
	}
	for _, p := range []struct {
		key   string
		given bool
	}{
		{"lambda", o.search.Lambda > 0 || o.route.Lambda > 0},
		{"dollars", o.search.Dollars > 0 || o.route.Dollars > 0},
		{"tolerance", o.rule.search != nil && o.search.Tolerance >= 0},
	} {
		if p.given {
			return at.Errorf(p.key, "none in world "+c.WorldPoint+", where nothing has a price", nil)
		}
	}
	return nil
}

// reaches says whether the optimiser finds assignments within its budget.
func (o *optimiser) reaches(at experiment.Section, c *Config) error {
	s := c.setting
	switch size := spaceOf(s.candidates); {
	case o.rule.Name == "exhaustive" && size > int64(cmp.Or(o.search.Budget, selection.DefaultBudget)):
		return at.Errorf("optimiser", fmt.Sprintf("another for system %s in world %s: there are more assignments than its budget of %d, take random",
			c.SystemPoint, c.WorldPoint, cmp.Or(o.search.Budget, selection.DefaultBudget)), nil)
	case o.rule.Name == "single" && !s.everywhere():
		return at.Errorf("optimiser", fmt.Sprintf("another for system %s in world %s: no candidate can stand at all of %s",
			c.SystemPoint, c.WorldPoint, strings.Join(s.modules, ", ")), nil)
	}
	return nil
}

// everywhere says whether one candidate can stand at all modules. Where a
// candidate is a model with a prompt, whose names are a module's own, one model
// has to.
func (s *setting) everywhere() bool {
	if l, ok := s.world.source.(live); ok {
		_, models := l.Labels(s.system.graph)
		return shares(models)
	}
	return shares(s.candidates)
}

// shares says whether one thing is in all lists.
func shares[T comparable](lists [][]T) bool {
	return slices.ContainsFunc(lists[0], func(x T) bool {
		return !slices.ContainsFunc(lists, func(list []T) bool { return !slices.Contains(list, x) })
	})
}
