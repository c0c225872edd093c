package router

import (
	"switchyard/sim/heap"
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// tree is the approximate radix tree of SGLang's router and of those that
// descend from it: one tree for all replicas (tenants) that remembers which
// prompts were sent where, and knows nothing of what replicas evict.
//
// A node is a stretch of text, with the tenants that were sent a prompt that
// runs through it. Inserting a prompt splits the node inside which it leaves the
// text known so far, attaches the tenant to all nodes on its way and appends
// the rest, private tail included, as one leaf. A prompt matches as deep as the
// text is known, whoever was sent it; one tenant of the last node is named.
//
// A record (node, tenant) has the stamp of the last insert that ended there,
// or of the last match there that was noted, 0 before; a split copies stamps.
// When a tenant's text is larger than allowed, its leaves, which are the nodes
// with no child of the same tenant, go in order of their stamps.
//
// Text is the workload's forest: the nodes of a prompt's path, then a tail that
// no other request has, even one that is the same request once more. Forest
// nodes under one parent differ from their first token on. Hence a tree node is
// a chain of forest nodes and perhaps a tail, owner maps a forest node to the
// tree node that holds its end, and a match is a walk up from the prompt's leaf
// to the first node that has an owner.
//
// Invariants: the owners of a node own all nodes above it; a forest node has an
// owner only if its parent has; size of a tenant is the sum of the tokens of its
// nodes; every record without children is in its tenant's heap.
type tree struct {
	work  *workload.Workload
	text  pages
	owner []int32
	nodes []treeNode
	recs  []treeRec
	table pairs
	size  []int64     // by tenant: tokens
	aged  []heap.Heap // by tenant: its leaves by stamp
	clock int64       // of the last insert or noted match
	spare [2][]int32  // numbers of nodes and of records that are free
	last  bool        // the named tenant is the last that inserted, not the node's first
}

// treeNode is a chain of forest nodes up to bottom, then tail tokens.
type treeNode struct {
	parent int32 // tree node above, or none
	bottom int32 // last forest node, or none where all is tail
	tail   int32
	tokens int32 // of the whole node
	head   int32 // first of its records
	named  int32 // tenant that a match names while it owns the node
}

// treeRec says that a tenant owns a node.
type treeRec struct {
	node, tenant int32
	next, prev   int32 // of the same node
	parent       int32 // same tenant, node above
	children     int32 // same tenant, nodes below
	stamp        int64
	queued       bool // in the tenant's heap
	listed       bool // in the table
}

// known is how far the tree knows a prompt.
type known struct {
	at     int32 // last forest node that is known, none without
	node   int32 // its tree node
	tokens int32 // up to there
}

func newTree(w *workload.Workload, tenants int, page int32) *tree {
	t := &tree{work: w, text: newPages(&w.Forest, page), owner: make([]int32, w.Forest.Nodes()),
		size: make([]int64, tenants), aged: make([]heap.Heap, tenants)}
	for i := range t.owner {
		t.owner[i] = none
	}
	return t
}

// match returns how far the prompt of a request is known.
func (t *tree) match(id int32) known {
	n := t.text.leaf(t.work.Leaf[id])
	for n != none && t.owner[n] == none {
		n = t.text.parent[n]
	}
	if n == none {
		return known{none, none, 0}
	}
	return known{n, t.owner[n], t.text.end[n]}
}

// tenant returns the tenant that is named for what is known: the one that the
// node was made for, or the last that inserted, and where that has lost the
// node the one that was attached last. It panics where nothing is known.
func (t *tree) tenant(k known) int {
	node := &t.nodes[k.node]
	if t.find(k.node, node.named) == none {
		node.named = t.recs[node.head].tenant
	}
	return int(node.named)
}

// touch notes a match for the tenant, which owns the node, in one of eight cases.
func (t *tree) touch(k known, tenant int, stream *rng.Stream) {
	if k.node != none && stream.Uint64()&7 == 0 {
		t.clock++
		t.recs[t.find(k.node, int32(tenant))].stamp = t.clock
	}
}

// insert adds the prompt of a request, known as match has just said, for a tenant.
func (t *tree) insert(id int32, k known, tenant int) {
	t.clock++
	node := k.node
	if node != none {
		node = t.split(k)
	}
	total := t.text.whole(t.work.Prompt[id])
	if total > k.tokens {
		node = t.grow(t.text.leaf(t.work.Leaf[id]), k.at, node, total-k.tokens, int32(tenant))
	}
	if node == none {
		return // no whole page
	}
	t.attach(node, int32(tenant))
	if t.last {
		for n := node; n != none; n = t.nodes[n].parent {
			t.nodes[n].named = int32(tenant)
		}
	}
}

// split cuts a node where what is known of a prompt ends, and returns the upper
// part, which is new, or the node itself where it ends there.
func (t *tree) split(k known) int32 {
	lower := k.node
	if low := t.nodes[lower]; low.bottom == k.at && low.tail == 0 {
		return lower
	}
	upper := t.newNode()
	low := &t.nodes[lower]
	start := int32(0)
	if low.parent != none {
		start = t.text.end[t.nodes[low.parent].bottom]
	}
	t.nodes[upper] = treeNode{low.parent, k.at, 0, k.tokens - start, none, low.named}
	low.parent, low.tokens = upper, low.tokens-(k.tokens-start)
	if low.bottom == k.at {
		low.bottom = none
	}
	for n := k.at; n != none && t.owner[n] == lower; n = t.text.parent[n] {
		t.owner[n] = upper
	}
	for r := low.head; r != none; r = t.recs[r].next {
		u := t.newRec(upper, t.recs[r].tenant)
		rec := &t.recs[r]
		t.recs[u].stamp, t.recs[u].parent, t.recs[u].children = rec.stamp, rec.parent, 1
		rec.parent = u
	}
	return upper
}

// grow appends a leaf of so many tokens under a node: the forest nodes from
// below at to leaf, and a tail.
func (t *tree) grow(leaf, at, parent, tokens, tenant int32) int32 {
	n := t.newNode()
	node := treeNode{parent: parent, bottom: none, tail: tokens, tokens: tokens, head: none, named: tenant}
	if leaf != at {
		node.bottom = leaf
		start := int32(0)
		if at != none {
			start = t.text.end[at]
		}
		node.tail -= t.text.end[leaf] - start
		for f := leaf; f != at; f = t.text.parent[f] {
			t.owner[f] = n
		}
	}
	t.nodes[n] = node
	return n
}

// attach makes the tenant an owner of a node and of all above it, and stamps
// its record of the node.
func (t *tree) attach(node, tenant int32) {
	first, below := int32(none), int32(none)
	for n := node; n != none; n = t.nodes[n].parent {
		r := t.find(n, tenant)
		owned := r != none
		if !owned {
			r = t.newRec(n, tenant)
			t.size[tenant] += int64(t.nodes[n].tokens)
		}
		if below == none {
			first = r
		} else {
			t.recs[below].parent = r
			t.recs[r].children++
		}
		if below = r; owned {
			break
		}
	}
	rec := &t.recs[first]
	if rec.stamp = t.clock; rec.children == 0 && !rec.queued {
		t.queue(first)
	}
}

// newNode returns the number of a node that is to be filled.
func (t *tree) newNode() int32 {
	if n := len(t.spare[0]); n > 0 {
		i := t.spare[0][n-1]
		t.spare[0] = t.spare[0][:n-1]
		return i
	}
	t.nodes = append(t.nodes, treeNode{})
	return int32(len(t.nodes) - 1)
}

// newRec makes a tenant an owner of a node, with stamp 0.
func (t *tree) newRec(node, tenant int32) int32 {
	var r int32
	if n := len(t.spare[1]); n > 0 {
		r = t.spare[1][n-1]
		t.spare[1] = t.spare[1][:n-1]
	} else {
		r = int32(len(t.recs))
		t.recs = append(t.recs, treeRec{})
	}
	at := &t.nodes[node]
	t.recs[r] = treeRec{node: node, tenant: tenant, next: at.head, prev: none, parent: none}
	if at.head != none {
		t.recs[at.head].prev = r
	}
	at.head = r
	// A tail is never looked up again: no other prompt ends in it.
	if at.bottom != none {
		t.recs[r].listed = true
		t.table.add(t.recs, r)
	}
	return r
}

// find returns a tenant's record of a node, or none.
func (t *tree) find(node, tenant int32) int32 {
	r := t.nodes[node].head
	switch {
	case r == none || t.recs[r].tenant == tenant:
		return r
	case t.recs[r].next == none:
		return none
	}
	return t.table.find(t.recs, node, tenant)
}
