package dist

import "math"

// Law is a distribution of numbers that are not negative whose partial moments
// are known in closed form. From them follow all that the theory of single
// queues asks for: distribution function, moments, the load that sizes up to
// some size bring.
type Law interface {
	Dist
	// Partial returns E[S^k; S <= x], the k-th moment over the sizes up to x,
	// for k of 0, 1 or 2. Partial(0, x) is the distribution function, and
	// Partial(k, +Inf) the k-th moment, which may be +Inf.
	Partial(k int, x float64) float64
}

// Moment returns the k-th moment of a law, k at most 2.
func Moment(l Law, k int) float64 { return l.Partial(k, math.Inf(1)) }

// SCV returns the squared coefficient of variation, variance over mean
// squared; +Inf without a second moment.
func SCV(l Law) float64 {
	m := l.Mean()
	return math.Max(0, Moment(l, 2)/(m*m)-1)
}

// Quantile returns the least x with P(S <= x) >= p, for p in (0, 1).
func Quantile(l Law, p float64) float64 { return invert(l, 0, p) }

// LoadQuantile returns the least size up to which sizes bring at least the
// share p of all work: E[S; S <= x] >= p E[S], for p in (0, 1).
func LoadQuantile(l Law, p float64) float64 { return invert(l, 1, p*l.Mean()) }

// invert returns the least x > 0 with Partial(k, x) >= y by bisection down to
// neighbouring floating point numbers.
func invert(l Law, k int, y float64) float64 {
	// Positive numbers are ordered as their bits are, so that halving the
	// bits' interval finds the place in 63 steps whatever its magnitude.
	lo, hi := uint64(0), math.Float64bits(math.MaxFloat64)
	for lo < hi {
		mid := lo + (hi-lo)/2
		if l.Partial(k, math.Float64frombits(mid)) >= y {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return math.Float64frombits(lo)
}

// Partial implements Law.
func (c Constant) Partial(k int, x float64) float64 {
	if x < c.Value {
		return 0
	}
	return power(c.Value, k)
}

// Partial implements Law: with y = x/m, E[S^k; S <= x] = k! m^k P(y), P the
// distribution function of the sum of k+1 exponentials of mean one.
func (e Exponential) Partial(k int, x float64) float64 {
	factor := [3]float64{1, 1, 2}
	return factor[k] * power(e.MeanValue, k) * erlangCDF(k+1, x/e.MeanValue)
}

// Partial implements Law for a uniform that is not negative.
func (u Uniform) Partial(k int, x float64) float64 {
	x = math.Min(x, u.Max)
	if x < u.Min {
		return 0
	}
	return (power(x, k+1) - power(u.Min, k+1)) / (float64(k+1) * (u.Max - u.Min))
}

// Partial implements Law: E[S^k; S <= x] = e^(k mu + k^2 s^2/2) F((ln x - mu)/s - ks),
// F the standard normal distribution function.
func (l Lognormal) Partial(k int, x float64) float64 {
	if x <= 0 {
		return 0
	}
	if l.Sigma == 0 {
		return Constant{math.Exp(l.Mu)}.Partial(k, x)
	}
	kf := float64(k)
	moment := math.Exp(float64(kf*l.Mu) + kf*kf*l.Sigma*l.Sigma/2)
	return moment * cdf((math.Log(x)-l.Mu)/l.Sigma-float64(kf*l.Sigma))
}

// power is x^k for a small whole k, with 0^0 = 1.
func power(x float64, k int) float64 {
	y := 1.0
	for range k {
		y *= x
	}
	return y
}
