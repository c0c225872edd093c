package cascade

import (
	"cmp"
	"fmt"
	"slices"

	"switchyard/sim/rng"
)

var singleEntry = Entry{
	Name:    "single",
	Summary: "each model alone, cheapest first",
	Source:  "the points that routers are compared with; their hull is RouterBench's zero router",
	New:     func() Params { return new(Single) },
}

var mixEntry = Entry{
	Name:    "mix",
	Summary: "a random share of the questions to a strong model, the rest to a weak one",
	Source:  "RouteLLM's random router (Ong et al., 2024)",
	New:     func() Params { return new(Mix) },
}

// Single is each model alone.
type Single struct {
	Models []string `yaml:"models" doc:"the models; none: all of the table"`
}

// Mix is a random choice between two models. The share is exact: which
// questions go to the strong model is a random permutation's beginning.
type Mix struct {
	Weak     string `yaml:"weak" doc:"the weak model; empty: the cheapest on the training questions"`
	Strong   string `yaml:"strong" doc:"the strong model; empty: the best on the training questions"`
	Settings int    `yaml:"settings" default:"11" min:"2" max:"1000" doc:"number of shares, from 0 to 1"`
}

type fittedSingle []int32

type fittedMix struct {
	weak, strong int32
	settings     int
	e            Env
}

// Suits implements Params.
func (p *Single) Suits(t *Table) error {
	if err := ready(t, false); err != nil {
		return err
	}
	_, err := t.models(p.Models)
	return err
}

// Fit implements Params.
func (p *Single) Fit(train *Table, _ Env) (Fitted, error) {
	if err := p.Suits(train); err != nil {
		return nil, err
	}
	list, err := train.models(p.Models)
	if err != nil {
		return nil, err
	}
	_, cost := train.Means()
	slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(cost[a], cost[b]) })
	return fittedSingle(list), nil
}

func (f fittedSingle) Rules(t *Table) []Rule {
	var rules []Rule
	for _, m := range f {
		rules = append(rules, one(t, m))
	}
	return rules
}

// Suits implements Params.
func (p *Mix) Suits(t *Table) error {
	if err := ready(t, p.Weak == "" || p.Strong == ""); err != nil {
		return err
	}
	_, _, err := t.pair(p.Weak, p.Strong)
	return err
}

// Fit implements Params.
func (p *Mix) Fit(train *Table, e Env) (Fitted, error) {
	if err := p.Suits(train); err != nil {
		return nil, err
	}
	w, s, err := train.pair(p.Weak, p.Strong)
	if err != nil {
		return nil, err
	}
	return &fittedMix{int32(w), int32(s), p.Settings, e}, nil
}

func (f *fittedMix) Rules(t *Table) []Rule {
	n := t.Questions()
	place := make([]int32, n) // of each question in a random order: Fisher and Yates
	s := rng.New(f.e.Seed, f.e.Replication, "mix")
	for q := range place {
		j := s.IntN(q + 1)
		place[q] = place[j]
		place[j] = int32(q)
	}
	var rules []Rule
	for i := range f.settings {
		share := float64(i) / float64(f.settings-1)
		cut := int32(share*float64(n) + 0.5)
		rules = append(rules, Rule{
			Name: fmt.Sprintf("%.3g to %s", share, t.Models[f.strong]), Knob: share,
			Calls: func(q int, to []int32) []int32 {
				if place[q] < cut {
					return append(to, f.strong)
				}
				return append(to, f.weak)
			},
		})
	}
	return rules
}
