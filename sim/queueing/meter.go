package queueing

import "slices"

// exactUpTo is how many response times are kept for exact quantiles, in 80 MB.
const exactUpTo = 10_000_000

// classes is the number of size classes: the quarters of the law of sizes.
const classes = 4

// meter measures requests as they end.
type meter struct {
	limits  [classes - 1]int64 // largest sizes of all classes but the last
	class   [classes]tally
	squares float64
	halves  [2]tally
	counts  []uint32 // by class and bin
	exact   []int64  // every response, while there are few enough
	keep    bool
	buffer  [blockSize]int64
}

// tally sums up responses.
type tally struct {
	n         int64
	responses float64
	slowdowns float64 // response over size
	empty     int64   // of size 0, a tick here, which has no slowdown
}

func (m *meter) reset(limits [classes - 1]int64, expected int64) {
	counts, exact := m.counts, m.exact[:0]
	if counts == nil {
		counts = make([]uint32, classes*bins)
	}
	clear(counts)
	*m = meter{limits: limits, counts: counts, exact: exact, keep: expected <= exactUpTo}
	if m.keep {
		m.exact = slices.Grow(m.exact, int(expected))
	}
}

// served measures a block of which all departures are known.
func (m *meter) served(b *block, half int) {
	for k := range b.n {
		m.buffer[k] = b.done[k] - b.time[k]
	}
	m.add(m.buffer[:b.n], b.need[:b.n], half)
}

// add measures requests by their responses, of at least one tick, and sizes.
// half says in which half of the measured requests they are.
func (m *meter) add(responses, needs []int64, half int) {
	needs = needs[:len(responses)]
	counts := (*[classes * bins]uint32)(m.counts)
	l0, l1, l2 := m.limits[0], m.limits[1], m.limits[2]
	var sum, squares float64
	for k, r := range responses {
		need := needs[k]
		x := float64(r)
		sum += x
		squares += float64(x * x)
		c := 0
		if need > l0 {
			c = 1
		}
		if need > l1 {
			c = 2
		}
		if need > l2 {
			c = 3
		}
		t := &m.class[c&3]
		t.n++
		t.responses += x
		if need > 1 {
			t.slowdowns += x / float64(need)
		} else {
			t.empty++
		}
		counts[uint(c*bins+binOf(x))%(classes*bins)]++
	}
	m.squares += squares
	m.halves[half].n += int64(len(responses))
	m.halves[half].responses += sum
	if m.keep {
		m.exact = append(m.exact, responses...)
	}
}

// histogram returns the bins of all classes together.
func (m *meter) histogram() []int64 {
	all := make([]int64, bins)
	for i, n := range m.counts {
		all[i%bins] += int64(n)
	}
	return all
}

// classHistogram returns the bins of one class.
func (m *meter) classHistogram(c int) []int64 {
	all := make([]int64, bins)
	for i, n := range m.counts[c*bins : (c+1)*bins] {
		all[i] = int64(n)
	}
	return all
}

// quantiles returns quantiles in ticks, exact where every response was kept.
func (m *meter) quantiles(ps []float64) []float64 {
	if m.keep {
		return exactQuantiles(m.exact, m.histogram(), ps)
	}
	return sketchQuantiles(m.histogram(), ps)
}
