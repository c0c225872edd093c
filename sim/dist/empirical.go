package dist

import (
	"math"
	"slices"
	"sort"

	"switchyard/sim/rng"
)

// Empirical takes each of some recorded values with equal probability, by
// inversion: a larger uniform gives a larger value.
type Empirical struct {
	values []float64    // sorted
	upTo   [3][]float64 // sums of the k-th powers of the values before index i, over their number
}

// NewEmpirical returns the law of these values, at least one, all finite and
// not negative.
func NewEmpirical(values []float64) *Empirical {
	if len(values) == 0 {
		panic("dist: empirical law of no values")
	}
	e := &Empirical{values: slices.Clone(values)}
	slices.Sort(e.values)
	if !(e.values[0] >= 0) || math.IsInf(e.values[len(values)-1], 1) {
		panic("dist: empirical law of a value that is negative or not finite")
	}
	n := float64(len(values))
	for k := range e.upTo {
		sums := make([]float64, len(values)+1)
		for i, v := range e.values {
			sums[i+1] = sums[i] + power(v, k)
		}
		for i := range sums {
			sums[i] /= n
		}
		e.upTo[k] = sums
	}
	return e
}

// Draw takes one uniform.
func (e *Empirical) Draw(s *rng.Stream) float64 {
	return e.values[min(int(s.Float64()*float64(len(e.values))), len(e.values)-1)]
}

func (e *Empirical) Mean() float64 { return e.upTo[1][len(e.values)] }
func (e *Empirical) SD() float64 {
	m := e.Mean()
	return math.Sqrt(math.Max(0, e.upTo[2][len(e.values)]-m*m))
}

// Partial implements Law.
func (e *Empirical) Partial(k int, x float64) float64 {
	return e.upTo[k][sort.Search(len(e.values), func(i int) bool { return e.values[i] > x })]
}
