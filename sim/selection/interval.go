package selection

import "math"

// z is the normal quantile of a two-sided interval of 95 %.
const z = 1.959963984540054

// wilson returns Wilson's interval (1927) for a mean of n numbers in [0, 1],
// exact in form for shares of right answers and wide for other scores.
func wilson(mean float64, n int) (lo, hi float64) {
	if n < 1 {
		return math.NaN(), math.NaN()
	}
	N := float64(n)
	centre := (mean + z*z/(2*N)) / (1 + z*z/N)
	half := z / (1 + z*z/N) * math.Sqrt(float64(mean*(1-mean))/N+z*z/(4*N*N))
	return max(0, centre-half), min(1, centre+half)
}

// ratio is a share of cases that come in clusters, which are independent of
// one another while the cases of one are not.
type ratio struct{ hits, cases []float64 } // by cluster

func (r *ratio) share() float64 {
	hits, cases := r.sums()
	return hits / cases
}

func (r *ratio) sums() (hits, cases float64) {
	for i := range r.cases {
		hits += r.hits[i]
		cases += r.cases[i]
	}
	return hits, cases
}

// variance is the linearised variance of a ratio of cluster totals (Cochran,
// Sampling Techniques, section 6.3).
func (r *ratio) variance() float64 {
	n := float64(len(r.cases))
	share := r.share()
	_, cases := r.sums()
	if n < 2 || cases == 0 {
		return 0
	}
	var sum float64
	for i := range r.cases {
		d := r.hits[i] - float64(share*r.cases[i])
		sum += float64(d * d)
	}
	return n / (n - 1) * sum / (cases * cases)
}

// none is the upper end of Clopper and Pearson's interval when none of n
// independent clusters has a hit.
func none(n int) float64 { return 1 - math.Pow(.025, 1/float64(max(1, n))) }
