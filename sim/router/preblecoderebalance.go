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

// codeOffer is an important node that may be moved.
type codeOffer struct {
	ns   int64 // what it adds to the load of its replica
	node int32
}

// relieve moves the cheapest important nodes with more than one request from a
// replica to another, as long as that does not turn the two around; where there
// is just one such node, the other replica may come to share it.
func (c *code) relieve(heavy, light *codeShare, nowNs int64) {
	c.offers = c.offers[:0]
	for _, k := range c.window.several[heavy.replica] {
		c.offer(k, heavy.replica)
	}
	for _, k := range c.window.several[c.tree.replicas] {
		if c.tree.isHome(c.window.slots[k].node, heavy.replica) {
			c.offer(k, heavy.replica)
		}
	}
	if len(c.offers) == 1 {
		c.share(c.offers[0].node, heavy, light, nowNs)
		return
	}
	for _, o := range c.offers[:c.taken(heavy, light)] {
		heavy.ns -= o.ns
		light.ns += o.ns
		c.move(o.node, light.replica)
		c.moves++
	}
}

func (c *code) offer(k int32, r int) {
	if n := c.window.slots[k].node; c.large(n) {
		c.offers = append(c.offers, codeOffer{c.nodeCost(n, r), n})
	}
}

// taken puts the offers that are taken first, and returns how many those are.
// The code takes one after the other, the cheapest first, up to the first that
// would turn the replicas around, or until they are balanced. Either only
// depends on what those up to one cost together, and stays so from there on, so
// that the place of the last need not be found by sorting: of two parts, the
// cheaper and the dearer offers, one is settled by its sum.
func (c *code) taken(heavy, light *codeShare) int {
	turned := func(ns int64) bool { return heavy.ns-ns < light.ns+ns }
	balanced := func(ns int64) bool {
		return c.balanced(&codeShare{ns: heavy.ns - ns}, &codeShare{ns: light.ns + ns})
	}
	from, to, sum := 0, len(c.offers), int64(0) // those before from are taken and cost sum, those from to on are not
	for to-from > 8 {
		at, cost := c.part(c.offers[from:to])
		if ns := sum + cost; turned(ns) || balanced(ns) {
			to = from + at
		} else {
			from, sum = from+at, ns
		}
	}
	slices.SortFunc(c.offers[from:to], c.offersFunc)
	for ; from < to; from++ {
		sum += c.offers[from].ns
		if turned(sum) {
			return from
		}
		if balanced(sum) {
			return from + 1
		}
	}
	return from
}

// part puts some of the cheapest offers first, at least one and not all, and
// returns how many those are and what they cost together.
func (c *code) part(offers []codeOffer) (n int, ns int64) {
	last := len(offers) - 1
	a, b, d := &offers[0], &offers[last/2], &offers[last]
	if c.compareOffers(*b, *a) < 0 {
		*a, *b = *b, *a
	}
	if c.compareOffers(*d, *b) < 0 {
		*d, *b = *b, *d
		if c.compareOffers(*b, *a) < 0 {
			*a, *b = *b, *a
		}
	}
	pivot := *b
	*b, *d = *d, *b
	for k := range last {
		if o := offers[k]; o.ns < pivot.ns || o.ns == pivot.ns && c.less(o.node, pivot.node) {
			offers[k], offers[n] = offers[n], o
			ns += o.ns
			n++
		}
	}
	offers[n], offers[last] = offers[last], offers[n]
	return n, ns
}

// compareOffers puts the cheaper first; of equals, that which would be evicted before.
func (c *code) compareOffers(a, b codeOffer) int {
	if a.ns != b.ns {
		return cmp.Compare(a.ns, b.ns)
	}
	return c.compare(a.node, b.node)
}

// nodeCost is what a node adds to the load of a replica that it is allocated to.
func (c *code) nodeCost(n int32, r int) int64 {
	x := &c.tree.nodes[n]
	s := &c.window.slots[x.slot]
	if x.refs == 0 {
		return s.each
	}
	return s.each + int64(c.tree.refsOn(n, r))*int64(s.output)*c.perToken[r].median
}

// move allocates a node and all below it to one replica.
func (c *code) move(n int32, r int) {
	switch x := &c.tree.nodes[n]; {
	case x.homes != 1 || x.slot != 0:
		c.rehome(n, r)
	default:
		x.home = int32(r) // adds to no load
	}
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
