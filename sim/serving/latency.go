package serving

import (
	"math"
	"slices"

	"switchyard/sim/cluster"
)

// Latencies writes how long each question took, in nanoseconds, -1 where one of
// its calls was not served.
func (c *Calls) Latencies(r *cluster.Result, dst []int64) []int64 {
	dst = dst[:0]
	for q := range len(c.From) - 1 {
		first, last := int64(math.MaxInt64), int64(0)
		served := true
		for i := c.From[q]; i < c.From[q+1]; i++ {
			served = served && r.Status[i] == cluster.Finished
			first, last = min(first, r.ArrivalNs[i]), max(last, r.FinishNs[i])
		}
		if !served {
			last = first - 1
		}
		dst = append(dst, last-first)
	}
	return dst
}

// Times sums up the latencies of questions, in seconds. Quantiles are of type
// 7; all are NaN where no question was served.
type Times struct {
	Questions     int // measured
	Failed        int // of them, with a call that was not served
	Mean          float64
	P50, P95, P99 float64
	Within        float64 // share of the questions within the bound, failed ones outside; 1 without a bound
}

// Sum sums up latencies from the question cut on; bound is in nanoseconds, 0 for
// none. It sorts what it is given.
func Sum(latencies []int64, cut int, bound int64) Times {
	all := latencies[min(cut, len(latencies)):]
	slices.Sort(all)
	t := Times{Questions: len(all), Mean: math.NaN(), P50: math.NaN(), P95: math.NaN(), P99: math.NaN(), Within: math.NaN()}
	within, sum := 0, 0.0
	for _, x := range all {
		switch {
		case x < 0:
			t.Failed++
			continue
		case bound == 0 || x <= bound:
			within++
		}
		sum += float64(x)
	}
	served := all[t.Failed:]
	if len(all) > 0 {
		t.Within = float64(within) / float64(len(all))
	}
	if len(served) > 0 {
		t.Mean = sum / float64(len(served)) / 1e9
		t.P50, t.P95, t.P99 = quantile(served, .5), quantile(served, .95), quantile(served, .99)
	}
	return t
}

// quantile is that of sorted values, in seconds, on the line between two ranks.
func quantile(sorted []int64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := int(at)
	x := float64(sorted[i])
	if i+1 < len(sorted) {
		x += float64((at - float64(i)) * float64(sorted[i+1]-sorted[i]))
	}
	return x / 1e9
}
