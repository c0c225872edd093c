package selection

import (
	"fmt"
	"math/bits"
	"slices"
)

// Space numbers the allocations of a world in mixed radix: the last module's
// candidate advances fastest.
type Space struct {
	sizes []int32
	total uint64 // 0 where it does not fit
}

// SpaceOf returns the space of a world's allocations.
func SpaceOf(w World) (Space, error) {
	s := Space{sizes: make([]int32, w.Modules()), total: 1}
	if len(s.sizes) == 0 {
		return s, fmt.Errorf("the world has no module with candidates: nothing to choose")
	}
	for m := range s.sizes {
		n := w.Candidates(m)
		if n < 1 {
			return s, fmt.Errorf("module %d has no candidates: give it at least one", m)
		}
		s.sizes[m] = int32(n)
		hi, lo := bits.Mul64(s.total, uint64(n))
		if hi != 0 || lo > 1<<62 {
			lo = 0
		}
		s.total = lo
	}
	return s, nil
}

// Size returns the number of allocations; ok is false past 2^62.
func (s *Space) Size() (n uint64, ok bool) { return s.total, s.total != 0 }

// AtMost says whether there are no more than n allocations.
func (s *Space) AtMost(n uint64) bool { return s.total != 0 && s.total <= n }

// Index returns the number of an allocation; past 2^62 allocations numbers
// wrap around and several share one.
func (s *Space) Index(alloc []int32) uint64 {
	var index uint64
	for m, n := range s.sizes {
		index = index*uint64(n) + uint64(alloc[m])
	}
	return index
}

// At writes the allocation of that number.
func (s *Space) At(index uint64, alloc []int32) {
	for m := len(s.sizes) - 1; m >= 0; m-- {
		n := uint64(s.sizes[m])
		alloc[m] = int32(index % n)
		index /= n
	}
}

// Next advances to the next allocation, and says false after the last, when it
// is back at the first.
func (s *Space) Next(alloc []int32) bool {
	for m := len(s.sizes) - 1; m >= 0; m-- {
		if alloc[m]++; alloc[m] < s.sizes[m] {
			return true
		}
		alloc[m] = 0
	}
	return false
}

// check complains about an allocation that is not in the space.
func (s *Space) check(alloc []int32) error {
	if len(alloc) != len(s.sizes) {
		return fmt.Errorf("the start names %d candidates: give one for each of the %d modules", len(alloc), len(s.sizes))
	}
	for m, k := range alloc {
		if k < 0 || k >= s.sizes[m] {
			return fmt.Errorf("the start gives module %d candidate %d: it has 0 to %d", m, k, s.sizes[m]-1)
		}
	}
	return nil
}

// single returns the allocations with one model everywhere.
func (s *Space) singles(w World) ([][]int32, error) {
	if u, ok := w.(Singles); ok {
		return u.Singles(), nil
	}
	if slices.Min(s.sizes) != slices.Max(s.sizes) {
		return nil, fmt.Errorf("modules have different numbers of candidates, so that none stands for one model everywhere: let the world implement Singles, or take another optimiser")
	}
	all := make([][]int32, s.sizes[0])
	for k := range all {
		all[k] = make([]int32, len(s.sizes))
		for m := range all[k] {
			all[k][m] = int32(k)
		}
	}
	return all, nil
}
