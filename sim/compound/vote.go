package compound

import "math/bits"

// tally is the room that votes and readings need.
type tally struct {
	right  []uint64
	voted  [][]uint64  // by voter: its output
	counts [][8]uint64 // by answer its voters, or by voter those who agree: bit planes of one word
	top    []uint64    // by answer: where it has the highest count
}

func (t *tally) room(g *Graph, words int) {
	t.right = make([]uint64, words)
	voters := 0
	for i, m := range g.modules {
		if m.Rule == Vote {
			voters = max(voters, len(g.reads[i]))
		}
	}
	t.voted = make([][]uint64, voters)
	t.counts = make([][8]uint64, voters)
	t.top = make([]uint64, voters)
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

// voteOfMany takes the cheaper of two ways to count.
func (w *World) voteOfMany(reads []int, dst []uint64) {
	voted := w.tally.voted[:len(reads)]
	for i, r := range reads {
		voted[i] = w.views[r]
	}
	width := bits.Len(uint(len(reads)))
	for k := range w.words {
		if w.sample.wrongs < len(reads) {
			w.voteByAnswer(voted, dst, k, width)
		} else {
			w.voteByPairs(voted, dst, k, width)
		}
	}
}

// voteByAnswer counts the voters of each answer for a word of questions, in
// bit-sliced numbers, and takes the first voter whose answer has the highest
// count.
func (w *World) voteByAnswer(voted [][]uint64, dst []uint64, k, width int) {
	answers := w.sample.wrongs + 1
	counts := w.tally.counts[:answers]
	var most [8]uint64
	for a := range counts {
		var count [8]uint64
		for _, out := range voted {
			carry := says(out, a, k, w.words)
			for b := range width {
				count[b], carry = count[b]^carry, count[b]&carry
			}
		}
		more := greater(&count, &most, width)
		for b := range width {
			most[b] = most[b]&^more | count[b]&more
		}
		counts[a] = count
	}
	top := w.tally.top[:answers]
	for a := range top {
		var less uint64
		for b := range width {
			less |= counts[a][b] ^ most[b]
		}
		top[a] = ^less
	}
	for at := k; at < len(dst); at += w.words {
		dst[at] = 0
	}
	left := ^uint64(0)
	for i := 0; i < len(voted) && left != 0; i++ {
		var takes uint64
		for a := range top {
			takes |= says(voted[i], a, k, w.words) & top[a]
		}
		takes &= left
		left &^= takes
		for at := k; at < len(dst); at += w.words {
			dst[at] |= voted[i][at] & takes
		}
	}
}

// says returns a word of the questions to which an output is answer a.
func says(out []uint64, a, k, words int) uint64 {
	same := ^uint64(0)
	for at := k; at < len(out); at += words {
		same &= out[at] ^ (uint64(a&1) - 1)
		a >>= 1
	}
	return same
}

// voteByPairs counts for each voter the others that agree with it, where there
// are more answers than voters, and takes the first with the highest count.
func (w *World) voteByPairs(voted [][]uint64, dst []uint64, k, width int) {
	counts := w.tally.counts[:len(voted)]
	clear(counts)
	for i := range voted {
		for j := range i {
			agree := agree(voted[i], voted[j], k, w.words)
			increment(&counts[i], agree)
			increment(&counts[j], agree)
		}
	}
	best := counts[0]
	for at := k; at < len(dst); at += w.words {
		dst[at] = voted[0][at]
	}
	for i := 1; i < len(voted); i++ {
		more := greater(&counts[i], &best, width)
		for at := k; at < len(dst); at += w.words {
			dst[at] = dst[at]&^more | voted[i][at]&more
		}
		for b := range width {
			best[b] = best[b]&^more | counts[i][b]&more
		}
	}
}

// agree returns a word of the questions to which two outputs are the same.
func agree(a, b []uint64, k, words int) uint64 {
	var differ uint64
	for at := k; at < len(a); at += words {
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
