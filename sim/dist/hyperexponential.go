package dist

import (
	"math"

	"switchyard/sim/rng"
)

// Hyperexponential is exponential of mean Long with probability Share, else of
// mean Short.
type Hyperexponential struct{ Share, Long, Short float64 }

// NewHyperexponential returns the law with that mean and squared coefficient of
// variation scv of at least 1, with balanced means: both branches bring half
// of the work,
//
//	p = (1 - sqrt((c2-1)/(c2+1)))/2, long = m/(2p), short = m/(2(1-p))
func NewHyperexponential(mean, scv float64) Hyperexponential {
	if !(mean > 0 && scv >= 1) {
		panic("dist: hyperexponential with a mean that is not positive or a variation below an exponential's")
	}
	p := (1 - math.Sqrt((scv-1)/(scv+1))) / 2
	return Hyperexponential{p, mean / (2 * p), mean / (2 * (1 - p))}
}

// NewMixedExponential returns the law with that mean in which the long branch,
// taken with probability share, is ratio times as long as the short one.
func NewMixedExponential(mean, share, ratio float64) Hyperexponential {
	if !(mean > 0 && share >= 0 && share <= 1 && ratio > 0) {
		panic("dist: mixture of exponentials with a mean or ratio that is not positive, or a share outside 0 to 1")
	}
	short := mean / (1 - share + share*ratio)
	return Hyperexponential{share, ratio * short, short}
}

// Draw takes two uniforms.
func (h Hyperexponential) Draw(s *rng.Stream) float64 {
	mean := h.Short
	if s.Float64() < h.Share {
		mean = h.Long
	}
	return mean * s.Exp()
}

func (h Hyperexponential) Mean() float64 { return h.Partial(1, math.Inf(1)) }
func (h Hyperexponential) SD() float64 {
	m := h.Mean()
	return math.Sqrt(h.Partial(2, math.Inf(1)) - m*m)
}

// Partial implements Law.
func (h Hyperexponential) Partial(k int, x float64) float64 {
	return h.Share*Exponential{h.Long}.Partial(k, x) + (1-h.Share)*Exponential{h.Short}.Partial(k, x)
}
