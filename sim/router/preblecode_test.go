package router

import (
	"math"
	"testing"

	"switchyard/sim/rng"
)

// Over random traces code mode decides as the tree over single tokens does.
func TestPrebleCodeAgainstNaive(t *testing.T) {
	rules, moved, shared, wrong := map[string]int{}, 0, 0, 0
	for seed := range 40 {
		s := rng.New(uint64(seed), 2, "trace")
		n := 250
		w := prebleRandom(t, s, n)
		if s.IntN(3) == 0 {
			w = w.WithPrivate()
		}
		p := prebleDefaults(func(p *PrebleCode) {
			p.WindowS = 1e-9 * float64(1e6*(20+s.IntN(600)))
			p.PairingWindowS = p.WindowS / 4
			p.RebalanceRatio = []float64{1, 1.5, 4}[s.IntN(3)]
			p.CapacityTokens = int64(60 + s.IntN(300))
			p.WarmUp = s.IntN(10)
			p.Depth = s.IntN(4)
			p.Rebalance, p.Autoscale = s.IntN(3) > 0, s.IntN(4) > 0
			p.Eviction, p.Pairing = s.IntN(3) > 0, s.IntN(2) == 0
			p.CandidateBug, p.Notices = s.IntN(2) == 0, true
		})
		replicas := 1 + s.IntN(4)
		c := newPrebleCluster(t, w, p, replicas, 1000)
		x := newPlainCode(*p, w, replicas)
		now := int64(0)
		for id := range int32(n) {
			for range s.IntN(5) {
				now += int64(s.IntN(4e6))
				if len(c.inside) == 0 {
					continue
				}
				at := c.inside[s.IntN(len(c.inside))]
				if !c.first[at] && s.IntN(6) > 0 {
					c.token(at, now)
					x.first(at, now)
				} else {
					c.leave(at, now)
					x.left(at, now)
				}
			}
			now += int64(s.IntN(4e6))
			want, believed, load, eviction := x.route(id, now)
			got := c.route(id, now)
			d := c.view.Decision
			rules[d.Rule]++
			if got != want || int(c.view.Believed) != believed {
				t.Fatalf("seed %d: request %d goes to %d by %s with %d tokens, want %d with %d", seed, id, got, d.Rule, c.view.Believed, want, believed)
			}
			for r := range replicas {
				if !math.IsNaN(d.Score[r]) && (d.Terms[0][r] != float64(load[r])*1e-9 || d.Terms[1][r] != float64(eviction[r])*1e-9) {
					t.Fatalf("seed %d: request %d: terms %v %v on replica %d, want %d %d", seed, id, d.Terms[0][r], d.Terms[1][r], r, load[r], eviction[r])
				}
			}
			if d.Rule == "exploit" && math.IsNaN(d.Score[got]) {
				wrong++
			}
		}
		moved += c.router.(*code).moves
		shared += c.router.(*code).copies
	}
	t.Log(rules, moved, shared, wrong)
	if rules["exploit"] < 500 || rules["explore"] < 500 || rules["pairing"] < 50 || moved < 50 || shared < 5 || wrong < 20 {
		t.Errorf("decisions by rule %v, %d prefixes moved, %d shared, %d choices of the wrong replica: too few to test", rules, moved, shared, wrong)
	}
}

// prebleCoded is code mode without what follows an assignment.
func prebleCoded(change func(*PrebleCode)) *PrebleCode {
	return prebleDefaults(func(p *PrebleCode) {
		p.Rebalance, p.Pairing, p.Eviction = false, false, false
		if change != nil {
			change(p)
		}
	})
}

// goes routes a request and checks the choice and the rule.
func (c *prebleCluster) goes(id int32, nowNs int64, rule string, want int) {
	c.t.Helper()
	if got := c.route(id, nowNs); got != want || c.view.Decision.Rule != rule {
		c.t.Fatalf("request %d goes to %d by %s, want %d by %s", id, got, c.view.Decision.Rule, want, rule)
	}
}

// term checks a cost term of the last decision.
func (c *prebleCluster) term(k, replica int, ns float64) {
	c.t.Helper()
	if got := c.view.Decision.Terms[k][replica] * 1e9; math.Abs(got-ns) > 2 {
		c.t.Errorf("term %d of replica %d is %.0f ns, want %.0f", k, replica, got, ns)
	}
}

func TestPrebleCodeCosts(t *testing.T) {
	w := prebleDocs(t, 10, 100, 100, 1, 1, 2, 3, 2)
	c := newPrebleCluster(t, w, prebleCoded(nil), 2, 0)
	c.goes(0, 0, "explore", 0) // first of equals
	// The tree is one node of 210 tokens, all new: 1 × 1 × 3.1 ms, and one
	// request in flight with 10 tokens at .15 s. It splits at 110 tokens, of
	// which 2.1 ms are left.
	c.goes(1, 0, "exploit", 0) // 100 tokens are new, 110 known; one candidate
	c.term(0, 0, 2_100_000+1.5e9)
	// Two requests of 420 tokens, 310 of them new: 2 × 310/420 × 2.1 ms. Behind
	// the system prompt 100 tokens of document 1 are left: 2.0001 ms.
	c.goes(2, 0, "explore", 1)
	c.term(0, 0, 2*310.0/420*2_000_100+2*1.5e9)
	c.term(0, 1, 0)
	// One token takes 1 ms on replica 0: the median of .15 s and 1 ms.
	c.token(0, 1)
	c.leave(0, 10_000_001)
	c.goes(3, 10_000_001, "explore", 0)
	c.term(0, 0, 2*310.0/420*2_000_100+10*75.5e6)
	// Now 110 of 210 tokens are known to be on replica 1.
	c.goes(4, 10_000_001, "exploit", 1)
}

func TestPrebleCodeExploit(t *testing.T) {
	// 10 + 90 tokens known and 100 new, then 99 new.
	c := newPrebleCluster(t, prebleDocs(t, 10, 90, 100, 1, 1), prebleCoded(nil), 3, 0)
	c.goes(0, 0, "explore", 0)
	c.goes(1, 0, "explore", 1)
	c = newPrebleCluster(t, prebleDocs(t, 10, 90, 99, 1, 1), prebleCoded(nil), 3, 0)
	c.goes(0, 0, "explore", 0)
	c.goes(1, 0, "exploit", 0)
	// Of the holders 1 and 3 the second costs less. Its place among them is 1.
	for _, bug := range []bool{false, true} {
		w := prebleDocs(t, 10, 90, 99, 1, 1, 1)
		c = newPrebleCluster(t, w, prebleCoded(func(p *PrebleCode) { p.CandidateBug = bug }), 4, 0)
		x := c.router.(*code)
		c.goes(0, 0, "explore", 0)
		c.goes(1, 0, "exploit", 0)
		n := x.tree.owner[w.Leaf[0]]
		x.rehome(n, 1)
		x.allocate(n, 3)
		x.window.load[1].prefill += 1e12
		want := 3
		if bug {
			want = 1
		}
		c.goes(2, 0, "exploit", want)
	}
}

func TestPrebleCodeWindow(t *testing.T) {
	w := prebleDocs(t, 10, 100, 50, 1, 1, 1, 2, 1)
	build := func() *prebleCluster {
		c := newPrebleCluster(t, w, prebleCoded(func(p *PrebleCode) { p.WindowS = 1 }), 2, 0)
		c.goes(0, 0, "explore", 0)
		c.goes(1, 0, "exploit", 0)
		return c
	}
	// A request of another document takes out what is older than H.
	c := build()
	c.goes(3, 1_000_000_000, "explore", 1)
	if got := c.router.(*code).window.used(); got != 2 { // H is not older
		t.Errorf("%d important nodes are in the window, want 2", got)
	}
	c.goes(2, 1_000_000_000, "exploit", 0)
	c = build()
	c.goes(3, 1_000_000_001, "explore", 1)
	// Document 1 is allocated to nobody now; above it is the system prompt, on
	// both. L is 1.5 s of the request in flight on 1, and nothing on 0.
	c.goes(2, 1_000_000_001, "exploit", 0)
	if got := c.router.(*code).window.used(); got != 2 {
		t.Errorf("%d important nodes are in the window, want 2", got)
	}
}

func TestPrebleCodePairing(t *testing.T) {
	w := prebleDocs(t, 10, 100, 100, 1, 2, 3, 4, 5, 6)
	build := func(cached int32) *prebleCluster {
		c := newPrebleCluster(t, w, prebleCoded(func(p *PrebleCode) { p.Pairing = true }), 3, 0)
		c.router.(*code).hits.add(0, 2, cached, 1000)
		return c
	}
	build(699).goes(0, 0, "explore", 0)
	c := build(700)
	c.goes(0, 29_999_999_999, "pairing", 2)
	c.goes(1, 29_999_999_999, "pairing", 2) // takes every one
	c.goes(2, 30_000_000_000, "explore", 0)
}

func TestPrebleCodeRebalance(t *testing.T) {
	// Documents 1 and 2 on replica 0, two requests each, nothing on replica 1:
	// re-homing the cheaper one does not turn the two around, another would.
	w := prebleDocs(t, 10, 100, 50, 1, 1, 2, 2, 2, 1, 2)
	build := func(change func(*PrebleCode)) *code {
		c := newPrebleCluster(t, w, prebleCoded(func(p *PrebleCode) { p.Rebalance, p.WarmUp = true, 0; change(p) }), 2, 0)
		x := c.router.(*code)
		x.p.Rebalance = false
		for id := range int32(4) {
			leaf, upper := x.tree.insert(w.Leaf[id], w.Prompt[id])
			if upper != 0 {
				x.parted(upper)
			}
			x.dispatch(leaf, 0)
			x.enter(x.important(leaf), leaf, 10, 0)
			x.sent++
		}
		x.p.Rebalance = true
		c.goes(4, 0, "exploit", 0)
		return x
	}
	home := func(x *code, id int32) int {
		n := x.tree.owner[w.Leaf[id]]
		for r := range 2 {
			if x.tree.isHome(n, r) && x.tree.nodes[n].homes == 1 {
				return r
			}
		}
		return -1
	}
	// 2 and 3 requests in flight: 3 s and 4.5 s beside some ms of prefill.
	x := build(func(*PrebleCode) {})
	if home(x, 0) != 1 || home(x, 2) != 0 {
		t.Errorf("documents are at home on %d and %d, want the cheaper one on 1", home(x, 0), home(x, 2))
	}
	for name, change := range map[string]func(*PrebleCode){
		"warms up":            func(p *PrebleCode) { p.WarmUp = 3 },
		"must not go so deep": func(p *PrebleCode) { p.Depth = 1 },
	} {
		if x := build(change); home(x, 0) != 0 || home(x, 2) != 0 {
			t.Errorf("documents are at home on %d and %d while it %s, want both on 0", home(x, 0), home(x, 2), name)
		}
	}
	if x := build(func(p *PrebleCode) { p.WarmUp = 2 }); home(x, 0) != 1 {
		t.Error("the fifth of 2 × 2 requests does not rebalance")
	}
	if x := build(func(p *PrebleCode) { p.Depth = 2 }); home(x, 0) != 1 {
		t.Error("a leaf one node below its important node does not rebalance")
	}
}

// The rule of balance: at least ratio times as much.
func TestPrebleCodeBalanced(t *testing.T) {
	c := &code{p: PrebleCode{RebalanceRatio: 1.5}}
	if c.balanced(&codeShare{0, 150}, &codeShare{1, 100}) || !c.balanced(&codeShare{0, 149}, &codeShare{1, 100}) {
		t.Error("balanced means less than 1.5 times the least load")
	}
}

// One document alone on the most loaded replica is shared once its times to
// first token have doubled.
func TestPrebleCodeAutoscale(t *testing.T) {
	w := prebleDocs(t, 10, 100, 50, 1, 1, 1, 1)
	for _, k := range []struct {
		early, late int64
		homes       int32
	}{{100, 199, 1}, {100, 200, 2}, {0, 100, 2}} {
		c := newPrebleCluster(t, w, prebleCoded(func(p *PrebleCode) { p.Rebalance, p.WarmUp = true, 0 }), 2, 0)
		x := c.router.(*code)
		c.goes(0, 0, "explore", 0)
		c.goes(1, 0, "exploit", 0)
		n := x.tree.owner[w.Leaf[0]]
		cell := x.tree.at(n, 0)
		x.tree.delays.add(cell, 0, k.early, 0)
		x.tree.delays.add(cell, 90e9, k.late, 0)
		c.goes(2, 179_999_999_999, "exploit", 0)
		if got := x.tree.nodes[n].homes; got != k.homes {
			t.Errorf("times to first token of %d and %d: on %d replicas, want %d", k.early, k.late, got, k.homes)
		}
	}
}

func TestPrebleCodeEviction(t *testing.T) {
	w := prebleDocs(t, 10, 100, 50, 1, 1, 2, 3, 4)
	build := func() (*prebleCluster, *code) {
		c := newPrebleCluster(t, w, prebleCoded(func(p *PrebleCode) { p.Eviction, p.CapacityTokens, p.Notices = true, 400, true }), 1, 0)
		for id := range int32(3) {
			c.route(id, 0)
			c.leave(id, 0)
		}
		return c, c.router.(*code)
	}
	// On the replica are, by last access: the rest of request 0 (50 tokens), of
	// request 1's path document 1 (100) and its rest (50), the system prompt
	// (10), and document 2 with its rest (150). Large are the documents and the
	// system prompt.
	c, x := build()
	if got := x.tree.lists[0].tokens; got != 360 {
		t.Fatalf("%d tokens are held, want 360", got)
	}
	miss := 1 - 110.0/320 // of document 1: 110 of 2 × 160 were known
	if got, want := x.eviction(0, 50), int64(0); got != want {
		t.Errorf("50 tokens cost %d ns, want none: a rest is small", got)
	}
	if got, want := x.eviction(0, 51), int64(miss*2*2_000_100); got != want {
		t.Errorf("51 tokens cost %d ns, want %d", got, want)
	}
	// 160 more tokens: 520 - 10 shared make 510, 110 too many: the rest of
	// request 0 goes, and document 1, but not the rest below it.
	c.goes(3, 1, "explore", 0)
	if got := x.tree.lists[0].tokens; got != 360 {
		t.Errorf("%d tokens are held after eviction, want 360", got)
	}
	if x.tree.cachedOn(x.tree.owner[w.Leaf[0]], 0) {
		t.Error("document 1 is still held")
	}
	if !x.tree.isHome(x.tree.owner[w.Leaf[0]], 0) {
		t.Error("eviction has changed where document 1 is at home")
	}
	x.Evicted(0, w.Leaf[2], w.Forest.Tokens[w.Leaf[2]], &c.view)
	if got := x.tree.lists[0].tokens; got != 360 {
		t.Errorf("a notice that all is there leaves %d tokens, want 360", got)
	}
	x.Evicted(0, w.Leaf[2], 0, &c.view)
	if got := x.tree.lists[0].tokens; got != 210 {
		t.Errorf("after a notice %d tokens are held, want 210", got)
	}
}

// used returns the slots in use.
func (w *codeWindow) used() int { return len(w.slots) - 1 - len(w.free) }
