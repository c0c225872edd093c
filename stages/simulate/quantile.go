package simulate

import (
	"cmp"
	"math"
)

// selectNth partially sorts a so that a[k] is the element that a full sort
// would put there, none before it is greater and none after it is smaller. It
// is the algorithm of Floyd and Rivest (CACM 18(3), 1975, algorithm 489): about
// n + min(k, n-k) comparisons, most of which a processor predicts, where
// Hoare's selection makes up to 3.4 n that it does not.
func selectNth[T cmp.Ordered](a []T, k int) {
	left, right := 0, len(a)-1
	for right > left {
		if right-left > 600 {
			// Select within a sample first, so that a[k] splits off nearly all
			// of the range. The constants are those of the paper.
			n, i := float64(right-left+1), float64(k-left+1)
			z := math.Log(n)
			s := 0.5 * math.Exp(2*z/3)
			sd := 0.5 * math.Sqrt(z*s*(n-s)/n)
			if i < n/2 {
				sd = -sd
			}
			from := max(left, int(float64(k)-i*s/n+sd))
			to := min(right, int(float64(k)+(n-i)*s/n+sd))
			selectNth(a[from:to+1], k-from)
		}
		t := a[k]
		i, j := left, right
		a[left], a[k] = a[k], a[left]
		if a[right] > t {
			a[left], a[right] = a[right], a[left]
		}
		for i < j {
			a[i], a[j] = a[j], a[i]
			i++
			j--
			for a[i] < t {
				i++
			}
			for a[j] > t {
				j--
			}
		}
		if a[left] == t {
			a[left], a[j] = a[j], a[left]
		} else {
			j++
			a[j], a[right] = a[right], a[j]
		}
		if j <= k {
			left = j + 1
		}
		if k <= j {
			right = j - 1
		}
	}
}

// quantiles sets into[i] to the type-7 quantile of a at probs[i]: with
// h = (n-1) p, the linear interpolation between the order statistics around h
// (Hyndman and Fan, 1996; the default of R and numpy, DuckDB's quantile_cont).
// It reorders a, which must not be empty; probs increase.
func quantiles[T int64 | float64](a []T, probs, into []float64) {
	sorted := 0 // every element before it is in its place or no greater than those after
	for i, p := range probs {
		h := float64(len(a)-1) * p
		k := int(h)
		if k >= sorted {
			selectNth(a[sorted:], k-sorted)
			sorted = k + 1
		}
		lo := float64(a[k])
		into[i] = lo
		frac := h - float64(k)
		if frac == 0 || k+1 == len(a) {
			continue
		}
		if k+1 >= sorted {
			least := k + 1
			for j := k + 2; j < len(a); j++ {
				if a[j] < a[least] {
					least = j
				}
			}
			a[k+1], a[least] = a[least], a[k+1]
			sorted = k + 2
		}
		into[i] = lo + float64(frac*(float64(a[k+1])-lo))
	}
}
