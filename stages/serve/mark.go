package serve

import (
	"errors"
	"math"
	"slices"

	"switchyard/sim/serving"
)

// objective is what a split is chosen by, less is better. Questions that were
// not served come before any latency.
func (p *Params) objective(x *serving.Times) float64 {
	value := x.P99
	switch p.Objective {
	case "mean":
		value = x.Mean
	case "p50":
		value = x.P50
	case "p95":
		value = x.P95
	case "within":
		value = -x.Within
	}
	switch {
	case x.Failed == x.Questions || math.IsNaN(value):
		return math.Inf(1)
	case p.Objective != "within" && x.Failed > 0:
		return value + 1e9*float64(x.Failed)
	}
	return value
}

// meets says whether the objective for questions is met.
func (p *Params) meets(x *serving.Times) bool { return x.Within >= p.SLO.Share }

// errNothing is of a pool without an assignment whose models are all served.
var errNothing = errors.New("no assignment has all its models served: name more of them under models of serving, or let assignments be more")

// mark chooses among the contenders of a pool.
func (p *Params) mark(all []*outcome, rows []Row) error {
	if len(all) == 0 {
		return errNothing
	}
	better := func(i, j int) bool { // by training; of equals the cheaper, the faster, the first
		a, b := all[i], all[j]
		switch {
		case a.train.accuracy != b.train.accuracy:
			return a.train.accuracy > b.train.accuracy
		case a.train.dollars != b.train.dollars:
			return a.train.dollars < b.train.dollars
		case a.fits && b.fits:
			return p.objective(&a.planned) < p.objective(&b.planned)
		}
		return a.fits && !b.fits
	}
	best := func(of func(o *outcome) bool) int {
		found := -1
		for i, o := range all {
			if of(o) && (found < 0 || better(i, found)) {
				found = i
			}
		}
		return found
	}
	if i := best(func(o *outcome) bool { return true }); i >= 0 {
		rows[i].BestAccuracy = true
	}
	if i := best(func(o *outcome) bool { return o.single }); i >= 0 {
		rows[i].BestSingle = true
	}
	if i := best(func(o *outcome) bool { return o.fits && p.meets(&o.planned) }); i >= 0 {
		rows[i].BestSLO = true
	}
	for i, o := range all {
		rows[i].Front = o.fits && !slices.ContainsFunc(all, func(q *outcome) bool { return q.beats(o) })
	}
	return nil
}

// beats says whether an outcome is as good as another in all that counts, and
// better in something.
func (o *outcome) beats(than *outcome) bool {
	if !o.fits {
		return false
	}
	a := [3]float64{-o.test.accuracy, o.test.dollars, o.served.P99}
	b := [3]float64{-than.test.accuracy, than.test.dollars, than.served.P99}
	better := false
	for i := range a {
		if !(a[i] <= b[i]) {
			return false
		}
		better = better || a[i] < b[i]
	}
	return better
}
