package router

import (
	"math"
	"slices"
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// prebleSteps is a step model with round figures: 1 ms a step, 10 us a new
// token, 10 ns a token of context.
type prebleSteps struct{}

func (prebleSteps) StepNs(b engine.Batch) int64 { return 1e6 + 10000*b.Tokens + 10*b.Context }

// prebleCluster is what drives a policy of Preble by hand.
type prebleCluster struct {
	t      testing.TB
	view   View
	router Router
	inside []int32 // requests in flight
	first  map[int32]bool
	at     map[int32]int // replica of a request in flight
}

func newPrebleCluster(t testing.TB, w *workload.Workload, p Params, replicas int, capacity int64) *prebleCluster {
	t.Helper()
	c := &prebleCluster{t: t, first: map[int32]bool{}, at: map[int32]int{}}
	c.view = View{Replicas: replicas, Up: all(replicas), Requests: make([]int32, replicas), Tokens: make([]int64, replicas),
		Work: w, KVTokens: capacity, Outputs: NewOutputs(w, engine.Knowledge{}, 0), Decision: new(Decision)}
	c.router = p.Build(Env{Replicas: replicas, Random: rng.New(1, 1, "preble"), Work: w, Step: prebleSteps{}, KVTokens: capacity, Routers: 1})
	return c
}

func (c *prebleCluster) route(id int32, nowNs int64) int {
	c.view.NowNs = nowNs
	i := c.router.Route(id, &c.view)
	c.view.Requests[i]++
	c.inside = append(c.inside, id)
	c.at[id] = i
	return i
}

func (c *prebleCluster) token(id int32, nowNs int64) {
	c.view.NowNs = nowNs
	c.first[id] = true
	c.router.(Observer).FirstToken(id, c.at[id], &c.view)
}

func (c *prebleCluster) leave(id int32, nowNs int64) {
	c.view.NowNs = nowNs
	c.view.Requests[c.at[id]]--
	c.router.(Observer).Left(id, c.at[id], &c.view)
	c.inside = slices.DeleteFunc(c.inside, func(x int32) bool { return x == id })
}

func prebleDefaults[P any](change func(*P)) *P {
	p := new(P)
	param.Defaults(p)
	if change != nil {
		change(p)
	}
	return p
}

// prebleRandom makes requests over a random tree of three levels.
func prebleRandom(t testing.TB, s *rng.Stream, n int) *workload.Workload {
	t.Helper()
	var b workload.Builder
	for range n {
		r := workload.Request{After: workload.None, Session: workload.None, OutputID: workload.None, Output: int32(1 + s.IntN(9))}
		id := int64(0)
		for level := range s.IntN(4) {
			id = id*4 + int64(s.IntN(1+s.IntN(4))) + 1
			tokens := int32(3 + id*7%11 + int64(level)*5)
			r.Segments = append(r.Segments, workload.Segment{ID: id, Tokens: tokens})
			r.Prompt += tokens
		}
		r.Prompt += int32(s.IntN(15))
		if r.Prompt == 0 {
			r.Prompt = 1
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

// prebleEvent is one thing that happened, for those who recompute everything.
type prebleEvent struct {
	kind        string // sent, first, left, evicted
	at          int64
	id          int32
	replica     int
	node, left  int32
	cached      int32
	missed, lag int64
}

// prebleNaive is paper mode, recomputed from the list of all events.
type prebleNaive struct {
	p      Preble
	w      *workload.Workload
	n      int
	cap    int64
	events []prebleEvent
	lru    [][]prebleHeld // by replica, the least recently used first
}

type prebleHeld struct{ node, tokens int32 }

func (x *prebleNaive) path(leaf int32) (nodes []int32) {
	for n := leaf; n != workload.None; n = x.w.Forest.Parent[n] {
		nodes = append(nodes, n)
	}
	return nodes
}

func (x *prebleNaive) cached(r int, leaf int32) (tokens int32) {
	path := x.path(leaf)
	slices.Reverse(path)
	for _, n := range path {
		k := slices.IndexFunc(x.lru[r], func(h prebleHeld) bool { return h.node == n })
		if k < 0 {
			return tokens
		}
		tokens += x.lru[r][k].tokens
		if x.lru[r][k].tokens < x.w.Forest.Tokens[n] {
			return tokens
		}
	}
	return tokens
}

func (x *prebleNaive) insert(r int, leaf int32) {
	path := x.path(leaf)
	for _, n := range path {
		x.lru[r] = slices.DeleteFunc(x.lru[r], func(h prebleHeld) bool { return h.node == n })
		x.lru[r] = append(x.lru[r], prebleHeld{n, x.w.Forest.Tokens[n]})
	}
	for x.held(r) > x.cap && !slices.Contains(path, x.lru[r][0].node) {
		x.lru[r] = x.lru[r][1:]
	}
}

func (x *prebleNaive) held(r int) (sum int64) {
	for _, h := range x.lru[r] {
		sum += int64(h.tokens)
	}
	return sum
}

func (x *prebleNaive) prefill(tokens int64) int64 {
	if tokens <= 0 {
		return 0
	}
	return prebleSteps{}.StepNs(engine.Batch{Tokens: tokens, Prefill: tokens, Requests: 1})
}

func (x *prebleNaive) decode(context int64) int64 {
	one := prebleSteps{}.StepNs(engine.Batch{Tokens: 1, Requests: 1, Context: context})
	if x.p.DecodeCharge == "marginal" {
		return prebleSteps{}.StepNs(engine.Batch{Tokens: 2, Requests: 2, Context: 2 * context}) - one
	}
	return one
}

// terms returns L, M, P and the requests sent to r within H.
func (x *prebleNaive) terms(id int32, r int, now int64) (load, eviction, prefill, requests int64) {
	h := int64(x.p.WindowS * 1e9)
	var decode, output, ended, allOutput, allEnded int64
	for _, e := range x.events {
		if e.at <= now-h {
			continue
		}
		switch {
		case e.kind == "sent" && e.replica == r:
			load += x.prefill(e.missed)
			decode += x.decode(int64(x.w.Prompt[e.id]))
			requests++
		case e.kind == "left" && e.cached == 1: // it had a first token
			allOutput += int64(x.w.Output[e.id])
			allEnded++
			if e.replica == r {
				output += int64(x.w.Output[e.id])
				ended++
			}
		}
	}
	if ended == 0 {
		output, ended = allOutput, allEnded
	}
	if ended > 0 {
		load += decode * output / ended
	}
	missed := int64(x.w.Prompt[id] - x.cached(r, x.w.Leaf[id]))
	if x.p.PrefillCost {
		prefill = x.prefill(missed)
	}
	need := missed
	switch x.p.EvictionCost {
	case "needed":
		need = x.held(r) + missed - x.cap
	case "none":
		need = 0
	}
	for _, held := range x.lru[r] {
		if need <= 0 {
			break
		}
		if slices.Contains(x.path(x.w.Leaf[id]), held.node) {
			continue
		}
		need -= int64(held.tokens)
		var shared int64
		for _, e := range x.events {
			if e.kind == "sent" && e.replica == r && e.at > now-h && slices.Contains(x.path(x.w.Leaf[e.id]), held.node) {
				shared++
			}
		}
		if requests > 0 {
			eviction += x.prefill(int64(held.tokens)) * shared / requests
		}
	}
	return load, eviction, prefill, requests
}

// choices returns the rule and the replicas that it may choose.
func (x *prebleNaive) choices(id int32, c *prebleCluster, now int64) (string, []int) {
	longest := int32(0)
	for r := range x.n {
		longest = max(longest, x.cached(r, x.w.Leaf[id]))
	}
	exploits := x.w.Prompt[id]-longest < longest
	if !exploits {
		if r, ok := x.paired(c, now); ok {
			return "pairing", []int{r}
		}
	}
	value := func(r int) int64 {
		l, m, p, n := x.terms(id, r, now)
		if !exploits && x.p.Explore != "cost" {
			return n
		}
		return l + m + p
	}
	var best []int
	for r := range x.n {
		if exploits && x.cached(r, x.w.Leaf[id]) != longest {
			continue
		}
		if len(best) > 0 {
			a, b := value(r), value(best[0])
			if a > b || a == b && c.view.Requests[r] > c.view.Requests[best[0]] {
				continue
			}
			if a < b || c.view.Requests[r] < c.view.Requests[best[0]] {
				best = best[:0]
			}
		}
		best = append(best, r)
	}
	if !exploits {
		return "explore", best
	}
	if x.p.Rebalance {
		heavy, light := 0, 0
		loads := make([]int64, x.n)
		for r := range x.n {
			loads[r], _, _, _ = x.terms(id, r, now)
			if loads[r] > loads[heavy] {
				heavy = r
			}
			if loads[r] < loads[light] {
				light = r
			}
		}
		if slices.Contains(best, heavy) && float64(loads[heavy]) > x.p.RebalanceRatio*float64(loads[light]) {
			if len(best) == 1 {
				return "rebalance", []int{light}
			}
			return "exploit or rebalance", append(best, light)
		}
	}
	return "exploit", best
}

func (x *prebleNaive) paired(c *prebleCluster, now int64) (int, bool) {
	best, most := 0, -1.0
	for r := range x.n {
		var part, whole float64
		switch x.p.Pairing {
		case "hit-ratio", "sent-hit-ratio":
			kind := "first"
			if x.p.Pairing == "sent-hit-ratio" {
				kind = "sent"
			}
			for _, e := range x.events {
				if e.kind == kind && e.replica == r && e.at > now-int64(x.p.PairingWindowS*1e9) {
					part += float64(e.cached)
					whole += float64(x.w.Prompt[e.id])
				}
			}
		case "decode-requests":
			for _, id := range c.inside {
				if c.at[id] == r {
					whole++
					if c.first[id] {
						part++
					}
				}
			}
		}
		if whole == 0 {
			whole = 1
		}
		if part/whole > most {
			best, most = r, part/whole
		}
	}
	return best, x.p.Pairing != "none" && most > 0 && most >= x.p.PairingRatio
}

// Over random traces every decision of paper mode and its terms are those that
// follow from the list of all events.
func TestPrebleAgainstNaive(t *testing.T) {
	rules := map[string]int{}
	for seed := range 60 {
		s := rng.New(uint64(seed), 1, "trace")
		w := prebleRandom(t, s, 150)
		p := prebleDefaults(func(p *Preble) {
			p.Autoscale = false
			p.WindowS = 1e-9 * float64(1e6*(20+s.IntN(400)))
			p.PairingWindowS = p.WindowS / 4
			p.RebalanceRatio = []float64{1, 1.5, 4}[s.IntN(3)]
			p.Rebalance = s.IntN(2) == 0
			p.EvictionCost = []string{"always", "needed", "none"}[s.IntN(3)]
			p.Pairing = []string{"none", "hit-ratio", "sent-hit-ratio", "decode-requests"}[s.IntN(4)]
			p.Explore = []string{"cost", "fewest-dispatches"}[s.IntN(2)]
			p.DecodeCharge = []string{"lone", "marginal"}[s.IntN(2)]
			p.PrefillCost = s.IntN(4) > 0
		})
		replicas, capacity := 1+s.IntN(5), int64(60+s.IntN(300))
		c := newPrebleCluster(t, w, p, replicas, capacity)
		x := &prebleNaive{p: *p, w: w, n: replicas, cap: capacity, lru: make([][]prebleHeld, replicas)}
		now := int64(0)
		for id := range int32(w.Len()) {
			for range s.IntN(4) {
				now += int64(s.IntN(5e6))
				x.disturb(c, s, now)
			}
			now += int64(s.IntN(5e6))
			rule, want := x.choices(id, c, now)
			type terms struct{ l, m, p int64 }
			var expect []terms
			var cached []int32
			for r := range replicas {
				l, m, pre, _ := x.terms(id, r, now)
				expect = append(expect, terms{l, m, pre})
				cached = append(cached, x.cached(r, w.Leaf[id]))
			}
			got := c.route(id, now)
			rules[c.view.Decision.Rule]++
			if !slices.Contains(want, got) || len(want) == 1 && c.view.Decision.Rule != rule {
				t.Fatalf("seed %d: request %d goes to %d by %s, want one of %v by %s", seed, id, got, c.view.Decision.Rule, want, rule)
			}
			for r, e := range expect {
				d := c.view.Decision
				if d.Cached[r] != cached[r] {
					t.Fatalf("seed %d: request %d: %d tokens on replica %d, want %d", seed, id, d.Cached[r], r, cached[r])
				}
				if !math.IsNaN(d.Score[r]) && (d.Terms[0][r] != float64(e.l)*1e-9 || d.Terms[1][r] != float64(e.m)*1e-9 || d.Terms[2][r] != float64(e.p)*1e-9) {
					t.Fatalf("seed %d: request %d: terms %v %v %v on replica %d, want %v", seed, id, d.Terms[0][r], d.Terms[1][r], d.Terms[2][r], r, e)
				}
			}
			if c.view.Believed != cached[got] {
				t.Fatalf("seed %d: believes %d, want %d", seed, c.view.Believed, cached[got])
			}
			x.events = append(x.events, prebleEvent{kind: "sent", at: now, id: id, replica: got, missed: int64(w.Prompt[id] - cached[got]), cached: cached[got]})
			x.insert(got, w.Leaf[id])
		}
		b := c.router.(*preble)
		b.pass(math.MaxInt64)
		for r := range replicas {
			b.tree.drop(r)
			if b.tree.held[r] != 0 || b.window.of[r] != (prebleSums{}) {
				t.Fatalf("seed %d: books of replica %d do not end empty: %v", seed, r, b.window.of[r])
			}
		}
		used := 0
		for _, e := range b.tree.cells {
			if e != 0 {
				used++
			}
		}
		if used > 0 {
			t.Fatalf("seed %d: %d nodes that nobody caches or used remain", seed, used)
		}
	}
	for _, rule := range []string{"exploit", "explore", "rebalance", "pairing"} {
		if rules[rule] < 50 {
			t.Errorf("rule %s decided %d times, want it often: %v", rule, rules[rule], rules)
		}
	}
}

// disturb lets a first token, an end or an eviction happen.
func (x *prebleNaive) disturb(c *prebleCluster, s *rng.Stream, now int64) {
	switch k := s.IntN(6); {
	case k == 0:
		r := s.IntN(x.n)
		if len(x.lru[r]) == 0 {
			return
		}
		at := s.IntN(len(x.lru[r]))
		h := &x.lru[r][at]
		node, left := h.node, int32(s.IntN(int(h.tokens)))
		if s.IntN(2) == 0 {
			left = 0
		}
		if h.tokens = left; left == 0 {
			x.lru[r] = slices.Delete(x.lru[r], at, at+1)
		}
		c.router.(Evictee).Evicted(r, node, left, &c.view)
	case len(c.inside) == 0:
	default:
		id := c.inside[s.IntN(len(c.inside))]
		if !c.first[id] && k > 1 {
			for _, e := range x.events {
				if e.kind == "sent" && e.id == id {
					x.events = append(x.events, prebleEvent{kind: "first", at: now, id: id, replica: c.at[id], cached: e.cached})
				}
			}
			c.token(id, now)
			return
		}
		had := int32(0)
		if c.first[id] {
			had = 1
		}
		x.events = append(x.events, prebleEvent{kind: "left", at: now, id: id, replica: c.at[id], cached: had})
		c.leave(id, now)
	}
}
