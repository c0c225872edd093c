package dist

import (
	"math"

	"switchyard/sim/rng"
)

// BoundedPareto is Pareto's law under the condition S <= Most: on Least <= x <=
// Most,
//
//	P(S > x) = ((L/x)^a - (L/H)^a) / (1 - (L/H)^a)
//
// It has the heavy body of Pareto's law and all moments (Harchol-Balter,
// Crovella and Murta, 1999, On Choosing a Task Assignment Policy).
type BoundedPareto struct{ Alpha, Least, Most float64 }

// NewBoundedPareto returns the law with that mean and exponent, both positive,
// whose largest size is ratio > 1 times its least.
func NewBoundedPareto(mean, alpha, ratio float64) BoundedPareto {
	if !(mean > 0 && alpha > 0 && ratio > 1) {
		panic("dist: bounded pareto with a mean or exponent that is not positive, or a ratio not above 1")
	}
	scale := mean / BoundedPareto{alpha, 1, ratio}.Mean()
	return BoundedPareto{alpha, scale, scale * ratio}
}

// Draw inverts the tail: L (1 - U(1 - (L/H)^a))^(-1/a).
func (b BoundedPareto) Draw(s *rng.Stream) float64 {
	x := b.Least * math.Exp(-math.Log1p(-float64(s.Float64()*b.mass()))/b.Alpha)
	return math.Min(math.Max(x, b.Least), b.Most)
}

func (b BoundedPareto) Mean() float64 { return b.Partial(1, b.Most) }
func (b BoundedPareto) SD() float64 {
	m := b.Mean()
	return math.Sqrt(b.Partial(2, b.Most) - m*m)
}

// Partial implements Law: Pareto's, cut and scaled.
func (b BoundedPareto) Partial(k int, x float64) float64 {
	return Pareto{b.Alpha, b.Least}.Partial(k, math.Min(x, b.Most)) / b.mass()
}

// mass is what Pareto's law has below Most.
func (b BoundedPareto) mass() float64 {
	return -math.Expm1(float64(b.Alpha * math.Log(b.Least/b.Most)))
}
