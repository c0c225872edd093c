package stats

import "math"

// MSER5 returns the warm-up cut of a series by MSER-5 (White, Cobb and Spratt,
// 2000): batch means of five observations, and the cut d among the first half
// of the m batches that minimises the squared standard error of the rest,
//
//	sum over i > d of (Y_i - mean)^2 / (m - d)^2.
//
// The cut is in observations, a multiple of five. settled is false where the
// least lies at the last cut allowed: the series has not reached a steady
// state, or is too short (fewer than ten batches).
//
// Give it the average over replications of the i-th observation, never one
// run: per run it cuts where that run happens to be low, which measured on
// M/M/1 biases the mean by -4 to -15 % and leaves intervals covering 67-87 %.
// Even so it serves as a warning here, and the cut stays what was asked for.
func MSER5(series []float64) (cut int, settled bool) {
	const batch = 5
	m := len(series) / batch
	if m < 10 {
		return 0, false
	}
	y := make([]float64, m)
	for i := range y {
		y[i] = Mean(series[i*batch : (i+1)*batch])
	}
	// Walk from the end, updating mean and sum of squares of the rest by
	// Welford's recurrence.
	best, at := math.Inf(1), 0
	mean, sum := 0.0, 0.0
	for d := m - 1; d >= 0; d-- {
		k := float64(m - d)
		delta := y[d] - mean
		mean += delta / k
		sum += float64(delta * (y[d] - mean))
		if d > m/2 {
			continue
		}
		if v := sum / (k * k); v <= best { // of equal cuts the shorter
			best, at = v, d
		}
	}
	return at * batch, at < m/2
}
