package router

import (
	"math"
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// blockState is a cluster of idle replicas with prompts made by hand, see blockWork.
func blockState(t *testing.T, replicas int, prompts ...[]int64) *state {
	t.Helper()
	return blockStateOf(t, replicas, blockWork(t, prompts...))
}

func blockStateOf(t *testing.T, replicas int, w *workload.Workload) *state {
	t.Helper()
	s := &state{t: t}
	s.cache.Reset(&w.Forest, replicas, engine.Rules{Evict: "token"})
	events := new(Index)
	events.Reset(&w.Forest, replicas, 1)
	s.view = View{Replicas: replicas, Up: all(replicas), Outputs: NewOutputs(w, engine.Knowledge{}, 0), Requests: make([]int32, replicas),
		Tokens: make([]int64, replicas), Gauges: make([]Gauge, replicas), KVTokens: 1000, Cache: &s.cache, Events: events, Work: w}
	return s
}

// blockPicks checks that a router takes each of the given replicas, and no
// other, in decisions that are repeated from the same state, which prepare
// sets up in a new router.
func (s *state) blockPicks(name string, change func(Params), prepare func(Router), id int32, want ...int) {
	s.t.Helper()
	seen := map[int]bool{}
	stream := rng.New(3, 1, name)
	for range 60 {
		p, _ := Find(name)
		params := p.New()
		param.Defaults(params)
		if change != nil {
			change(params)
		}
		r := params.Build(Env{Replicas: s.view.Replicas, Random: stream, Work: s.view.Work, KVTokens: s.view.KVTokens, Step: perToken{}, Routers: 1})
		if prepare != nil {
			prepare(r)
		}
		seen[r.Route(id, &s.view)] = true
	}
	for _, i := range want {
		if !seen[i] {
			s.t.Errorf("%s chooses among %v, want %v", name, seen, want)
			return
		}
	}
	if len(seen) != len(want) {
		s.t.Errorf("%s chooses among %v, want %v", name, seen, want)
	}
}

// perToken is a step model with 1 ms a new token and 1 us a token of context of decodes.
type perToken struct{}

func (perToken) StepNs(b engine.Batch) int64 { return 1e6*b.Tokens + 1000*b.DecodeContext }

func (s *state) gauges(waiting []int32, held []int64) {
	for i := range s.view.Gauges {
		s.view.Gauges[i] = Gauge{Waiting: waiting[i], KVTokens: held[i], Read: true}
	}
}

// The default profile, 2 queue + 2 (1 - u) + 3 prefix, over a prompt of 10
// blocks, of which 8 are one segment.
func TestLLMDScores(t *testing.T) {
	s := blockState(t, 4, []int64{1, 128, 32}, []int64{1, 128, 40}, []int64{15})
	sent := func(replica int) func(Router) {
		return func(r Router) { r.(*llmD).index.insert(0, replica, 0) }
	}
	// 2+1 = 3, 1+1.6 = 2.6, 0+2 = 2, 0+.2 = .2.
	s.gauges([]int32{0, 2, 4, 4}, []int64{500, 200, 0, 900})
	s.blockPicks("llm-d", nil, nil, 1, 0)
	// Replica 3 has 8 of the prompt's 10 blocks: .2 + 2.4 = 2.6 do not suffice,
	// with half of the memory free 1 + 2.4 = 3.4 do.
	s.blockPicks("llm-d", nil, sent(3), 1, 0)
	s.gauges([]int32{0, 2, 4, 4}, []int64{500, 200, 0, 500})
	s.blockPicks("llm-d", nil, sent(3), 1, 3)
	// Three quarters held: .5 + 2.4 = 2.9 against 3.
	s.gauges([]int32{0, 2, 4, 4}, []int64{500, 200, 0, 750})
	s.blockPicks("llm-d", nil, sent(3), 1, 0)
	// At .65 it would be 3.1 against 3.
	s.gauges([]int32{0, 2, 4, 4}, []int64{500, 200, 0, 650})
	s.blockPicks("llm-d", nil, sent(3), 1, 3)
	// Equal queues score 1 for all, so the memory decides; equal sums tie.
	s.gauges([]int32{9, 9, 9, 9}, []int64{300, 200, 200, 201})
	s.blockPicks("llm-d", nil, nil, 1, 1, 2)
	// Queues are scored free of scale: one waiting request outweighs nearly
	// all of the memory, as a thousand do.
	for _, q := range []int32{1, 1000} {
		s.gauges([]int32{q, q, q, 0}, []int64{0, 0, 0, 999})
		s.blockPicks("llm-d", nil, nil, 1, 3)
		s.gauges([]int32{q, q, q, 0}, []int64{0, 0, 0, 1000}) // 2 + 0 against 0 + 2
		s.blockPicks("llm-d", nil, nil, 1, 0, 1, 2, 3)
	}
	// A prompt shorter than a block has no prefix score, and nothing is kept of it.
	s.gauges([]int32{0, 0, 0, 0}, []int64{0, 0, 0, 0})
	s.blockPicks("llm-d", nil, sent(3), 2, 0, 1, 2, 3)
	// Held more than the capacity: clamped to 0, not negative.
	s.gauges([]int32{1, 0, 1, 1}, []int64{100, 5000, 2000, 2000})
	s.blockPicks("llm-d", nil, nil, 1, 1) // 0 + 1.8 against 2 + 0
}

// The other scorers, one at a time.
func TestLLMDOtherScorers(t *testing.T) {
	s := blockState(t, 3, []int64{1, 128, 32}, []int64{1, 128, 40})
	only := func(set func(p *LLMD)) func(Params) {
		return func(p Params) {
			l := p.(*LLMD)
			l.Queue, l.KVUtilization, l.Prefix = 0, 0, 0
			set(l)
		}
	}
	for i, b := range []int32{5, 4, 9} {
		s.view.Gauges[i].Running = b
	}
	s.blockPicks("llm-d", only(func(p *LLMD) { p.Running = 1 }), nil, 0, 1)
	// Past 128 waiting requests all are alike: (1 - 128/128)/2 = 0.
	s.gauges([]int32{128, 500, 129}, make([]int64, 3))
	s.blockPicks("llm-d", only(func(p *LLMD) { p.LoadAware = 1 }), nil, 0, 0, 1, 2)
	s.gauges([]int32{128, 127, 129}, make([]int64, 3))
	s.blockPicks("llm-d", only(func(p *LLMD) { p.LoadAware = 1 }), nil, 0, 1)
	// active-request: 1, 1/4, 0 of 0, 3, 4 requests.
	s.view.Requests = []int32{4, 3, 0}
	s.blockPicks("llm-d", only(func(p *LLMD) { p.ActiveRequest = 1 }), nil, 0, 2)
	s.view.Tokens = []int64{4194304, 9e6, 4194303}
	s.blockPicks("llm-d", only(func(p *LLMD) { p.TokenLoad = 1 }), nil, 0, 2)
	s.view.Tokens = []int64{4194304, 9e6, 4194305}
	s.blockPicks("llm-d", only(func(p *LLMD) { p.TokenLoad = 1 }), nil, 0, 0, 1, 2)
	s.view.Work.Session = []int64{7, 7}
	s.blockPicks("llm-d", only(func(p *LLMD) { p.Session = 1 }), func(r Router) { r.(*llmD).served[7] = 1 }, 1, 1)
	s.view.Work.Session = nil
	// no-hit-lru: 2 has never had a request without a hit, so 1, 1/2 (0, longest ago), 0.
	cold := func(r Router) { r.(*llmD).cold = []int32{0, 1} }
	lru := only(func(p *LLMD) { p.NoHitLRU = 1 })
	s.blockPicks("llm-d", lru, cold, 0, 2)
	s.blockPicks("llm-d", lru, func(r Router) { r.(*llmD).cold = []int32{1, 2, 0} }, 0, 1)
	s.blockPicks("llm-d", lru, func(r Router) { cold(r); r.(*llmD).index.insert(0, 1, 0) }, 1, 0, 1, 2) // a hit: 1/2 for all
}

// In turn, requests without hits go to each replica once before any gets a second.
func TestLLMDNoHitTurns(t *testing.T) {
	s := blockState(t, 3, []int64{20}, []int64{20}, []int64{20}, []int64{20}, []int64{20}, []int64{20})
	r := s.build("llm-d", func(p Params) { p.(*LLMD).NoHitLRU = 10 })
	for id := range int32(6) {
		if got := r.Route(id, &s.view); got != int(id)%3 {
			t.Errorf("request %d goes to %d", id, got)
		}
	}
}

// Pickers, filters and the precise belief.
func TestLLMDPickersAndFilters(t *testing.T) {
	s := blockState(t, 3, []int64{1, 128, 32}, []int64{1, 128, 32})
	s.gauges([]int32{0, 5, 9}, []int64{0, 0, 1000}) // 4, 2 + 8/9, 0
	s.blockPicks("llm-d", func(p Params) { p.(*LLMD).Picker = "random" }, nil, 0, 0, 1, 2)
	s.blockPicks("llm-d", func(p Params) { p.(*LLMD).Picker = "weighted-random" }, nil, 0, 0, 1)
	sent := func(r Router) { r.(*llmD).index.insert(0, 2, 0) }
	affinity := func(threshold, explore, ttft float64) func(Params) {
		return func(p Params) {
			l := p.(*LLMD)
			l.AffinityThreshold, l.AffinityExplore, l.AffinityTTFTMs = threshold, explore, ttft
		}
	}
	// 8 of 10 blocks: kept at .8, not at .81, where 3*.8 on replica 2 lose to 4.
	s.blockPicks("llm-d", affinity(.8, 0, 5000), sent, 1, 2)
	s.blockPicks("llm-d", affinity(.81, 0, 5000), sent, 1, 0)
	s.blockPicks("llm-d", affinity(.8, 1, 5000), sent, 1, 0)
	// To the first token replica 2 needs 32 ms for the rest of the prompt, the
	// others 160: with 5,128 tokens before it it is 5,000 ms slower, which is not
	// too much, with one more it is.
	s.view.Gauges[2].Prefill = 5128
	s.blockPicks("llm-d", affinity(.8, 0, 5000), sent, 1, 2)
	s.view.Gauges[2].Prefill = 5129
	s.blockPicks("llm-d", affinity(.8, 0, 5000), sent, 1, 0)
	s.blockPicks("llm-d", affinity(.8, 0, 0), sent, 1, 2)
	// Saturation: 5 waiting and .8 held are not too much, 6 or .801 are; where
	// all are, all stay.
	saturated := func(p Params) { p.(*LLMD).Saturation, p.(*LLMD).Queue = "utilization", 0 }
	s.gauges([]int32{6, 5, 5}, []int64{0, 800, 801})
	s.blockPicks("llm-d", saturated, nil, 0, 1)
	s.gauges([]int32{6, 6, 6}, []int64{0, 800, 801})
	s.blockPicks("llm-d", saturated, nil, 0, 0)
	s.view.Requests = []int32{99, 100, 0}
	s.view.Tokens = []int64{0, 0, 1000000}
	s.gauges([]int32{9, 0, 0}, []int64{900, 0, 0})
	s.blockPicks("llm-d", func(p Params) { p.(*LLMD).Saturation = "concurrency" }, nil, 0, 0)
}

// The precise belief goes by events alone, or for a while by what it sent too.
func TestLLMDPrecise(t *testing.T) {
	s := blockState(t, 3, []int64{1, 128, 32}, []int64{1, 128, 32})
	precise := func(ms float64) func(Params) {
		return func(p Params) { p.(*LLMD).Belief, p.(*LLMD).SpeculativeMs = "precise", ms }
	}
	sent := func(r Router) { r.(*llmD).index.insert(0, 1, 0) }
	s.blockPicks("llm-d", precise(0), nil, 1, 0, 1, 2)
	s.view.Events.Set(2, s.view.Work.Leaf[0], 100) // 6 whole blocks
	s.blockPicks("llm-d", precise(0), nil, 1, 2)
	s.blockPicks("llm-d", precise(2000), sent, 1, 1) // 8 of 10, until 2 s have passed
	s.view.NowNs = 2e9 - 1
	s.blockPicks("llm-d", precise(2000), sent, 1, 1)
	s.view.NowNs = 2e9
	s.blockPicks("llm-d", precise(2000), sent, 1, 2)
	if s.view.Believed != 96 {
		t.Errorf("believes in %d tokens, want 96", s.view.Believed)
	}
}

// Predicted times: idle replicas first, then .8 of the first token's spread and
// .2 of the others'.
func TestLLMDLatency(t *testing.T) {
	s := blockState(t, 3, []int64{100})
	only := func(p Params) {
		l := p.(*LLMD)
		l.Queue, l.KVUtilization, l.Prefix, l.Latency = 0, 0, 0, 1
	}
	for i, g := range []Gauge{{Prefill: 400, Running: 1}, {Prefill: 300, Running: 40}, {Prefill: 0, Running: 100}} {
		s.view.Gauges[i] = g
	}
	s.view.Requests = []int32{1, 1, 1}
	// First tokens 500, 400, 100 ms, others 2, 41, 101: .2, .2*60/99 + .8*100/400 = .32, .8.
	s.blockPicks("llm-d", only, nil, 0, 2)
	s.view.Requests = []int32{0, 1, 1}
	s.blockPicks("llm-d", only, nil, 0, 0)
	s.view.Requests = []int32{0, 0, 1}
	s.blockPicks("llm-d", only, nil, 0, 1) // .8 against .2
	// A time that is the same for all counts nothing: here that to the first token.
	s.view.Requests = []int32{1, 1, 1}
	for i, g := range []Gauge{{Prefill: 400, Running: 9}, {Prefill: 400, Running: 8}, {Prefill: 400, Running: 10}} {
		s.view.Gauges[i] = g
	}
	s.blockPicks("llm-d", only, nil, 0, 1)
	for i, g := range []Gauge{{Prefill: 400, Running: 9}, {Prefill: 401, Running: 9}, {Prefill: 402, Running: 9}} {
		s.view.Gauges[i] = g
	}
	s.blockPicks("llm-d", only, nil, 0, 0)
	s.view.Gauges[1].Prefill, s.view.Gauges[2].Prefill = 400, 400
	s.blockPicks("llm-d", only, nil, 0, 0, 1, 2)
}

// The weighted picker takes replicas in proportion to their sums: 3 to 1.
func TestLLMDWeightedPicker(t *testing.T) {
	s := blockState(t, 3, []int64{100})
	s.gauges(make([]int32, 3), []int64{250, 750, 1000})
	r := s.build("llm-d", func(p Params) {
		l := p.(*LLMD)
		l.Queue, l.Prefix, l.Picker = 0, 0, "weighted-random"
	})
	counts := make([]int, 3)
	for range 20000 {
		counts[r.Route(0, &s.view)]++
	}
	if counts[0] < 14700 || counts[0] > 15300 || counts[2] != 0 { // 5 standard deviations of 61
		t.Errorf("chosen %v times, want 15,000, 5,000 and 0", counts)
	}
	s.gauges(make([]int32, 3), []int64{1000, 1000, 1000}) // all 0: any
	for range 100 {
		counts[r.Route(0, &s.view)]++
	}
	if counts[2] == 0 {
		t.Error("a replica is never chosen where all score 0")
	}
}

// The decision shows the sum and its three terms.
func TestLLMDDecision(t *testing.T) {
	s := blockState(t, 2, []int64{1, 128, 32}, []int64{1, 128, 40})
	s.gauges([]int32{4, 0}, []int64{250, 1000})
	r := s.build("llm-d", nil)
	r.(*llmD).index.insert(0, 0, 0)
	var d Decision
	s.view.Decision = &d
	if got := r.Route(1, &s.view); got != 0 || s.view.Believed != 128 {
		t.Errorf("chooses %d with %d tokens, want 0 with 128", got, s.view.Believed)
	}
	want := [][]float64{{0 + 1.5 + 2.4, 2}, {0, 1}, {.75, 0}, {.8, 0}}
	for k, got := range [][]float64{d.Score, d.Terms[0], d.Terms[1], d.Terms[2]} {
		for i := range got {
			if math.Abs(got[i]-want[k][i]) > 1e-12 {
				t.Errorf("row %d is %v, want %v", k, got, want[k])
			}
		}
	}
	if d.Cached[0] != 128 || d.Cached[1] != 0 {
		t.Errorf("cached %v", d.Cached)
	}
}

// A burst of eight identical prompts: taken up when they are sent, all follow
// the first; taken up at the first token or the finish, none that comes before
// knows of it.
func TestLLMDInsertion(t *testing.T) {
	prompts := make([][]int64, 10)
	for i := range prompts {
		prompts[i] = []int64{1, 128, 32}
	}
	s := blockState(t, 8, prompts...)
	for _, insert := range []string{"dispatch", "first-token", "finish"} {
		r := s.build("llm-d", func(p Params) { p.(*LLMD).Insert = insert })
		at := map[int]bool{}
		first := r.Route(0, &s.view)
		for id := range int32(8) {
			at[r.Route(id, &s.view)] = true
		}
		if together := len(at) == 1 && at[first]; together != (insert == "dispatch") {
			t.Errorf("%s: the burst goes to %v, the first prompt to %d", insert, at, first)
		}
		r.(Observer).Left(8, 6, &s.view) // never began: not cached
		r.(Observer).FirstToken(0, 5, &s.view)
		r.Route(9, &s.view)
		if believed := s.view.Believed > 0; believed == (insert == "finish") {
			t.Errorf("%s: believes in %d tokens after the first token", insert, s.view.Believed)
		}
		r.(Observer).Left(0, 5, &s.view)
		if got := r.Route(9, &s.view); insert != "dispatch" && (got != 5 || s.view.Believed != 128) {
			t.Errorf("%s: chooses %d believing in %d tokens, want 5 and 128", insert, got, s.view.Believed)
		}
	}
}

// A replica that was away at a look for such ones is forgotten, else not.
func TestLLMDReturn(t *testing.T) {
	s := blockState(t, 2, []int64{1, 128, 32})
	for _, c := range []struct {
		down, came int64
		want       int32
	}{{10e9, 119e9, 8}, {10e9, 120e9, 0}, {121e9, 239e9, 8}} {
		r := s.build("llm-d", nil).(*llmD)
		r.index.insert(0, 1, 0)
		s.view.NowNs = c.down
		r.Down(1, &s.view)
		s.view.NowNs = c.came
		r.Came(1, &s.view)
		if r.index.match(0, r.matched); r.matched[1] != c.want {
			t.Errorf("away from %d to %d: %d blocks, want %d", c.down, c.came, r.matched[1], c.want)
		}
	}
}

// Over random traces the choice has the greatest sum by a naive index and
// literal formulas, and never goes to a replica that is down.
func TestLLMDAgainstNaive(t *testing.T) {
	const replicas = 4
	for round := range 20 {
		s := rng.New(8, round, "llm-d")
		st := blockStateOf(t, replicas, randomPrompts(t, s, 40))
		naive := &blockNaive{rules: blockRules{tokens: 3, prompt: 15, capacity: 60}, work: st.view.Work}
		r := st.build("llm-d", func(p Params) {
			l := p.(*LLMD)
			l.BlockTokens, l.MaxBlocks, l.Capacity, l.ActiveRequest = 3, 15, 60, 1.5
		})
		for step := range 150 {
			id := int32(step % 40)
			if id == 0 {
				// A private rest is another text in the next turn of the trace.
				for k := range naive.entries {
					naive.entries[k].hash += " before"[:7*btoi(naive.entries[k].node == workload.None)]
				}
			}
			st.view.Up = all(replicas)
			if s.IntN(3) == 0 {
				st.view.Up = []int32{0, 2, 3}
			}
			for i := range replicas {
				st.view.Requests[i] = int32(s.IntN(5))
				st.view.Gauges[i] = Gauge{Waiting: int32(s.IntN(4)), KVTokens: int64(s.IntN(1000))}
			}
			sums := map[int]float64{}
			low, high, most := math.Inf(1), 0., 0.
			for _, i := range st.view.Up {
				q := float64(st.view.Gauges[i].Waiting)
				low, high, most = min(low, q), max(high, q), max(most, float64(st.view.Requests[i]))
			}
			match, total := naive.match(id, replicas, true), len(naive.hashes(id))
			best := 0.
			for _, i := range st.view.Up {
				sum := 2 * (1 - float64(st.view.Gauges[i].KVTokens)/1000)
				if high == low {
					sum += 2
				} else {
					sum += 2 * (high - float64(st.view.Gauges[i].Waiting)) / (high - low)
				}
				if total > 0 {
					sum += 3 * float64(match[i]) / float64(total)
				}
				if c := float64(st.view.Requests[i]); c == 0 {
					sum += 1.5
				} else {
					sum += 1.5 * (most - c) / most
				}
				sums[int(i)] = sum
				best = max(best, sum)
			}
			got := r.Route(id, &st.view)
			if sum, up := sums[got]; !up || math.Abs(sum-best) > 1e-9 || st.view.Believed != 3*match[got] {
				t.Fatalf("round %d step %d: chooses %d believing in %d tokens, sums %v, matches %v", round, step, got, st.view.Believed, sums, match)
			}
			naive.insert(id, got, 0)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
