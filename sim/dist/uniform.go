package dist

import (
	"math"

	"switchyard/sim/rng"
)

// Uniform is uniform on [Min, Max): mean (Min+Max)/2, variance
// (Max-Min)^2/12.
type Uniform struct{ Min, Max float64 }

func (u Uniform) Draw(s *rng.Stream) float64 {
	return u.Min + float64((u.Max-u.Min)*s.Float64())
}
func (u Uniform) Mean() float64 { return (u.Min + u.Max) / 2 }
func (u Uniform) SD() float64   { return (u.Max - u.Min) / math.Sqrt(12) }
