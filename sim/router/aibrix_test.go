package router

import (
	"math"
	"slices"
	"testing"

	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// The choice of AIBrix's prefix-cache. Prompt 1 is prompt 0's first 100 tokens
// and 100 more, prompt 2 shares 99 of 200.
func TestAIBrixPrefixCache(t *testing.T) {
	s := blockState(t, 4, []int64{1, 99, 2, 1, 5}, []int64{1, 99, 2, 1, 100}, []int64{1, 99, 101}, []int64{1, 99, 2, 1, 100})
	sent := func(replicas ...int) func(Router) {
		return func(r Router) {
			for _, i := range replicas {
				r.(*aibrixPrefixCache).index.insert(0, i, 0)
			}
		}
	}
	const name = "aibrix-prefix-cache"
	s.view.Requests = []int32{0, 1, 2, 1}
	s.blockPicks(name, nil, nil, 1, 0) // no match: least requests
	s.view.Requests = []int32{0, 2, 1, 0}
	s.blockPicks(name, nil, nil, 1, 0, 3)     // at random among equals
	s.blockPicks(name, nil, sent(2), 1, 2)    // 50 %
	s.blockPicks(name, nil, sent(2, 3), 1, 3) // equal percentages: the less loaded
	s.view.Requests = []int32{0, 1, 1, 0}     // mean .5, sample deviation .577: 1.077
	s.blockPicks(name, nil, sent(1, 2), 1, 1, 2)
	// Mean .5 and deviation 1 make a bound of 1.5: 2 is above it, so that nothing
	// matches; at 1.5 deviations the bound is 2.
	s.view.Requests = []int32{0, 0, 2, 0}
	s.blockPicks(name, nil, sent(2), 1, 0, 1, 3)
	s.blockPicks(name, func(p Params) { p.(*AIBrixPrefixCache).Deviations = 1.5 }, sent(2), 1, 2)
	// A greater percentage goes before a lesser load: replica 1 has half of prompt
	// 3, replica 0 the 99 tokens that prompts 2 and 3 share, which are 49 %.
	s.view.Requests = []int32{0, 1, 1, 1}
	both := func(r Router) {
		x := r.(*aibrixPrefixCache).index
		x.insert(2, 0, 0)
		x.insert(1, 1, 0)
	}
	s.blockPicks(name, nil, both, 3, 1)
	s.view.Requests = []int32{8, 0, 1, 1} // 8 apart: not out of balance, but above the mean of 2.5 + 3.7
	s.blockPicks(name, nil, sent(0), 1, 1)
	s.view.Requests = []int32{8, 0, 8, 8} // mean 6, deviation 4: 8 counts
	s.blockPicks(name, nil, sent(0), 1, 0)
	s.view.Requests = []int32{9, 0, 9, 9} // 9 apart: only the least loaded match
	s.blockPicks(name, nil, sent(0), 1, 1)
	s.blockPicks(name, nil, sent(0, 1), 1, 1)
	s.view.Requests = []int32{9, 0, 9, 0}
	s.blockPicks(name, nil, sent(0, 3), 1, 3)
}

// Percentages are whole: 1 and 2 blocks of 201 are both 0 %, yet a match.
func TestAIBrixWholePercents(t *testing.T) {
	s := blockState(t, 3, []int64{1, 1, 5}, []int64{1, 1, 2, 1, 5}, []int64{1, 1, 2, 1, 199}, []int64{1, 1, 2, 1, 198})
	sent := func(r Router) {
		x := r.(*aibrixPrefixCache).index
		x.insert(0, 0, 0)
		x.insert(1, 1, 0)
	}
	s.view.Requests = []int32{1, 1, 1}
	s.blockPicks("aibrix-prefix-cache", nil, sent, 2, 0, 1) // 0 % both, a tie, and not replica 2
	s.blockPicks("aibrix-prefix-cache", nil, sent, 3, 1)    // 2 of 200 are 1 %
}

// Blocks are forgotten at the first whole second 20 minutes after their last
// use, or when 200,000 others have been used since.
func TestAIBrixForgets(t *testing.T) {
	s := blockState(t, 3, []int64{1, 99, 5}, []int64{1, 99, 5}, []int64{199990})
	for _, c := range []struct {
		ns   int64
		want []int
	}{{1200e9, []int{2}}, {1200e9 + 999999999, []int{2}}, {1201e9, []int{0, 1, 2}}} {
		s.view.NowNs = c.ns
		s.blockPicks("aibrix-prefix-cache", nil, func(r Router) { r.(*aibrixPrefixCache).index.insert(0, 2, 1) }, 1, c.want...)
	}
	r := s.build("aibrix-prefix-cache", nil).(*aibrixPrefixCache)
	r.index.insert(0, 2, 0)
	r.index.insert(2, 1, 0)
	if r.index.match(1, r.matched); r.matched[2] != 0 {
		t.Errorf("%v: the head must be forgotten first", r.matched)
	}
	if r.index.count(0, r.matched); r.index.size[0] != 200000 {
		t.Errorf("%d blocks kept", r.index.size[0])
	}
}

// With events what they tell of counts in whole blocks of 16, and what was
// sent counts until its eviction is told.
func TestAIBrixEvents(t *testing.T) {
	s := blockState(t, 3, []int64{1, 96, 4}, []int64{1, 96, 4})
	events := func(p Params) { p.(*AIBrixPrefixCache).Belief = "events" }
	s.blockPicks("aibrix-prefix-cache", events, nil, 1, 0, 1, 2)
	s.view.Events.Set(1, 0, 15) // less than a block
	s.blockPicks("aibrix-prefix-cache", events, nil, 1, 0, 1, 2)
	s.view.Events.Set(1, 0, 40)
	s.blockPicks("aibrix-prefix-cache", events, nil, 1, 1)
	if s.view.Believed != 32 {
		t.Errorf("believes in %d tokens, want 32", s.view.Believed)
	}
	sent := func(r Router) { r.(*aibrixSynced).index.insert(0, 2, 0) }
	s.blockPicks("aibrix-prefix-cache", events, sent, 1, 2)
	s.blockPicks("aibrix-prefix-cache", events, func(r Router) {
		sent(r)
		r.(*aibrixSynced).Evicted(2, 0, 31, &s.view) // one whole block is left
	}, 1, 1)
}

// Over random traces the choice is the first of the naive order that is in
// bounds.
func TestAIBrixAgainstNaive(t *testing.T) {
	const replicas = 4
	for round := range 8 {
		s := rng.New(12, round, "aibrix")
		st := blockStateOf(t, replicas, randomPrompts(t, s, 400))
		rules := blockRules{tokens: 1, scope: allBlocks, capacity: 300, ttlNs: 60e9, sweepNs: 1e9}
		naive := &blockNaive{rules: rules, work: st.view.Work}
		r := st.build("aibrix-prefix-cache", func(p Params) {
			a := p.(*AIBrixPrefixCache)
			a.Blocks, a.TTLMin, a.Imbalance = 300, 1, 3
		})
		for id := range int32(400) {
			st.view.NowNs += int64(s.IntN(1500)) * 1e6
			naive.entries = slices.DeleteFunc(naive.entries, func(e naiveBlock) bool {
				return e.stampNs+60e9 <= st.view.NowNs/1e9*1e9
			})
			st.view.Up = all(replicas)
			if s.IntN(4) == 0 {
				st.view.Up = []int32{1, 2, 3}
			}
			loads := map[int32]float64{}
			var sum, low, high float64 = 0, 99, 0
			for i := range replicas {
				st.view.Requests[i] = int32(s.IntN(6))
			}
			for _, i := range st.view.Up {
				loads[i] = float64(st.view.Requests[i])
				sum, low, high = sum+loads[i], min(low, loads[i]), max(high, loads[i])
			}
			mean, squares := sum/float64(len(loads)), 0.
			for _, i := range st.view.Up {
				squares += (loads[i] - mean) * (loads[i] - mean)
			}
			bound := mean + math.Sqrt(squares/float64(len(loads)-1))
			match, total := naive.match(id, replicas, false), int32(len(naive.hashes(id)))
			best, want := int32(-1), []int{}
			for _, i := range st.view.Up {
				if match[i] == 0 || loads[i] > bound || high-low > 3 && loads[i] > low {
					continue
				}
				key := 1000*(match[i]*100/total) - st.view.Requests[i]
				if len(want) == 0 || key > best {
					best, want = key, nil
				}
				if key == best {
					want = append(want, int(i))
				}
			}
			if len(want) == 0 {
				for _, i := range st.view.Up {
					if loads[i] == low {
						want = append(want, int(i))
					}
				}
			}
			got := r.Route(id, &st.view)
			if !slices.Contains(want, got) || st.view.Believed != match[got] {
				t.Fatalf("round %d request %d: chooses %d believing %d, want one of %v; matches %v of %d, loads %v", round, id, got, st.view.Believed, want, match, total, loads)
			}
			naive.insert(id, got, st.view.NowNs)
		}
	}
}

// A block has whole tokens.
func TestBlockChars(t *testing.T) {
	for _, c := range []struct {
		chars int32
		ok    bool
	}{{4, true}, {6, false}, {128, true}} {
		for _, name := range []string{"aibrix-prefix-cache", "tensorrt-llm-conversation"} {
			p, _ := Find(name)
			params := p.New()
			param.Defaults(params)
			switch q := params.(type) {
			case *AIBrixPrefixCache:
				q.BlockChars = c.chars
			case *TRTConversation:
				q.BlockChars = c.chars
			}
			if err := param.Validate(params); (err == nil) != c.ok {
				t.Errorf("%s with blocks of %d characters: %v", name, c.chars, err)
			}
		}
	}
}

func TestAIBrixLoads(t *testing.T) {
	s := blockState(t, 4, []int64{10})
	s.view.Requests = []int32{3, 1, 1, 2}
	s.blockPicks("aibrix-least-request", nil, nil, 0, 1, 2)
	for _, c := range []struct {
		held []int64
		want int
	}{{[]int64{0, 0, 0, 0}, 3}, {[]int64{0, 0, 0, 1}, 2}, {[]int64{5, 6, 6, 6}, 0}, {[]int64{7, 5, 9, 5}, 3}, {[]int64{7, 5, 9, 6}, 1}} {
		s.gauges(make([]int32, 4), c.held)
		s.blockPicks("aibrix-least-kv-cache", nil, nil, 0, c.want)
	}
}

// vtc-basic by hand: a prompt of 400 tokens counts 400 + 2*600 = 1,600.
func TestAIBrixVTC(t *testing.T) {
	w := blockWork(t, []int64{400}, []int64{400}, []int64{400}, []int64{4000}, []int64{10}, []int64{1})
	w.Session = []int64{1, 1, 1, 2, 3, workload.None}
	s := blockStateOf(t, 4, w)
	r := s.build("aibrix-vtc-basic", nil).(*aibrixVTC)
	route := func(id int32, want int) {
		t.Helper()
		if got := r.Route(id, &s.view); got != want {
			t.Errorf("request %d at %d s goes to %d, want %d", id, s.view.NowNs/1e9, got, want)
		}
	}
	s.view.NowNs = 59e9
	route(0, 0) // nobody has had tokens: 0 of 1,000
	route(1, 1) // 1,600 of max(1,000, (1,600 + 1,600)/2): index 1
	route(3, 0) // a new user
	// Users have 3,200 and 16,000 tokens, bucket 9,600: 1/3 and 1 2/3.
	route(2, 0)
	// 4,800 and 16,000, bucket 10,400: 1.54 is .54 from 1 and .46 from 2.
	s.view.Gauges[1].Running, s.view.Gauges[2].Running = 100, 5
	route(3, 2) // .54 + 1 against .46 + .05
	// 4,800 and 32,000, bucket 18,400: 1.74. Twice full counts as full.
	s.view.Gauges[1].Running, s.view.Gauges[2].Running = 0, 200
	route(3, 1) // .74 against .26 + 1
	if low, high := r.users.extremes(); low != 4800 || high != 48000 {
		t.Errorf("users have %d to %d tokens, want 4,800 to 48,000", low, high)
	}
	// The minute began at 0: at 300 s its tokens count still, at 301 no more.
	s.view.NowNs = 300e9
	r.users.expire(s.view.NowNs)
	if low, _ := r.users.extremes(); low != 4800 {
		t.Errorf("%d tokens at 300 s, want 4,800", low)
	}
	s.view.NowNs = 301e9
	r.users.expire(s.view.NowNs)
	if low, high := r.users.extremes(); low != 0 || high != 0 {
		t.Errorf("%d to %d tokens at 301 s, want none", low, high)
	}
	s.blockPicks("aibrix-vtc-basic", nil, nil, 5, 0, 1, 2, 3) // no user
}

// The window of users against sums over all that was added.
func TestUserWindowAgainstNaive(t *testing.T) {
	for round := range 30 {
		s := rng.New(4, round, "users")
		n := s.IntN(9) + 1
		w := &workload.Workload{Prompt: make([]int32, 50), Session: make([]int64, 50)}
		for i := range w.Session {
			w.Session[i] = int64(s.IntN(n)) - 1
		}
		u := newUserWindow(w, 2)
		type added struct{ session, tokens, at int64 }
		var all []added
		now := int64(0)
		for range 400 {
			now += int64(s.IntN(8)) * 1e9
			u.expire(now)
			sums := map[int64]int64{}
			for _, a := range all {
				if a.at/60*60 >= now/1e9-120 {
					sums[a.session] += a.tokens
				}
			}
			want := [2]int64{}
			for _, t := range sums {
				if want[0] == 0 || t < want[0] {
					want[0] = t
				}
				want[1] = max(want[1], t)
			}
			if low, high := u.extremes(); low != want[0] || high != want[1] {
				t.Fatalf("round %d: %d to %d, want %v", round, low, high, want)
			}
			id := s.IntN(50)
			switch session := w.Session[id]; {
			case session == workload.None && u.of[id] != none:
				t.Fatal("a request without a session has a user")
			case session != workload.None:
				if got := u.tokens[u.of[id]]; got != sums[session] {
					t.Fatalf("user %d has %d tokens, want %d", session, got, sums[session])
				}
				tokens := int64(s.IntN(100) + 1)
				u.add(u.of[id], tokens, now)
				all = append(all, added{session, tokens, now / 1e9})
			}
		}
	}
}
