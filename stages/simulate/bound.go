package simulate

import (
	"math"

	lower "switchyard/sim/bounds"
	"switchyard/sim/workload"
)

// bound keeps the lower bound on the mean latency that was asked for last: the
// cells of one workload on one cluster share it.
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
		us /= 1000
		b.us = &us
	}
	return b.us
}
