package queueing

import (
	"math"
	"slices"

	"switchyard/sim/queueing"
)

// What is known of a study before it runs.
const (
	stable   = "stable"
	unstable = "unstable" // it has no steady state
	open     = "open"     // its backlog has to tell
)

// fewTimes is how many given arrival times are no sample of a load.
const fewTimes = 1000

// stability says whether a study has a steady state. It has none where more
// work arrives than all servers can do, or more comes to some of them, whatever
// their queues, than they can do. The condition is exact for policies that do
// not look (each server by its share) and for jsq-d, where requests whose draws
// all fall on the same servers must go to one of those: for every set B of
// servers
//
//	rate E[S] P(all d drawn in B) < capacity of B
//
// (Foss and Chernova, 1998, On the Stability of a Partially Accessible
// Multi-Station Queue with State-Dependent Routing); of the sets of one size the
// slowest servers fail first. Others that see every server settle wherever all
// servers together can do the work, but for three, whose backlog is measured
// instead: jiq on unequal speeds, which sends to any server while none is idle;
// servers of unequal speed that are seen late or through predictions; and given
// times, or equal sizes at equal gaps, at a load of 1 and above.
func stability(c *queueing.Config) string {
	switch times, given := c.Arrivals.(*queueing.Times); {
	case overloaded(c) && given && len(times.Values) < fewTimes:
		return open
	case c.Load() > 1-1e-12 && c.Load() < 1+1e-12 && clockwork(c):
		return open
	case overloaded(c):
		return unstable
	}
	if equalSpeeds(&c.System) || fixedShares(c) != nil {
		return stable
	}
	switch c.Policy.(type) {
	case *queueing.SITA, *queueing.CentralQueue:
		return stable
	case *queueing.JIQ, *queueing.ExpectedWork:
		return open
	}
	if !c.Information.Live() {
		return open
	}
	return stable
}

// overloaded reports whether more arrives somewhere than can be done there.
func overloaded(c *queueing.Config) bool {
	if !(c.Load() < 1) {
		return true
	}
	work := c.Rate() * c.Sizes.Law().Mean()
	if p, ok := c.Policy.(*queueing.JSQOf); ok {
		return drawnOverload(&c.System, p, work)
	}
	shares := fixedShares(c)
	var sum float64
	for _, x := range shares {
		sum += x
	}
	for i, x := range shares {
		if full(work*x/sum, speed(&c.System, i)) {
			return true
		}
	}
	return false
}

// full reports whether work takes all of a capacity, up to rounding.
func full(work, capacity float64) bool { return work >= capacity*(1-1e-12) }

// drawnOverload reports whether the draws of jsq-d bring the slowest servers,
// so many of them as any, more than they can do.
func drawnOverload(s *queueing.System, p *queueing.JSQOf, work float64) bool {
	speeds := make([]float64, s.Servers)
	for i := range speeds {
		speeds[i] = speed(s, i)
	}
	slices.Sort(speeds)
	var capacity float64
	for k := range speeds {
		capacity += speeds[k]
		inside := 1.0 // P(all drawn among the k+1 slowest)
		for j := range p.Choices {
			if p.Replacement {
				inside *= float64(k+1) / float64(s.Servers)
			} else {
				inside *= math.Max(0, float64(k+1-j)) / float64(s.Servers-j)
			}
		}
		if full(work*inside, capacity) {
			return true
		}
	}
	return false
}

// clockwork reports whether nothing is left to chance.
func clockwork(c *queueing.Config) bool {
	_, arrivals := c.Arrivals.(*queueing.Deterministic)
	_, sizes := c.Sizes.(*queueing.DeterministicSizes)
	_, random := c.Policy.(*queueing.Random)
	return arrivals && sizes && !random
}

// leastSpan is how many of its slowest time constants the measured half of a
// run must last for its backlog to tell anything: a mean service at the slowest
// server, and the age of what is seen.
const leastSpan = 10

// growth is the growth of the backlog that a run found; NaN where it is too
// short to tell.
func growth(c *queueing.Config, x *queueing.Result) float64 {
	slowest := math.Inf(1)
	for i := range c.System.Servers {
		slowest = math.Min(slowest, speed(&c.System, i))
	}
	mean := c.Sizes.Law().Mean()
	if x.HalfTime < leastSpan*(mean/slowest+c.Information.Age*mean) {
		return math.NaN()
	}
	return x.Growth
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

func equalSpeeds(s *queueing.System) bool {
	for i := range s.Servers {
		if speed(s, i) != speed(s, 0) {
			return false
		}
	}
	return true
}
