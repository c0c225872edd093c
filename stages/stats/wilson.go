package stats

import "math"

// Wilson returns the interval of a share that was seen in n independent cases
// (Wilson, 1927): the shares from which the seen one is no further than the
// normal quantile of the level in standard errors. n need not be whole, and the
// share may be a mean of scores in [0, 1], whose variance is no greater. Without
// cases there is no interval.
func Wilson(share, n, level float64) Range {
	if !(n > 0) {
		return none
	}
	z := math.Sqrt2 * math.Erfinv(level)
	scale := 1 + z*z/n
	middle := (share + z*z/(2*n)) / scale
	half := z / scale * math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	return Range{max(0, middle-half), min(1, middle+half)}
}
