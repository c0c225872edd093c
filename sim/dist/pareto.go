package dist

import (
	"math"

	"switchyard/sim/rng"
)

// Pareto has the tail P(S > x) = (Least/x)^Alpha for x >= Least. Its mean is
// Least Alpha/(Alpha-1), infinite for Alpha <= 1; its variance is infinite for
// Alpha <= 2.
type Pareto struct{ Alpha, Least float64 }

// NewPareto returns the Pareto law with that exponent, above 1, and mean.
func NewPareto(mean, alpha float64) Pareto {
	if !(mean > 0 && alpha > 1) {
		panic("dist: pareto with a mean that is not positive or an exponent without a mean")
	}
	return Pareto{alpha, mean * (alpha - 1) / alpha}
}

// Draw inverts the tail: Least e^(E/Alpha) with E exponential of mean one.
func (p Pareto) Draw(s *rng.Stream) float64 { return p.Least * math.Exp(s.Exp()/p.Alpha) }

func (p Pareto) Mean() float64 { return p.Partial(1, math.Inf(1)) }

// SD is +Inf for Alpha <= 2.
func (p Pareto) SD() float64 {
	m := p.Mean()
	return math.Sqrt(p.Partial(2, math.Inf(1)) - m*m)
}

// Partial implements Law:
//
//	E[S^k; S <= x] = a L^a (x^(k-a) - L^(k-a))/(k-a), and a L^a ln(x/L) for k = a
func (p Pareto) Partial(k int, x float64) float64 {
	if x < p.Least {
		return 0
	}
	return p.Alpha * power(p.Least, k) * grown(x/p.Least, float64(k)-p.Alpha)
}

// grown is (y^b - 1)/b, the integral of t^(b-1) from 1 to y, which is ln y for
// b = 0.
func grown(y, b float64) float64 {
	if math.IsInf(y, 1) {
		if b < 0 {
			return -1 / b
		}
		return math.Inf(1)
	}
	if b == 0 {
		return math.Log(y)
	}
	return math.Expm1(float64(b*math.Log(y))) / b
}
