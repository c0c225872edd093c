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
	place int     // of the best of its rank, from 1; 0 where it is not ranked
	tied  bool    // with others
	rank  string  // "1", "1=", "3", "sat."; "none" without a value
}

// ranking orders a point's configurations by their first metric, best
// first; saturated ones come last, whatever their mean, and what has no value
// after them. Those that a paired t test against the best, corrected by Holm
// over all others, does not tell apart from it share its rank; the best of those
// that are left leads the next rank in the same way. With one replication there
// is no test and only equals share.
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
		default:
			r.rank = strconv.Itoa(r.place)
			if r.tied {
				r.rank += "="
			}
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

// tie gives those that can be ranked their places.
func tie(list []ranked) {
	metric := 0
	if len(list) > 0 {
		metric = list[0].measures.of(list[0].mean)
	}
	for best := range list {
		if list[best].place > 0 {
			continue
		}
		list[best].place = best + 1
		var rest []*ranked
		var ps []float64
		for i := range list[best+1:] {
			if r := &list[best+1+i]; r.place == 0 {
				x, y := pairs(r.configuration, list[best].configuration, metric)
				rest, ps = append(rest, r), append(ps, stats.Paired(x, y, level).P)
			}
		}
		for i, p := range stats.Holm(ps) {
			if p > alpha || rest[i].level == list[best].level {
				rest[i].place = best + 1
				rest[i].tied, list[best].tied = true, true
			}
		}
	}
}
