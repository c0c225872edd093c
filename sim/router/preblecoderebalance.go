package router

import (
	"cmp"
	"slices"
)

// codeDelays are the times to first token of important nodes on replicas, a
// list for each cell. A list is cut at its old end when it grows, no sooner.
type codeDelays struct {
	items []codeDelay // item 0 stands for none
	free  int32
}

type codeDelay struct {
	atNs, ns int64
	next     int32
}

func (d *codeDelays) add(c *codeCell, atNs, ns, oldestNs int64) {
	k := d.free
	if k != 0 {
		d.free = d.items[k].next
	} else {
		k = int32(len(d.items))
		d.items = append(d.items, codeDelay{})
	}
	d.items[k] = codeDelay{atNs: atNs, ns: ns}
	if c.last != 0 {
		d.items[c.last].next = k
	} else {
		c.first = k
	}
	c.last = k
	for d.items[c.first].atNs < oldestNs {
		d.drop(c)
	}
}

// drop frees the oldest of a list.
func (d *codeDelays) drop(c *codeCell) {
	k := c.first
	if c.first = d.items[k].next; c.first == 0 {
		c.last = 0
	}
	d.items[k].next = d.free
	d.free = k
}

func (d *codeDelays) clear(c *codeCell) {
	for c.first != 0 {
		d.drop(c)
	}
}

// doubled reports whether the mean since half is at least twice that before.
func (d *codeDelays) doubled(c *codeCell, halfNs int64) bool {
	var sum, n [2]float64
	for k := c.first; k != 0; k = d.items[k].next {
		part := 0
		if d.items[k].atNs >= halfNs {
			part = 1
		}
		sum[part] += float64(d.items[k].ns)
		n[part]++
	}
	return n[0] > 0 && n[1] > 0 && sum[1]/n[1] >= 2*(sum[0]/n[0])
}

// codeShare is the load of a replica while rebalancing.
type codeShare struct {
	replica int
	ns      int64
}

// rebalance moves important nodes from the most to the least loaded replica,
// then from the next most loaded one to the same, and so on.
func (c *code) rebalance(v *View) {
	if c.sent < int64(c.p.WarmUp)*int64(len(v.Up)) {
		return
	}
	c.shares = c.shares[:0]
	for _, i := range v.Up {
		c.shares = append(c.shares, codeShare{int(i), c.cost(c.window.busy, int(i))})
	}
	slices.SortStableFunc(c.shares, func(a, b codeShare) int { return cmp.Compare(b.ns, a.ns) })
	for shares := c.shares; len(shares) > 1; shares = shares[1:] {
		heavy, light := &shares[0], &shares[len(shares)-1]
		if c.balanced(heavy, light) {
			return
		}
		c.relieve(heavy, light, v.NowNs)
	}
}

func (c *code) balanced(heavy, light *codeShare) bool {
	return float64(heavy.ns) < c.p.RebalanceRatio*float64(light.ns)
}

// relieve moves the cheapest important nodes with more than one request from a
// replica to another, as long as that does not turn the two around; where there
// is just one such node, the other replica may come to share it.
func (c *code) relieve(heavy, light *codeShare, nowNs int64) {
	t := &c.tree
	c.order = c.order[:0]
	for _, k := range c.window.active {
		s := &c.window.slots[k]
		if s.count > 1 && t.isHome(s.node, heavy.replica) && c.large(s.node) {
			s.cost = c.nodeCost(s.node, heavy.replica)
			c.order = append(c.order, s.node)
		}
	}
	if len(c.order) == 1 {
		c.share(c.order[0], heavy, light, nowNs)
		return
	}
	for k := len(c.order)/2 - 1; k >= 0; k-- {
		c.sift(k)
	}
	for len(c.order) > 0 {
		n := c.pop()
		cost := c.window.slots[t.nodes[n].slot].cost
		if heavy.ns-cost < light.ns+cost {
			return
		}
		heavy.ns -= cost
		light.ns += cost
		c.move(n, light.replica)
		c.moves++
		if c.balanced(heavy, light) {
			return
		}
	}
}

// pop takes the cheapest node from the heap order.
func (c *code) pop() int32 {
	n, last := c.order[0], len(c.order)-1
	c.order[0] = c.order[last]
	c.order = c.order[:last]
	c.sift(0)
	return n
}

// sift moves the node at place k down to where none below it is cheaper.
func (c *code) sift(k int) {
	for {
		kid := 2*k + 1
		if kid >= len(c.order) {
			return
		}
		if kid+1 < len(c.order) && c.cheaper(c.order[kid+1], c.order[kid]) {
			kid++
		}
		if !c.cheaper(c.order[kid], c.order[k]) {
			return
		}
		c.order[k], c.order[kid] = c.order[kid], c.order[k]
		k = kid
	}
}

// cheaper reports whether a costs less than b; of equals, whether it would be
// evicted before.
func (c *code) cheaper(a, b int32) bool {
	t := &c.tree
	x, y := c.window.slots[t.nodes[a].slot].cost, c.window.slots[t.nodes[b].slot].cost
	if x != y {
		return x < y
	}
	return c.less(a, b)
}

// nodeCost is what a node adds to the load of a replica that it is allocated to.
func (c *code) nodeCost(n int32, r int) int64 {
	s := &c.window.slots[c.tree.nodes[n].slot]
	return s.each + int64(c.tree.refsOn(n, r))*int64(s.output)*c.perToken[r].median
}

// move allocates a node and all below it to one replica.
func (c *code) move(n int32, r int) {
	c.rehome(n, r)
	for kid := c.tree.nodes[n].child; kid != 0; kid = c.tree.nodes[kid].next {
		c.move(kid, r)
	}
}

// share allocates a node to a second replica as well, when its times to first
// token have doubled on the first.
func (c *code) share(n int32, heavy, light *codeShare, nowNs int64) {
	t := &c.tree
	cell := t.at(n, heavy.replica)
	if !c.p.Autoscale || t.isHome(n, light.replica) || !t.delays.doubled(cell, nowNs-c.window.lengthNs/2) {
		return
	}
	cost := c.nodeCost(n, heavy.replica) / 2
	heavy.ns -= cost
	light.ns += cost
	c.allocate(n, light.replica)
	c.copies++
	t.delays.clear(cell)
}

// codeMedian is the median of the last 200 times of an output token.
type codeMedian struct {
	past   [200]int64 // in order of time, from next on
	sorted [200]int64
	n      int
	next   int
	median int64 // between the middle two
}

func (m *codeMedian) add(ns int64) {
	if m.n == len(m.past) {
		at, _ := slices.BinarySearch(m.sorted[:m.n], m.past[m.next])
		copy(m.sorted[at:], m.sorted[at+1:m.n])
		m.n--
	}
	at, _ := slices.BinarySearch(m.sorted[:m.n], ns)
	copy(m.sorted[at+1:], m.sorted[at:m.n])
	m.sorted[at] = ns
	m.past[m.next] = ns
	m.next = (m.next + 1) % len(m.past)
	m.n++
	m.median = (m.sorted[(m.n-1)/2] + m.sorted[m.n/2]) / 2
}
