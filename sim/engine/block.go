package engine

import "switchyard/sim/workload"

// blockPool is the block-granular KV cache of one replica.
//
// A block that is full is known by its content and all before it, so a block is
// a node of the prefix forest and a position: it belongs to the node that holds
// its last token. Blocks whose last token lies in a prompt's private rest or in
// an output that nobody reads can be hit by their own request alone, and only
// after it was preempted.
//
// Blocks are kept as runs: consecutive positions of one owner that were
// registered one after the other, have the same users, and, where they have
// none, stand side by side in the free list. Which physical block is which is
// of no consequence and not kept. A request's users' blocks go to the tail of
// the free list in reverse order, so a free run is in order of falling position
// and loses its highest block first.
//
// Several runs may hold the same content. The runs of a node are listed in
// order of registration, so a lookup takes the first that has the position. As
// a request that holds a block holds all before it as well, and releases them
// behind it, the valid blocks of a path are always its first ones: their number
// is all that a lookup needs to know of a node.
type blockPool struct {
	size   int32 // tokens a block
	free   int32 // blocks that nobody uses
	forest *workload.Forest
	cache  *Cache
	index  int

	runs    []blockRun // run 0 is the ring's anchor: next is the head of the free list, prev its tail
	spare   []int32    // unused entries of runs
	cells   []blockCell
	dirty   []int32 // nodes whose valid blocks are not what the cache shows
	evicted int64   // blocks of nodes that were overwritten
	parts   []blockPart
	loose   []int32 // by slot: the free run of the private blocks of a request that was preempted
}

// blockRun is a run of blocks.
type blockRun struct {
	owner         int32 // node, garbage, or privateOf a slot
	from, to      int32 // positions in the prompt, in blocks
	users         int32 // requests that hold it; none: it is in the free list
	prev, next    int32 // in the free list
	before, after int32 // among the runs of its node
}

// garbage owns free blocks that nothing can hit.
const garbage = -1

// privateOf is the owner of the free private blocks of a slot, and the slot of
// such an owner.
func privateOf(slot int32) int32 { return -2 - slot }

// blockCell is what a replica knows of a node.
type blockCell struct {
	first, last int32 // its runs in order of registration
	valid       int32 // position up to which its blocks are valid, 0 for none
	ever        int32 // the same, had nothing ever been overwritten
	dirty       bool
}

// blockPart is a stretch of positions of one run.
type blockPart struct{ run, from, to int32 }

func (p *blockPool) reset(s Setup, size, blocks int32) {
	p.size, p.free, p.forest, p.cache, p.index = size, 0, &s.Work.Forest, s.Cache, s.Index
	p.runs, p.spare, p.dirty, p.evicted = append(p.runs[:0], blockRun{}), p.spare[:0], p.dirty[:0], 0
	p.cells = cleared(p.cells, p.forest.Nodes())
	clear(p.loose)
	p.pushGarbage(blocks)
}

// span returns the positions of a node's blocks.
func (p *blockPool) span(node int32) (from, to int32) {
	end := p.forest.End[node]
	return (end - p.forest.Tokens[node]) / p.size, end / p.size
}

// add returns a new run.
func (p *blockPool) add(r blockRun) int32 {
	if n := len(p.spare); n > 0 {
		id := p.spare[n-1]
		p.spare = p.spare[:n-1]
		p.runs[id] = r
		return id
	}
	p.runs = append(p.runs, r)
	return int32(len(p.runs) - 1)
}

// insert puts run id into the free list before run next.
func (p *blockPool) insert(id, next int32) {
	prev := p.runs[next].prev
	p.runs[id].prev, p.runs[id].next = prev, next
	p.runs[prev].next, p.runs[next].prev = id, id
}

// drop takes run id out of the free list's chain.
func (p *blockPool) drop(id int32) {
	r := &p.runs[id]
	p.runs[r.prev].next, p.runs[r.next].prev = r.next, r.prev
}

// pushGarbage frees n blocks whose content nothing can hit.
func (p *blockPool) pushGarbage(n int32) {
	if n <= 0 {
		return
	}
	p.free += n
	if tail := &p.runs[p.runs[0].prev]; tail.owner == garbage && p.runs[0].prev != 0 {
		tail.to += n
		return
	}
	p.insert(p.add(blockRun{owner: garbage, to: n}), 0)
}

// push frees a run that nobody uses any more. It joins the piece of the same
// node that was freed just before it.
func (p *blockPool) push(id int32) {
	r := &p.runs[id]
	p.free += r.to - r.from
	tail := p.runs[0].prev
	if tail != 0 && r.owner >= 0 && r.after == tail && p.runs[tail].from == r.to {
		r.to = p.runs[tail].to
		p.drop(tail)
		p.unlist(tail)
	}
	p.insert(id, 0)
}

// pull takes a run out of the free list; garbage on both of its sides becomes
// one run.
func (p *blockPool) pull(id int32) {
	r := &p.runs[id]
	p.free -= r.to - r.from
	p.drop(id)
	prev, next := r.prev, r.next
	if prev != 0 && next != 0 && p.runs[prev].owner == garbage && p.runs[next].owner == garbage {
		p.runs[prev].to += p.runs[next].to - p.runs[next].from
		p.drop(next)
		p.spare = append(p.spare, next)
	}
}

// take takes n blocks from the head of the free list, which has so many.
func (p *blockPool) take(n int32) {
	p.free -= n
	for n > 0 {
		id := p.runs[0].next
		r := &p.runs[id]
		k := min(n, r.to-r.from)
		n -= k
		r.to -= k
		empty := r.from == r.to
		if empty {
			p.drop(id)
		}
		switch {
		case r.owner >= 0:
			p.evicted += int64(k)
			p.lose(r.owner, id, empty)
		case empty:
			if r.owner != garbage {
				p.loose[privateOf(r.owner)] = 0
			}
			p.spare = append(p.spare, id)
		}
	}
}

// lose brings a node up to date after one of its runs has lost blocks.
func (p *blockPool) lose(node, id int32, empty bool) {
	if empty {
		p.unlist(id)
	}
	c := &p.cells[node]
	valid := int32(0)
	for r := c.first; r != 0; r = p.runs[r].after {
		valid = max(valid, p.runs[r].to)
	}
	p.setValid(node, valid)
}

// unlist removes run id from its node's list and from the pool.
func (p *blockPool) unlist(id int32) {
	r := &p.runs[id]
	c := &p.cells[r.owner]
	if r.before == 0 {
		c.first = r.after
	} else {
		p.runs[r.before].after = r.after
	}
	if r.after == 0 {
		c.last = r.before
	} else {
		p.runs[r.after].before = r.before
	}
	p.spare = append(p.spare, id)
}

// register adds a used run of a node, of which positions [from, to) are new.
func (p *blockPool) register(node, from, to int32) int32 {
	c := &p.cells[node]
	id := p.add(blockRun{owner: node, from: from, to: to, users: 1, before: c.last})
	if c.last == 0 {
		c.first = id
	} else {
		p.runs[c.last].after = id
	}
	c.last = id
	p.grown(node, to)
	return id
}

// grown notes that a node's blocks up to a position are registered.
func (p *blockPool) grown(node, to int32) {
	c := &p.cells[node]
	c.ever = max(c.ever, to)
	if to > c.valid {
		p.setValid(node, to)
	}
}

func (p *blockPool) setValid(node, valid int32) {
	c := &p.cells[node]
	if c.valid == valid {
		return
	}
	c.valid = valid
	if !c.dirty {
		c.dirty = true
		p.dirty = append(p.dirty, node)
	}
}

// show brings the cache that others see up to date.
func (p *blockPool) show() {
	for _, node := range p.dirty {
		c := &p.cells[node]
		c.dirty = false
		tokens := int32(0)
		if c.valid > 0 {
			tokens = c.valid*p.size - (p.forest.End[node] - p.forest.Tokens[node])
		}
		p.cache.set(p.index, node, tokens)
	}
	p.dirty = p.dirty[:0]
}

// split cuts a run at a position and returns the upper piece.
func (p *blockPool) split(id, at int32) int32 {
	upper := p.runs[id]
	upper.from, upper.before = at, id
	up := p.add(upper)
	r := &p.runs[id]
	r.to = at
	if r.after == 0 {
		p.cells[r.owner].last = up
	} else {
		p.runs[r.after].before = up
	}
	r.after = up
	if r.users == 0 {
		p.insert(up, id) // it is overwritten before the lower piece
	}
	return up
}
