package router

import "switchyard/sim/rng"

// charsPerToken is how long a token is taken to be where a system counts
// characters.
const charsPerToken = 4

// treeLimits bound a tree of what was sent where: at each tick of a timer each
// tenant's oldest leaves go until it has no more than the target, if it had
// more than the threshold. Between ticks a tree grows freely.
type treeLimits struct {
	threshold, target int64 // tokens
	periodNs, nextNs  int64 // 0: no timer
}

// newTreeLimits takes seconds between ticks, 0 for none, and characters.
func newTreeLimits(seconds float64, chars int64) treeLimits {
	ns := int64(seconds * 1e9)
	return treeLimits{chars / charsPerToken, chars / charsPerToken, ns, ns}
}

// apply catches up with the timer. All ticks that have passed since the last
// decision found the same tree, so that one of them is enough.
func (l *treeLimits) apply(t *tree, now int64) {
	if l.periodNs == 0 || now < l.nextNs {
		return
	}
	l.nextNs = now - now%l.periodNs + l.periodNs
	for tenant := range t.size {
		if t.size[tenant] > l.threshold {
			t.evict(tenant, l.target)
		}
	}
}

// treeAffinity is the rule of SGLang's cache-aware router and its descendants,
// in two stages. While loads are far apart the least loaded replica gets the
// request. Otherwise the tenant that the tree names for the longest known prefix
// gets it, if that is long enough a share of the prompt, and else (a miss) the
// least loaded replica, or in older releases the one with the smallest tree.
// Whoever gets it is entered into the tree at once, before it has cached
// anything.
type treeAffinity struct {
	tree      *tree
	limits    treeLimits
	stream    *rng.Stream
	threshold float64
	abs       int32
	ratio     float64
	smallest  bool    // the miss path
	all       []int32 // replicas whose loads count in their spread, those that are down included; nil: those that are up
	drop      bool    // a replica that goes is forgotten
	processed []int64 // by replica: requests sent so far, which break ties; nil: the first index does
	overload  float64 // share of KV memory in use above which loads count as far apart
	apart     float64 // or its spread
}

func newTreeAffinity(e Env, g *TreeGuard, t *TreeStore) treeAffinity {
	page := int32(1)
	if t.Unit == "tokens" {
		page = 16
	}
	a := treeAffinity{tree: newTree(e.Work, e.Replicas, page), limits: newTreeLimits(t.EvictionS, t.MaxTreeChars),
		stream: e.Random, threshold: g.Threshold, abs: g.BalanceAbs, ratio: g.BalanceRatio,
		overload: 1, apart: 1, drop: t.Down == "drop"}
	a.tree.last = t.Owner == "last-inserter"
	if page > 1 { // a tree over tokens has its limit in tokens
		a.limits.threshold, a.limits.target = t.MaxTreeChars, t.MaxTreeChars
	}
	return a
}

// Route implements Router.
func (a *treeAffinity) Route(id int32, v *View) int {
	a.limits.apply(a.tree, v.NowNs)
	return a.choose(id, v, none)
}

// choose routes a request, to the replica that its session pins it to where
// that is one and loads are not far apart.
func (a *treeAffinity) choose(id int32, v *View, pinned int) int {
	k := a.tree.match(id)
	rule, chosen, insert := "imbalance", 0, true
	switch {
	case a.imbalanced(v):
		chosen = a.least(v)
	case pinned != none:
		rule, chosen = "session", pinned
	default:
		rule, chosen, insert = a.balanced(id, k, v)
	}
	if d := v.Decide(rule); d != nil {
		a.explain(k, v, d, chosen)
	}
	v.Believed = a.tree.have(k, chosen)
	if insert {
		a.tree.insert(id, k, chosen)
	}
	if a.processed != nil {
		a.processed[chosen]++
	}
	return chosen
}

// balanced is the choice while loads are not far apart, and whether it is
// entered into the tree.
func (a *treeAffinity) balanced(id int32, k known, v *View) (rule string, chosen int, insert bool) {
	named := none
	if k.node != none {
		named = a.tree.tenant(k)
		a.tree.touch(k, named, a.stream)
	}
	if total := a.tree.text.whole(v.Work.Prompt[id]); float64(k.tokens) > a.threshold*float64(total) {
		if !v.IsUp(named) {
			return "gone", int(v.Up[0]), false
		}
		return "affinity", named, true
	}
	if a.smallest {
		return "miss", smallestTree(v.Up, a.tree.size), true
	}
	return "miss", a.least(v), true
}

func smallestTree(up []int32, size []int64) int {
	best := up[0]
	for _, i := range up[1:] {
		if size[i] < size[best] {
			best = i
		}
	}
	return int(best)
}

// imbalanced reports whether loads are far apart.
func (a *treeAffinity) imbalanced(v *View) bool {
	counted := a.all
	if counted == nil {
		counted = v.Up
	}
	low, high := span(counted, func(i int32) int32 { return v.Requests[i] })
	return high-low > a.abs && float64(high) > a.ratio*float64(low) || a.crowded(v)
}

// crowded is the rule on the use of KV memory.
func (a *treeAffinity) crowded(v *View) bool {
	if v.Gauges == nil || a.overload >= 1 && a.apart >= 1 {
		return false
	}
	low, high := 1.0, 0.0
	for _, i := range v.Up {
		if g := &v.Gauges[i]; g.Read {
			use := float64(g.KVTokens) / float64(v.KVTokens)
			low, high = min(low, use), max(high, use)
		}
	}
	return a.overload < 1 && high > a.overload || a.apart < 1 && high-low > a.apart
}

// least returns the least loaded replica, of several the one that was sent the
// fewest requests so far where that is counted, of those the first.
func (a *treeAffinity) least(v *View) int {
	best := v.Up[0]
	for _, i := range v.Up[1:] {
		switch {
		case v.Requests[i] < v.Requests[best]:
			best = i
		case v.Requests[i] == v.Requests[best] && a.processed != nil && a.processed[i] < a.processed[best]:
			best = i
		}
	}
	return int(best)
}

// treeTerms are the terms of a decision.
var treeTerms = []string{"load", "tree_tokens"}

// explain scores replicas by what the rule went by: the length of the prefix
// for the named one alone, else the load or the size of the tree.
func (a *treeAffinity) explain(k known, v *View, d *Decision, chosen int) {
	a.tree.each(k, d.Cached)
	for _, i := range v.Up {
		d.Terms[0][i], d.Terms[1][i] = float64(v.Requests[i]), float64(a.tree.size[i])
		switch {
		case d.Rule == "miss" && a.smallest:
			d.Score[i] = d.Terms[1][i]
		case d.Rule == "miss" || d.Rule == "imbalance":
			d.Score[i] = d.Terms[0][i]
		case int(i) == chosen:
			d.Score[i] = float64(d.Cached[i])
		}
	}
}

// Down implements Follower.
func (a *treeAffinity) Down(replica int, _ *View) {
	if a.drop {
		a.tree.forget(replica)
	}
}

// Came implements Follower: who comes back is taken to have what it had.
func (a *treeAffinity) Came(int, *View) {}
