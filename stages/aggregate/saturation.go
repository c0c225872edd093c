package aggregate

import (
	"math"

	"switchyard/stages/experiment"
	"switchyard/stages/stats"
)

// Bounds of saturation. A stable system completes what arrives, up to what is
// in flight at the window's ends; 2 % leaves room for that in windows of a few
// hundred requests. A backlog that grows by 1 % of the arrivals doubles the
// requests in flight within a few windows, and no longer run would settle.
const (
	leastCompletion = 0.98
	mostGrowth      = 0.01
)

// judge decides whether the configuration is saturated: whether its
// completions inside the windows, over all replications, are below 98 % of the
// arrivals there that were not turned away, or the backlog's slope in the second half of the window, as a
// share of their rate, has a one-sided 95 % lower bound over replications
// (Student's t) above 1 %. One replication has no such bound, and the first
// rule alone decides: within one run the backlog's ups and downs are too
// alike for an interval.
//
// Servers behind a dispatcher are mostly judged by what is known of them before
// the run, and no run of theirs says otherwise. Where nothing is known, a growing backlog
// and a rising response time, each by its lower bound, say it together: either
// alone may be a swing, which old information makes wide.
func (c *configuration) judge() {
	if !c.open {
		return
	}
	if c.Job == experiment.Dispatch {
		growth := present(c.of("backlog_growth"))
		bound, rise := stats.LowerBound(growth, level), stats.LowerBound(present(c.of(c.drift)), level)
		c.saturated = bound > mostGrowth && rise > 0
		c.doubtGrowth(growth)
		return
	}
	var taken, completed int64
	for i := range c.taken {
		taken += c.taken[i]
		completed += c.completed[i]
	}
	short := taken > 0 && float64(completed) < leastCompletion*float64(taken)
	growth := present(c.growth())
	bound := stats.LowerBound(growth, level)
	c.saturated = short || bound > mostGrowth
	c.doubtGrowth(growth)
}

// doubtGrowth warns of a backlog that only one replication has seen to grow.
func (c *configuration) doubtGrowth(growth []float64) {
	if !c.saturated && len(growth) == 1 && growth[0] > mostGrowth {
		c.warnings = append(c.warnings, "the backlog grows in the only replication, which cannot tell saturation from chance: run more")
	}
}

// growth returns the backlog's slope over the rate of the arrivals that were not
// turned away, a replication.
func (c *configuration) growth() []float64 {
	slope, rate := c.of(growthRps), c.of(arrivalRps)
	out := make([]float64, len(c.replications))
	for i := range out {
		out[i] = slope[i] / (rate[i] * float64(c.taken[i]) / float64(c.arrived[i]))
		if math.IsInf(out[i], 0) {
			out[i] = math.NaN()
		}
	}
	return out
}
