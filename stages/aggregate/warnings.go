package aggregate

import (
	"fmt"
	"math"
	"slices"

	"switchyard/stages/experiment"
	"switchyard/stages/stats"
)

// leastForP99 is the number of requests of a configuration under which its P99
// carries a warning: 100 of them lie beyond it then, which puts the quantile's
// rank within 20 % at two standard errors.
const leastForP99 = 10_000

// mostDrift is the relative difference of mean latency between the halves of
// the window above which, where chance does not explain it, a configuration
// that is not saturated carries a warning.
const mostDrift = 0.1

// Warnings that the printed table's legend stands for.
const (
	oneReplication  = "one replication: no interval"
	saturatedTiming = "saturated: grows with the length of the run"
)

// doubt fills pooled quantiles and the warnings that concern the
// configuration as a whole; x is nil where its requests are not kept.
func (c *configuration) doubt(x *extra, missing *MissingError) {
	if len(c.replications) == 1 {
		c.warnings = append(c.warnings, oneReplication)
	}
	if reps := missing.replications(c); len(reps) > 0 {
		c.warnings = append(c.warnings, "without replications "+ranges(reps))
	}
	if c.unserved > 0 {
		c.timing = append(c.timing, fmt.Sprintf("%d requests were rejected or failed: latencies leave them out", c.unserved))
	}
	if c.saturated {
		// That it never settles is what saturation means: no more doubts.
		c.timing = append(c.timing, saturatedTiming)
	} else {
		c.timing = append(c.timing, c.changes()...)
	}
	if x == nil {
		return
	}
	c.pooled, c.sketched = x.pooled, !x.exact
	if !c.saturated {
		_, in := stats.Interval(present(c.of(meanE2E)), level)
		c.timing = append(c.timing, x.doubtWarmUp(c.WarmUp, (in.Hi-in.Lo)/2)...)
	}
}

// changes compares the halves of the window.
func (c *configuration) changes() []string {
	if c.drift == "" {
		return nil
	}
	mean, in := stats.Interval(present(c.of(c.drift)), level)
	if !in.Exists() || in.Contains(0) || math.Abs(mean) < mostDrift {
		return nil
	}
	return []string{fmt.Sprintf("mean latency changes by %+.0f %% from the window's first half to its second: warm up or run longer", 100*mean)}
}

// warningsOf returns the warnings of one metric's rows.
func (c *configuration) warningsOf(i int) []string {
	m := &c.list[i]
	out := slices.Clone(c.warnings)
	x := present(c.values[i])
	if lost := len(c.values[i]) - len(x); lost > 0 {
		out = append(out, fmt.Sprintf("no value in %d of %d replications", lost, len(c.values[i])))
	}
	if m.timed() {
		out = append(out, c.timing...)
	}
	if m.q == 0.99 && c.measured < leastForP99 {
		out = append(out, fmt.Sprintf("p99 from %d requests, fewer than %d", c.measured, leastForP99))
	}
	if m.sample != noSample && c.sketched {
		out = append(out, fmt.Sprintf("pooled quantile from a sketch, within %.2f %%", 100*stats.PoolError))
	}
	if m.name == c.mean && c.Job == experiment.Simulate && len(x) > 1 && stats.Variance(x) == 0 {
		out = append(out, "all replications agree exactly: their streams may not reach this workload")
	}
	return out
}
