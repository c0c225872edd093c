package simulate

import (
	"math"
	"slices"

	lower "switchyard/sim/bounds"
	"switchyard/sim/workload"
)

// bound keeps the lower bound on the mean latency that was asked for last: the
// cells of one workload on one cluster share it. It is a bound where all of the
// requests from the cut on finish: a mean over some of them may lie below.
type bound struct {
	work    *workload.Workload
	cluster *Cluster
	cut     int
	us      *float64
}

// of returns the bound in microseconds, nil where there is none.
func (b *bound) of(w *workload.Workload, c *Cluster, cut int) *float64 {
	if b.work == w && b.cluster == c && b.cut == cut {
		return b.us
	}
	*b = bound{work: w, cluster: c, cut: cut}
	if w.Closed() && cut > 0 {
		return nil // which requests are cut depends on the run
	}
	of := lower.Of(w, c.Config.Step, c.Params.Replicas, cut)
	us := of.LoneNs
	if of.PooledNs > us {
		us = of.PooledNs
	}
	if !math.IsNaN(us) {
		us *= quickest(c.Events, c.Params.Replicas) / 1000
		b.us = &us
	}
	return b.us
}

// quickest returns the least factor by which events make all steps of a
// replica longer, 1 where none makes them shorter.
func quickest(events []EventParams, replicas int) float64 {
	factors := make([]float64, replicas)
	for i := range factors {
		factors[i] = 1
	}
	for _, e := range events {
		if e.Event == "slow" {
			factors[e.Replica] *= e.Factor
		}
	}
	return min(1, slices.Min(factors))
}
