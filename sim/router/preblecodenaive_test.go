package router

import (
	"slices"

	"switchyard/sim/engine"
	"switchyard/sim/workload"
)

// plainNode is a node of a radix tree over single tokens.
type plainNode struct {
	parent   *plainNode
	children map[int]*plainNode // by first token
	tokens   []int
	before   int // tokens before it
	refs     []int
	alloc    map[int]bool
	cached   map[int]bool
	seq      int
}

func (n *plainNode) large() bool { return len(n.tokens) > n.before }

func (n *plainNode) less(o *plainNode) bool {
	if k := slices.Compare(n.refs, o.refs); k != 0 {
		return k < 0
	}
	return n.seq < o.seq
}

// plainStats is what the window knows of an important node.
type plainStats struct {
	count, hit, prompt int
	miss               float64
	output             int64
}

type plainPast struct {
	at              int64
	important, leaf *plainNode
}

type plainDelay struct{ at, ns int64 }

type plainKey struct {
	node    *plainNode
	replica int
}

// plainCode is code mode over single tokens, with every sum made anew.
type plainCode struct {
	p      PrebleCode
	w      *workload.Workload
	n      int
	root   *plainNode
	nodes  []*plainNode
	clock  int
	stats  map[*plainNode]*plainStats
	past   []plainPast
	delays map[plainKey][]plainDelay
	tpot   [][]int64
	hits   []prebleEvent
	leaf   map[int32]*plainNode
	events map[int32]prebleEvent // sent, and at its first token left = 1
	sent   int
}

func newPlainCode(p PrebleCode, w *workload.Workload, n int) *plainCode {
	x := &plainCode{p: p, w: w, n: n, stats: map[*plainNode]*plainStats{}, delays: map[plainKey][]plainDelay{}, leaf: map[int32]*plainNode{}, events: map[int32]prebleEvent{}}
	x.root = x.node(nil, nil, 0)
	for range n {
		x.tpot = append(x.tpot, []int64{seedTPOT})
	}
	return x
}

func (x *plainCode) node(parent *plainNode, tokens []int, before int) *plainNode {
	n := &plainNode{parent: parent, children: map[int]*plainNode{}, tokens: tokens, before: before, refs: make([]int, x.n), alloc: map[int]bool{}, cached: map[int]bool{}}
	if parent != nil {
		parent.children[tokens[0]] = n
		x.nodes = append(x.nodes, n)
	}
	return n
}

// text spells a prompt out.
func (x *plainCode) text(id int32) (tokens []int) {
	f := &x.w.Forest
	var path []int32
	for n := x.w.Leaf[id]; n != workload.None; n = f.Parent[n] {
		path = append(path, n)
	}
	slices.Reverse(path)
	for _, n := range path {
		for k := range f.Tokens[n] {
			tokens = append(tokens, int(n)*1000+int(k))
		}
	}
	for len(tokens) < int(x.w.Prompt[id]) {
		tokens = append(tokens, -int(id)*1000-len(tokens)-1)
	}
	return tokens
}

func (x *plainCode) insert(text []int) *plainNode {
	at := x.root
	for {
		x.clock++
		at.seq = x.clock
		if len(text) == 0 {
			return at
		}
		child := at.children[text[0]]
		if child == nil {
			at, text = x.node(at, text, at.before+len(at.tokens)), nil
			continue
		}
		same := 0
		for same < len(child.tokens) && same < len(text) && child.tokens[same] == text[same] {
			same++
		}
		if same < len(child.tokens) {
			child = x.split(child, same)
		}
		at, text = child, text[same:]
	}
}

func (x *plainCode) split(n *plainNode, at int) *plainNode {
	u := x.node(n.parent, n.tokens[:at], n.before)
	copy(u.refs, n.refs)
	for r := range x.n {
		if n.alloc[r] {
			u.alloc[r] = true
		}
		if n.cached[r] {
			u.cached[r] = true
		}
	}
	n.parent, n.tokens, n.before = u, n.tokens[at:], n.before+at
	u.children[n.tokens[0]] = n
	if u.large() && !n.large() && x.stats[n] != nil {
		x.stats[u] = x.stats[n]
		delete(x.stats, n)
		for i := range x.past {
			if x.past[i].important == n {
				x.past[i].important = u
			}
		}
		for r := range x.n {
			if k := (plainKey{n, r}); n.alloc[r] && x.delays[k] != nil {
				x.delays[plainKey{u, r}] = x.delays[k]
				delete(x.delays, k)
			}
		}
	}
	return u
}

func (x *plainCode) important(n *plainNode) *plainNode {
	for !n.large() {
		n = n.parent
	}
	return n
}

func (x *plainCode) time(n *plainNode) float64 {
	return float64(prebleSteps{}.StepNs(engine.Batch{Tokens: int64(len(n.tokens)), Context: int64(n.before)}))
}

func (x *plainCode) median(r int) int64 {
	all := slices.Sorted(slices.Values(x.tpot[r]))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

func (x *plainCode) nodeCost(n *plainNode, r int) int64 {
	s := x.stats[n]
	return int64(float64(s.miss*float64(s.count))*x.time(n)/float64(len(n.alloc))) + int64(n.refs[r])*s.output*x.median(r)
}

func (x *plainCode) load(r, least int) (sum int64) {
	for n, s := range x.stats {
		if n.alloc[r] && s.count >= least {
			sum += x.nodeCost(n, r)
		}
	}
	return sum
}

func (x *plainCode) eviction(r, need int) (sum int64) {
	if !x.p.Eviction {
		return 0
	}
	var queue []*plainNode
	for _, n := range x.nodes {
		if n.cached[r] {
			queue = append(queue, n)
		}
	}
	visited := map[*plainNode]bool{}
	for need > 0 && len(queue) > 0 {
		k := 0
		for i := range queue {
			if queue[i].less(queue[k]) {
				k = i
			}
		}
		n := queue[k]
		queue = slices.Delete(queue, k, k+1)
		need -= len(n.tokens)
		if !visited[n] && n.large() {
			miss, count := 1.0, n.refs[r]
			if s := x.stats[n]; s != nil {
				miss, count = s.miss, s.count
			}
			sum += int64(float64(miss*float64(count)) * x.time(n))
		}
		visited[n] = true
		all := true
		for _, kid := range n.parent.children {
			all = all && (kid == n || !kid.cached[r] || visited[kid])
		}
		if all && n.parent != x.root {
			queue = append(queue, n.parent)
		}
	}
	return sum
}

func (x *plainCode) believed(n *plainNode, r int) int {
	for ; n != x.root; n = n.parent {
		if n.alloc[r] {
			return n.before + len(n.tokens)
		}
	}
	return 0
}

// route returns the replica, what is believed to be cached there, and the cost
// terms of every replica.
func (x *plainCode) route(id int32, now int64) (chosen, believed int, load, eviction []int64) {
	leaf := x.insert(x.text(id))
	x.leaf[id] = leaf
	for r := range x.n {
		load = append(load, x.load(r, 1))
		eviction = append(eviction, x.eviction(r, len(leaf.tokens)))
	}
	least := func(among []int) (best int) {
		for k, r := range among {
			if load[r]+eviction[r] < load[among[best]]+eviction[among[best]] {
				best = k
			}
		}
		return best
	}
	var every, among []int
	for r := range x.n {
		every = append(every, r)
	}
	if len(leaf.tokens) < leaf.before {
		n := leaf
		for n != x.root && len(n.alloc) == 0 {
			n = n.parent
		}
		for r := range x.n {
			if n == x.root || n.alloc[r] {
				among = append(among, r)
			}
		}
		at := least(among)
		chosen = among[at]
		if x.p.CandidateBug && len(among) > 1 {
			chosen = at
		}
	} else if r, ok := x.paired(now); ok {
		chosen = r
	} else {
		chosen = least(every)
	}
	believed = x.believed(leaf, chosen)
	for n := leaf; n != x.root; n = n.parent {
		n.alloc[chosen] = true
		n.refs[chosen]++
		n.cached[chosen] = true
	}
	x.update(leaf, int64(x.w.Output[id]), now)
	x.sent++
	x.evict(chosen)
	depth := 0
	for n := leaf; n != x.important(leaf); n = n.parent {
		depth++
	}
	if x.p.Rebalance && depth < x.p.Depth && x.sent >= x.p.WarmUp*x.n {
		x.rebalance(now)
	}
	x.events[id] = prebleEvent{at: now, id: id, replica: chosen, cached: int32(believed)}
	return chosen, believed, load, eviction
}

func (x *plainCode) paired(now int64) (best int, ok bool) {
	most := -1.0
	for r := range x.n {
		part, whole := 0.0, 0.0
		for _, e := range x.hits {
			if e.replica == r && e.at > now-int64(x.p.PairingWindowS*1e9) {
				part += float64(e.cached)
				whole += float64(x.w.Prompt[e.id])
			}
		}
		if whole > 0 {
			part /= whole
		}
		if part > most {
			best, most = r, part
		}
	}
	return best, x.p.Pairing && most >= x.p.PairingRatio
}

func (x *plainCode) update(leaf *plainNode, output, now int64) {
	n := x.important(leaf)
	s := x.stats[n]
	if s == nil {
		s = new(plainStats)
		x.stats[n] = s
	}
	s.count++
	s.hit += leaf.before
	s.prompt += leaf.before + len(leaf.tokens)
	s.output = output
	s.miss = 1 - float64(s.hit)/float64(s.prompt)
	x.past = append(x.past, plainPast{now, n, leaf})
	for x.past[0].at < now-int64(x.p.WindowS*1e9) {
		p := x.past[0]
		x.past = x.past[1:]
		s := x.stats[p.important]
		s.count--
		s.hit -= p.leaf.before
		s.prompt -= p.leaf.before + len(p.leaf.tokens)
		if s.count == 0 {
			delete(x.stats, p.important)
			clear(p.important.alloc)
		}
	}
}

func (x *plainCode) evict(r int) {
	if !x.p.Eviction {
		return
	}
	for {
		size := 0
		var first *plainNode
		for _, n := range x.nodes {
			if n.cached[r] {
				size += len(n.tokens)
				if n.refs[r] == 0 && (first == nil || n.less(first)) {
					first = n
				}
			}
		}
		if int64(size) <= x.p.CapacityTokens || first == nil {
			return
		}
		delete(first.cached, r)
	}
}

func (x *plainCode) rebalance(now int64) {
	type load struct {
		r  int
		ns int64
	}
	var all []load
	for r := range x.n {
		all = append(all, load{r, x.load(r, 2)})
	}
	slices.SortStableFunc(all, func(a, b load) int { return int(max(-1, min(1, b.ns-a.ns))) })
	for ; len(all) > 1; all = all[1:] {
		heavy, light := &all[0], &all[len(all)-1]
		if float64(heavy.ns) < x.p.RebalanceRatio*float64(light.ns) {
			return
		}
		var nodes []*plainNode
		for n, s := range x.stats {
			if n.alloc[heavy.r] && n.large() && s.count > 1 {
				nodes = append(nodes, n)
			}
		}
		if len(nodes) == 1 {
			n, k := nodes[0], plainKey{nodes[0], heavy.r}
			if x.p.Autoscale && !n.alloc[light.r] && x.doubled(k, now) {
				cost := x.nodeCost(n, heavy.r) / 2
				heavy.ns -= cost
				light.ns += cost
				n.alloc[light.r] = true
				delete(x.delays, k)
			}
			continue
		}
		costs := map[*plainNode]int64{}
		for _, n := range nodes {
			costs[n] = x.nodeCost(n, heavy.r)
		}
		slices.SortFunc(nodes, func(a, b *plainNode) int {
			if costs[a] < costs[b] || costs[a] == costs[b] && a.less(b) {
				return -1
			}
			return 1
		})
		for _, n := range nodes {
			if heavy.ns-costs[n] < light.ns+costs[n] {
				break
			}
			heavy.ns -= costs[n]
			light.ns += costs[n]
			x.move(n, light.r)
			if float64(heavy.ns) < x.p.RebalanceRatio*float64(light.ns) {
				break
			}
		}
	}
}

func (x *plainCode) move(n *plainNode, r int) {
	clear(n.alloc)
	n.alloc[r] = true
	for _, kid := range n.children {
		x.move(kid, r)
	}
}

func (x *plainCode) doubled(k plainKey, now int64) bool {
	var a, b, na, nb float64
	for _, d := range x.delays[k] {
		if d.at < now-int64(x.p.WindowS*1e9)/2 {
			a += float64(d.ns)
			na++
		} else {
			b += float64(d.ns)
			nb++
		}
	}
	return na > 0 && nb > 0 && b/nb >= 2*(a/na)
}

func (x *plainCode) first(id int32, now int64) {
	e := x.events[id]
	x.hits = append(x.hits, prebleEvent{at: now, id: id, replica: e.replica, cached: e.cached})
	e.left, e.lag = 1, now
	x.events[id] = e
}

func (x *plainCode) left(id int32, now int64) {
	e, leaf := x.events[id], x.leaf[id]
	if e.left == 1 {
		k := plainKey{x.important(leaf), e.replica}
		x.delays[k] = append(x.delays[k], plainDelay{now, e.lag - e.at})
		for x.delays[k][0].at < now-int64(x.p.WindowS*1e9) {
			x.delays[k] = x.delays[k][1:]
		}
		if output := int64(x.w.Output[id]); output > 1 && now > e.lag {
			t := append(x.tpot[e.replica], (now-e.lag)/output)
			x.tpot[e.replica] = t[max(0, len(t)-200):]
		}
	}
	for n := leaf; n != x.root; n = n.parent {
		n.refs[e.replica]--
	}
}
