package dist

import (
	"math"

	"switchyard/sim/rng"
)

// Erlang is the sum of Stages independent exponentials of mean
// MeanValue/Stages: squared coefficient of variation 1/Stages.
type Erlang struct {
	Stages    int
	MeanValue float64
}

// Draw takes Stages uniforms.
func (e Erlang) Draw(s *rng.Stream) float64 {
	var sum float64
	for range e.Stages {
		sum += s.Exp()
	}
	return e.MeanValue / float64(e.Stages) * sum
}

func (e Erlang) Mean() float64 { return e.MeanValue }
func (e Erlang) SD() float64   { return e.MeanValue / math.Sqrt(float64(e.Stages)) }

// Partial implements Law: with m the mean of a stage,
// E[S^k; S <= x] = n(n+1)...(n+k-1) m^k P(S' <= x), S' having k stages more.
func (e Erlang) Partial(k int, x float64) float64 {
	m := e.MeanValue / float64(e.Stages)
	factor := 1.0
	for i := range k {
		factor *= m * float64(e.Stages+i)
	}
	return factor * erlangCDF(e.Stages+k, x/m)
}

// erlangCDF is the distribution function at y of the sum of n exponentials of
// mean one, 1 - e^-y sum_{j<n} y^j/j!, as the upper sum where that would
// cancel.
func erlangCDF(n int, y float64) float64 {
	switch {
	case y <= 0:
		return 0
	case math.IsInf(y, 1):
		return 1
	}
	logFactorial, _ := math.Lgamma(float64(n) + 1)
	at := math.Exp(float64(n)*math.Log(y) - y - logFactorial) // y^n e^-y / n!
	if y < float64(n) {
		sum, term := 0.0, at
		for j := n + 1; term > sum*1e-17; j++ {
			sum += term
			term *= y / float64(j)
		}
		return sum
	}
	sum, term := 0.0, at
	for j := n; j > 0 && term >= sum*1e-17; j-- {
		term *= float64(j) / y
		sum += term
	}
	return math.Max(0, 1-sum)
}
