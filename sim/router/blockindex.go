package router

import "switchyard/sim/workload"

// blockRules say what a router remembers of the prompts that it has sent, cut
// into blocks of a fixed length whose hashes are chained: a block is known by
// all the text up to its end, and what is left of a prompt after its last whole
// block is not remembered.
type blockRules struct {
	tokens    int32 // of a block; 4 characters are a token
	prompt    int32 // blocks of a prompt that are looked at, from its start; 0: all
	scope     blockScope
	capacity  int64 // blocks in a scope; 0: no bound
	prune     int64 // blocks that are left when the capacity is exceeded; 0: as many as the capacity
	ttlNs     int64 // a block is forgotten so long after it was last inserted; 0: never
	sweepNs   int64 // between looks at what is that old, at multiples of it; 0: at once
	tailFirst bool  // of a prompt inserted at one time its last block is forgotten first, rather than its first
}

// blockScope says what the capacity counts.
type blockScope int

const (
	eachReplica blockScope = iota // the blocks of one replica; each has its own capacity
	allEntries                    // pairs of a block and a replica
	allBlocks                     // blocks; one is forgotten for all replicas together
)

// blockIndex is an approximate index of caches: the least recently used set of
// the blocks of prompts, by the replica that each was sent to.
//
// Blocks are not kept one by one. Block k of a prompt belongs to the node of
// the forest in which its last token lies; node n so has the blocks from
// floor(End[parent]/B) to floor(End[n]/B), the same for every prompt through n.
// They are inserted together, thus forgotten in order, and what a replica has
// of a node is one run of blocks: an extent. The private rest of a prompt is an
// extent without a node: nothing can match it, yet it takes its space.
//
// What is over the capacity goes when a prompt is in as a whole. That is what
// is left when each block evicts at once, except that with allBlocks a block
// that would be evicted and come back in one insertion keeps its replicas.
//
// Invariants: a replica has at most one extent a node, never an empty one; a
// list has its extents by the time of their insertion, latest first; the size
// of a list is the sum of its extents and within the capacity after Insert.
type blockIndex struct {
	rules    blockRules
	work     *workload.Workload
	forest   *workload.Forest
	replicas int
	until    []int32 // by node: blocks of the prompt up to the node's end
	first    []int32 // by node: its first extent with a replica, 0 without
	shared   []int32 // by node, with allBlocks: its extent in the list, 0 without
	extents  []extent
	free     int32   // a chain of unused extents, by next
	size     []int64 // blocks, by list
	path     []int32
	scratch  []int32 // of most
}

// newBlockIndex returns an empty index of w's prompts.
func newBlockIndex(w *workload.Workload, replicas int, rules blockRules) *blockIndex {
	f := &w.Forest
	x := &blockIndex{rules: rules, work: w, forest: f, replicas: replicas,
		until: make([]int32, f.Nodes()), first: make([]int32, f.Nodes())}
	for n := range x.until {
		x.until[n] = x.whole(f.End[n])
	}
	lists := 1
	switch rules.scope {
	case eachReplica:
		lists = replicas
	case allBlocks:
		x.shared = make([]int32, f.Nodes())
	}
	x.size = make([]int64, lists)
	x.reserve(lists)
	return x
}

// whole returns the blocks in so many tokens of a prompt that are looked at.
func (x *blockIndex) whole(tokens int32) int32 {
	b := tokens / x.rules.tokens
	if x.rules.prompt > 0 {
		b = min(b, x.rules.prompt)
	}
	return b
}

// blocks returns the blocks of a request's prompt that are looked at.
func (x *blockIndex) blocks(id int32) int32 { return x.whole(x.work.Prompt[id]) }

// begin returns the blocks of the prompt before those of a node.
func (x *blockIndex) begin(node int32) int32 {
	if node == workload.None || x.forest.Parent[node] == workload.None {
		return 0
	}
	return x.until[x.forest.Parent[node]]
}

// match writes the blocks of the longest prefix of a prompt that each replica
// has, without a gap, and returns the most.
func (x *blockIndex) match(id int32, dst []int32) (most int32) {
	x.known(id)
	clear(dst)
	for i := len(x.path) - 1; i >= 0; i-- {
		n := x.path[i]
		begin := x.begin(n)
		grew := false
		for h := x.first[n]; h != 0; h = x.extents[h].sibling {
			e := &x.extents[h]
			from, to := x.run(e)
			if from == begin && to > begin && dst[e.replica] == begin {
				dst[e.replica] = to
				most = max(most, to)
				grew = true
			}
		}
		if !grew {
			break
		}
	}
	return most
}

// count writes how many blocks of a prompt each replica has, gaps or not, up to
// the first block that no replica has, and returns the most.
func (x *blockIndex) count(id int32, dst []int32) (most int32) {
	x.known(id)
	clear(dst)
	for i := len(x.path) - 1; i >= 0; i-- {
		n := x.path[i]
		begin := x.begin(n)
		end := x.reach(n, begin)
		for h := x.first[n]; h != 0; h = x.extents[h].sibling {
			e := &x.extents[h]
			from, to := x.run(e)
			if to = min(to, end); from < to {
				dst[e.replica] += to - from
				most = max(most, dst[e.replica])
			}
		}
		if end < x.until[n] {
			break
		}
	}
	return most
}

// reach returns the end of the run from begin on in which some replica has each
// block of a node.
func (x *blockIndex) reach(node, begin int32) int32 {
	for grew := true; grew; {
		grew = false
		for h := x.first[node]; h != 0; h = x.extents[h].sibling {
			if from, to := x.run(&x.extents[h]); from <= begin && to > begin {
				begin, grew = to, true
			}
			if begin == x.until[node] {
				return begin
			}
		}
	}
	return begin
}

// known sets path to the nodes with blocks on a prompt's path, deepest first,
// without those below a node of which no replica has a block.
func (x *blockIndex) known(id int32) {
	x.path = x.path[:0]
	for n := x.work.Leaf[id]; n != workload.None; n = x.forest.Parent[n] {
		switch {
		case x.begin(n) == x.until[n]: // shorter than what is left of a block, or past the last one
		case x.first[n] == 0:
			x.path = x.path[:0]
		default:
			x.path = append(x.path, n)
		}
	}
}

// insert puts a prompt's blocks in, as sent to a replica, or makes them the
// latest where they are in.
func (x *blockIndex) insert(id int32, replica int, nowNs int64) {
	leaf := x.work.Leaf[id]
	x.path = x.path[:0]
	for n := leaf; n != workload.None; n = x.forest.Parent[n] {
		if x.begin(n) < x.until[n] {
			x.path = append(x.path, n)
		}
	}
	if x.rules.tailFirst {
		x.rest(id, replica, nowNs)
		for _, n := range x.path {
			x.touch(n, replica, nowNs)
		}
	} else {
		for i := len(x.path) - 1; i >= 0; i-- {
			x.touch(x.path[i], replica, nowNs)
		}
		x.rest(id, replica, nowNs)
	}
	x.bound(x.list(replica))
}

// rest inserts the private blocks of a prompt; without a capacity they would
// take no space that matters.
func (x *blockIndex) rest(id int32, replica int, nowNs int64) {
	if x.rules.capacity == 0 {
		return
	}
	var from int32
	if leaf := x.work.Leaf[id]; leaf != workload.None {
		from = x.until[leaf]
	}
	if to := x.blocks(id); from < to {
		owner := int32(replica)
		if x.rules.scope == allBlocks {
			owner = none
		}
		e := x.take(workload.None, owner)
		x.renew(e, x.list(replica), from, to, nowNs)
	}
}

// touch makes a node's blocks the latest of a replica.
func (x *blockIndex) touch(node int32, replica int, nowNs int64) {
	begin, end := x.begin(node), x.until[node]
	if x.rules.scope == allBlocks {
		x.touchShared(node, begin, end, nowNs)
	}
	e := x.first[node]
	for e != 0 && x.extents[e].replica != int32(replica) {
		e = x.extents[e].sibling
	}
	if e == 0 {
		e = x.take(node, int32(replica))
		x.attach(e)
	}
	if x.rules.scope == allBlocks {
		x.extents[e].from, x.extents[e].to = begin, end
		return
	}
	x.renew(e, x.list(replica), begin, end, nowNs)
}

// touchShared makes a node's blocks the latest of all. What the replicas had of
// it is cut to what was left before blocks that were forgotten come back.
func (x *blockIndex) touchShared(node, begin, end int32, nowNs int64) {
	s := x.shared[node]
	if s == 0 {
		s = x.take(node, none)
		x.shared[node] = s
	}
	if had := x.extents[s]; had.from != begin || had.to != end {
		for h := x.first[node]; h != 0; {
			e := &x.extents[h]
			next := e.sibling
			e.from, e.to = max(e.from, had.from), min(e.to, had.to)
			if e.from >= e.to {
				x.release(h)
			}
			h = next
		}
	}
	x.renew(s, 0, begin, end, nowNs)
}

// run returns the blocks that an extent stands for.
func (x *blockIndex) run(e *extent) (from, to int32) {
	if x.rules.scope != allBlocks {
		return e.from, e.to
	}
	s := &x.extents[x.shared[e.node]]
	return max(e.from, s.from), min(e.to, s.to)
}

// expire forgets what is older than the rules allow.
func (x *blockIndex) expire(nowNs int64) {
	if x.rules.ttlNs == 0 {
		return
	}
	if x.rules.sweepNs > 0 {
		nowNs -= nowNs % x.rules.sweepNs
	}
	for l := range x.size {
		for {
			e := x.oldest(l)
			if e == 0 || x.extents[e].stampNs+x.rules.ttlNs > nowNs {
				break
			}
			x.shorten(e, l, x.extents[e].to-x.extents[e].from)
		}
	}
}

// bound forgets what is over the capacity of a list.
func (x *blockIndex) bound(list int) {
	if x.rules.capacity == 0 || x.size[list] <= x.rules.capacity {
		return
	}
	left := x.rules.capacity
	if x.rules.prune > 0 {
		left = x.rules.prune
	}
	for x.size[list] > left {
		e := x.oldest(list)
		over := min(x.size[list]-left, int64(x.extents[e].to-x.extents[e].from))
		x.shorten(e, list, int32(over))
	}
}

// keep says that a replica has no more than so many tokens of a node.
func (x *blockIndex) keep(replica int, node, tokens int32) {
	for h := x.first[node]; h != 0; h = x.extents[h].sibling {
		e := &x.extents[h]
		if e.replica != int32(replica) {
			continue
		}
		to := x.whole(x.forest.End[node] - x.forest.Tokens[node] + tokens)
		if to < e.to {
			gone := e.to - max(to, e.from)
			e.to -= gone
			if x.rules.scope != allBlocks {
				x.size[x.list(replica)] -= int64(gone)
			}
		}
		if e.to == e.from {
			x.release(h)
		}
		return
	}
}

// drop forgets all that a replica has; blocks that count once for all replicas
// stay without it.
func (x *blockIndex) drop(replica int) {
	l := x.list(replica)
	head := int32(l) + 1
	for e := x.extents[head].next; e != head; {
		next := x.extents[e].next
		switch {
		case x.rules.scope == allBlocks && x.extents[e].node != workload.None:
			x.keep(replica, x.extents[e].node, 0)
		case x.extents[e].replica == int32(replica):
			x.shorten(e, l, x.extents[e].to-x.extents[e].from)
		}
		e = next
	}
}

// most raises dst to what match says where that is more.
func (x *blockIndex) most(id int32, dst []int32) {
	if x.scratch == nil {
		x.scratch = make([]int32, x.replicas)
	}
	x.match(id, x.scratch)
	for i, m := range x.scratch {
		dst[i] = max(dst[i], m)
	}
}
