package router

import "switchyard/sim/heap"

// shrink evicts leaves of each tenant that has more than so many tokens, those
// with the oldest stamps first.
func (t *tree) shrink(most int64) {
	for tenant := range t.size {
		t.evict(tenant, most)
	}
}

// evict brings a tenant down to so many tokens. The key of a heap's entry may be
// older than the stamp of its record, and the record may have become an inner
// one: both are put right when the entry comes up.
func (t *tree) evict(tenant int, most int64) {
	h := &t.aged[tenant]
	for t.size[tenant] > most {
		first := h.Pop()
		switch rec := &t.recs[first.ID]; {
		case rec.children > 0:
			rec.queued = false
		case rec.stamp != first.Key:
			h.Push(heap.Item{Key: rec.stamp, ID: first.ID})
		default:
			t.disown(first.ID)
		}
	}
}

// forget evicts all that a tenant has.
func (t *tree) forget(tenant int) { t.evict(tenant, 0) }

// disown takes a node off a tenant for which it is a leaf.
func (t *tree) disown(r int32) {
	rec := t.recs[r]
	node := &t.nodes[rec.node]
	t.size[rec.tenant] -= int64(node.tokens)
	if rec.listed {
		t.table.remove(t.recs, r)
	}
	if rec.prev != none {
		t.recs[rec.prev].next = rec.next
	} else {
		node.head = rec.next
	}
	if rec.next != none {
		t.recs[rec.next].prev = rec.prev
	}
	t.spare[1] = append(t.spare[1], r)
	if node.head == none {
		for n := node.bottom; n != none && t.owner[n] == rec.node; n = t.text.parent[n] {
			t.owner[n] = none
		}
		t.spare[0] = append(t.spare[0], rec.node)
	}
	if rec.parent == none {
		return
	}
	above := &t.recs[rec.parent]
	if above.children--; above.children == 0 && !above.queued {
		t.queue(rec.parent)
	}
}

// queue puts a leaf into its tenant's heap.
func (t *tree) queue(r int32) {
	rec := &t.recs[r]
	rec.queued = true
	t.aged[rec.tenant].Push(heap.Item{Key: rec.stamp, ID: r})
}

// each writes the tokens of a prompt that the tree believes each tenant to
// have, as match has just said.
func (t *tree) each(k known, dst []int32) {
	clear(dst)
	for n := k.node; n != none; n = t.nodes[n].parent {
		tokens := k.tokens
		if n != k.node {
			tokens = t.text.end[t.nodes[n].bottom]
		}
		for r := t.nodes[n].head; r != none; r = t.recs[r].next {
			if i := t.recs[r].tenant; dst[i] == 0 {
				dst[i] = tokens
			}
		}
	}
}

// have returns the tokens of a prompt that the tree believes a tenant to have.
func (t *tree) have(k known, tenant int) int32 {
	for n := k.node; n != none; n = t.nodes[n].parent {
		if t.find(n, int32(tenant)) == none {
			continue
		}
		if n == k.node {
			return k.tokens
		}
		return t.text.end[t.nodes[n].bottom]
	}
	return 0
}

// pairs finds records by node and tenant: a table with open addressing and
// linear probing that is at most half full.
type pairs struct {
	slots []int32 // a record plus one, 0 where free
	used  int
}

func (p *pairs) home(node, tenant int32) int {
	h := (uint64(uint32(node))<<32 | uint64(uint32(tenant))) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	return int(h*0xbf58476d1ce4e5b9>>32) & (len(p.slots) - 1)
}

func (p *pairs) find(recs []treeRec, node, tenant int32) int32 {
	if len(p.slots) == 0 {
		return none
	}
	for i := p.home(node, tenant); ; i = (i + 1) & (len(p.slots) - 1) {
		r := p.slots[i] - 1
		if r < 0 || recs[r].node == node && recs[r].tenant == tenant {
			return r
		}
	}
}

func (p *pairs) add(recs []treeRec, r int32) {
	if 2*(p.used+1) > len(p.slots) {
		old := p.slots
		p.slots, p.used = make([]int32, max(64, 2*len(old))), 0
		for _, s := range old {
			if s > 0 {
				p.put(recs, s-1)
			}
		}
	}
	p.put(recs, r)
}

func (p *pairs) put(recs []treeRec, r int32) {
	i := p.home(recs[r].node, recs[r].tenant)
	for p.slots[i] != 0 {
		i = (i + 1) & (len(p.slots) - 1)
	}
	p.slots[i] = r + 1
	p.used++
}

// remove takes a record out and moves those up that it has pushed away.
func (p *pairs) remove(recs []treeRec, r int32) {
	mask := len(p.slots) - 1
	i := p.home(recs[r].node, recs[r].tenant)
	for p.slots[i] != r+1 {
		i = (i + 1) & mask
	}
	p.used--
	for j := i; ; {
		j = (j + 1) & mask
		s := p.slots[j]
		if s == 0 {
			break
		}
		if home := p.home(recs[s-1].node, recs[s-1].tenant); (j-home)&mask >= (j-i)&mask {
			p.slots[i] = s
			i = j
		}
	}
	p.slots[i] = 0
}
