package router

import "switchyard/sim/workload"

// none stands in for a replica in an extent that all replicas share.
const none = -1

// extent is a run of blocks of one node, or of a private rest. Its links are
// positions in blockIndex.extents; 0 ends a chain.
type extent struct {
	node    int32 // workload.None: a private rest
	replica int32
	from    int32 // blocks of the prompt before it
	to      int32 // and at its end
	next    int32 // in its list, towards older ones; the head of a list stands between oldest and latest
	prev    int32
	sibling int32 // next extent of the node
	before  int32 // the sibling before it; 0: it is the node's first
	stampNs int64 // of its last insertion
}

// reserve lays out the heads of the lists, after an unused extent 0.
func (x *blockIndex) reserve(lists int) {
	x.extents = make([]extent, lists+1)
	for h := range x.extents {
		x.extents[h] = extent{node: workload.None, replica: none, next: int32(h), prev: int32(h)}
	}
}

// list returns the number of the list that a replica's extents are in.
func (x *blockIndex) list(replica int) int {
	if x.rules.scope == eachReplica {
		return replica
	}
	return 0
}

// oldest returns the extent of a list that was inserted first, 0 where it is empty.
func (x *blockIndex) oldest(list int) int32 {
	head := int32(list) + 1
	if e := x.extents[head].prev; e != head {
		return e
	}
	return 0
}

// take returns an extent without blocks, in no list.
func (x *blockIndex) take(node, replica int32) int32 {
	e := x.free
	if e == 0 {
		e = int32(len(x.extents))
		x.extents = append(x.extents, extent{})
	} else {
		x.free = x.extents[e].next
	}
	x.extents[e] = extent{node: node, replica: replica, next: e, prev: e}
	return e
}

// attach puts an extent among those of its node.
func (x *blockIndex) attach(e int32) {
	n := x.extents[e].node
	x.extents[e].sibling, x.extents[e].before = x.first[n], 0
	if s := x.first[n]; s != 0 {
		x.extents[s].before = e
	}
	x.first[n] = e
}

// renew makes an extent the latest of a list, with these blocks.
func (x *blockIndex) renew(e int32, list int, from, to int32, nowNs int64) {
	p := &x.extents[e]
	x.size[list] += int64(to-from) - int64(p.to-p.from)
	p.from, p.to, p.stampNs = from, to, nowNs
	head := int32(list) + 1
	if p.prev == head {
		return
	}
	x.extents[p.prev].next, x.extents[p.next].prev = p.next, p.prev
	h := &x.extents[head]
	p.prev, p.next = head, h.next
	x.extents[h.next].prev = e
	h.next = e
}

// shorten takes so many blocks from the end of an extent that goes first.
func (x *blockIndex) shorten(e int32, list int, blocks int32) {
	p := &x.extents[e]
	x.size[list] -= int64(blocks)
	if x.rules.tailFirst {
		p.to -= blocks
	} else {
		p.from += blocks
	}
	if p.from < p.to {
		return
	}
	if p.node != workload.None && p.replica == none {
		for x.first[p.node] != 0 {
			x.release(x.first[p.node])
		}
		x.shared[p.node] = 0
	}
	x.release(e)
}

// release returns an extent, whose blocks are counted no more, to the unused ones.
func (x *blockIndex) release(e int32) {
	p := &x.extents[e]
	x.extents[p.prev].next, x.extents[p.next].prev = p.next, p.prev
	if p.node != workload.None && p.replica != none {
		if p.before != 0 {
			x.extents[p.before].sibling = p.sibling
		} else {
			x.first[p.node] = p.sibling
		}
		if p.sibling != 0 {
			x.extents[p.sibling].before = p.before
		}
	}
	*p = extent{next: x.free}
	x.free = e
}
