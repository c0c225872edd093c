package queueing

import "switchyard/sim/queueing"

// replicate sets which of the replications each configuration of dispatch
// runs. Where neither the requests nor any policy on a system leave anything to
// chance it is the first alone, as with a recorded trace: others would be the
// same run and pretend to an interval of width 0. One policy that draws keeps
// all for the others too, which are compared with it in pairs.
func replicate(configs []*Config, all []int) {
	drawn := map[string]bool{}
	for _, c := range configs {
		drawn[c.WorkloadPoint] = drawn[c.WorkloadPoint] || c.study == nil || c.chance() != nothingDrawn
	}
	for _, c := range configs {
		c.replications = all
		if !drawn[c.WorkloadPoint] && len(all) > 0 {
			c.replications = all[:1]
		}
	}
}

// What replications of a study share.
const (
	nothingDrawn   = "nothing in it is drawn: one replication says all"
	policyDrawn    = "replications share arrivals and sizes: the interval is of the policy's draws alone"
	arrivalsShared = "replications share the given arrival times: the interval is of sizes and dispatch alone"
	sizesShared    = "replications share the given sizes: the interval is of arrivals and dispatch alone"
)

// chance is the doubt about a study's replications; empty where they are
// independent of each other.
func (c *Config) chance() string {
	arrivals, sizes, dispatch := c.study.Chance()
	_, times := c.study.Arrivals.(*queueing.Times)
	list, _ := c.study.Sizes.(*queueing.EmpiricalSizes)
	switch {
	case !arrivals && !sizes && !dispatch:
		return nothingDrawn
	case !arrivals && !sizes:
		return policyDrawn
	case times:
		return arrivalsShared
	case list != nil && list.InOrder:
		return sizesShared
	}
	return ""
}
