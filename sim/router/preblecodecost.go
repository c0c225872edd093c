package router

import "slices"

// codeWindow is what Preble's code knows of the requests of the last H: a slot
// for each important node that one of them had.
type codeWindow struct {
	lengthNs int64
	past     history[codePast]
	slots    []codeSlot // slot 0 stands for none
	free     []int32
	load     []codeLoad
	busy     []codeLoad // of nodes with at least two requests alone
	// Slots with at least two requests, in no order: by replica those of nodes
	// that are allocated to it alone, and last those of nodes on several.
	several [][]int32
}

// codePast is a request in the window.
type codePast struct {
	atNs       int64
	slot, leaf int32
}

// codeSlot are the requests of an important node.
type codeSlot struct {
	node, place int32 // and where it stands in codeWindow.several
	count       int32
	output      int32 // expected of the latest
	hit, prompt int64
	miss        float64 // share of the prompts that was new to the tree, at the last request
	each        int64   // prefill time that it adds to each of its replicas
	several     bool    // counted in codeWindow.busy
}

// codeLoad is the load of a replica: prefill time, and expected tokens of
// requests in flight.
type codeLoad struct{ prefill, tokens int64 }

// large reports whether a node has more tokens than lie before it.
func (c *code) large(n int32) bool { return c.tree.nodes[n].tokens > c.tree.nodes[n].start }

// important returns the nearest large node on the way up from n.
func (c *code) important(n int32) int32 {
	for !c.large(n) {
		n = c.tree.nodes[n].parent
	}
	return n
}

// recompute returns the time to compute a node behind what lies before it.
func (c *code) recompute(n int32) float64 {
	x := &c.tree.nodes[n]
	return float64(c.times.extend(x.tokens, x.start))
}

// unsettle takes what a node adds to the loads out of them; settle puts it in.
func (c *code) unsettle(n int32) { c.charge(n, -1) }

func (c *code) settle(n int32) {
	x := &c.tree.nodes[n]
	if x.slot == 0 {
		return
	}
	s := &c.window.slots[x.slot]
	s.several = s.count >= 2
	s.each = 0
	if x.homes > 0 {
		s.each = int64(float64(s.miss*float64(s.count)) * c.recompute(n) / float64(x.homes))
	}
	c.charge(n, 1)
}

func (c *code) charge(n int32, sign int64) {
	x := &c.tree.nodes[n]
	if x.slot == 0 || x.homes == 0 {
		return
	}
	if s := &c.window.slots[x.slot]; s.several {
		list := &c.window.several[c.tree.replicas]
		if x.homes == 1 {
			list = &c.window.several[x.home]
		}
		if sign > 0 {
			c.window.enlist(list, x.slot)
		} else {
			c.window.strike(list, x.slot)
		}
	}
	if x.homes == 1 {
		c.chargeOn(n, int(x.home), sign)
		return
	}
	for r := range c.tree.replicas {
		if c.tree.cells[int(x.cell)+r].home {
			c.chargeOn(n, r, sign)
		}
	}
}

func (w *codeWindow) enlist(list *[]int32, k int32) {
	w.slots[k].place = int32(len(*list))
	*list = append(*list, k)
}

func (w *codeWindow) strike(list *[]int32, k int32) {
	l, place := *list, w.slots[k].place
	last := l[len(l)-1]
	l[place] = last
	w.slots[last].place = place
	*list = l[:len(l)-1]
}

func (c *code) chargeOn(n int32, r int, sign int64) {
	s := &c.window.slots[c.tree.nodes[n].slot]
	refs := int64(0)
	if cell := c.tree.at(n, r); cell != nil {
		refs = int64(cell.refs)
	}
	c.add(s, r, sign*s.each, sign*refs*int64(s.output))
}

func (c *code) add(s *codeSlot, r int, prefill, tokens int64) {
	l := &c.window.load[r]
	l.prefill += prefill
	l.tokens += tokens
	if s.several {
		l = &c.window.busy[r]
		l.prefill += prefill
		l.tokens += tokens
	}
}

// allocate adds a replica to those that a node is allocated to. A node that
// only one request has changes replicas instead.
func (c *code) allocate(n int32, r int) {
	t := &c.tree
	if t.isHome(n, r) {
		return
	}
	c.unsettle(n)
	x := &t.nodes[n]
	if x.only != everyReplica || x.homes == 0 {
		x.home, x.homes = int32(r), 1
	} else {
		if x.homes == 1 {
			t.at(n, int(x.home)).home = true
		}
		t.at(n, r).home = true
		x.homes++
	}
	c.settle(n)
}

// rehome allocates a node to one replica alone, or to none.
func (c *code) rehome(n int32, r int) {
	x := &c.tree.nodes[n]
	if x.homes == 1 && r != noReplica {
		c.swap(n, r)
		return
	}
	c.unsettle(n)
	if x.homes > 1 {
		for i := range c.tree.replicas {
			c.tree.cells[int(x.cell)+i].home = false
		}
	}
	x.home, x.homes = int32(r), 1
	if r == noReplica {
		x.homes = 0
	}
	c.settle(n)
}

// swap allocates a node to another replica than its only one. What it adds to a
// load for its prefill stays the same, which spares its computation: this is
// most of what rebalancing does.
func (c *code) swap(n int32, r int) {
	x := &c.tree.nodes[n]
	from := int(x.home)
	if from == r {
		return
	}
	x.home = int32(r)
	if x.slot == 0 {
		return
	}
	s := &c.window.slots[x.slot]
	left, came := int64(0), int64(0)
	if x.refs > 0 {
		left = int64(c.tree.refsOn(n, from)) * int64(s.output)
		came = int64(c.tree.refsOn(n, r)) * int64(s.output)
	}
	if s.several {
		c.window.strike(&c.window.several[from], x.slot)
		c.window.enlist(&c.window.several[r], x.slot)
	}
	c.add(s, from, -s.each, -left)
	c.add(s, r, s.each, came)
}

// refer counts a request in flight on a node and a replica in or out.
func (c *code) refer(n int32, r int, by int32) {
	t := &c.tree
	x := &t.nodes[n]
	turns := x.refs == 0 || x.refs+by == 0
	if turns {
		t.each(n, t.unlistFunc)
	}
	x.refs += by
	t.at(n, r).refs += by
	if turns {
		t.each(n, t.listFunc)
	}
	if x.slot != 0 && t.isHome(n, r) {
		s := &c.window.slots[x.slot]
		c.add(s, r, 0, int64(by)*int64(s.output))
	}
}

// enter notes a request of the important node n in the window, and takes out
// those that are older than H.
func (c *code) enter(n, leaf, output int32, nowNs int64) {
	t, w := &c.tree, &c.window
	if t.nodes[n].slot == 0 {
		t.nodes[n].slot = w.take(n)
	}
	c.unsettle(n)
	x := &t.nodes[leaf]
	s := &w.slots[t.nodes[n].slot]
	s.count++
	s.hit += int64(x.start)
	s.prompt += int64(x.start + x.tokens)
	s.output = output
	s.miss = 1 - float64(s.hit)/float64(s.prompt)
	c.settle(n)
	x.leafs++
	w.past.push(codePast{nowNs, t.nodes[n].slot, leaf})
	for w.past.first().atNs < nowNs-w.lengthNs {
		c.leave(w.past.pop())
	}
}

// leave takes a request out of the window. A node without any is allocated to
// nobody; the share of new tokens stays that of the last request.
func (c *code) leave(p codePast) {
	t := &c.tree
	s := &c.window.slots[p.slot]
	n, leaf := s.node, &t.nodes[p.leaf]
	c.unsettle(n)
	s.count--
	s.hit -= int64(leaf.start) // which may have grown since: so has the code
	s.prompt -= int64(leaf.start + leaf.tokens)
	c.settle(n)
	leaf.leafs--
	if s.count == 0 {
		c.rehome(n, noReplica)
		t.nodes[n].slot = 0
		c.window.give(p.slot)
		if n != p.leaf {
			t.collect(n)
		}
	}
	t.collect(p.leaf)
}

// take returns a slot for a node, give frees it.
func (w *codeWindow) take(n int32) int32 {
	if len(w.free) == 0 {
		w.free = append(w.free, int32(len(w.slots)))
		w.slots = append(w.slots, codeSlot{})
	}
	k := w.free[len(w.free)-1]
	w.free = w.free[:len(w.free)-1]
	w.slots[k] = codeSlot{node: n}
	return k
}

func (w *codeWindow) give(k int32) { w.free = append(w.free, k) }

// less is the order of eviction: by requests in flight, replica by replica,
// then by last access.
func (c *code) less(a, b int32) bool {
	t := &c.tree
	if t.nodes[a].refs > 0 || t.nodes[b].refs > 0 {
		for r := range t.replicas {
			if x, y := t.refsOn(a, r), t.refsOn(b, r); x != y {
				return x < y
			}
		}
	}
	return t.nodes[a].seq < t.nodes[b].seq
}

func (t *codeTree) refsOn(n int32, r int) int32 {
	if c := t.at(n, r); c != nil {
		return c.refs
	}
	return 0
}

// sorted returns the busy nodes of a replica in order of eviction; with idle
// only those that no request in flight has on that replica.
func (c *code) sorted(r int, idle bool) []int32 {
	c.order = c.order[:0]
	for n := c.tree.lists[r].busy; n != 0; {
		x := c.tree.at(n, r)
		if !idle || x.refs == 0 {
			c.order = append(c.order, n)
		}
		n = x.next
	}
	slices.SortFunc(c.order, c.compareFunc)
	return c.order
}

func (c *code) compare(a, b int32) int {
	switch {
	case a == b:
		return 0
	case c.less(a, b):
		return -1
	}
	return 1
}

// eviction returns what it costs replica r to make room for so many tokens: the
// large nodes among those that would go, each by its requests within H and its
// share of new tokens. All nodes there are candidates, and a parent comes a
// second time once all its children have gone.
func (c *code) eviction(r int, need int64) (ns int64) {
	t := &c.tree
	t.now++
	c.again = c.again[:0]
	idle := t.lists[r].idle
	var busy []int32
	loaded := false
	for need > 0 {
		n := idle
		k := len(c.again) - 1
		if n == 0 && !loaded {
			busy, loaded = c.sorted(r, false), true
		}
		if n == 0 && len(busy) > 0 {
			n = busy[0]
		}
		switch {
		case k >= 0 && (n == 0 || c.less(c.again[k], n)):
			n = c.again[k]
			c.again = c.again[:k]
		case n == 0:
			return ns
		case n == idle:
			idle = t.at(n, r).next
		default:
			busy = busy[1:]
		}
		x := &t.nodes[n]
		need -= int64(x.tokens)
		if x.stamp != t.now {
			x.stamp = t.now
			ns += c.victim(n, r)
			t.visit(x.parent, t.cachedOn(n, r))
		}
		if up := x.parent; up != 0 && t.at(up, r).kids == t.nodes[up].seen {
			at, _ := slices.BinarySearchFunc(c.again, up, c.descendFunc)
			c.again = slices.Insert(c.again, at, up)
		}
	}
	return ns
}

// visit notes that a virtual eviction has visited a child of n.
func (t *codeTree) visit(n int32, cached bool) {
	x := &t.nodes[n]
	if x.seenAt != t.now {
		x.seenAt, x.seen = t.now, 0
	}
	if cached {
		x.seen++
	}
}

func (c *code) descend(a, b int32) int { return c.compare(b, a) }

// victim returns what the eviction of a node from replica r costs.
func (c *code) victim(n int32, r int) int64 {
	if !c.large(n) {
		return 0
	}
	miss, count := 1.0, c.tree.refsOn(n, r)
	if k := c.tree.nodes[n].slot; k != 0 {
		miss, count = c.window.slots[k].miss, c.window.slots[k].count
	}
	return int64(float64(miss*float64(count)) * c.recompute(n))
}

// evict drops the first nodes in order of eviction that no request in flight
// has on replica r, until what it caches is within the limit.
func (c *code) evict(r int) {
	l := &c.tree.lists[r]
	limit := c.p.CapacityTokens
	for l.tokens > limit && l.idle != 0 {
		c.tree.uncache(l.idle, r)
	}
	if l.tokens <= limit {
		return
	}
	for _, n := range c.sorted(r, true) {
		if c.tree.uncache(n, r); l.tokens <= limit {
			return
		}
	}
}
