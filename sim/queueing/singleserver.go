package queueing

import (
	"fmt"
	"math"

	"switchyard/sim/dist"
)

// PollaczekKhinchine returns the mean wait in the M/G/1 queue, first come first
// served, with arrivals at that rate and sizes of those first two moments:
//
//	W = rate E[S^2] / (2 (1 - rho))
//
// which is E[S] rho (1+C2)/2/(1-rho); +Inf at a load of 1 and above and without a
// second moment.
func PollaczekKhinchine(rate, mean, second float64) float64 {
	if rate*mean >= 1 {
		return math.Inf(1)
	}
	return rate * second / (2 * (1 - rate*mean))
}

// RenewalRoot returns s for the GI/M/1 queue with exponential sizes of mean 1/mu:
// the root below 1 of s = A(mu (1-s)), A the Laplace transform of the gaps. The
// response time is exponential of mean 1/(mu (1-s)). The load must be below 1.
func RenewalRoot(mu float64, laplace func(x float64) float64) float64 {
	// g(s) = A(mu(1-s)) - s is convex, positive at 0 and 0 at 1, where it rises:
	// its other root is below 1, and g is positive exactly to the left of it.
	lo, hi := 0.0, 1.0
	for range 200 {
		mid := (lo + hi) / 2
		if mid == lo || mid == hi {
			break
		}
		if laplace(mu*(1-mid)) > mid {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// gammaLaplace returns the Laplace transform of gamma gaps of that shape and
// mean, (1 + x mean/shape)^-shape, e^(-x mean) for the shape +Inf.
func gammaLaplace(shape, mean float64) func(float64) float64 {
	return func(x float64) float64 {
		if math.IsInf(shape, 1) {
			return math.Exp(-x * mean)
		}
		return math.Exp(-shape * math.Log1p(x*mean/shape))
	}
}

// independentServers is random dispatch, and any policy where there is but one
// server: each server is a queue of its own, M/G/1 under Poisson arrivals and
// GI/M/1 under others and exponential sizes.
func independentServers(s study) (Value, bool) {
	weights, ok := s.splitWeights()
	if !ok {
		return Value{}, false
	}
	n := float64(s.System.Servers)
	switch {
	case s.poisson():
		return s.poissonSplit(weights), true
	case s.exponential() && !s.ps() && s.System.equal():
		// A server's gap is a geometric number of gaps: with p = 1/n and the
		// gaps' transform a, its transform is p a/(1 - (1-p) a).
		gap := gammaLaplace(s.gapShape(), 1/s.rate)
		v := s.renewal(func(x float64) float64 {
			a := gap(x)
			return a / n / (1 - (1-1/n)*a)
		})
		v.Model = "GI/M/1"
		return v, true
	}
	return Value{}, false
}

// splitWeights returns the share of requests that each server has, where they
// are split independently of everything.
func (s study) splitWeights() ([]float64, bool) {
	bySpeed := false
	switch p := s.Policy.(type) {
	case *Random:
		bySpeed = p.Weights == "speeds"
	case *JSQOf:
		if p.Choices > 1 && s.System.Servers > 1 {
			return nil, false
		}
	default:
		if s.System.Servers > 1 {
			return nil, false
		}
	}
	weights := make([]float64, s.System.Servers)
	var sum float64
	for i := range weights {
		if weights[i] = 1; bySpeed {
			weights[i] = s.System.speed(i)
		}
		sum += weights[i]
	}
	for i := range weights {
		weights[i] /= sum
	}
	return weights, true
}

// poissonSplit is the mixture of M/G/1 queues at the servers.
func (s study) poissonSplit(weights []float64) Value {
	v := Value{Kind: Exact, Model: "M/G/1", Source: "Pollaczek and Khinchine"}
	means := make([]float64, len(weights))
	for i, w := range weights {
		speed := s.System.speed(i)
		service := s.law.Mean() / speed
		rate := s.rate * w
		if s.ps() {
			means[i] = service / math.Max(0, 1-rate*service)
		} else {
			means[i] = service + PollaczekKhinchine(rate, service, dist.Moment(s.law, 2)/(speed*speed))
		}
		v.Mean += w * means[i]
	}
	switch {
	case s.ps():
		v.Model, v.Source = "M/G/1-PS", "insensitivity: E[S]/(1-rho) for any law of sizes"
		return v.at(nil)
	case !s.exponential() || math.IsInf(v.Mean, 1):
		return v.at(nil)
	}
	v.Model = "M/M/1"
	return v.at(func(p float64) float64 {
		return tailQuantile(p, func(x float64) float64 {
			var tail float64
			for i, w := range weights {
				tail += w * math.Exp(-x/means[i])
			}
			return tail
		})
	})
}

// renewal is a GI/M/1 queue with gaps of that transform.
func (s study) renewal(laplace func(float64) float64) Value {
	mu := 1 / s.law.Mean()
	mean := 1 / (mu * (1 - RenewalRoot(mu, laplace)))
	v := Value{Kind: Exact, Mean: mean, Source: "the root of s = A(mu(1-s)): Kendall, 1953"}
	return v.at(func(p float64) float64 { return -mean * math.Log1p(-p) })
}

// cyclic is round robin: each server sees the sum of n gaps.
func cyclic(s study) (Value, bool) {
	_, ok := s.Policy.(*RoundRobin)
	if w, weighted := s.Policy.(*WeightedRoundRobin); weighted {
		ok = len(w.Weights) == 0 // on equal speeds
	}
	if !ok || !s.exponential() || s.ps() || !s.System.equal() || s.System.Dispatchers > 1 {
		return Value{}, false
	}
	n := s.System.Servers
	shape := s.gapShape() * float64(n)
	v := s.renewal(gammaLaplace(shape, float64(n)/s.rate))
	switch {
	case s.poisson():
		v.Model = fmt.Sprintf("E%d/M/1", n)
	case math.IsInf(shape, 1):
		v.Model = "D/M/1"
	default:
		v.Model = "gamma/M/1"
	}
	return v, true
}

// sizeIntervals is SITA-E: each server is an M/G/1 queue with the sizes of its
// interval.
func sizeIntervals(s study) (Value, bool) {
	_, ok := s.Policy.(*SITA)
	if !ok || !s.poisson() {
		return Value{}, false
	}
	v := Value{Kind: Exact, Model: "M/G/1 by size", Source: sitaPolicy.Source}
	weights := make([]float64, s.System.Servers)
	for i := range weights {
		weights[i] = s.System.speed(i)
	}
	if s.ps() {
		// Server i has E[S; i] = E[S] v_i/sum v, and the load rho as all have:
		// the sum of E[S; i]/v_i/(1-rho) over n servers.
		v.Mean = float64(len(weights)) * s.law.Mean() / s.capacity() / (1 - s.load())
		return v.at(nil), true
	}
	parts := intervals(s.law, Cutoffs(s.law, weights), weights)
	for i, part := range parts {
		speed := weights[i]
		rate := s.rate * part[0]
		mean, second := part[1]/part[0]/speed, part[2]/part[0]/(speed*speed)
		v.Mean += part[1]/speed + part[0]*PollaczekKhinchine(rate, mean, second)
	}
	return v.at(nil), true
}

// intervals returns the probability and the first two moments, not divided by
// it, of each interval. A size with a probability of its own that is a cut-off
// is divided so that the loads are in proportion to the weights.
func intervals(l dist.Law, cuts, weights []float64) [][3]float64 {
	var total, sum float64
	for _, w := range weights {
		total += w
	}
	var parts [][3]float64
	var before [3]float64
	for i := range weights {
		var upTo [3]float64
		sum += weights[i]
		for k := range upTo {
			if i == len(cuts) {
				upTo[k] = dist.Moment(l, k)
				continue
			}
			x := cuts[i]
			below := l.Partial(k, math.Nextafter(x, 0))
			upTo[k] = below + (l.Partial(k, x)-below)*atomShare(l, x, sum/total)
		}
		parts = append(parts, [3]float64{upTo[0] - before[0], upTo[1] - before[1], upTo[2] - before[2]})
		before = upTo
	}
	return parts
}
