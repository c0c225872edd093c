package queueing

import (
	"math"

	"switchyard/sim/dist"
	"switchyard/sim/queueing"
)

// overloaded reports whether a study has no steady state: more work arrives
// than all servers can do or, where a policy does not look, than one can.
func overloaded(c *queueing.Config) bool {
	if !(c.Load() < 1) {
		return true
	}
	shares := fixedShares(c)
	var sum float64
	for _, x := range shares {
		sum += x
	}
	work := c.Rate() * c.Sizes.Law().Mean()
	for i, x := range shares {
		if work*x/sum >= speed(&c.System, i)*(1-1e-12) {
			return true
		}
	}
	return false
}

// fixedShares returns in what proportion a policy that does not look sends
// requests to the servers; nil for the others.
func fixedShares(c *queueing.Config) []float64 {
	var share func(i int) float64
	same := func(int) float64 { return 1 }
	bySpeed := func(i int) float64 { return speed(&c.System, i) }
	switch p := c.Policy.(type) {
	case *queueing.RoundRobin:
		share = same
	case *queueing.Random:
		share = same
		if p.Weights == "speeds" {
			share = bySpeed
		}
	case *queueing.WeightedRoundRobin:
		share = bySpeed
		if len(p.Weights) > 0 {
			share = func(i int) float64 { return p.Weights[i%len(p.Weights)] }
		}
	default:
		return nil
	}
	out := make([]float64, c.System.Servers)
	for i := range out {
		out[i] = share(i)
	}
	return out
}

func speed(s *queueing.System, i int) float64 {
	if len(s.Speeds) == 0 {
		return 1
	}
	return s.Speeds[i%len(s.Speeds)]
}

// doubts are what is known of a study's means before it runs.
func doubts(c *queueing.Config) []string {
	if law := c.Sizes.Law(); math.IsInf(dist.Moment(law, 2), 1) {
		return []string{"sizes without variance: means belong to the length of the run"}
	}
	return nil
}
