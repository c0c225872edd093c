package cascade

import (
	"errors"
	"fmt"
	"slices"

	"switchyard/sim/param"
)

// Env is what a router is fitted with besides the table.
type Env struct {
	Seed        uint64
	Replication int
}

// Params are the parameters of a router: a pointer to a tagged struct.
type Params interface {
	// Suits says why it cannot be fitted on tables with these columns, models
	// and costs, whatever the outcomes: a *param.Error where one parameter is
	// at fault. Fit says so too.
	Suits(t *Table) error
	// Fit learns on a table whose outcomes it may see.
	Fit(train *Table, e Env) (Fitted, error)
}

// Fitted is a router after learning.
type Fitted interface {
	// Rules applies it to a table that matches the training one (Table.Match):
	// one rule a setting, from cheap to dear where that has a meaning. Of the
	// oracles apart, a rule uses no outcome that is not known when it decides.
	Rules(t *Table) []Rule
}

// Rule is a router at one setting, applied to the questions of one table.
type Rule struct {
	Name string  // the setting for people: models, thresholds
	Knob float64 // the setting as a number: share, threshold, price, budget
	// Calls appends the models that are called for a question, in order.
	Calls func(question int, to []int32) []int32
}

// Result is a rule's outcome over a table.
type Result struct {
	Name          string
	Knob          float64
	Quality, Cost float64   // means a question; cost in dollars
	Calls         []float64 // by model, mean number a question
	Answers       []float64 // by model, share of questions that it answered
}

// Evaluate runs a rule over all questions. Every rule must call at least one
// model.
func Evaluate(t *Table, r Rule) Result {
	n, m := t.Questions(), len(t.Models)
	res := Result{Name: r.Name, Knob: r.Knob, Calls: make([]float64, m), Answers: make([]float64, m)}
	var calls []int32
	for q := range n {
		calls = r.Calls(q, calls[:0])
		for _, c := range calls {
			res.Calls[c]++
			if t.Cost != nil {
				res.Cost += float64(t.Cost[q*m+int(c)])
			}
		}
		last := calls[len(calls)-1]
		res.Answers[last]++
		res.Quality += float64(t.Score[q*m+int(last)])
	}
	for i := range m {
		res.Calls[i] /= float64(n)
		res.Answers[i] /= float64(n)
	}
	res.Quality /= float64(n)
	res.Cost /= float64(n)
	return res
}

// Curve evaluates all settings of a router.
func Curve(f Fitted, t *Table) []Result {
	var results []Result
	for _, r := range f.Rules(t) {
		results = append(results, Evaluate(t, r))
	}
	return results
}

// Entry is a line of the table of routers.
type Entry struct {
	Name, Summary, Source string
	New                   func() Params // parameters, without defaults set
}

// Routers lists the routers by name.
func Routers() []Entry {
	return []Entry{singleEntry, mixEntry, oracleEntry, thresholdEntry, logisticEntry, knnEntry, cascadeEntry}
}

// Find returns the router of that name.
func Find(name string) (Entry, bool) {
	for _, e := range Routers() {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

var errNoCosts = errors.New("table has no costs: give a price for each model")

// ready checks what all routers need of a table.
func ready(t *Table, costs bool) error {
	if err := t.Validate(); err != nil {
		return err
	}
	if costs && t.Cost == nil {
		return errNoCosts
	}
	return nil
}

// of puts the name of the parameter at fault into an error about a name.
func of(field string, err error) error {
	var wrong *param.Error
	if errors.As(err, &wrong) {
		return &param.Error{Field: field, Value: wrong.Value, Expected: wrong.Expected}
	}
	return err
}

// models resolves names; none means all.
func (t *Table) models(names []string) ([]int32, error) {
	var list []int32
	if len(names) == 0 {
		for i := range t.Models {
			list = append(list, int32(i))
		}
		return list, nil
	}
	for _, name := range names {
		i, err := t.Model(name)
		if err != nil {
			return nil, of("models", err)
		}
		if slices.Contains(list, int32(i)) {
			return nil, &param.Error{Field: "models", Value: name, Expected: "each model once"}
		}
		list = append(list, int32(i))
	}
	return list, nil
}

// pair resolves a weak and a strong model: by default the cheapest and, of the
// others, the one with the highest mean score on the table; of equals the first.
func (t *Table) pair(weak, strong string) (w, s int, err error) {
	w, s = -1, -1
	if weak != "" {
		if w, err = t.Model(weak); err != nil {
			return 0, 0, of("weak", err)
		}
	}
	if strong != "" {
		if s, err = t.Model(strong); err != nil {
			return 0, 0, of("strong", err)
		}
	}
	score, cost := t.Means()
	if weak == "" {
		for i := range t.Models {
			if i != s && (w < 0 || cost[i] < cost[w]) {
				w = i
			}
		}
	}
	if strong == "" {
		for i := range t.Models {
			if i != w && (s < 0 || score[i] > score[s]) {
				s = i
			}
		}
	}
	switch {
	case len(t.Models) == 1:
		return 0, 0, fmt.Errorf("table has one model, %s: there is none to choose beside it", t.Models[0])
	case w == s:
		return 0, 0, &param.Error{Field: "strong", Value: t.Models[s], Expected: "another model than the weak one"}
	}
	return w, s, nil
}

// one is the rule that always calls model m.
func one(t *Table, m int32) Rule {
	return Rule{Name: t.Models[m], Calls: func(_ int, to []int32) []int32 { return append(to, m) }}
}
