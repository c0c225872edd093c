package queueing

import "math/bits"

// bitset is a set of servers, bit i%64 of word i/64 being server i.
type bitset []uint64

func words(n int) int { return (n + 63) / 64 }

func (s bitset) add(i int)    { s[i>>6] |= 1 << (i & 63) }
func (s bitset) remove(i int) { s[i>>6] &^= 1 << (i & 63) }

// member returns the j-th member in order of index, from 0, of a set with more
// than j members.
func (s bitset) member(j int) int {
	for w, word := range s {
		n := bits.OnesCount64(word)
		if j < n {
			return w<<6 + selectBit(word, j)
		}
		j -= n
	}
	panic("queueing: a set with too few members")
}

// from returns the first member at or behind i, around, of a set that is not
// empty.
func (s bitset) from(i int) int {
	w := i >> 6
	word := s[w] &^ (1<<(i&63) - 1)
	for word == 0 {
		if w++; w == len(s) {
			w = 0
		}
		word = s[w]
	}
	return w<<6 + bits.TrailingZeros64(word)
}

// selectBit returns the place of the j-th set bit, from 0.
func selectBit(word uint64, j int) int {
	place := 0
	for width := 32; width >= 8; width >>= 1 {
		if n := bits.OnesCount64(word & (1<<width - 1)); j >= n {
			j -= n
			word >>= width
			place += width
		}
	}
	for range j {
		word &= word - 1
	}
	return place + bits.TrailingZeros64(word)
}
