package dist

import (
	"math"

	"switchyard/sim/rng"
)

// Lognormal is exp(Mu + Sigma Z) with Z standard normal:
//
//	mean = exp(Mu + Sigma^2/2)
//	sd   = mean sqrt(exp(Sigma^2) - 1)
type Lognormal struct{ Mu, Sigma float64 }

// NewLognormal returns the lognormal distribution with that mean and standard
// deviation; the mean must be positive and the deviation not negative.
func NewLognormal(mean, sd float64) Lognormal {
	if !(mean > 0 && sd >= 0) {
		panic("dist: lognormal with a mean that is not positive or a negative deviation")
	}
	cv := sd / mean
	v := math.Log1p(cv * cv)
	return Lognormal{math.Log(mean) - v/2, math.Sqrt(v)}
}

// Draw takes two uniforms, or none where Sigma is 0.
func (l Lognormal) Draw(s *rng.Stream) float64 {
	if l.Sigma == 0 {
		return math.Exp(l.Mu)
	}
	return math.Exp(l.Mu + float64(l.Sigma*s.Normal()))
}

func (l Lognormal) Mean() float64 { return math.Exp(l.Mu + float64(l.Sigma*l.Sigma)/2) }
func (l Lognormal) SD() float64   { return l.Mean() * math.Sqrt(math.Expm1(l.Sigma*l.Sigma)) }

// LognormalOf returns the lognormal distribution with that mean, positive, and
// deviation of the logarithm, not negative.
func LognormalOf(mean, sigma float64) Lognormal {
	return Lognormal{math.Log(mean) - float64(sigma*sigma)/2, sigma}
}
