package router

import (
	"math"
	"slices"
	"testing"

	"switchyard/sim/hardware"
	"switchyard/sim/param"
	"switchyard/sim/workload"
)

// prebleDocs makes requests for documents under a system prompt, each with a
// private question. Document 0 is none.
func prebleDocs(t testing.TB, system, doc, question int32, docs ...int64) *workload.Workload {
	t.Helper()
	var b workload.Builder
	for _, d := range docs {
		r := workload.Request{After: workload.None, Session: workload.None, OutputID: workload.None, Output: 10,
			Prompt: system + question, Segments: []workload.Segment{{ID: 0, Tokens: system}}}
		if d > 0 {
			r.Segments = append(r.Segments, workload.Segment{ID: d, Tokens: doc})
			r.Prompt += doc
		}
		if err := b.Add(&r); err != nil {
			t.Fatal(err)
		}
	}
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// preblePlain is paper mode without what follows an assignment.
func preblePlain(change func(*Preble)) *Preble {
	return prebleDefaults(func(p *Preble) {
		p.Rebalance, p.Autoscale, p.Pairing = false, false, "none"
		if change != nil {
			change(p)
		}
	})
}

// holds lets a replica cache the path of a request, without any load.
func (c *prebleCluster) holds(r int, id int32) {
	b := c.router.(*preble)
	leaf := c.view.Work.Leaf[id]
	b.tree.mark(leaf)
	b.tree.insert(r, leaf)
	b.tree.unuse(r, leaf)
}

// among checks where a request may go, by a rule, over many draws; nothing is
// dispatched.
func (c *prebleCluster) among(id int32, nowNs int64, rule string, want ...int) {
	c.t.Helper()
	b := c.router.(*preble)
	c.view.NowNs = nowNs
	b.pass(nowNs)
	seen := map[int]bool{}
	for range 100 {
		longest := b.look(id, &c.view)
		chosen, by := 0, ""
		if p := c.view.Work.Prompt[id]; p-longest < longest {
			chosen, by = b.exploit(id, longest, &c.view)
		} else {
			chosen, by = b.explore(id, &c.view)
		}
		if by != rule {
			c.t.Fatalf("request %d is routed by %s, want %s", id, by, rule)
		}
		seen[chosen] = true
	}
	for i := range c.view.Replicas {
		if seen[i] != slices.Contains(want, i) {
			c.t.Fatalf("request %d goes to %v, want %v", id, seen, want)
		}
	}
}

// E2's worked example: 13 + 21,000 + 1,987 tokens, replica 2 has the document.
func TestPrebleExample(t *testing.T) {
	g, _ := hardware.FindGPU("a6000")
	m, _ := hardware.FindModel("mistral-7b")
	var roofline hardware.RooflineParams
	param.Defaults(&roofline)
	step, err := hardware.NewRoofline(g, m, 1, roofline)
	if err != nil {
		t.Fatal(err)
	}
	w := prebleDocs(t, 13, 21000, 1987, 0, 1, 1, 2)
	c := newPrebleCluster(t, w, preblePlain(nil), 4, 219089)
	b := c.router.(*preble)
	b.times = prebleTimes{step: step}
	for r := range 4 {
		c.holds(r, 0)
	}
	c.holds(2, 1)
	c.among(2, 1e9, "exploit", 2)
	if got := c.route(2, 1e9); got != 2 {
		t.Fatalf("goes to %d, want 2", got)
	}
	d := c.view.Decision
	for r := range 4 {
		if want := []int32{13, 13, 21013, 13}[r]; d.Cached[r] != want {
			t.Errorf("%d tokens are cached on replica %d, want %d", d.Cached[r], r, want)
		}
		if candidate := !math.IsNaN(d.Score[r]); candidate != (r == 2) {
			t.Errorf("replica %d is a candidate: %v", r, candidate)
		}
	}
	// 1,987 tokens: 2 × 6.979e9 × 1,987 FLOP and attention at 108.4 TFLOP/s.
	if here := d.Terms[2][2]; math.Abs(here-.27) > .005 {
		t.Errorf("prefill takes %.3f s on replica 2, want about .27", here)
	}
	if elsewhere := float64(b.times.prefill(23000-13)) * 1e-9; elsewhere < 4 {
		t.Errorf("prefill takes %.3f s elsewhere, want more than 4", elsewhere)
	}
}

func TestPrebleE2(t *testing.T) {
	// 10 + 90 tokens known, a question of 100: as many missed as cached.
	c := newPrebleCluster(t, prebleDocs(t, 10, 90, 100, 1, 1), preblePlain(nil), 3, 10000)
	c.holds(1, 0)
	c.among(1, 0, "explore", 1) // P is 2 ms there, 3 ms elsewhere
	// A question of 99: one less missed than cached.
	c = newPrebleCluster(t, prebleDocs(t, 10, 90, 99, 1, 1), preblePlain(nil), 3, 10000)
	c.holds(1, 0)
	c.among(1, 0, "exploit", 1)
	c.holds(2, 0)
	c.among(1, 0, "exploit", 1, 2) // equal costs, equal books
	c.view.Requests = []int32{0, 3, 2}
	c.among(1, 0, "exploit", 2) // fewest outstanding
	c.view.Up = []int32{0, 1}
	c.among(1, 0, "exploit", 1)
	c.view.Up = []int32{0}
	c.among(1, 0, "explore", 0)
}

func TestPrebleLoad(t *testing.T) {
	// Four requests that share nothing but 10 tokens: 210 tokens each.
	w := prebleDocs(t, 10, 100, 100, 1, 2, 3, 4)
	c := newPrebleCluster(t, w, preblePlain(func(p *Preble) { p.WindowS, p.EvictionCost = 1, "none" }), 2, 10000)
	first := c.route(0, 0)
	other := 1 - first
	if got := c.route(1, 500_000_000); got != other { // L is 3.1 ms there
		t.Fatalf("the second request goes to %d, want %d", got, other)
	}
	// An output of 10 tokens ends: each request now has 10 × 1.0121 ms to decode.
	b := c.router.(*preble)
	if got := b.window.load(first); got != 3_100_000 {
		t.Errorf("load before any output is %d ns, want 3.1 ms of prefill", got)
	}
	c.token(0, 600_000_000)
	c.leave(0, 600_000_000)
	if got, want := b.window.load(first), int64(3_100_000+10*1_012_100); got != want {
		t.Errorf("load is %d ns, want %d", got, want)
	}
	if got, want := b.window.load(other), b.window.load(first); got != want {
		t.Errorf("load of the replica without an output is %d ns, want that of the mean of all, %d", got, want)
	}
	c.view.Requests[first] = 5
	c.among(2, 999_999_999, "explore", other)   // equal loads, fewer outstanding
	c.among(2, 1_000_000_000, "explore", first) // H ago: counts no more
	b.pass(1_599_999_999)
	if b.window.all.ended != 1 {
		t.Error("an output counts no more before H has passed")
	}
	b.pass(1_600_000_000)
	if b.window.all.ended != 0 {
		t.Error("an output still counts when H has passed")
	}
	if got := b.window.load(first) + b.window.load(other); got != 0 {
		t.Errorf("load after H is %d ns", got)
	}
	// A charge of what a decode adds to another: 2 × (10 us + 2.1 us) - 12.1 us.
	if got := (&prebleTimes{step: prebleSteps{}, marginal: true}).decode(210); got != 12_100 {
		t.Errorf("marginal decode is %d ns, want 12,100", got)
	}
}

func TestPrebleFewestDispatches(t *testing.T) {
	w := prebleDocs(t, 10, 100, 5000, 1, 2, 3, 4, 5)
	c := newPrebleCluster(t, w, preblePlain(func(p *Preble) { p.Explore = "fewest-dispatches" }), 3, 100000)
	seen := map[int]int{}
	for id := range int32(3) {
		seen[c.route(id, int64(id))]++
		c.leave(id, int64(id))
	}
	if len(seen) != 3 {
		t.Errorf("three dispatches go to %v, want one each", seen)
	}
}

func TestPrebleEvictionCost(t *testing.T) {
	// Replica 0 has room for 500 tokens. It holds 10 + 100 of document 1, used
	// by two of three requests, and 100 of document 2, used by one.
	w := prebleDocs(t, 10, 100, 50, 1, 1, 2, 3)
	build := func(mode string) (*preble, *prebleCluster) {
		c := newPrebleCluster(t, w, preblePlain(func(p *Preble) { p.EvictionCost = mode }), 1, 300)
		for id := range int32(3) {
			c.route(id, 0)
		}
		b := c.router.(*preble)
		b.look(3, &c.view)
		return b, c
	}
	// 150 tokens are missed. The oldest is document 1: (1 + 1) ms × 2/3; then
	// document 2: 2 ms × 1/3; the system prompt is the request's own.
	b, _ := build("always")
	if got, want := b.costs(3, 0).eviction, int64(1_333_333+666_666); got != want {
		t.Errorf("M is %d ns, want %d", got, want)
	}
	// 210 of 300 tokens are held: 60 too many, which document 1 makes room for.
	b, _ = build("needed")
	if got, want := b.costs(3, 0).eviction, int64(1_333_333); got != want {
		t.Errorf("M is %d ns, want %d", got, want)
	}
	b, _ = build("none")
	if got := b.costs(3, 0).eviction; got != 0 {
		t.Errorf("M is %d ns, want none", got)
	}
}

// What a replica has no room for is dropped, the least recently used first, and
// so is what it says that it evicted.
func TestPrebleTree(t *testing.T) {
	w := prebleDocs(t, 10, 100, 50, 1, 2, 3, 1, 2, 3)
	c := newPrebleCluster(t, w, preblePlain(nil), 1, 220)
	c.route(0, 0)
	c.route(1, 0)
	c.route(2, 0) // 310 tokens: document 1 goes
	b := c.router.(*preble)
	cached := func() (x [3]int32) {
		for k := range x {
			b.look(int32(3+k), &c.view)
			x[k] = b.match[0]
		}
		return x
	}
	if got, want := cached(), [3]int32{10, 110, 110}; got != want {
		t.Errorf("cached are %v, want %v", got, want)
	}
	b.Evicted(0, w.Leaf[1], 40, &c.view)
	if got, want := cached(), [3]int32{10, 50, 110}; got != want {
		t.Errorf("after a notice of a part cached are %v, want %v", got, want)
	}
	b.Evicted(0, w.Forest.Parent[w.Leaf[1]], 0, &c.view)
	if got, want := cached(), [3]int32{0, 0, 0}; got != want {
		t.Errorf("without the system prompt cached are %v, want %v", got, want)
	}
	b.Down(0, &c.view)
	if b.tree.held[0] != 0 || b.tree.cells[w.Leaf[1]] == 0 {
		t.Errorf("a replica that is down holds %d tokens, want none; its requests stay in the window", b.tree.held[0])
	}
	b.pass(180e9)
	if b.tree.cells[w.Leaf[1]] != 0 {
		t.Error("a node stays though nobody caches it and no request used it within H")
	}
}

func TestPrebleRebalance(t *testing.T) {
	w := prebleDocs(t, 10, 490, 100, 1, 1, 1, 2)
	build := func(ratio float64) *prebleCluster {
		c := newPrebleCluster(t, w, preblePlain(func(p *Preble) { p.Rebalance, p.RebalanceRatio = true, ratio }), 2, 10000)
		c.holds(0, 0)
		// Loads of 3 ms and 2 ms.
		c.router.(*preble).window.of = []prebleSums{{prefill: 3e6, requests: 1}, {prefill: 2e6, requests: 1}}
		return c
	}
	build(1.5).among(1, 0, "exploit", 0) // not more than 1.5 times
	build(1.499).among(1, 0, "rebalance", 1)
	c := build(1.2)
	c.router.(*preble).window.of[0].prefill = 1e6
	c.among(1, 0, "exploit", 0) // the heavy one is not the one exploited
	c.among(3, 0, "explore", 0) // 1 + 6.9 ms against 2 + 7 ms
}

func TestPreblePairing(t *testing.T) {
	w := prebleDocs(t, 10, 490, 500, 1, 2, 3)
	build := func(rule string) (*prebleCluster, *preble) {
		c := newPrebleCluster(t, w, preblePlain(func(p *Preble) { p.Pairing = rule }), 2, 10000)
		c.router.(*preble).window.of[1].prefill = 1e9
		return c, c.router.(*preble)
	}
	c, b := build("hit-ratio")
	b.hits.add(0, 1, 699, 1000)
	c.among(0, 1, "explore", 0)
	b.hits.add(1, 1, 701, 1000) // 1,400 of 2,000
	c.among(0, 29_999_999_999, "pairing", 1)
	c.among(0, 30_000_000_000, "pairing", 1) // 701 of 1,000 are left
	c.among(0, 30_000_000_001, "explore", 0)
	c, b = build("decode-requests")
	c.view.Requests = []int32{0, 10}
	b.decoding[1] = 6
	c.among(0, 0, "explore", 0)
	b.decoding[1] = 7
	c.among(0, 0, "pairing", 1)
	c, b = build("decode-time")
	b.window.of[1] = prebleSums{prefill: 300, decode: 69, requests: 1, output: 10, ended: 1}
	c.among(0, 0, "explore", 0) // 690 of 990; loads of 0 and 990 ns
	b.window.of[1].decode = 70
	c.among(0, 0, "pairing", 1)
}

func TestPrebleAutoscale(t *testing.T) {
	w := prebleDocs(t, 10, 490, 100, 1, 1, 1, 1, 2)
	build := func(early, late int64, samples int) *prebleCluster {
		c := newPrebleCluster(t, w, preblePlain(func(p *Preble) { p.Autoscale, p.AutoscaleSamples = true, samples }), 3, 10000)
		b := c.router.(*preble)
		c.holds(0, 0)
		b.window.of = []prebleSums{{prefill: 50e6, requests: 1}, {prefill: 9e6, requests: 1}, {prefill: 8e6, requests: 1}}
		for range 2 {
			b.scale.add(w.Key[0], early, 10e9)
		}
		for range 2 {
			b.scale.add(w.Key[0], late, 10e9+1)
		}
		return c
	}
	now := int64(100e9)
	build(500, 999, 2).among(1, now, "exploit", 0)
	build(500, 1000, 3).among(1, now, "exploit", 0) // too few
	c := build(500, 1000, 2)
	if got := c.route(1, now); got != 2 || c.view.Decision.Rule != "autoscale" {
		t.Fatalf("a prefix whose queueing doubled goes to %d by %s, want the lightest by autoscaling", got, c.view.Decision.Rule)
	}
	// Its later requests choose between 0 (50 ms + 2 ms) and 2 (8 + 7 + 2 ms),
	// not 1, and its queueing times start anew.
	c.among(2, now, "split", 2)
	c.router.(*preble).window.of[2].prefill = 60e6
	c.among(2, now, "split", 0)
	c.view.Up = []int32{1, 2}
	c.router.(*preble).Down(0, &c.view)
	c.among(2, now, "split", 2)
	c.view.Up = []int32{0, 1, 2}
	c.among(2, now+180e9, "exploit", 2) // no request within H: forgotten
}

// A child of a replicated prefix stays where it went first, until the prefix
// has another replica.
func TestPrebleSplit(t *testing.T) {
	var b workload.Builder
	for range 3 {
		r := workload.Request{After: workload.None, Session: workload.None, OutputID: workload.None, Output: 1, Prompt: 700,
			Segments: []workload.Segment{{ID: 1, Tokens: 500}, {ID: 2, Tokens: 100}}}
		if err := b.Add(&r); err != nil {
			t.Fatal(err)
		}
	}
	r := workload.Request{After: workload.None, Session: workload.None, OutputID: workload.None, Output: 1, Prompt: 600,
		Segments: []workload.Segment{{ID: 1, Tokens: 500}}}
	if err := b.Add(&r); err != nil {
		t.Fatal(err)
	}
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	c := newPrebleCluster(t, w, preblePlain(func(p *Preble) { p.Autoscale = true }), 3, 10000)
	x := c.router.(*preble)
	c.holds(0, 0)
	x.look(0, &c.view)
	x.replicate(w.Key[0], 1, &c.view)
	x.window.of[0].prefill = 9e6
	c.among(0, 0, "split", 1) // 8 ms there, 9 ms and 2 ms for what is missed on 0
	x.window.of[1].prefill = 90e6
	c.among(1, 0, "split", 1) // bound
	c.among(3, 0, "split", 0) // has no child: free
	x.replicate(w.Key[0], 2, &c.view)
	c.among(2, 0, "split", 2)
	x.Down(2, &c.view)
	x.Came(2, &c.view)
	c.among(2, 0, "split", 0) // 2 is no member any more, nor bound to; 1 has 90 ms
}
