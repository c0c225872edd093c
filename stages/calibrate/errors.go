package calibrate

import (
	"math"

	"switchyard/sim/rng"
	"switchyard/stages/stats"
)

// Metrics of an error, in the order of Errors.
var metricNames = [...]string{"ttft", "tpot", "e2e"}

// Error is how far a simulation is off on some requests, in shares: 0.03 is
// 3 % too much.
type Error struct {
	Metric   string
	Measured float64 // mean, us
	Mean     float64 // of the mean
	Lo, Hi   float64 // its 95 % interval, see interval
	Median   float64
	P99      float64
	P99Lo    float64
	P99Hi    float64
	Each     float64 // mean over requests of the absolute error of each
}

// column returns a metric's values.
func (l *latencies) column(metric int) []float64 {
	return [...][]float64{l.ttft, l.tpot, l.e2e}[metric]
}

// pair is a metric of some requests, measured and simulated, in order of time.
type pair struct{ measured, simulated []float64 }

// pairs collects a metric over the requests that count.
func pairs(r *recording, simulated latencies, metric int, counts func(i int) bool) (p pair) {
	m, s := r.measured.column(metric), simulated.column(metric)
	for i := range m {
		if counts(i) && !math.IsNaN(m[i]) {
			p.measured, p.simulated = append(p.measured, m[i]), append(p.simulated, s[i])
		}
	}
	return p
}

func relative(simulated, measured float64) float64 { return simulated/measured - 1 }

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// resamples of the bootstrap, and the requests of a block. A block holds what
// one busy spell makes of the requests in it.
const (
	resamples = 400
	blockSize = 40
)

// newError compares, with intervals by a bootstrap over blocks of consecutive
// requests (Künsch, 1989). Spread is a further deviation of the simulated mean,
// in shares, that the choice of the fit makes.
func newError(metric int, p pair, spread float64) Error {
	e := Error{Metric: metricNames[metric], Measured: mean(p.measured), Mean: relative(mean(p.simulated), mean(p.measured))}
	e.Median = relative(stats.Median(p.simulated), stats.Median(p.measured))
	e.P99 = relative(stats.Quantile(p.simulated, .99), stats.Quantile(p.measured, .99))
	for i := range p.measured {
		e.Each += math.Abs(relative(p.simulated[i], p.measured[i])) / float64(len(p.measured))
	}
	n := len(p.measured)
	size := max(1, min(blockSize, n/4))
	random := rng.New(1, 1, "calibrate/bootstrap")
	var means, tails []float64
	a, b := make([]float64, 0, n+size), make([]float64, 0, n+size)
	for range resamples {
		a, b = a[:0], b[:0]
		for len(a) < n {
			at := random.IntN(n - size + 1)
			a, b = append(a, p.measured[at:at+size]...), append(b, p.simulated[at:at+size]...)
		}
		means = append(means, relative(mean(b), mean(a)))
		tails = append(tails, relative(stats.Quantile(b, .99), stats.Quantile(a, .99)))
	}
	widen := func(x []float64, centre float64) (lo, hi float64) {
		lo, hi = stats.Quantile(x, .025)-centre, stats.Quantile(x, .975)-centre
		return centre - math.Hypot(min(lo, 0), 1.96*spread), centre + math.Hypot(max(hi, 0), 1.96*spread)
	}
	e.Lo, e.Hi = widen(means, e.Mean)
	e.P99Lo, e.P99Hi = widen(tails, e.P99)
	return e
}
