package stats

import (
	"math"
	"slices"
)

// Quantile returns the type-7 quantile q of x (Hyndman and Fan, 1996): the
// linear interpolation between order statistics at position (n-1) q. It is
// DuckDB's quantile_cont, numpy's default and R's default, so that SQL over
// table `requests` and this house agree. x need not be sorted and is left as it
// is; NaN of nothing, or where x holds a NaN. q is clamped to [0, 1].
func Quantile(x []float64, q float64) float64 {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	return QuantileSorted(sorted, q)
}

// QuantileSorted is Quantile for values in ascending order (NaN first, as
// slices.Sort puts it), without the copy.
func QuantileSorted(x []float64, q float64) float64 {
	if len(x) == 0 || math.IsNaN(x[0]) {
		return math.NaN()
	}
	position := min(max(q, 0), 1) * float64(len(x)-1)
	below := math.Floor(position)
	i := int(below)
	if i+1 >= len(x) {
		return x[len(x)-1]
	}
	lo, hi := x[i], x[i+1]
	if lo == hi {
		return lo
	}
	return lo + float64((position-below)*(hi-lo))
}

// Median returns the type-7 quantile one half.
func Median(x []float64) float64 { return Quantile(x, 0.5) }
