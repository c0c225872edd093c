package queueing

import "switchyard/sim/rng"

// draws draws several of so many things at random. Distinct ones are drawn one
// after the other: the next is the r-th in order of index of those not drawn
// yet, r uniform.
type draws struct {
	count, of int
	distinct  bool
	drawn     []int
	sorted    []int
}

// draw returns the things drawn, in the order in which they were, valid until
// the next call.
func (d *draws) draw(s *rng.Stream) []int {
	d.drawn, d.sorted = d.drawn[:0], d.sorted[:0]
	for len(d.drawn) < d.count {
		if !d.distinct {
			d.drawn = append(d.drawn, s.IntN(d.of))
			continue
		}
		i, at := s.IntN(d.of-len(d.drawn)), 0
		for ; at < len(d.sorted) && d.sorted[at] <= i; at++ {
			i++
		}
		d.drawn = append(d.drawn, i)
		d.sorted = append(d.sorted, 0)
		copy(d.sorted[at+1:], d.sorted[at:])
		d.sorted[at] = i
	}
	return d.drawn
}
