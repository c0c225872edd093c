package cascade

import (
	"fmt"
	"math"
	"slices"
)

var thresholdEntry = Entry{
	Name:    "threshold",
	Summary: "the strong model where a score of the question reaches a threshold, else the weak one",
	Source:  "RouteLLM (Ong et al., 2024)",
	New:     func() Params { return new(Threshold) },
}

// Threshold routes between two models. A learned score is the probability
// that the strong model wins, a tie counting as half a win. Thresholds are
// quantiles of the training questions' scores, so that settings send evenly
// spaced shares of them to the strong model.
type Threshold struct {
	Sources
	Weak      string  `yaml:"weak" doc:"the weak model; empty: the cheapest on the training questions"`
	Strong    string  `yaml:"strong" doc:"the strong model; empty: the best on the training questions"`
	Score     string  `yaml:"score" default:"logistic" enum:"logistic|knn|given" doc:"where the score comes from; given: a column of the table"`
	Column    string  `yaml:"column" doc:"the feature that is the score, with score: given"`
	Ridge     float64 `yaml:"ridge" default:"1" min:"0.000001" max:"1000000" doc:"penalty on squared weights, with score: logistic"`
	Neighbour int     `yaml:"neighbours" default:"40" min:"1" max:"10000" doc:"number of nearest questions that count, with score: knn"`
	Settings  int     `yaml:"settings" default:"21" min:"2" max:"1000" doc:"number of thresholds, from none to all to the strong model"`
}

type fittedThreshold struct {
	weak, strong int32
	score        func(t *Table) []float64
	thresholds   []float64 // falling, so that cost rises
}

// Suits implements Params.
func (p *Threshold) Suits(t *Table) error {
	if err := ready(t, p.Weak == "" || p.Strong == ""); err != nil {
		return err
	}
	if _, _, err := t.pair(p.Weak, p.Strong); err != nil {
		return err
	}
	if p.Score == "given" {
		_, err := columns("column", []string{p.Column}, t.Features)
		return err
	}
	return p.suit(t)
}

// Fit implements Params.
func (p *Threshold) Fit(train *Table, _ Env) (Fitted, error) {
	if err := p.Suits(train); err != nil {
		return nil, err
	}
	w, s, err := train.pair(p.Weak, p.Strong)
	if err != nil {
		return nil, err
	}
	f := &fittedThreshold{weak: int32(w), strong: int32(s)}
	if f.score, err = p.scorer(train, w, s); err != nil {
		return nil, err
	}
	scores := f.score(train)
	slices.Sort(scores)
	f.thresholds = append(f.thresholds, math.Inf(1))
	n := len(scores)
	for i := 1; i < p.Settings; i++ {
		x := scores[n-max(1, i*n/(p.Settings-1))]
		if i == p.Settings-1 {
			x = math.Inf(-1)
		}
		if x < f.thresholds[len(f.thresholds)-1] {
			f.thresholds = append(f.thresholds, x)
		}
	}
	return f, nil
}

func (p *Threshold) scorer(train *Table, weak, strong int) (func(*Table) []float64, error) {
	if column := p.Column; p.Score == "given" {
		return func(t *Table) []float64 {
			scores := make([]float64, t.Questions())
			if i := slices.Index(t.Features, column); i >= 0 {
				for q := range scores {
					scores[q] = float64(t.Value[q*len(t.Features)+i])
				}
			}
			return scores
		}, nil
	}
	e, err := newEncoder(train, p.Sources, -1)
	if err != nil {
		return nil, err
	}
	y := make([]float64, train.Questions())
	for q := range y {
		row := train.Score[q*len(train.Models) : (q+1)*len(train.Models)]
		switch {
		case row[strong] > row[weak]:
			y[q] = 1
		case row[strong] == row[weak]:
			y[q] = 0.5
		}
	}
	var l learner = byLogistic{p.Ridge}
	if p.Score == "knn" {
		l = byNeighbours{p.Neighbour}
	}
	fitted := l.learn(e.encode(train), e.total, 1, y)
	return func(t *Table) []float64 {
		c := e.encode(t)
		scores := make([]float64, c.n)
		for q := range scores {
			fitted.predict(c, q, scores[q:q+1])
		}
		return scores
	}, nil
}

// Rules implements Fitted.
func (f *fittedThreshold) Rules(t *Table) []Rule {
	scores := f.score(t)
	var rules []Rule
	for _, x := range f.thresholds {
		rules = append(rules, Rule{Name: fmt.Sprintf("%s from %.4g", t.Models[f.strong], x), Knob: x, Calls: func(q int, to []int32) []int32 {
			if scores[q] >= x {
				return append(to, f.strong)
			}
			return append(to, f.weak)
		}})
	}
	return rules
}
