package router

import "switchyard/sim/workload"

// prebleTree is the radix tree of paper mode over the nodes of a forest: what
// each replica is believed to cache, in order of use, and how many requests
// within the window used it there.
//
// A node on a replica has an entry while tokens of it are cached there or a
// request within the window used it. Entry 0 stands for none.
type prebleTree struct {
	forest   *workload.Forest
	replicas int
	capacity int64
	cells    []int32 // [node][replica]: entry
	entries  []prebleEntry
	free     int32   // first unused entry, linked by next
	holders  []int32 // by node: replicas with tokens of it
	head     []int32 // by replica: least recently used entry with tokens
	tail     []int32
	held     []int64 // by replica: cached tokens
	path     []int32 // of the marked request, leaf first
	marks    []int32 // by node: the last mark that had it
	now      int32
}

type prebleEntry struct {
	node, tokens int32
	uses         int32 // requests within the window
	prev, next   int32
}

func (t *prebleTree) reset(f *workload.Forest, replicas int, capacity int64) {
	n := f.Nodes()
	*t = prebleTree{
		forest: f, replicas: replicas, capacity: capacity,
		cells: make([]int32, n*replicas), entries: make([]prebleEntry, 1, 1024),
		holders: make([]int32, n), head: make([]int32, replicas), tail: make([]int32, replicas),
		held: make([]int64, replicas), marks: make([]int32, n),
	}
}

// mark makes the path to leaf the one of the request at hand.
func (t *prebleTree) mark(leaf int32) {
	t.now++
	t.path = t.path[:0]
	for n := leaf; n != workload.None; n = t.forest.Parent[n] {
		t.marks[n] = t.now
		t.path = append(t.path, n)
	}
}

func (t *prebleTree) marked(node int32) bool { return t.marks[node] == t.now }

// match writes the tokens of the marked path, from its root without a gap, that
// each replica caches.
func (t *prebleTree) match(dst []int32) {
	clear(dst)
	for k := len(t.path) - 1; k >= 0; k-- {
		n := t.path[k]
		if t.holders[n] == 0 {
			return
		}
		start, grew := t.forest.End[n]-t.forest.Tokens[n], false
		for r, e := range t.cells[int(n)*t.replicas:][:t.replicas] {
			if e != 0 && dst[r] == start && t.entries[e].tokens > 0 {
				dst[r], grew = start+t.entries[e].tokens, true
			}
		}
		if !grew {
			return
		}
	}
}

// insert caches the marked path, which ends in leaf, on replica r, counts its
// use, and drops what there is no more room for. The leaf is used before its
// parents, so that in order of use no node goes before those below it.
func (t *prebleTree) insert(r int, leaf int32) {
	for n := leaf; n != workload.None; n = t.forest.Parent[n] {
		e := t.entry(r, n)
		x := &t.entries[e]
		x.uses++
		if x.tokens == 0 {
			t.holders[n]++
		} else {
			t.unlink(r, e)
		}
		t.held[r] += int64(t.forest.Tokens[n] - x.tokens)
		x.tokens = t.forest.Tokens[n]
		t.push(r, e)
	}
	for t.held[r] > t.capacity && !t.marked(t.entries[t.head[r]].node) {
		t.shrink(r, t.entries[t.head[r]].node, 0)
	}
}

// excess returns how many tokens there is no room for when missed tokens are
// added to those that replica r caches.
func (t *prebleTree) excess(r int, missed int64) int64 { return t.held[r] + missed - t.capacity }

// shrink leaves at most so many tokens of a node on replica r.
func (t *prebleTree) shrink(r int, node, tokens int32) {
	at := int(node)*t.replicas + r
	e := t.cells[at]
	if e == 0 || t.entries[e].tokens <= tokens {
		return
	}
	x := &t.entries[e]
	t.held[r] -= int64(x.tokens - tokens)
	if x.tokens = tokens; tokens > 0 {
		return
	}
	t.holders[node]--
	t.unlink(r, e)
	t.release(at)
}

// drop forgets all that replica r caches.
func (t *prebleTree) drop(r int) {
	for t.head[r] != 0 {
		t.shrink(r, t.entries[t.head[r]].node, 0)
	}
}

// unuse takes back a use of the path to leaf on replica r.
func (t *prebleTree) unuse(r int, leaf int32) {
	for n := leaf; n != workload.None; n = t.forest.Parent[n] {
		at := int(n)*t.replicas + r
		t.entries[t.cells[at]].uses--
		t.release(at)
	}
}

// entry returns the entry of a node on replica r, a new one where it has none.
func (t *prebleTree) entry(r int, node int32) int32 {
	at := int(node)*t.replicas + r
	if t.cells[at] == 0 {
		if t.free == 0 {
			t.entries = append(t.entries, prebleEntry{})
			t.free = int32(len(t.entries) - 1)
		}
		e := t.free
		t.free = t.entries[e].next
		t.entries[e] = prebleEntry{node: node}
		t.cells[at] = e
	}
	return t.cells[at]
}

// release frees the entry of a cell when nothing is left of it.
func (t *prebleTree) release(at int) {
	e := t.cells[at]
	if x := &t.entries[e]; x.tokens == 0 && x.uses == 0 {
		x.next = t.free
		t.free, t.cells[at] = e, 0
	}
}

// push makes an entry the most recently used of replica r.
func (t *prebleTree) push(r int, e int32) {
	x := &t.entries[e]
	x.prev, x.next = t.tail[r], 0
	if x.prev == 0 {
		t.head[r] = e
	} else {
		t.entries[x.prev].next = e
	}
	t.tail[r] = e
}

func (t *prebleTree) unlink(r int, e int32) {
	x := &t.entries[e]
	if x.prev == 0 {
		t.head[r] = x.next
	} else {
		t.entries[x.prev].next = x.next
	}
	if x.next == 0 {
		t.tail[r] = x.prev
	} else {
		t.entries[x.next].prev = x.prev
	}
}
