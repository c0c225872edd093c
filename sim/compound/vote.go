package compound

import "math/bits"

// tally is the room that votes and readings need.
type tally struct {
	right  []uint64
	counts [][8]uint64 // by voter: how many others agree, in bit planes of one word
}

func (t *tally) room(g *Graph, words int) {
	t.right = make([]uint64, words)
	voters := 0
	for i, m := range g.modules {
		if m.Rule == Vote {
			voters = max(voters, len(g.reads[i]))
		}
	}
	t.counts = make([][8]uint64, voters)
}

// vote writes the most frequent of the answers read, of equals the first seen.
func (w *World) vote(reads []int, dst []uint64) {
	switch len(reads) {
	case 1, 2:
		copy(dst, w.views[reads[0]])
	case 3:
		w.voteOfThree(w.views[reads[0]], w.views[reads[1]], w.views[reads[2]], dst)
	default:
		w.voteOfMany(reads, dst)
	}
}

// voteOfThree uses that the second answer wins iff it equals the third; in all
// other cases the first one does.
func (w *World) voteOfThree(a, b, c, dst []uint64) {
	n := w.words
	if w.planes == 2 {
		a0, b0, c0, d0 := a[:n], b[:n], c[:n], dst[:n]
		a1, b1, c1, d1 := a[n:][:n], b[n:][:n], c[n:][:n], dst[n:][:n]
		for k := range d0 {
			differ := (b0[k] ^ c0[k]) | (b1[k] ^ c1[k])
			d0[k] = a0[k]&differ | b0[k]&^differ
			d1[k] = a1[k]&differ | b1[k]&^differ
		}
		return
	}
	for k := range n {
		differ := b[k] ^ c[k]
		for at := k + n; at < len(dst); at += n {
			differ |= (b[at] ^ c[at])
		}
		for at := k; at < len(dst); at += n {
			dst[at] = a[at]&differ | b[at]&^differ
		}
	}
}

// voteOfMany counts for each voter the others that agree with it, in bit-sliced
// numbers, and takes the first voter with the highest count.
func (w *World) voteOfMany(reads []int, dst []uint64) {
	voters := len(reads)
	width := bits.Len(uint(voters))
	counts := w.tally.counts[:voters]
	for k := range w.words {
		for i := range counts {
			counts[i] = [8]uint64{}
		}
		for i := range voters {
			for j := range i {
				agree := w.agree(reads[i], reads[j], k)
				increment(&counts[i], agree)
				increment(&counts[j], agree)
			}
		}
		best := counts[0]
		for at := k; at < len(dst); at += w.words {
			dst[at] = w.views[reads[0]][at]
		}
		for i := 1; i < voters; i++ {
			more := greater(&counts[i], &best, width)
			for at := k; at < len(dst); at += w.words {
				dst[at] = dst[at]&^more | w.views[reads[i]][at]&more
			}
			for b := range width {
				best[b] = best[b]&^more | counts[i][b]&more
			}
		}
	}
}

// agree returns a word of the questions to which two modules answer the same.
func (w *World) agree(i, j, k int) uint64 {
	a, b := w.views[i], w.views[j]
	var differ uint64
	for at := k; at < len(a); at += w.words {
		differ |= (a[at] ^ b[at])
	}
	return ^differ
}

// increment adds a bit to each of 64 numbers.
func increment(count *[8]uint64, carry uint64) {
	for b := 0; carry != 0; b++ {
		count[b], carry = count[b]^carry, count[b]&carry
	}
}

// greater says for each of 64 pairs of numbers whether a is more than b.
func greater(a, b *[8]uint64, width int) uint64 {
	var more uint64
	for i := range width {
		more = a[i]&^b[i] | more&^(a[i]^b[i])
	}
	return more
}
