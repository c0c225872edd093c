package dist

import (
	"math"

	"switchyard/sim/rng"
)

// Gamma has the density x^(k-1) e^(-x/s) / (Gamma(k) s^k) with k = Shape and
// s = Scale: mean ks, standard deviation s sqrt(k), coefficient of variation
// 1/sqrt(k).
type Gamma struct{ Shape, Scale float64 }

// NewGamma returns the gamma distribution with that mean and coefficient of
// variation, both positive.
func NewGamma(mean, cv float64) Gamma {
	if !(mean > 0 && cv > 0) {
		panic("dist: gamma with a mean or a coefficient of variation that is not positive")
	}
	shape := 1 / (cv * cv)
	return Gamma{shape, mean / shape}
}

// Draw is the method of Marsaglia and Tsang (2000): for shape k >= 1, with
// d = k - 1/3 and c = 1/sqrt(9d), accept d(1+cZ)^3 when ln U < Z^2/2 + d - dv
// + d ln v. A shape below 1 is that of k+1 times U^(1/k).
func (g Gamma) Draw(s *rng.Stream) float64 {
	shape, boost := g.Shape, 1.0
	if shape < 1 {
		boost = math.Pow(1-s.Float64(), 1/shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		z := s.Normal()
		v := 1 + float64(c*z)
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-s.Float64()) < float64(z*z)/2+d-float64(d*v)+float64(d*math.Log(v)) {
			return g.Scale * boost * d * v
		}
	}
}

func (g Gamma) Mean() float64 { return g.Shape * g.Scale }
func (g Gamma) SD() float64   { return g.Scale * math.Sqrt(g.Shape) }
