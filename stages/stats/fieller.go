package stats

import (
	"cmp"
	"math"
	"slices"
)

// Shape is the shape of a confidence set for a ratio.
type Shape int8

// The shapes of Fieller's set. All but Bounded arise where the denominator's
// own interval reaches zero: the data then do not bound the ratio.
const (
	Bounded  Shape = iota // [Lo, Hi]
	Outside               // at most Lo, or at least Hi
	HalfLine              // one end is infinite
	Whole                 // every number
	Unknown               // fewer than two pairs, or no ratio
)

// String names the shape.
func (s Shape) String() string {
	return [...]string{"bounded", "outside", "half-line", "whole line", "unknown"}[s]
}

// Ratio is a ratio of two means with its confidence set.
type Ratio struct {
	N     int
	Value float64 // mean a / mean b; NaN where mean b is 0
	Shape Shape
	Range
}

// Fieller returns mean(a) / mean(b) of pairs with Fieller's confidence set
// (1940, 1954): the numbers r for which a t test does not reject
// mean(a - r b) = 0, that is
//
//	(ma - r mb)^2 <= t^2 (vaa - 2 r vab + r^2 vbb)
//
// with the (co)variances of the means v = s/n and t of n - 1 degrees of
// freedom. It is exact for normal pairs, where the delta method is not. With
// A = mb^2 - t^2 vbb and B = ma mb - t^2 vab, the ends are (B -+ sqrt(D)) / A,
//
//	D = t^2 (q - t^2 (vaa vbb - vab^2)),  q = ma^2 vbb - 2 ma mb vab + mb^2 vaa.
//
// A > 0 gives a bounded set that holds the ratio; A < 0 the outside of an open
// interval or, where D < 0, the whole line; A = 0 a half-line.
func Fieller(a, b []float64, level float64) Ratio {
	if len(a) != len(b) {
		panic("stats: pairs of slices of different lengths")
	}
	n := float64(len(a))
	ma, mb := Mean(a), Mean(b)
	out := Ratio{N: len(a), Value: ma / mb, Shape: Unknown, Range: none}
	if mb == 0 || math.IsNaN(out.Value) || math.IsInf(out.Value, 0) {
		out.Value = math.NaN()
	}
	if len(a) < 2 || math.IsNaN(ma) || math.IsNaN(mb) {
		return out
	}
	t := TQuantile(0.5+level/2, n-1)
	vaa, vab, vbb := Variance(a)/n, Covariance(a, b)/n, Variance(b)/n
	// q is the variance of the mean of mb a - ma b, summed as such: expanded
	// as above it would cancel where a follows b closely.
	q := 0.0
	for i := range a {
		d := mb*(a[i]-ma) - ma*(b[i]-mb)
		q += float64(d * d)
	}
	q /= n * (n - 1)
	t2 := t * t
	fa, fb := mb*mb-t2*vbb, ma*mb-t2*vab
	d := t2 * (q - t2*max(0, vaa*vbb-vab*vab))
	if math.Abs(d) <= 1e-13*t2*(ma*ma*vbb+mb*mb*vaa) {
		d = 0 // what rounding leaves of sides that are proportional
	}
	switch {
	case fa > 0:
		root := math.Sqrt(max(0, d)) // D >= 0 here: the ratio itself is in the set
		out.Shape, out.Range = Bounded, Range{(fb - root) / fa, (fb + root) / fa}
	case fa < 0 && d > 0:
		root := math.Sqrt(d)
		out.Shape, out.Range = Outside, Range{(fb + root) / fa, (fb - root) / fa}
	case fa == 0 && fb != 0:
		out.Shape, out.Range = HalfLine, halfLine(ma*ma-t2*vaa, fb)
	case mb == 0 && vbb == 0 && ma*ma > t2*vaa:
		// A constant zero under a mean that is not zero: no number fits.
	default:
		out.Shape, out.Range = Whole, Range{math.Inf(-1), math.Inf(1)}
	}
	return out
}

// halfLine solves c - 2 r b <= 0 for b != 0.
func halfLine(c, b float64) Range {
	if b > 0 {
		return Range{c / (2 * b), math.Inf(1)}
	}
	return Range{math.Inf(-1), c / (2 * b)}
}

// sortBy sorts indexes by the value that they point at, ties by index.
func sortBy(index []int, value []float64) {
	slices.SortFunc(index, func(i, j int) int {
		return cmp.Or(cmp.Compare(value[i], value[j]), cmp.Compare(i, j))
	})
}
