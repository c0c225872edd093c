package router

import (
	"math"
	"slices"
	"testing"

	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// Prefill times by hand, in seconds.
func TestAIBrixPrebleCosts(t *testing.T) {
	for _, c := range []struct {
		gpu             string
		tokens, context int32
		want            float64
	}{
		{"V100", 100, 100, (55 + .8) / 900},
		{"V100", 191, 191, (55 + .8) / 900},
		{"V100", 192, 192, (-295 + 600 - 235.9296 + .8) / 900},
		{"V100", 384, 384, (104.08868352 + 10.52444263 + .8) / 900},
		{"V100", 1000, 1024, (271.06428 + 10.52444263 + .8) / 900 * 1000 / 1024},
		{"V100", 1000, 2000, (271.06428 + 10.52444263 + (.93+.398)/2) / 900 / 2},
		{"V100", 2000, 2000, (542.12856 + 10.52444263 + .93 + .398) / 900},
		{"V100", 5000, 5000, (1355.3214 + 10.52444263 + 2.325 + .398 - 18.425 + 48.25 + 135) / 900},
		{"A6000", 100, 100, (22 + .32) / 900},
		{"A6000", 200, 200, (-118 + 250 - 102.4 + .32) / 900},
		{"A6000", 5000, 5000, (542.12855 + 4.209777054806409 + .93 + .159 - 7.37 + 19.3 + 54) / 900},
	} {
		r := &aibrixPreble{p: AIBrixPreble{GPU: c.gpu}}
		if got := r.prompt(c.tokens, c.context); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%d of %d tokens on %s cost %v s, want %v", c.tokens, c.context, c.gpu, got, c.want)
		}
	}
}

// Decisions by hand over prompts of 100 shared tokens.
func TestAIBrixPreble(t *testing.T) {
	s := blockState(t, 3, []int64{1, 100, 50}, []int64{1, 100, 99}, []int64{1, 100, 100}, []int64{1, 100, 20}, []int64{500}, []int64{1, 100, 2, 100, 30}, []int64{1, 100, 2, 100, 40}, []int64{10})
	r := s.build("aibrix-prefix-cache-preble", nil).(*aibrixPreble)
	route := func(id int32, want int) {
		t.Helper()
		if got := r.Route(id, &s.view); got != want {
			t.Errorf("request %d at %d s goes to %d, want %d", id, s.view.NowNs/1e9, got, want)
		}
	}
	route(0, 0) // nothing known: the first of equal costs
	route(1, 0) // 100 of 199 tokens are known
	route(2, 1) // 100 of 200 are not more than half: costs nothing yet
	route(3, 1) // both have it, 1 has one request, 0 has two
	route(4, 2)
	route(5, 2) // less than half: 2 has one costly prompt, the others two
	s.view.NowNs = 100e9
	route(6, 2) // the deepest node is on 2 alone, whatever its load
	// At 180 s what was sent at 0 leaves the window, not a moment before.
	s.view.NowNs = 180e9 - 1
	r.expire(s.view.Work, s.view.NowNs)
	if !slices.Equal(r.requests, []int64{2, 2, 3}) {
		t.Errorf("%v requests in the window, want 2, 2, 3", r.requests)
	}
	s.view.NowNs = 180e9
	r.expire(s.view.Work, s.view.NowNs)
	if !slices.Equal(r.requests, []int64{0, 0, 1}) || r.cost[0] != 0 {
		t.Errorf("%v requests in the window, want 0, 0, 1; costs %v", r.requests, r.cost)
	}
	// At 301 s the prompts of second 0 are forgotten, and take replicas 0, 1 and
	// 2 from the first node with them, though a later prompt went through it on 2.
	s.view.NowNs = 301e9
	r.expire(s.view.Work, s.view.NowNs)
	if r.has(0, 0) || r.has(0, 1) || r.has(0, 2) || r.touched[0] == 0 {
		t.Error("the first node must be in the tree, on no replica")
	}
	route(7, 0)
	s.view.Up = []int32{1, 2}
	route(0, 1) // known, but nowhere: by cost
	r.Down(0, &s.view)
	if r.requests[0] != 0 || r.cost[0] != 0 {
		t.Errorf("%v requests after replica 0 went", r.requests)
	}
}

// naivePreble keeps the tree as maps and counts all anew for each decision.
type naivePreble struct {
	work    *workload.Workload
	sent    []aibrixSent
	gone    map[int]bool // of sent: private last nodes that are forgotten, or on a replica that went
	on      map[int32]map[int]bool
	touched map[int32]int64
	rules   *aibrixPreble // for times alone
}

func (x *naivePreble) above(n int32) (path []int32) {
	for ; n != workload.None; n = x.work.Forest.Parent[n] {
		path = append(path, n)
	}
	return path
}

func (x *naivePreble) sweep(now int64) {
	for k, s := range x.sent {
		if now-s.ns > 300e9 && !x.gone[k] && x.rules.rest(s.id, x.work) > 0 {
			x.gone[k] = true
			for _, n := range x.above(x.work.Leaf[s.id]) {
				delete(x.on[n], int(s.replica))
			}
		}
	}
	for n, at := range x.touched {
		if now-at > 300e9 {
			for i := range x.on[n] {
				for _, a := range x.above(x.work.Forest.Parent[n]) {
					delete(x.on[a], i)
				}
			}
			delete(x.on, n)
			delete(x.touched, n)
		}
	}
}

// totals returns the requests and costs of each replica in the window.
func (x *naivePreble) totals(replicas int, tick int64) (requests []int64, costs []float64) {
	requests, costs = make([]int64, replicas), make([]float64, replicas)
	ends := map[int32]int64{}
	for k, s := range x.sent {
		if s.ns+180e9 <= tick {
			continue
		}
		rest := x.rules.rest(s.id, x.work)
		switch {
		case rest == 0:
			ends[x.work.Leaf[s.id]]++
		case !x.gone[k]:
			requests[s.replica]++
			costs[s.replica] += x.rules.prompt(rest, x.work.Prompt[s.id]) + 6.75
		}
	}
	for n, count := range ends {
		for i := range x.on[n] {
			requests[i] += count
			costs[i] += float64(count)*x.rules.prompt(x.work.Forest.Tokens[n], x.work.Forest.End[n]) + 6.75
		}
	}
	return requests, costs
}

func TestAIBrixPrebleAgainstNaive(t *testing.T) {
	const replicas = 4
	for round := range 20 {
		s := rng.New(31, round, "preble")
		prompts := make([][]int64, 400)
		for i := range prompts {
			for depth := range s.IntN(4) {
				prompts[i] = append(prompts[i], int64(depth*10+s.IntN(3)), int64(20+100*s.IntN(2)))
			}
			if len(prompts[i]) == 0 || s.IntN(3) > 0 {
				prompts[i] = append(prompts[i], int64(s.IntN(60))+1)
			}
		}
		// A segment has one length: that of its first mention.
		length := map[int64]int64{}
		for _, p := range prompts {
			for k := 0; k+1 < len(p); k += 2 {
				if length[p[k]] == 0 {
					length[p[k]] = p[k+1]
				}
				p[k+1] = length[p[k]]
			}
		}
		st := blockStateOf(t, replicas, blockWork(t, prompts...))
		w := st.view.Work
		r := st.build("aibrix-prefix-cache-preble", nil).(*aibrixPreble)
		x := &naivePreble{work: w, gone: map[int]bool{}, on: map[int32]map[int]bool{}, touched: map[int32]int64{}, rules: r}
		tick := int64(0)
		for id := range int32(400) {
			st.view.NowNs += int64(s.IntN(8000)) * 1e6
			for ; tick+1e9 <= st.view.NowNs; tick += 1e9 {
				x.sweep(tick + 1e9)
			}
			if s.IntN(60) == 0 {
				down := s.IntN(replicas)
				r.Down(down, &st.view)
				for n := range x.on {
					delete(x.on[n], down)
				}
				for k := range x.sent {
					if int(x.sent[k].replica) == down {
						x.gone[k] = true
					}
				}
			}
			requests, costs := x.totals(replicas, tick)
			var known int32
			path := x.above(w.Leaf[id])
			path = path[slices.IndexFunc(append(path, none), func(n int32) bool { return n == none || has(x.touched, n) }):]
			if len(path) > 0 {
				known = w.Forest.End[path[0]]
			}
			var want []int
			if float64(known) > .5*float64(w.Prompt[id]) {
				for _, n := range path {
					for i := range replicas {
						if x.on[n][i] && (len(want) == 0 || requests[i] <= requests[want[0]]) {
							if len(want) > 0 && requests[i] < requests[want[0]] {
								want = nil
							}
							want = append(want, i)
						}
					}
					if len(want) > 0 {
						break
					}
				}
			}
			if len(want) == 0 {
				least := slices.Min(costs)
				for i, c := range costs {
					if c < least+1e-9 {
						want = append(want, i)
					}
				}
			}
			got := r.Route(id, &st.view)
			if !slices.Contains(want, got) {
				t.Fatalf("round %d request %d at %d: chooses %d, want one of %v, known %d of %d, requests %v, costs %v, has %v %v",
					round, id, st.view.NowNs, got, want, known, w.Prompt[id], requests, costs, r.requests, r.cost)
			}
			x.sent = append(x.sent, aibrixSent{st.view.NowNs, id, int32(got)})
			for _, n := range x.above(w.Leaf[id]) {
				if x.on[n] == nil {
					x.on[n] = map[int]bool{}
				}
				x.on[n][got] = true
				x.touched[n] = st.view.NowNs
			}
		}
	}
}

func has(m map[int32]int64, n int32) bool {
	_, ok := m[n]
	return ok
}
