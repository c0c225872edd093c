package dist

import (
	"math"

	"switchyard/sim/rng"
)

// Discrete draws an index with probability proportional to its weight, by
// inversion: one uniform a draw, larger uniforms giving larger indices. A
// guide table (Chen and Asau, 1974) starts the search within an expected
// constant number of steps of its end.
type Discrete struct {
	upTo  []float64 // share of indices 0 to i
	guide []int32   // for each of len(guide) equal parts of [0, 1), the first index that reaches into it
}

// NewDiscrete returns the distribution with these weights: at least one,
// none negative, not all zero.
func NewDiscrete(weights []float64) *Discrete {
	var total float64
	for _, w := range weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			panic("dist: discrete with a weight that is negative or not finite")
		}
		total += w
	}
	if total <= 0 {
		panic("dist: discrete without a positive weight")
	}
	d := &Discrete{upTo: make([]float64, len(weights)), guide: make([]int32, len(weights))}
	var sum float64
	last := 0
	for i, w := range weights {
		sum += w
		d.upTo[i] = sum / total
		if w > 0 {
			last = i
		}
	}
	for i := last; i < len(d.upTo); i++ {
		d.upTo[i] = 1 // rounding must not leave a uniform behind the last index
	}
	at := int32(0)
	for part := range d.guide {
		for d.upTo[at] <= float64(part)/float64(len(d.guide)) {
			at++
		}
		d.guide[part] = at
	}
	return d
}

// Len returns the number of indices.
func (d *Discrete) Len() int { return len(d.upTo) }

// Share returns the probability of index i.
func (d *Discrete) Share(i int) float64 {
	if i == 0 {
		return d.upTo[0]
	}
	return d.upTo[i] - d.upTo[i-1]
}

// Draw returns an index.
func (d *Discrete) Draw(s *rng.Stream) int {
	u := s.Float64()
	part := min(int(u*float64(len(d.guide))), len(d.guide)-1) // u < 1, but the product may round up
	i := d.guide[part]
	for i > 0 && d.upTo[i-1] > u { // the same rounding
		i--
	}
	for d.upTo[i] <= u {
		i++
	}
	return int(i)
}
