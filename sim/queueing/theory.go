package queueing

import (
	"math"

	"switchyard/sim/dist"
)

// Value is what theory says about response times, in the unit of the sizes,
// NaN where it says nothing.
type Value struct {
	Kind   string // exact, mean-field (the limit of many servers), or none
	Model  string // the queue behind it, such as M/M/16
	Mean   float64
	Source string

	P50, P90, P95, P99, P999 float64

	Wait        float64 // mean response less the mean size, on equal speeds of 1
	Slowdown    float64 // mean, under processor sharing there: 1/(1-rho) whatever the size
	Utilisation float64 // the load
}

// Kinds of values.
const (
	Exact     = "exact"
	MeanField = "mean-field"
	None      = "none"
)

// Theory returns the value for a study in steady state, and Kind None where it
// has none or no steady state (load of 1 and above). A study without a second
// moment of sizes may have the mean +Inf: then no run is long enough.
func Theory(c *Config) Value {
	none := Value{Kind: None, Wait: math.NaN(), Slowdown: math.NaN(), Utilisation: math.NaN()}.at(nil)
	if c.Information.Model == "own" && c.System.Dispatchers == 1 { // it has sent all that there is
		seen := *c
		seen.Information = Information{Model: "live"}
		c = &seen
	}
	s := study{Config: c, law: c.Sizes.Law()}
	s.rate = c.rate(s.law.Mean())
	if e, ok := c.Sizes.(*EmpiricalSizes); ok && e.InOrder {
		return none // neither sizes nor their order are random
	}
	if _, given := c.Arrivals.(*Times); given || s.load() >= 1 {
		return none
	}
	for _, known := range []func(study) (Value, bool){
		independentServers, cyclic, sharedQueue, meanField, sizeIntervals,
	} {
		if v, ok := known(s); ok {
			return s.others(v)
		}
	}
	return none
}

// others fills in what follows from the mean response and the load.
func (s study) others(v Value) Value {
	v.Wait, v.Slowdown, v.Utilisation = math.NaN(), math.NaN(), s.load()
	if s.System.equal() {
		v.Wait = v.Mean - s.law.Mean()
		if s.ps() && v.Kind == Exact {
			v.Slowdown = 1 / (1 - s.load())
		}
	}
	return v
}

// study is what the theories ask about.
type study struct {
	*Config
	law  dist.Law
	rate float64
}

func (s study) load() float64 { return s.rate * s.law.Mean() / s.capacity() }
func (s study) ps() bool      { return s.System.Discipline == "ps" }
func (s study) poisson() bool { _, ok := s.Arrivals.(*Poisson); return ok }

// exponential says whether sizes are, be it as an Erlang law of one stage.
func (s study) exponential() bool {
	switch law := s.law.(type) {
	case dist.Exponential:
		return true
	case dist.Erlang:
		return law.Stages == 1
	}
	return false
}

// gapShape returns the shape of gamma gaps, +Inf for equal ones.
func (s study) gapShape() float64 {
	switch a := s.Arrivals.(type) {
	case *Deterministic:
		return math.Inf(1)
	case *GammaGaps:
		return 1 / (a.Burstiness * a.Burstiness)
	}
	return 1
}

// at fills in the quantiles, from nil with NaN.
func (v Value) at(quantile func(p float64) float64) Value {
	if quantile == nil {
		quantile = func(float64) float64 { return math.NaN() }
	}
	v.P50, v.P90, v.P95, v.P99, v.P999 = quantile(0.5), quantile(0.9), quantile(0.95), quantile(0.99), quantile(0.999)
	if v.Kind == None {
		v.Mean = math.NaN()
	}
	return v
}

// tailQuantile returns the least x with tail(x) <= 1-p, of a tail that falls
// from at most 1 at 0 to 0.
func tailQuantile(p float64, tail func(x float64) float64) float64 {
	hi := 1.0
	for tail(hi) > 1-p {
		hi *= 2
	}
	lo := 0.0
	for range 200 {
		mid := (lo + hi) / 2
		if mid == lo || mid == hi {
			break
		}
		if tail(mid) > 1-p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
