package engine

import (
	"math/bits"

	"switchyard/sim/workload"
)

// preorder numbers the nodes of a forest so that the nodes below one, itself
// included, are the numbers from at[n] to at[n] + size[n] - 1.
type preorder struct {
	forest *workload.Forest // that was numbered
	at     []int32
	size   []int32
	node   []int32 // by number
	next   []int32 // scratch: the next free number below a node
}

// number numbers f, unless it was the last to be numbered.
func (p *preorder) number(f *workload.Forest) {
	n := f.Nodes()
	if p.forest == f && len(p.at) == n {
		return
	}
	p.forest = f
	p.at, p.size, p.node, p.next = cleared(p.at, n), cleared(p.size, n), cleared(p.node, n), cleared(p.next, n)
	for i := n - 1; i >= 0; i-- {
		p.size[i]++
		if up := f.Parent[i]; up != none {
			p.size[up] += p.size[i]
		}
	}
	roots := int32(0)
	for i := range n {
		free := &roots
		if up := f.Parent[i]; up != none {
			free = &p.next[up]
		}
		p.at[i] = *free
		*free += p.size[i]
		p.next[i] = p.at[i] + 1
		p.node[p.at[i]] = int32(i)
	}
}

// numbers is a set of numbers below a bound that finds the next one in a few
// steps: bits in words, over words that say which of those below are not zero.
type numbers struct{ levels [][]uint64 }

func (s *numbers) reset(bound int) {
	level := 0
	for {
		bound = (bound + 63) / 64
		if level == len(s.levels) {
			s.levels = append(s.levels, nil)
		}
		s.levels[level] = cleared(s.levels[level], max(bound, 1))
		level++
		if bound <= 1 {
			break
		}
	}
	s.levels = s.levels[:level]
}

func (s *numbers) add(i int32) {
	for _, words := range s.levels {
		words[i>>6] |= 1 << (i & 63)
		i >>= 6
	}
}

func (s *numbers) remove(i int32) {
	for _, words := range s.levels {
		words[i>>6] &^= 1 << (i & 63)
		if words[i>>6] != 0 {
			return
		}
		i >>= 6
	}
}

// from returns the least member that is not below i, none without.
func (s *numbers) from(i int32) int32 {
	for level := 0; level < len(s.levels); level++ {
		words := s.levels[level]
		if int(i>>6) >= len(words) {
			return none
		}
		if rest := words[i>>6] >> (i & 63); rest != 0 {
			i += int32(bits.TrailingZeros64(rest))
			for level--; level >= 0; level-- {
				i = i<<6 + int32(bits.TrailingZeros64(s.levels[level][i]))
			}
			return i
		}
		i = i>>6 + 1
	}
	return none
}
