package capacity

import (
	"math"
	"strconv"
)

// mostProbes bounds a search: farthest doublings or halvings, and then a
// bracket of a part in a thousand. What is not found within a factor of 2^16 of
// the start has no limit, or nothing is carried; no axis goes beyond mostLoad,
// nor below leastLoad.
const (
	farthest   = 16
	mostProbes = farthest + 12
	mostLoad   = 1e6
	leastLoad  = 1e-6
)

// bracket is what a search knows: lo is carried and hi is not. None yet is 0
// and +Inf.
type bracket struct{ lo, hi float64 }

func unknown() bracket { return bracket{0, math.Inf(1)} }

// with returns what is known after a probe.
func (b bracket) with(load float64, carried bool) bracket {
	if carried {
		return bracket{load, b.hi}
	}
	return bracket{b.lo, load}
}

// next returns the load of the next probe, of so many before; ok is false
// where the search has ended.
func (b bracket) next(start, tolerance float64, probes int) (load float64, ok bool) {
	switch {
	case probes >= mostProbes || probes > farthest && (b.lo == 0 || math.IsInf(b.hi, 1)):
		return 0, false
	case b.lo == 0 && math.IsInf(b.hi, 1):
		return start, true
	case math.IsInf(b.hi, 1):
		load = rounded(2 * b.lo)
		return load, load <= mostLoad
	case b.lo == 0:
		load = rounded(b.hi / 2)
		return load, load >= leastLoad
	case b.hi <= (1+tolerance)*b.lo:
		return 0, false
	}
	load = rounded(math.Sqrt(b.lo * b.hi))
	return load, load > b.lo && load < b.hi
}

// rounded rounds to four digits, so that loads can be written down.
func rounded(x float64) float64 {
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	return y
}
