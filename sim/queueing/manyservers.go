package queueing

import (
	"fmt"
	"math"
)

// ErlangC returns the probability that a request waits in the M/M/k queue at
// that load, below 1.
func ErlangC(k int, load float64) float64 {
	// The blocking probability B of Erlang's loss system by its recursion in
	// the number of servers, then C = B/(1 - rho(1-B)).
	a, b := float64(k)*load, 1.0
	for i := 1; i <= k; i++ {
		b = a * b / (float64(i) + a*b)
	}
	return b / (1 - load*(1-b))
}

// sharedQueue is the M/M/k queue: central-queue, LWL, and least-expected-work
// on known sizes.
func sharedQueue(s study) (Value, bool) {
	equalPolicy := false
	switch p := s.Policy.(type) {
	case *CentralQueue:
		equalPolicy = true
	case *LWL:
		equalPolicy = s.Information.Live()
	case *ExpectedWork:
		equalPolicy = p.Knowledge == 1 && p.Noise == 0 && p.Progress
	}
	if !equalPolicy || !s.poisson() || !s.exponential() || s.ps() || !s.System.equal() {
		return Value{}, false
	}
	k := s.System.Servers
	mu := 1 / s.law.Mean()
	wait := ErlangC(k, s.load())
	drain := float64(k) * mu * (1 - s.load()) // rate of the wait of those who wait
	v := Value{
		Kind: Exact, Model: fmt.Sprintf("M/M/%d", k), Mean: 1/mu + wait/drain,
		Source: "Erlang, 1917",
	}
	return v.at(func(p float64) float64 {
		return tailQuantile(p, func(x float64) float64 {
			return (1-wait)*math.Exp(-mu*x) + wait*hypoTail(mu, drain, x)
		})
	}), true
}

// hypoTail is P(X+Y > x) of independent exponentials of rates a and b.
func hypoTail(a, b, x float64) float64 {
	if d := math.Abs(a - b); d < 1e-6*a {
		return math.Exp(-a*x) * (1 + a*x)
	}
	return (b*math.Exp(-a*x) - a*math.Exp(-b*x)) / (b - a)
}

// MeanFieldTail returns the share of servers with at least i requests under
// JSQ(d), exponential sizes and Poisson arrivals, in the limit of many servers:
// rho^((d^i-1)/(d-1)), rho^i for d = 1.
func MeanFieldTail(d int, load float64, i int) float64 {
	exponent, power := 0.0, 1.0
	for range i {
		exponent += power
		power *= float64(d)
	}
	return math.Pow(load, exponent)
}

// MeanFieldResponse returns the mean response time over the mean size in the
// same limit, sum_{i>=1} rho^((d^i-d)/(d-1)).
func MeanFieldResponse(d int, load float64) float64 {
	var sum float64
	for i := 1; ; i++ {
		term := MeanFieldTail(d, load, i) / load
		sum += term
		if term < 1e-17*sum {
			return sum
		}
	}
}

// meanField is JSQ(d): first come first served with exponential sizes, or
// processor sharing with any (the limit is insensitive: Bramson, Lu and
// Prabhakar, 2012, Asymptotic Independence of Queues under Randomized Load
// Balancing).
func meanField(s study) (Value, bool) {
	p, ok := s.Policy.(*JSQOf)
	if !ok || !s.poisson() || !s.Information.Live() || !s.System.equal() || !(s.exponential() || s.ps()) {
		return Value{}, false
	}
	v := Value{
		Kind: MeanField, Model: fmt.Sprintf("JSQ(%d), many servers", p.Choices),
		Mean:   s.law.Mean() * MeanFieldResponse(p.Choices, s.load()),
		Source: jsqOfPolicy.Source,
	}
	if s.ps() {
		return v.at(nil), true
	}
	// A request that joins j others ends after j+1 exponential sizes.
	var joins []float64
	for j := 0; ; j++ {
		here := math.Pow(MeanFieldTail(p.Choices, s.load(), j), float64(p.Choices))
		joins = append(joins, here-math.Pow(MeanFieldTail(p.Choices, s.load(), j+1), float64(p.Choices)))
		if here < 1e-17 {
			break
		}
	}
	return v.at(func(q float64) float64 {
		return s.law.Mean() * tailQuantile(q, func(x float64) float64 { return stagesTail(joins, x) })
	}), true
}

// stagesTail is P(X > x) where X is the sum of j+1 exponentials of mean one with
// probability weights[j]: the sum over i of P(more than i stages) times the
// Poisson probability of i.
func stagesTail(weights []float64, x float64) float64 {
	more := 0.0
	for _, w := range weights {
		more += w
	}
	var tail float64
	poisson := math.Exp(-x)
	for i, w := range weights {
		tail += more * poisson
		more -= w
		poisson *= x / float64(i+1)
	}
	return tail
}
