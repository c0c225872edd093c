package stats

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// Range is a closed interval [Lo, Hi]; both are NaN where there is none.
type Range struct{ Lo, Hi float64 }

// none is the interval that does not exist.
var none = Range{math.NaN(), math.NaN()}

// Exists reports whether the interval has two finite ends.
func (r Range) Exists() bool {
	return !math.IsNaN(r.Lo) && !math.IsNaN(r.Hi) && !math.IsInf(r.Lo, 0) && !math.IsInf(r.Hi, 0)
}

// Contains reports whether x lies in the interval, ends included.
func (r Range) Contains(x float64) bool { return r.Lo <= x && x <= r.Hi }

// Mean returns the arithmetic mean, NaN of nothing.
func Mean(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	mean := sum / float64(len(x))
	// A second pass takes out most of the first one's rounding, so that equal
	// values have exactly their value as mean.
	rest := 0.0
	for _, v := range x {
		rest += v - mean
	}
	return mean + rest/float64(len(x))
}

// Variance returns the unbiased sample variance, sum (x - mean)^2 / (n - 1);
// NaN with fewer than two values.
func Variance(x []float64) float64 { return Covariance(x, x) }

// Covariance returns the unbiased sample covariance of pairs (a[i], b[i]);
// NaN with fewer than two. It panics when the lengths differ.
func Covariance(a, b []float64) float64 {
	if len(a) != len(b) {
		panic("stats: covariance of slices of different lengths")
	}
	n := len(a)
	if n < 2 {
		return math.NaN()
	}
	ma, mb := Mean(a), Mean(b)
	sum := 0.0
	for i := range a {
		sum += float64((a[i] - ma) * (b[i] - mb))
	}
	return sum / float64(n-1)
}

// TQuantile returns the quantile q of Student's t with nu degrees of freedom.
// It remembers its answers: an aggregate asks for the same few a million times,
// and one takes several microseconds.
func TQuantile(q, nu float64) float64 {
	key := [2]float64{q, nu}
	if t, ok := tQuantiles.Load(key); ok {
		return t.(float64)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nu}.Quantile(q)
	tQuantiles.Store(key, t)
	return t
}

// tQuantiles holds a float64 for each (q, nu) asked for: as many as there are
// numbers of replications in an experiment.
var tQuantiles sync.Map

// tTail returns P(|T| >= |t|) for Student's t with nu degrees of freedom.
func tTail(t, nu float64) float64 {
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nu}.Survival(math.Abs(t))
}

// Interval returns the mean and its two-sided Student t interval,
// mean -+ t(1/2 + level/2, n-1) s / sqrt(n), for independent and roughly normal
// values. One value has no interval. Equal values have one of no width, which
// says that the replications agree, not that the truth is known.
func Interval(x []float64, level float64) (mean float64, in Range) {
	mean = Mean(x)
	n := float64(len(x))
	if n < 2 {
		return mean, none
	}
	half := TQuantile(0.5+level/2, n-1) * math.Sqrt(Variance(x)/n)
	return mean, Range{mean - half, mean + half}
}

// LowerBound returns the one-sided lower confidence bound of the mean,
// mean - t(level, n-1) s / sqrt(n); NaN with fewer than two values.
func LowerBound(x []float64, level float64) float64 {
	n := float64(len(x))
	if n < 2 {
		return math.NaN()
	}
	return Mean(x) - TQuantile(level, n-1)*math.Sqrt(Variance(x)/n)
}
