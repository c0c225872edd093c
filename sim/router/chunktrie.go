package router

import (
	"math/bits"

	"switchyard/sim/workload"
)

// chunkTrie remembers which replicas were sent which chunks of a prompt, for
// ever: the trie of vLLM's production stack. The last chunk of a prompt may be
// short; it is then another chunk than the whole one that begins alike, and is
// shared by prompts of the very same text alone.
//
// A row of bits, one a replica, stands for each node of the forest in which a
// chunk ends, and one more for each text whose last chunk is short. Private
// rests are never looked up again and take no memory here. The replicas of a
// row are among those of the rows above it, so that an insert stops at the first row
// that has the replica, and the deepest row that has one of some replicas tells
// how far they know a prompt.
type chunkTrie struct {
	work  *workload.Workload
	text  pages
	words int      // of a row
	rows  []uint64 // by node
	short []int32  // by node: its row for texts that end there with a short chunk, counted from the last node on; none without
}

func newChunkTrie(w *workload.Workload, replicas int, chunk int32) *chunkTrie {
	n := w.Forest.Nodes()
	t := &chunkTrie{work: w, text: newPages(&w.Forest, chunk), words: (replicas + 63) / 64, short: make([]int32, n)}
	for i := range t.short {
		t.short[i] = none
	}
	rows := int32(n)
	for id, leaf := range w.Leaf {
		if leaf != workload.None && w.Prompt[id] == w.Forest.End[leaf] && w.Prompt[id]%chunk != 0 && t.short[leaf] == none {
			t.short[leaf] = rows
			rows++
		}
	}
	t.rows = make([]uint64, int(rows)*t.words)
	return t
}

// ends returns the short row of a request's text, none without, and the
// deepest node of its path in which a chunk ends.
func (t *chunkTrie) ends(id int32) (short, leaf int32) {
	leaf = t.work.Leaf[id]
	if leaf == workload.None {
		return none, none
	}
	short = none
	if t.work.Prompt[id] == t.work.Forest.End[leaf] {
		short = t.short[leaf]
	}
	return short, t.text.leaf(leaf)
}

func (t *chunkTrie) row(i int32) []uint64 { return t.rows[int(i)*t.words:][:t.words] }

// longest lists the replicas among up that know the most of a prompt, and says
// how many tokens that is; nobody where none of them knows any.
func (t *chunkTrie) longest(id int32, up []int32, dst []int32) (int32, []int32) {
	short, n := t.ends(id)
	if short != none {
		if dst = t.among(short, up, dst); len(dst) > 0 {
			return t.work.Prompt[id], dst
		}
	}
	for ; n != none; n = t.text.parent[n] {
		if dst = t.among(n, up, dst); len(dst) > 0 {
			return t.text.end[n], dst
		}
	}
	return 0, dst
}

// among appends to dst the replicas of up that are in a row.
func (t *chunkTrie) among(i int32, up, dst []int32) []int32 {
	row := t.row(i)
	any := uint64(0)
	for _, w := range row {
		any |= w
	}
	if any == 0 {
		return dst
	}
	for _, r := range up {
		if row[r>>6]>>(r&63)&1 != 0 {
			dst = append(dst, r)
		}
	}
	return dst
}

// each writes how many tokens of a prompt each replica knows.
func (t *chunkTrie) each(id int32, dst []int32) {
	clear(dst)
	mark := func(i, tokens int32) {
		for w, set := range t.row(i) {
			for ; set != 0; set &= set - 1 {
				if r := w<<6 + bits.TrailingZeros64(set); dst[r] == 0 {
					dst[r] = tokens
				}
			}
		}
	}
	short, n := t.ends(id)
	if short != none {
		mark(short, t.work.Prompt[id])
	}
	for ; n != none; n = t.text.parent[n] {
		mark(n, t.text.end[n])
	}
}

// insert notes that a replica was sent a prompt.
func (t *chunkTrie) insert(id int32, replica int) {
	word, bit := replica>>6, uint64(1)<<(replica&63)
	short, n := t.ends(id)
	if short != none {
		t.row(short)[word] |= bit
	}
	for ; n != none && t.row(n)[word]&bit == 0; n = t.text.parent[n] {
		t.row(n)[word] |= bit
	}
}
