package compound

import "math"

// sweep walks through allocations in the order of their numbers and keeps what
// modules did: a module's output is computed for all its candidates as soon as
// what it reads is settled, so that the last decisions only pick from tables.
type sweep struct {
	alloc  []int32
	levels [][]int      // by decision, from none: the modules whose inputs it settles
	tables [][][]uint64 // by module and candidate: its output
}

// Allocations returns the number of allocations, 0 where an int64 cannot hold
// it.
func (w *World) Allocations() int64 {
	n := int64(1)
	for _, list := range w.lists {
		if n > math.MaxInt64/int64(len(list)) {
			return 0
		}
		n *= int64(len(list))
	}
	return n
}

// Allocation writes allocation number n: the last module's candidate advances
// fastest.
func (w *World) Allocation(n int64, alloc []int32) {
	for d := len(w.lists) - 1; d >= 0; d-- {
		k := int64(len(w.lists[d]))
		alloc[d] = int32(n % k)
		n /= k
	}
}

// Number returns the number of an allocation.
func (w *World) Number(alloc []int32) (n int64) {
	for d, c := range alloc {
		n = n*int64(len(w.lists[d])) + int64(c)
	}
	return n
}

// Counts writes how many questions each allocation answers right, in the order
// of their numbers.
func (w *World) Counts(dst []int32) error {
	return w.CountRange(0, dst)
}

// CountRange writes how many questions the allocations number first, first+1,
// ... answer right, as many as dst has room for. Workers share a large space
// by ranges; each needs its own Fork.
func (w *World) CountRange(first int64, dst []int32) error {
	if err := w.checkRange(first, len(dst)); err != nil {
		return err
	}
	if w.sweep == nil {
		w.sweep = newSweep(w)
	}
	s := w.sweep
	w.Allocation(first, s.alloc)
	from := 0
	for n := range dst {
		for d := from; d < len(s.alloc); d++ {
			w.settle(d)
		}
		dst[n] = w.count(w.graph.output)
		from = w.advance(s.alloc)
	}
	return nil
}

// advance makes an allocation the next one and returns the first decision that
// changed.
func (w *World) advance(alloc []int32) int {
	for d := len(alloc) - 1; d > 0; d-- {
		if alloc[d]++; int(alloc[d]) < len(w.lists[d]) {
			return d
		}
		alloc[d] = 0
	}
	alloc[0]++
	return 0
}

func newSweep(w *World) *sweep {
	g := w.graph
	s := &sweep{alloc: make([]int32, len(w.lists)), levels: make([][]int, len(w.lists)), tables: make([][][]uint64, g.Len())}
	latest := make([]int, g.Len()) // by module: the last decision that its output depends on
	for i := range g.modules {
		level := -1
		for _, r := range g.reads[i] {
			level = max(level, latest[r])
		}
		d := g.decision[i]
		latest[i] = max(level, d)
		if level >= 0 {
			s.levels[level] = append(s.levels[level], i)
		}
		switch {
		case d < 0:
		case level < 0:
			s.tables[i] = w.first[i]
		default:
			s.tables[i] = make([][]uint64, len(w.lists[d]))
			for c := range s.tables[i] {
				s.tables[i][c] = make([]uint64, w.planes*w.words)
			}
		}
	}
	return s
}

// settle takes decision d as it stands in the walk and computes what that
// settles.
func (w *World) settle(d int) {
	s := w.sweep
	i := w.graph.decisions[d]
	w.views[i] = s.tables[i][s.alloc[d]]
	for _, m := range s.levels[d] {
		if w.graph.decision[m] < 0 {
			w.step(m, -1, s.alloc, w.outs[m])
			w.views[m] = w.outs[m]
			continue
		}
		for c, out := range s.tables[m] {
			w.step(m, int32(c), s.alloc, out)
		}
	}
}
