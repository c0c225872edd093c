package aggregate

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"switchyard/stages/stats"
)

// alpha is the level at which a router counts as told apart from the best.
const alpha = 0.05

// ranked is a configuration's place among those of its point.
type ranked struct {
	*configuration
	level float64 // mean of the first metric, NaN without a value
	tied  bool    // with the best
	rank  string  // "1", "1=", "3", "sat."; "none" without a value
}

// ranking orders a point's configurations by their first metric, best
// first; saturated ones come last, whatever their mean, and what has no value
// after them. Those that a paired t test against the best, corrected by Holm
// over all of them, does not tell apart from it share its rank. With one
// replication there is no test and nobody shares.
func (p *point) ranking() []ranked {
	list := make([]ranked, len(p.configs))
	for i, c := range p.configs {
		list[i] = ranked{configuration: c, level: stats.Mean(present(c.of(c.mean)))}
	}
	slices.SortStableFunc(list, func(a, b ranked) int {
		if c := cmp.Compare(a.class(), b.class()); c != 0 {
			return c
		}
		return cmp.Compare(float64(p.sign*a.level), float64(p.sign*b.level))
	})
	stable := 0
	for stable < len(list) && list[stable].class() == 0 {
		stable++
	}
	tie(list[:stable])
	for i := range list {
		r := &list[i]
		switch {
		case r.class() == 2:
			r.rank = "none"
		case r.saturated:
			r.rank = "sat."
		case r.tied:
			r.rank = "1="
		default:
			r.rank = strconv.Itoa(i + 1)
		}
	}
	return list
}

// class is 0 for what can be ranked, 1 for saturated, 2 without a value.
func (r *ranked) class() int {
	switch {
	case math.IsNaN(r.level):
		return 2
	case r.saturated:
		return 1
	}
	return 0
}

// tie marks those that are not told apart from the first, and the first where
// there are any.
func tie(list []ranked) {
	if len(list) < 2 {
		return
	}
	ps := make([]float64, len(list)-1)
	metric := list[0].measures.of(list[0].mean)
	for i := range ps {
		x, y := pairs(list[i+1].configuration, list[0].configuration, metric)
		ps[i] = stats.Paired(x, y, level).P
	}
	for i, p := range stats.Holm(ps) {
		if p > alpha || list[i+1].level == list[0].level {
			list[0].tied, list[i+1].tied = true, true
		}
	}
}
