package aggregate

import (
	"fmt"
	"math"
	"slices"

	"switchyard/stages/experiment"
	"switchyard/stages/generate"
	"switchyard/stages/simulate"
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

// Warnings that the printed table's legend, or a general warning, stands for.
const (
	oneReplication  = "one replication: no interval"
	servedNothing   = "nothing was served"
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
	c.warnings = append(c.warnings, generate.Doubts(c.source)...)
	c.warnings = append(c.warnings, c.missesRate()...)
	c.warnings = append(c.warnings, c.missesLoad()...)
	switch {
	case c.servedNothing():
		c.warnings = append(c.warnings, servedNothing+": "+c.lost())
	case c.requests > c.finished:
		c.timing = append(c.timing, c.lost()+": latencies leave them out")
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

// servedNothing reports whether requests came and none finished.
func (c *configuration) servedNothing() bool { return c.requests > 0 && c.finished == 0 }

// nothing is the general warning of configurations that served nothing.
func nothing(configs []*configuration) []string {
	var first *configuration
	n := 0
	for _, c := range configs {
		if c.servedNothing() {
			if n++; first == nil {
				first = c
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s in %d of %d configurations, such as %s: %s", servedNothing, n, len(configs), first.name(), first.lost())}
}

// missesRate compares the rate of the arrivals in the windows with the offered
// one.
func (c *configuration) missesRate() []string {
	if c.RateRps == nil {
		return nil
	}
	mean, in := stats.Interval(present(c.of(arrivalRps)), level)
	arrived := int64(0)
	for _, n := range c.arrived {
		arrived += n
	}
	if !simulate.Missed(mean, *c.RateRps, arrived) || in.Exists() && in.Contains(*c.RateRps) {
		return nil
	}
	return []string{simulate.MissesRate(mean, *c.RateRps)}
}

// missesLoad compares the work that arrived with the load of dispatch: sizes so
// rare that no run draws them leave the load below what is asked for.
func (c *configuration) missesLoad() []string {
	if c.load == 0 {
		return nil
	}
	mean, in := stats.Interval(present(c.of("load_realised")), level)
	if !(math.Abs(mean/c.load-1) > simulate.MostMiss) || in.Exists() && in.Contains(c.load) {
		return nil
	}
	return []string{fmt.Sprintf("the load is %.3g where %.3g is asked for: the run is too short for its rarest sizes, or its arrivals; more requests come nearer", mean, c.load)}
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
	if mean < 0 {
		start := "the start is"
		if c.Job == experiment.Simulate {
			start = "the start, with cold caches, is"
		}
		return []string{fmt.Sprintf(drifts+"falls by %.0f %% from the window's first half to its second: %s measured too; warm up longer", -100*mean, start)}
	}
	return []string{fmt.Sprintf(drifts+"rises by %.0f %% from the window's first half to its second: it has not settled, or is near saturation; run longer", 100*mean)}
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
