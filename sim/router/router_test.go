package router

import (
	"slices"
	"strings"
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// state is a cluster as a router sees it, set up by hand: a system prompt of 10
// tokens, documents of 90 under it.
type state struct {
	t     *testing.T
	cache engine.Cache
	view  View
}

// newState makes requests for the documents named, each with a private rest.
func newState(t *testing.T, replicas int, docs []int64, rest int32) *state {
	t.Helper()
	var b workload.Builder
	for _, d := range docs {
		r := workload.Request{After: workload.None, Session: workload.None, OutputID: workload.None, Output: 5, Prompt: 10 + rest,
			Segments: []workload.Segment{{ID: 0, Tokens: 10}}}
		if d > 0 {
			r.Segments = append(r.Segments, workload.Segment{ID: d, Tokens: 90})
			r.Prompt += 90
		}
		if d < 0 {
			r.Segments = nil
		}
		if err := b.Add(&r); err != nil {
			t.Fatal(err)
		}
	}
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	s := &state{t: t}
	s.cache.Reset(&w.Forest, replicas, engine.Rules{Evict: "token"})
	s.view = View{Replicas: replicas, Up: all(replicas), Outputs: NewOutputs(w, engine.Knowledge{}, 0), Requests: make([]int32, replicas), Tokens: make([]int64, replicas), Cache: &s.cache, Work: w}
	return s
}

func all(n int) (up []int32) {
	for i := range n {
		up = append(up, int32(i))
	}
	return up
}

// send dispatches request id to a replica as the event loop does.
func (s *state) send(replica int, id int32) {
	s.cache.Send(replica, s.view.Work.Leaf[id], true)
	s.view.Requests[replica]++
	s.view.Tokens[replica] += int64(s.view.Work.Prompt[id] + s.view.Work.Output[id])
}

func (s *state) build(name string, change func(Params)) Router {
	s.t.Helper()
	p, ok := Find(name)
	if !ok {
		s.t.Fatalf("no policy %s", name)
	}
	params := p.New()
	param.Defaults(params)
	if change != nil {
		change(params)
	}
	return params.Build(Env{Replicas: s.view.Replicas, Random: rng.New(1, 1, name), Work: s.view.Work, KVTokens: s.view.KVTokens})
}

// wants checks that a policy chooses all of the given replicas, and no other, over many draws.
func (s *state) wants(name string, change func(Params), id int32, want ...int) {
	s.t.Helper()
	r := s.build(name, change)
	seen := map[int]bool{}
	for range 200 {
		seen[r.Route(id, &s.view)] = true
	}
	for i := range s.view.Replicas {
		if seen[i] != slices.Contains(want, i) {
			s.t.Errorf("%s chooses among %v, want %v", name, seen, want)
			return
		}
	}
}

func TestLoads(t *testing.T) {
	s := newState(t, 4, []int64{-1}, 10)
	s.view.Requests = []int32{3, 1, 1, 2}
	s.view.Tokens = []int64{5, 40, 30, 20}
	s.wants("least-requests", nil, 0, 1, 2)
	s.wants("least-tokens", nil, 0, 0)
	s.wants("random", nil, 0, 0, 1, 2, 3)
	s.wants("power-of-two", nil, 0, 1, 2, 3) // the most loaded never wins
	s.wants("round-robin", nil, 0, 0, 1, 2, 3)
	r := s.build("round-robin", nil)
	for i := range 9 {
		if got := r.Route(0, &s.view); got != i%4 {
			t.Fatalf("round robin's turn %d goes to %d", i, got)
		}
	}
}

func TestPrefixes(t *testing.T) {
	// Requests 0 and 1 have document 1, 2 document 2, 3 the system prompt alone, 4 nothing shared.
	s := newState(t, 4, []int64{1, 1, 2, 0, -1}, 10)
	s.send(2, 0)
	s.view.Requests = []int32{0, 5, 6, 0}
	for _, name := range []string{"prefix-affinity", "prefix-threshold", "cache-aware"} {
		s.wants(name, nil, 1, 2)    // 100 of 110 tokens on their way to 2
		s.wants(name, nil, 4, 0, 3) // nothing shared: least loaded
	}
	s.wants("prefix-affinity", nil, 2, 2)     // 10 of 110 tokens: any length counts
	s.wants("prefix-threshold", nil, 2, 0, 3) // 10 of 110 are below one half
	s.wants("prefix-threshold", func(p Params) { p.(*PrefixThreshold).Threshold = 10. / 110 }, 2, 2)
	s.wants("prefix-threshold", nil, 3, 2) // 10 of 20 are one half: enough
	ready := func(p Params) { p.(*PrefixThreshold).Belief = "ready" }
	s.wants("prefix-threshold", ready, 1, 0, 3) // on its way is not in the cache
	s.send(1, 1)
	s.view.Requests = []int32{0, 5, 6, 0}
	s.wants("prefix-affinity", nil, 0, 1) // two holders: the less loaded
	s.view.Requests = []int32{0, 6, 6, 0}
	s.wants("prefix-affinity", nil, 0, 1, 2) // and a draw among equals
	s.cache.Forget(2, s.view.Work.Leaf[0])
	s.wants("prefix-affinity", nil, 0, 1) // replica 2 never cached it
}

// The guard acts when the difference is above 8 and the ratio above 1.5, both
// strictly.
func TestGuard(t *testing.T) {
	s := newState(t, 3, []int64{1, 1}, 10)
	s.send(0, 0)
	for _, c := range []struct {
		load []int32
		want int
	}{
		{[]int32{8, 0, 1}, 0},    // difference 8
		{[]int32{9, 0, 1}, 1},    // difference 9, no ratio to zero
		{[]int32{27, 18, 19}, 0}, // difference 9, ratio 1.5
		{[]int32{28, 18, 19}, 1}, // ratio above
		{[]int32{9, 30, 20}, 0},  // guarded: the least loaded is the holder
		{[]int32{20, 30, 9}, 2},  // another's load sets it off too
	} {
		s.view.Requests = c.load
		s.wants("cache-aware", nil, 1, c.want)
	}
}

// Among 256 points a replica each gets its share of keys within a third, a key
// goes where its prefix goes, and a replica more moves only what it takes over.
func TestConsistentHash(t *testing.T) {
	docs := make([]int64, 4000)
	for i := range docs {
		docs[i] = int64(i + 1)
	}
	s := newState(t, 8, append(docs, docs...), 10)
	r := s.build("consistent-hash", nil)
	counts := make([]int, 8)
	chosen := make([]int, len(docs))
	for i := range docs {
		chosen[i] = r.Route(int32(i), &s.view)
		counts[chosen[i]]++
		if again := r.Route(int32(i+len(docs)), &s.view); again != chosen[i] {
			t.Fatalf("document %d goes to %d and to %d", i, chosen[i], again)
		}
	}
	for i, n := range counts {
		if n < 500*2/3 || n > 500*4/3 {
			t.Errorf("replica %d has %d of 4,000 documents", i, n)
		}
	}
	s.view.Replicas, s.view.Up = 9, all(9)
	wider := s.build("consistent-hash", nil)
	moved := 0
	for i := range docs {
		if got := wider.Route(int32(i), &s.view); got != chosen[i] {
			moved++
			if got != 8 {
				t.Fatalf("document %d moves from %d to %d, which was there before", i, chosen[i], got)
			}
		}
	}
	if moved < 444*2/3 || moved > 444*4/3 {
		t.Errorf("a ninth replica takes %d of 4,000 documents, want about 444", moved)
	}
	// The first segment is common to all: one replica gets everything.
	s.view.Replicas, s.view.Up = 8, all(8)
	r = s.build("consistent-hash", func(p Params) { p.(*ConsistentHash).Key = "segments" })
	one := r.Route(0, &s.view)
	for i := range docs {
		if got := r.Route(int32(i), &s.view); got != one {
			t.Fatalf("the common system prompt goes to %d and to %d", one, got)
		}
	}
	r = s.build("consistent-hash", func(p Params) { p.(*ConsistentHash).Key, p.(*ConsistentHash).Segments = "segments", 2 })
	for i := range docs {
		if got := r.Route(int32(i), &s.view); got != chosen[i] {
			t.Fatalf("two segments of document %d go to %d, its key portion to %d", i, got, chosen[i])
		}
	}
}

// naiveMatch is what replica r holds of a prompt, by the definition: cached, or on
// its way with an unfinished request.
func naiveMatch(s *state, sent map[int32][]int32, r int, id int32, ready bool) int32 {
	w := s.view.Work
	match := s.cache.Match(r, w.Leaf[id])
	if ready {
		return match
	}
	for n := w.Leaf[id]; n != workload.None; n = w.Forest.Parent[n] {
		for _, other := range sent[int32(r)] {
			for m := w.Leaf[other]; m != workload.None; m = w.Forest.Parent[m] {
				if m == n {
					match = max(match, w.Forest.End[n])
				}
			}
		}
	}
	return match
}

// Random histories of dispatches: the replicas that a policy chooses among are
// those that the definition names.
func TestPrefixesAgainstNaive(t *testing.T) {
	s := rng.New(9, 1, "history")
	docs := make([]int64, 60)
	for i := range docs {
		docs[i] = int64(s.IntN(8)) - 1
	}
	st := newState(t, 5, docs, 40)
	sent := map[int32][]int32{}
	for step := range 400 {
		id := int32(s.IntN(len(docs)))
		if r := int32(s.IntN(5)); s.IntN(3) == 0 && len(sent[r]) > 0 {
			gone := sent[r][0]
			sent[r] = sent[r][1:]
			st.cache.Forget(int(r), st.view.Work.Leaf[gone])
			st.view.Requests[r]--
		}
		threshold := s.Float64()
		ready := s.IntN(4) == 0
		best, want := int32(0), []int(nil)
		for r := range 5 {
			if m := naiveMatch(st, sent, r, id, ready); m > best {
				best, want = m, []int{r}
			} else if m == best && best > 0 {
				want = append(want, r)
			}
		}
		if best == 0 || float64(best) < threshold*float64(st.view.Work.Prompt[id]) {
			want = []int{0, 1, 2, 3, 4}
		}
		low := int32(1 << 30)
		for _, r := range want {
			low = min(low, st.view.Requests[r])
		}
		want = slices.DeleteFunc(want, func(r int) bool { return st.view.Requests[r] > low })
		st.wants("prefix-threshold", func(p Params) {
			p.(*PrefixThreshold).Threshold = threshold
			if ready {
				p.(*PrefixThreshold).Belief = "ready"
			}
		}, id, want...)
		if t.Failed() {
			t.Fatalf("at step %d", step)
		}
		r := s.IntN(5)
		st.send(r, id)
		sent[int32(r)] = append(sent[int32(r)], id)
	}
}

// Every policy of the table has what `list` shows, and parameters whose
// defaults are valid.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Policies() {
		if seen[p.Name] || p.Name == "" || p.Summary == "" || p.Needs == "" || p.TieBreak == "" || p.Source == "" {
			t.Errorf("policy %q is incomplete or named twice", p.Name)
		}
		seen[p.Name] = true
		params := p.New()
		param.Defaults(params)
		if err := param.Validate(params); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

// Policies that are known from documentation, a paper or a proposed change
// alone say so.
func TestSourcesSayWhatTheyAre(t *testing.T) {
	for _, name := range []string{"production-stack-loadaware", "envoy-least-request", "mooncake", "lmetric", "preble", "vllm-router-kv-aware", "vllm-router-smetric"} {
		if p, ok := Find(name); !ok || !strings.Contains(p.Source, "not verified against code") {
			t.Errorf("source of %s is %q, want one that says not verified against code", name, p.Source)
		}
	}
}
