package router

import (
	"slices"
	"testing"

	"switchyard/sim/param"
	"switchyard/sim/workload"
)

// toolCalls is a workload of tool use: a system prompt that all share, tools
// under it.
func toolCalls(t *testing.T, requests int) *workload.Workload {
	t.Helper()
	g, arrivals := new(workload.ToolUse), new(workload.Poisson)
	param.Defaults(g)
	param.Defaults(arrivals)
	arrivals.RPS = 8
	w, err := (&workload.Spec{Seed: 1, Replication: 1, Requests: requests, Generator: g, Arrivals: arrivals}).Build()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// served is what became of a run: the requests that each replica got and the
// greatest number that it had in flight.
type served struct{ sent, peak []int }

// serve runs a policy over n replicas, several routers of it taking requests in
// turn. After each arrival finish names the replicas of which the oldest
// request leaves, by what they have in flight.
func serve(t *testing.T, name string, w *workload.Workload, n, routers int, change func(Params), finish func(id int32, flying [][]int32) []int) served {
	t.Helper()
	s := served{make([]int, n), make([]int, n)}
	var views []*View
	var route []Router
	for range routers {
		v := &View{Replicas: n, Up: all(n), Work: w, Requests: make([]int32, n), Tokens: make([]int64, n)}
		views, route = append(views, v), append(route, routerOf(t, v, name, change))
	}
	flying := make([][]int32, n)
	for id := range int32(w.Len()) {
		by := int(id) % routers
		v := views[by]
		v.NowNs = w.ArrivalUs[id] * 1000
		to := route[by].Route(id, v)
		v.Requests[to]++
		s.sent[to]++
		flying[to] = append(flying[to], id)
		s.peak[to] = max(s.peak[to], len(flying[to]))
		for _, i := range finish(id, flying) {
			views[int(flying[i][0])%routers].Requests[i]--
			flying[i] = flying[i][1:]
		}
	}
	return s
}

// steady lets the oldest request leave once there are more than so many.
func steady(most int) func(int32, [][]int32) []int {
	return func(_ int32, flying [][]int32) []int {
		total, oldest := 0, none
		for i, q := range flying {
			if total += len(q); len(q) > 0 && (oldest == none || q[0] < flying[oldest][0]) {
				oldest = i
			}
		}
		if total <= most {
			return nil
		}
		return []int{oldest}
	}
}

// alike is so many prompts of 100 tokens that share the first ones.
func alike(t *testing.T, n int, shared int32) *workload.Workload {
	prompts := make([]prompt, n)
	for i := range prompts {
		prompts[i] = prompt{rest: 100 - shared, session: workload.None}
		if shared > 0 {
			prompts[i].path = []workload.Segment{seg(1, shared)}
		}
	}
	return newPrompts(t, 1, prompts).Work
}

// A system prompt that all share sends everything to the replicas that came
// first, whatever their load, where any match is followed; not where a match has
// to be a share of the prompt.
func TestSharedSystemPromptCollapses(t *testing.T) {
	w := toolCalls(t, 4000)
	for name, hosts := range map[string]int{"production-stack-prefixaware": 1, "ray-prefix-affinity": 2} {
		got := serve(t, name, w, 8, 1, nil, steady(64)).sent
		slices.Sort(got)
		most := 0
		for _, n := range got[8-hosts:] {
			most += n
		}
		if most < 3600 {
			t.Errorf("%s sends %v, expected nearly all to %d", name, got, hosts)
		}
	}
	if got := serve(t, "sglang-cache-aware", w, 8, 1, nil, steady(64)).sent; slices.Max(got) > 2000 {
		t.Errorf("sglang-cache-aware sends %v, expected less than half to any", got)
	}
}

// One replica that never finishes anything keeps loads far apart, which turns
// affinity off for all: what was believed to be cached no longer decides.
func TestOneHotWorkerDisablesAffinity(t *testing.T) {
	for _, hot := range []int32{64, 65} {
		docs := make([]int64, 60)
		for i := range docs {
			docs[i] = int64(i%6) + 1
		}
		m := newTreeMoves(t, "sglang-cache-aware", 4, docs, nil)
		affinity := 0
		for id := range int32(60) {
			m.v.Requests = []int32{hot, 0, int32(id) % 2, 1}
			m.v.Decision = new(Decision)
			m.r.Route(id, m.v)
			if m.v.Decision.Rule == "affinity" {
				affinity++
			}
		}
		if hot == 64 && affinity != 54 || hot == 65 && affinity != 0 {
			t.Errorf("with one replica at %d requests affinity decides %d of 60, want 54 at 64 and none at 65", hot, affinity)
		}
	}
}

// Requests that no one knows go to the smallest tree whatever the load, in
// older releases: a slow replica gets as many as the others, until the guard
// turns affinity off. Least load spares it.
func TestSmallestTreeFeedsSlowWorker(t *testing.T) {
	w := alike(t, 2000, 0)
	slow := func(id int32, flying [][]int32) (done []int) {
		for i, q := range flying {
			if i > 0 && len(q) > 8 || i == 0 && len(q) > 0 && id%32 == 0 {
				done = append(done, i)
			}
		}
		return done
	}
	peak := func(miss string) int {
		return serve(t, "sglang-cache-aware", w, 4, 1, func(p Params) { p.(*SGLangCacheAware).Miss = miss }, slow).peak[0]
	}
	if a, b := peak("smallest-tree"), peak("least-load"); a < 70 || b > 10 {
		t.Errorf("a slow replica has up to %d requests by the smallest tree and %d by least load, want the 73 at which the guard acts and the 9 of the others", a, b)
	}
}

// The guard compares counts of one router alone: four of them that do not see
// each other let a hot replica have four times as many requests more than the
// others. By hand, with 400 in flight: 148 and 84 each for one router, 4 * 74
// and 4 * 9 for four.
func TestThresholdsScaleWithRouters(t *testing.T) {
	w := alike(t, 3000, 90)
	spread := func(routers int) int {
		s := serve(t, "sglang-cache-aware", w, 4, routers, nil, steady(400))
		return s.peak[0] - slices.Min(s.peak)
	}
	if a, b := spread(1), spread(4); a < 50 || a > 80 || b < 220 || b > 300 {
		t.Errorf("one router lets loads be %d apart and four %d, want about 65 and 260", a, b)
	}
}

// A tree believes in what a replica has evicted or lost; cache events do not.
func TestTreesBelieveInWhatIsGone(t *testing.T) {
	m := newTreeMoves(t, "smg-cache-aware", 2, []int64{1, 1, 1}, nil)
	e := newTreeMoves(t, "smg-cache-aware", 2, []int64{1, 1, 1}, func(p Params) { p.(*SMGCacheAware).Belief = "events" })
	for _, x := range []*treeMoves{m, e} {
		x.goes(0, []int32{0, 1}, 0, "miss")
		for n := x.v.Work.Leaf[0]; n != workload.None; n = x.v.Work.Forest.Parent[n] {
			x.v.Events.Set(0, n, x.v.Work.Forest.Tokens[n])
		}
		x.goes(1, []int32{9, 1}, 0, "affinity")
		x.v.Events.Drop(0) // the replica restarts
	}
	m.goes(2, []int32{9, 1}, 0, "affinity")
	e.goes(2, []int32{9, 1}, 1, "miss")
	if m.v.Believed != 90 || e.v.Believed != 0 {
		t.Errorf("the tree believes in %d tokens and events in %d, want 90 and 0", m.v.Believed, e.v.Believed)
	}
}
