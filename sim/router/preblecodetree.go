package router

import "switchyard/sim/workload"

// codeTree is the radix tree of Preble's code. A node is a run of nodes of the
// workload's forest, with or without the private rest of one prompt behind it,
// and splits where prompts part. Node 0 is the root.
//
// A shared node has a cell for each replica; one with a private rest, which
// only one request has, a cell for the replica of that request. Cells of nodes
// that are cached on a replica are in one of its two lists: idle ones, which no
// request in flight has, by last access, and busy ones.
type codeTree struct {
	forest   *workload.Forest
	replicas int
	private  int32 // first node of the forest that only one request can have, None without
	nodes    []codeNode
	cells    []codeCell
	owner    []int32 // by node of the forest: the node that has it, 0 without
	lists    []codeLists
	free     int32 // first unused node, linked by next
	freeCell int32 // first unused single cell, linked by next
	clock    int64
	now      int32 // number of the last virtual eviction
	delays   codeDelays
	lower    int32         // what remained of the node that was split last
	parting  func(n int32) // called before a node splits

	listFunc, unlistFunc func(n int32, r int)
}

// Fields are in order of use: what rebalancing reads lies together.
type codeNode struct {
	child, next   int32 // first child, next sibling
	homes         int32 // number of replicas it is allocated to
	home          int32 // where that is one: which
	slot          int32 // its place in the window, 0 without
	refs          int32 // requests in flight, over all replicas
	start, tokens int32 // tokens before it and its own
	parent, prev  int32 // prev is a sibling
	only          int32 // replica of its one cell; everyReplica; noReplica
	cell          int32 // first of its cells
	seq           int64 // last access
	top, bottom   int32 // run of forest nodes, None without
	leafs         int32 // requests in the window of which it was the leaf

	stamp, seenAt, seen int32 // the last virtual evictions that visited it and children of it, and how many of these

	own      int32 // forest node of the private rest plus one, 0 without
	rest     bool  // a private rest is behind the run
	unlisted bool  // see adopt
}

const (
	everyReplica = -1
	noReplica    = -2
)

// codeCell is a node on a replica.
type codeCell struct {
	refs        int32 // requests in flight
	prev, next  int32 // nodes in the list that it is in
	kids        int32 // children that are cached there
	first, last int32 // its times to first token, see codeDelays
	cached      bool
	home        bool // the node is allocated to the replica and to others
}

// codeLists are the nodes that a replica caches.
type codeLists struct {
	idle, newest, busy int32 // first idle, last idle, first busy
	tokens             int64
}

func (t *codeTree) reset(w *workload.Workload, replicas int) {
	*t = codeTree{
		forest: &w.Forest, replicas: replicas, private: w.Private,
		nodes: make([]codeNode, 1, 1024), cells: make([]codeCell, 1, 1024),
		owner: make([]int32, w.Forest.Nodes()), lists: make([]codeLists, replicas),
		delays: codeDelays{items: make([]codeDelay, 1)},
	}
	t.listFunc, t.unlistFunc = t.list, t.unlist
	t.nodes[0] = codeNode{parent: workload.None, top: workload.None, bottom: workload.None, only: everyReplica, cell: t.row()}
}

// row makes cells for all replicas.
func (t *codeTree) row() int32 {
	at := int32(len(t.cells))
	for range t.replicas {
		t.cells = append(t.cells, codeCell{})
	}
	return at
}

// single makes one cell.
func (t *codeTree) single() int32 {
	at := t.freeCell
	if at == 0 {
		t.cells = append(t.cells, codeCell{})
		return int32(len(t.cells) - 1)
	}
	t.freeCell = t.cells[at].next
	t.cells[at] = codeCell{}
	return at
}

// at returns the cell of a node on a replica, nil where it has none.
func (t *codeTree) at(n int32, r int) *codeCell {
	switch x := &t.nodes[n]; x.only {
	case everyReplica:
		return &t.cells[int(x.cell)+r]
	case int32(r):
		return &t.cells[x.cell]
	}
	return nil
}

// cachedOn reports whether a replica is believed to cache a node.
func (t *codeTree) cachedOn(n int32, r int) bool {
	c := t.at(n, r)
	return c != nil && c.cached
}

// insert puts a prompt into the tree and returns its leaf, and the node that
// was split off for it above another, 0 without.
func (t *codeTree) insert(leaf, prompt int32) (n, split int32) {
	shared := leaf
	if t.private != workload.None && leaf >= t.private {
		shared = t.forest.Parent[leaf]
	}
	match, below := shared, int32(workload.None)
	for match != workload.None && t.owner[match] == 0 {
		match, below = t.forest.Parent[match], match
	}
	at := int32(0)
	if match != workload.None {
		at = t.owner[match]
		if t.nodes[at].bottom != match || t.nodes[at].rest {
			split = t.split(at, match)
			at = split
		}
	}
	end := t.nodes[at].start + t.nodes[at].tokens
	if end < prompt {
		at = t.add(at, below, shared, prompt-end)
		if leaf != shared {
			t.owner[leaf] = at
			t.nodes[at].own = leaf + 1
		}
	}
	t.touch(at)
	return at, split
}

// add makes a leaf of the forest's nodes from top to shared, none where top is
// None, and what is private.
func (t *codeTree) add(parent, top, shared, tokens int32) int32 {
	n := t.fresh()
	up := &t.nodes[parent]
	x := &t.nodes[n]
	*x = codeNode{parent: parent, top: workload.None, bottom: workload.None, start: up.start + up.tokens, tokens: tokens, only: noReplica, home: noReplica}
	whole := x.start + tokens
	end := x.start
	if top != workload.None {
		x.top, x.bottom = top, shared
		for f := shared; ; f = t.forest.Parent[f] {
			t.owner[f] = n
			if f == top {
				break
			}
		}
		end = t.forest.End[shared]
	}
	if x.rest = end < whole; !x.rest {
		x.only, x.cell = everyReplica, t.row()
	}
	t.adopt(parent, n)
	return n
}

// fresh returns an unused node.
func (t *codeTree) fresh() int32 {
	if n := t.free; n != 0 {
		t.free = t.nodes[n].next
		return n
	}
	t.nodes = append(t.nodes, codeNode{})
	return int32(len(t.nodes) - 1)
}

// adopt makes n a child of parent. A private rest that is not large is left out
// of the list of children: no request asks again where it is allocated.
func (t *codeTree) adopt(parent, n int32) {
	x := &t.nodes[n]
	x.parent = parent
	x.unlisted = x.rest && x.top == workload.None && x.tokens <= x.start && x.slot == 0
	if x.unlisted {
		return
	}
	x.prev, x.next = 0, t.nodes[parent].child
	if x.next != 0 {
		t.nodes[x.next].prev = n
	}
	t.nodes[parent].child = n
}

func (t *codeTree) orphan(n int32) {
	x := &t.nodes[n]
	if x.unlisted {
		return
	}
	if x.prev == 0 {
		t.nodes[x.parent].child = x.next
	} else {
		t.nodes[x.prev].next = x.next
	}
	if x.next != 0 {
		t.nodes[x.next].prev = x.prev
	}
}

// split parts a node behind a node of the forest and returns the upper part,
// which is new and takes over whatever was known of the whole.
func (t *codeTree) split(n, behind int32) int32 {
	t.parting(n)
	t.lower = n
	u := t.fresh()
	x, up := &t.nodes[n], &t.nodes[u]
	tokens := t.forest.End[behind] - x.start
	*up = codeNode{top: x.top, bottom: behind, start: x.start, tokens: tokens, refs: x.refs, home: x.home, homes: x.homes, only: everyReplica, cell: t.row()}
	for f := behind; ; f = t.forest.Parent[f] {
		t.owner[f] = u
		if f == x.top {
			break
		}
	}
	if x.bottom == behind {
		x.top, x.bottom = workload.None, workload.None
	} else {
		f := x.bottom
		for t.forest.Parent[f] != behind {
			f = t.forest.Parent[f]
		}
		x.top = f
	}
	x.start += tokens
	x.tokens -= tokens
	parent := x.parent
	t.orphan(n)
	t.adopt(parent, u)
	t.adopt(u, n)
	t.clock++
	up.seq = t.clock
	for r := range t.replicas {
		c := &t.cells[int(up.cell)+r]
		c.home = up.homes > 1 && t.isHome(n, r)
		if old := t.at(n, r); old != nil {
			c.refs = old.refs
			if old.cached {
				c.cached, c.kids = true, 1
				t.list(u, r)
			}
		}
	}
	return u
}

// isHome reports whether a node is allocated to a replica.
func (t *codeTree) isHome(n int32, r int) bool {
	switch x := &t.nodes[n]; x.homes {
	case 0:
		return false
	case 1:
		return x.home == int32(r)
	}
	return t.at(n, r).home
}

// touch makes the nodes on the path to n the last accessed, the root first.
func (t *codeTree) touch(n int32) {
	t.clock += int64(len(t.nodes)) // leaves room for all that lie above n
	seq := t.clock
	for ; n != 0; n = t.nodes[n].parent {
		idle := t.nodes[n].refs == 0
		if idle {
			t.each(n, t.unlistFunc)
		}
		t.nodes[n].seq = seq
		if idle {
			t.each(n, t.listFunc)
		}
		seq--
	}
}

// each calls do for the replicas that cache a node.
func (t *codeTree) each(n int32, do func(n int32, r int)) {
	switch x := &t.nodes[n]; x.only {
	case noReplica:
	case everyReplica:
		for r := range t.replicas {
			if t.cells[int(x.cell)+r].cached {
				do(n, r)
			}
		}
	default:
		if t.cells[x.cell].cached {
			do(n, int(x.only))
		}
	}
}

// list puts a cached node into a list of a replica: of idle ones behind those
// that were accessed before it, which is near the end.
func (t *codeTree) list(n int32, r int) {
	c, l := t.at(n, r), &t.lists[r]
	if t.nodes[n].refs > 0 {
		c.prev, c.next = 0, l.busy
		if l.busy != 0 {
			t.at(l.busy, r).prev = n
		}
		l.busy = n
		return
	}
	before := l.newest
	for before != 0 && t.nodes[before].seq > t.nodes[n].seq {
		before = t.at(before, r).prev
	}
	c.prev = before
	if before == 0 {
		c.next, l.idle = l.idle, n
	} else {
		b := t.at(before, r)
		c.next, b.next = b.next, n
	}
	if c.next == 0 {
		l.newest = n
	} else {
		t.at(c.next, r).prev = n
	}
}

// unlist takes a cached node out of the list of a replica that it is in.
func (t *codeTree) unlist(n int32, r int) {
	c, l := t.at(n, r), &t.lists[r]
	idle := t.nodes[n].refs == 0
	switch {
	case c.prev != 0:
		t.at(c.prev, r).next = c.next
	case idle:
		l.idle = c.next
	default:
		l.busy = c.next
	}
	switch {
	case c.next != 0:
		t.at(c.next, r).prev = c.prev
	case idle:
		l.newest = c.prev
	}
}

// cache notes that a replica caches a node.
func (t *codeTree) cache(n int32, r int) {
	c := t.at(n, r)
	if c.cached {
		return
	}
	c.cached = true
	t.list(n, r)
	t.at(t.nodes[n].parent, r).kids++
	t.lists[r].tokens += int64(t.nodes[n].tokens)
}

// uncache forgets that a replica caches a node.
func (t *codeTree) uncache(n int32, r int) {
	c := t.at(n, r)
	if c == nil || !c.cached {
		return
	}
	t.unlist(n, r)
	c.cached = false
	t.at(t.nodes[n].parent, r).kids--
	t.lists[r].tokens -= int64(t.nodes[n].tokens)
	t.collect(n)
}

// collect frees a node that no prompt can match any more once nothing is known
// of it.
func (t *codeTree) collect(n int32) {
	x := &t.nodes[n]
	if !x.rest || x.top != workload.None || x.refs > 0 || x.leafs > 0 || x.slot != 0 || x.only < 0 || t.cells[x.cell].cached {
		return
	}
	t.orphan(n)
	if x.own > 0 {
		t.owner[x.own-1] = 0
	}
	t.delays.clear(&t.cells[x.cell])
	t.cells[x.cell].next = t.freeCell
	t.freeCell = x.cell
	*x = codeNode{next: t.free}
	t.free = n
}
