package stats

import "math"

// Difference is what pairs say about the mean of a - b.
type Difference struct {
	N    int
	Mean float64
	Range
	P float64 // two-sided, of the hypothesis that the mean is 0
}

// Paired returns the mean difference a - b of pairs with its t interval and
// the two-sided p value of the paired t test. Pairing takes out what both
// sides share (common random numbers): where the pairs correlate by r and have
// equal variance, the difference has 2 (1 - r) of it. With one pair there is
// neither interval nor p. Pairs that all differ by the same number have p = 1
// where it is 0, else p = 0. It panics when the lengths differ.
func Paired(a, b []float64, level float64) Difference {
	if len(a) != len(b) {
		panic("stats: pairs of slices of different lengths")
	}
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	mean, in := Interval(d, level)
	out := Difference{N: len(d), Mean: mean, Range: in, P: math.NaN()}
	if len(d) < 2 || math.IsNaN(mean) {
		return out
	}
	n := float64(len(d))
	se := math.Sqrt(Variance(d) / n)
	switch {
	case se > 0:
		out.P = tTail(mean/se, n-1)
	case mean == 0:
		out.P = 1
	default:
		out.P = 0
	}
	return out
}

// Holm returns the p values corrected for their number by Holm's step-down
// (1979): sorted ascending, the k-th of m is multiplied by m - k + 1, and none
// falls under the one before it; at most 1. It holds the chance of any false
// rejection in the family without assuming independence, and is never weaker
// than Bonferroni's. NaN stays NaN and does not count in m.
func Holm(p []float64) []float64 {
	out := make([]float64, len(p))
	order := make([]int, 0, len(p))
	for i, v := range p {
		out[i] = math.NaN()
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	sortBy(order, p)
	last := 0.0
	for k, i := range order {
		last = max(last, min(1, float64(len(order)-k)*p[i]))
		out[i] = last
	}
	return out
}
