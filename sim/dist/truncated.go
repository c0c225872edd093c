package dist

import (
	"math"

	"switchyard/sim/rng"
)

// TruncatedNormal is the normal distribution of mean Mu and deviation Sigma
// under the condition Min <= x <= Max, by inversion: one uniform a draw. With
// a = (Min-Mu)/Sigma, b = (Max-Mu)/Sigma, the density p and the distribution
// function F of the standard normal, and Z = F(b) - F(a):
//
//	mean     = Mu + Sigma (p(a) - p(b)) / Z
//	variance = Sigma^2 (1 + (a p(a) - b p(b))/Z - ((p(a) - p(b))/Z)^2)
type TruncatedNormal struct{ Mu, Sigma, Min, Max float64 }

// Draw inverts F by the inverse error function; draws beyond about eight
// deviations lose digits.
func (t TruncatedNormal) Draw(s *rng.Stream) float64 {
	a, b := cdf((t.Min-t.Mu)/t.Sigma), cdf((t.Max-t.Mu)/t.Sigma)
	u := a + float64((b-a)*s.Float64())
	x := t.Mu + float64(t.Sigma*math.Sqrt2*math.Erfinv(float64(2*u)-1))
	return math.Min(math.Max(x, t.Min), t.Max)
}

func (t TruncatedNormal) Mean() float64 {
	ratio, _ := t.terms()
	return t.Mu + float64(t.Sigma*ratio)
}

func (t TruncatedNormal) SD() float64 {
	ratio, second := t.terms()
	return t.Sigma * math.Sqrt(1+second-float64(ratio*ratio))
}

// terms returns (p(a)-p(b))/Z and (a p(a) - b p(b))/Z.
func (t TruncatedNormal) terms() (float64, float64) {
	a, b := (t.Min-t.Mu)/t.Sigma, (t.Max-t.Mu)/t.Sigma
	z := cdf(b) - cdf(a)
	return (pdf(a) - pdf(b)) / z, (times(a) - times(b)) / z
}

// times is x p(x), which is 0 at both infinities.
func times(x float64) float64 {
	if math.IsInf(x, 0) {
		return 0
	}
	return x * pdf(x)
}

func pdf(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
func cdf(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
