package choose

import (
	"fmt"
	"math"
	"slices"

	"switchyard/sim/cascade"
)

// Route is what every rule that chooses for each question has beside its own
// parameters: which of its settings is the one that it is judged by.
type Route struct {
	Dollars float64 `yaml:"dollars" default:"0" min:"0" unit:"$" doc:"mean cost of a question that it may have; 0 = no limit"`
	Lambda  float64 `yaml:"lambda" default:"0" min:"0" max:"1e12" unit:"share/$" doc:"accuracy that a dollar a question must bring"`
}

// route fits a rule that chooses for each question anew. All its settings go
// into table pareto, the best of them on the training questions into selections.
func (b *batch) route(p *pool, known *survey, at sample) error {
	o := b.run.Config.optimiser
	fitted, err := o.params.(cascade.Params).Fit(p.outcomes.train, cascade.Env{Seed: at.seed, Replication: at.replication})
	if err != nil {
		return err
	}
	train, test := cascade.Curve(fitted, p.outcomes.train), cascade.Curve(fitted, p.outcomes.test)
	if len(train) == 0 || len(test) == 0 {
		return fmt.Errorf("%s has no setting that fits", o.rule.Name)
	}
	if len(train) != len(test) {
		// What knows the outcomes has settings of its own on each table.
		train = test
	}
	first := len(b.pareto)
	for i := range test {
		row := ParetoRow{
			Where: b.where(at), Kind: o.rule.Name, Point: int32(i), Label: test[i].Name,
			CostTrain: train[i].Cost, CostTest: test[i].Cost, AccuracyTrain: train[i].Quality, AccuracyTest: test[i].Quality,
		}
		row.Lo, row.Hi = interval(row.AccuracyTest, p.outcomes.test.Questions())
		b.pareto = append(b.pareto, row)
	}
	markFront(b.pareto[first:])
	chosen := o.route.Choose(train)
	row := b.row(p, known, at)
	row.Assignment, row.AccuracyTrain, row.AccuracyTest = test[chosen].Name, train[chosen].Quality, test[chosen].Quality
	row.Converged, row.Stop, row.Evaluations = true, "complete", int32(len(p.candidates[0]))
	row.FirstHit, row.CodeBudget, row.Distinct = row.Evaluations, row.Evaluations-1, row.Evaluations
	for _, share := range test[chosen].Calls {
		if share > 0 {
			row.Models++
		}
	}
	if p.priced {
		row.Cost = &test[chosen].Cost
		lo, hi := span(p.outcomes.test)
		row.AIQ = finite(cascade.AIQ(test, lo, hi))
	}
	row.compare(known)
	row.Regret, row.AtOptimum = nil, nil // the optimum is of assignments
	b.selections = append(b.selections, row)
	b.evaluations += int64(row.Evaluations)
	return nil
}

// Choose returns the setting with the most accuracy less its price, among those
// that cost no more than allowed; the cheapest setting where none is.
func (r *Route) Choose(settings []cascade.Result) int {
	best, value := -1, math.Inf(-1)
	for i := range settings {
		s := &settings[i]
		worth := s.Quality - float64(r.Lambda*s.Cost)
		if (r.Dollars == 0 || s.Cost <= r.Dollars) && worth > value {
			best, value = i, worth
		}
	}
	if best >= 0 {
		return best
	}
	cheapest := 0
	for i := range settings {
		if settings[i].Cost < settings[cheapest].Cost {
			cheapest = i
		}
	}
	return cheapest
}

// span is the cost of the cheapest and of the dearest model.
func span(t *cascade.Table) (lo, hi float64) {
	_, cost := t.Means()
	return slices.Min(cost), slices.Max(cost)
}
