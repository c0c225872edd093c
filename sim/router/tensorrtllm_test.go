package router

import (
	"fmt"
	"slices"
	"testing"

	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

func TestTRTLoadBalancing(t *testing.T) {
	s := blockState(t, 4, []int64{10})
	r := s.build("tensorrt-llm-load-balancing", nil)
	s.view.Requests = []int32{1, 0, 0, 0}
	for k, want := range []int{1, 2, 3, 1} { // counter 0, 1, 2, 3 modulo the 3 that tie
		if got := r.Route(0, &s.view); got != want {
			t.Errorf("decision %d goes to %d, want %d", k, got, want)
		}
	}
	s.view.Requests = []int32{1, 1, 1, 0}
	if got := r.Route(0, &s.view); got != 3 {
		t.Errorf("the only idle replica is 3, not %d", got)
	}
	s.view.Requests = []int32{0, 1, 1, 0} // counter 5 modulo 2
	if got := r.Route(0, &s.view); got != 3 {
		t.Errorf("the second of two, not %d", got)
	}
	// By prompt tokens, of which the first has 40 and the second 10.
	long := blockState(t, 2, []int64{40}, []int64{10})
	r = long.build("tensorrt-llm-load-balancing", func(p Params) { p.(*TRTLoadBalancing).Unit = "tokens" })
	long.view.Tokens = []int64{0, 9000} // whose outputs nobody knows
	long.view.Requests = []int32{0, 9}
	for k, c := range []struct{ id, want int }{{0, 0}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 0}} { // 40 against 10, 20, 30, 40; in turn; 40 against 50
		if got := r.Route(int32(c.id), &long.view); got != c.want {
			t.Errorf("decision %d by tokens goes to %d, want %d", k, got, c.want)
		}
	}
	r.(Observer).Left(0, 0, &long.view)
	if got := r.Route(1, &long.view); got != 0 { // 10 against 50
		t.Errorf("after the long prompt has left the choice is %d, want 0", got)
	}
}

// Scores by hand: 10 blocks of 32 of which 4 are shared, .25 a request.
func TestTRTKVCacheAware(t *testing.T) {
	const name = "tensorrt-llm-kv-cache-aware"
	s := blockState(t, 3, []int64{1, 128, 192}, []int64{1, 128, 192}, []int64{1, 128, 0})
	finished := func(id int32, replica int) func(Router) {
		return func(r Router) {
			r.(Observer).FirstToken(id, replica, &s.view)
			r.(Observer).Left(id, replica, &s.view)
		}
	}
	s.view.Requests = []int32{2, 1, 3}
	s.blockPicks(name, nil, nil, 1, 1)
	s.view.Requests = []int32{1, 0, 15}
	s.blockPicks(name, nil, finished(0, 2), 1, 2) // 4 - 3.75 = .25 against 0
	s.view.Requests = []int32{1, 0, 16}
	s.blockPicks(name, nil, finished(0, 2), 1, 1) // 0 against 0: a tie of 1 and 2, the counter is 0
	s.view.Requests = []int32{1, 0, 17}
	s.blockPicks(name, nil, finished(0, 2), 1, 1)
	// A prompt counts when it is finished, and only if it ever began.
	s.view.Requests = []int32{1, 0, 15}
	s.blockPicks(name, nil, func(r Router) { r.Route(0, &s.view) }, 1, 1)
	s.blockPicks(name, nil, func(r Router) { r.(Observer).Left(0, 2, &s.view) }, 1, 1)
	// The eviction of all but 127 tokens leaves 3 blocks: 3 - 3.75 against 0.
	evicted := func(tokens int32) func(Router) {
		return func(r Router) {
			finished(0, 2)(r)
			r.(Evictee).Evicted(2, 0, tokens, &s.view)
		}
	}
	s.blockPicks(name, nil, evicted(127), 1, 1)
	s.blockPicks(name, nil, evicted(128), 1, 2)
	s.blockPicks(name, nil, func(r Router) { finished(0, 2)(r); r.(Follower).Down(2, &s.view) }, 1, 1)
	// The older form: 128/320 = .4 is worth 25.6 of 64 requests.
	older := func(p Params) { p.(*TRTKVCacheAware).Form = "share" }
	s.view.Requests = []int32{1, 0, 25}
	s.blockPicks(name, older, finished(0, 2), 1, 2)
	s.view.Requests = []int32{1, 0, 26}
	s.blockPicks(name, older, finished(0, 2), 1, 1)
	// A cap of a quarter of 64 leaves out 16 requests, not 15; all over it stay.
	capped := func(p Params) { p.(*TRTKVCacheAware).LoadCap, p.(*TRTKVCacheAware).LoadWeight = .25, 0 }
	s.view.Requests = []int32{1, 0, 15}
	s.blockPicks(name, capped, finished(0, 2), 1, 2)
	s.view.Requests = []int32{1, 0, 16}
	s.blockPicks(name, capped, finished(0, 2), 1, 0)
	s.view.Requests = []int32{16, 16, 16}
	s.blockPicks(name, capped, finished(0, 2), 1, 2)
}

// Pins: a prompt goes where the first of its first two segments' went, against
// all scores.
func TestTRTPins(t *testing.T) {
	const name = "tensorrt-llm-kv-cache-aware"
	s := blockState(t, 3, []int64{1, 50, 2, 50, 3, 50, 1}, []int64{1, 50, 2, 50, 4, 50, 1}, []int64{1, 50, 5, 50, 1},
		[]int64{1, 50, 9}, []int64{1, 50, 9}, []int64{1, 50, 5, 50, 2}, []int64{100})
	s.view.Requests = []int32{0, 5, 5}
	r := s.build(name, nil)
	route := func(id int32, want int) {
		t.Helper()
		if got := r.Route(id, &s.view); got != want {
			t.Errorf("request %d goes to %d, want %d", id, got, want)
		}
	}
	route(0, 0)
	s.view.Requests = []int32{9, 0, 5}
	route(1, 0) // the same first two segments
	route(2, 1) // another second one
	route(3, 1) // the second is private: no pin
	s.view.Requests = []int32{9, 9, 5}
	route(4, 2)
	route(5, 1)
	route(6, 2)
	s.view.Up = []int32{1, 2}
	route(1, 2) // its home is down: a new one
	s.view.Up = all(3)
	s.view.Requests = []int32{0, 9, 9}
	route(0, 2)
	// A pin gives way to the load cap.
	r = s.build(name, func(p Params) { p.(*TRTKVCacheAware).LoadCap = .125 })
	route(0, 0)
	s.view.Requests = []int32{7, 0, 9}
	route(1, 0)
	s.view.Requests = []int32{8, 0, 9}
	route(1, 1)
	// One pin only: the second forgets the first.
	r = s.build(name, func(p Params) { p.(*TRTKVCacheAware).Pins = 1 })
	s.view.Requests = []int32{0, 9, 9}
	route(0, 0)
	s.view.Requests = []int32{9, 0, 9}
	route(2, 1)
	s.view.Requests = []int32{9, 9, 0}
	route(1, 2)
	r = s.build(name, func(p Params) { p.(*TRTKVCacheAware).Pin = "off" })
	route(0, 2)
	s.view.Requests = []int32{0, 9, 9}
	route(1, 0)
}

// The first 256 tokens as a pin: the node in which the 256th lies.
func TestTRTPinTokens(t *testing.T) {
	s := blockState(t, 2, []int64{1, 200, 2, 55, 3, 1, 4, 9, 5}, []int64{1, 200, 2, 55, 3, 1, 5, 9, 5}, []int64{1, 200, 2, 55, 6, 1, 5},
		[]int64{1, 200, 2, 55, 1}, []int64{1, 200}, []int64{1, 200, 1})
	r := s.build("tensorrt-llm-kv-cache-aware", func(p Params) { p.(*TRTKVCacheAware).Pin = "tokens" }).(*trtKVCacheAware)
	keys := map[int32]int32{}
	for id := range int32(6) {
		keys[id] = r.key(id, s.view.Work)
	}
	if keys[0] == workload.None || keys[0] != keys[1] {
		t.Errorf("the first 256 tokens are the same: %v", keys)
	}
	if keys[2] == keys[0] || keys[2] == workload.None {
		t.Errorf("the 256th token differs: %v", keys)
	}
	if keys[3] != workload.None || keys[5] != workload.None {
		t.Errorf("the 256th or last token is private: %v", keys)
	}
	if keys[4] == workload.None || keys[4] == keys[0] {
		t.Errorf("a whole prompt of 200 tokens is a key: %v", keys)
	}
}

// Over random traces with finishes and evictions the choice has the greatest
// naive score, or the naive pin.
func TestTRTAgainstNaive(t *testing.T) {
	const replicas = 3
	for round := range 20 {
		s := rng.New(21, round, "trt")
		st := blockStateOf(t, replicas, randomPrompts(t, s, 300))
		w := st.view.Work
		naive := &blockNaive{rules: blockRules{tokens: 3, scope: allEntries}, work: w}
		r := st.build("tensorrt-llm-kv-cache-aware", func(p Params) {
			k := p.(*TRTKVCacheAware)
			k.BlockTokens, k.Pins = 3, 3
			if round%2 == 0 {
				k.Pin = "off"
			}
		})
		home := map[uint64]int{}
		var used []uint64
		counter := 0
		type flight struct {
			id      int32
			replica int
		}
		var flights []flight
		for id := range int32(300) {
			for len(flights) > 0 && s.IntN(2) == 0 {
				k := s.IntN(len(flights))
				f := flights[k]
				flights = slices.Delete(flights, k, k+1)
				st.view.Requests[f.replica]--
				if s.IntN(5) > 0 {
					r.(Observer).FirstToken(f.id, f.replica, &st.view)
					naive.insert(f.id, f.replica, 0)
				}
				r.(Observer).Left(f.id, f.replica, &st.view)
			}
			if n := w.Leaf[id]; n != workload.None && s.IntN(4) == 0 {
				replica, tokens := s.IntN(replicas), int32(s.IntN(int(w.Forest.Tokens[n])))
				r.(Evictee).Evicted(replica, n, tokens, &st.view)
				naive.keep(replica, n, tokens)
			}
			// The second segment is the node of level 2, or the private rest.
			key := uint64(0)
			for n := w.Leaf[id]; n != workload.None; n = w.Forest.Parent[n] {
				if w.Forest.Level[n] <= 2 && key == 0 && (w.Forest.Level[n] == 2 || w.Prompt[id] == w.Forest.End[n]) {
					key = w.Forest.Hash[n]
				}
			}
			if round%2 == 0 {
				key = 0
			}
			match := naive.match(id, replicas, false)
			var want []int
			best := -1e9
			for i := range replicas {
				score := float64(match[i]) - float64(st.view.Requests[i])/4
				if score > best {
					best, want = score, nil
				}
				if score == best {
					want = append(want, i)
				}
			}
			choice := want[counter%len(want)]
			counter++
			if key != 0 {
				if at, ok := home[key]; ok {
					choice = at
				}
				home[key] = choice
				used = append(slices.DeleteFunc(used, func(k uint64) bool { return k == key }), key)
				if len(used) > 3 {
					delete(home, used[0])
					used = used[1:]
				}
			}
			if got := r.Route(id, &st.view); got != choice || st.view.Believed != 3*match[got] {
				t.Fatalf("round %d request %d: chooses %d believing %d, want %d of matches %v", round, id, got, st.view.Believed, choice, match)
			}
			st.view.Requests[choice]++
			flights = append(flights, flight{id, choice})
		}
	}
}

// Conversations by hand. Without a session: 3 of 4 blocks of 32 tokens are
// enough.
func TestTRTConversation(t *testing.T) {
	w := blockWork(t, []int64{1, 96, 32}, []int64{1, 96, 32}, []int64{1, 96, 64}, []int64{1, 96, 2, 32, 0}, []int64{1, 96, 2, 32, 3, 32, 0}, []int64{20}, []int64{100})
	s := blockStateOf(t, 3, w)
	r := s.build("tensorrt-llm-conversation", nil).(*trtConversation)
	route := func(id int32, want int) {
		t.Helper()
		if got := r.Route(id, &s.view); got != want {
			t.Errorf("request %d goes to %d, want %d", id, got, want)
		}
	}
	route(0, 0) // 512 characters in flight on 0
	route(1, 0) // 3 of 4 blocks
	route(2, 2) // 3 of 5: least content, 1 and 2 tie, the counter is 1
	if !slices.Equal(r.content, []int64{1024, 0, 640}) {
		t.Errorf("content %v, want 1024, 0, 640", r.content)
	}
	route(3, 2) // 3 of 4 with both conversations: the later one
	route(4, 2) // 4 of 5 with that
	route(5, 1) // no whole block: least content
	route(6, 1) // nothing shared
	r.content[2] = 0
	route(1, 2) // again the later one
}

// The counter of ties and the content in flight, step by step.
func TestTRTConversationContent(t *testing.T) {
	w := blockWork(t, []int64{64}, []int64{96}, []int64{32}, []int64{20}, []int64{10}, []int64{10})
	w.Session = []int64{workload.None, workload.None, workload.None, workload.None, 7, 7}
	s := blockStateOf(t, 3, w)
	r := s.build("tensorrt-llm-conversation", nil).(*trtConversation)
	for id, want := range []int{0, 2, 1, 1, 1, 1} {
		// 0: all tie at 0, counter 0. 1: 1 and 2 tie, counter 1: the second. 2: 1
		// alone, 128. 3: 1 with 128 alone, no whole block weighs 0. 4: still 1, 10
		// tokens weigh 40/5. 5: sticky.
		if got := r.Route(int32(id), &s.view); got != want {
			t.Errorf("request %d goes to %d, want %d", id, got, want)
		}
	}
	if !slices.Equal(r.content, []int64{256, 144, 384}) {
		t.Errorf("content %v, want 256, 144, 384", r.content)
	}
	r.Left(1, 2, &s.view)
	r.Left(4, 1, &s.view)
	if !slices.Equal(r.content, []int64{256, 136, 0}) {
		t.Errorf("content %v, want 256, 136, 0", r.content)
	}
	// Session 7's replica goes: a new home, the least content.
	s.view.Up = []int32{0, 2}
	r.Down(1, &s.view)
	if got := r.Route(5, &s.view); got != 2 {
		t.Errorf("session 7 goes to %d, want 2", got)
	}
	if r.content[1] != 0 {
		t.Errorf("content %v", r.content)
	}
}

// Over random traces, with few sessions remembered and replicas that go, the
// choice is that of a table of literal hashes.
func TestTRTConversationAgainstNaive(t *testing.T) {
	const replicas = 4
	type conversation struct {
		session int64 // None without
		replica int
		blocks  []string
	}
	for round := range 30 {
		s := rng.New(22, round, "conversation")
		st := blockStateOf(t, replicas, randomPrompts(t, s, 300))
		w := st.view.Work
		w.Session = make([]int64, w.Len())
		for i := range w.Session {
			w.Session[i] = int64(s.IntN(5)) - 1
			if round%3 > 0 && w.Session[i] > 0 {
				w.Session[i] = workload.None
			}
		}
		shape := &blockNaive{rules: blockRules{tokens: 3}, work: w}
		limit := 3 + s.IntN(20)
		r := st.build("tensorrt-llm-conversation", func(p Params) {
			c := p.(*TRTConversation)
			c.BlockChars, c.Threshold, c.Sessions = 12, .5, limit
		})
		var table []conversation // by last use
		content := make([]int64, replicas)
		counter := 0
		down := -1
		type flight struct {
			id      int32
			replica int
			weight  int64
		}
		var flights []flight
		for id := range int32(300) {
			switch {
			case s.IntN(40) == 0 && down < 0:
				down = s.IntN(replicas)
				st.view.Up = slices.DeleteFunc(all(replicas), func(i int32) bool { return int(i) == down })
				r.(Follower).Down(down, &st.view)
				table = slices.DeleteFunc(table, func(c conversation) bool { return c.replica == down })
				content[down] = 0
			case s.IntN(10) == 0 && down >= 0:
				st.view.Up, down = all(replicas), -1
			case s.IntN(2) == 0 && len(flights) > 0:
				f := flights[0]
				flights = flights[1:]
				content[f.replica] = max(0, content[f.replica]-f.weight)
				r.(Observer).Left(f.id, f.replica, &st.view)
			}
			var blocks []string
			for _, b := range shape.hashes(id) {
				blocks = append(blocks, b.hash)
			}
			at := -1
			weight := int64(len(blocks)) * 12
			if w.Session[id] != workload.None {
				at = slices.IndexFunc(table, func(c conversation) bool { return c.session == w.Session[id] })
				weight, blocks = max(1, 4*int64(w.Prompt[id])/5), nil
			} else {
				best := 0
				for k, c := range table {
					depth := 0
					for depth < min(len(blocks), len(c.blocks)) && blocks[depth] == c.blocks[depth] {
						depth++
					}
					if depth > 0 && depth >= best && float64(depth)/float64(len(blocks)) >= .5 {
						at, best = k, depth
					}
				}
			}
			c := conversation{w.Session[id], 0, blocks}
			if at >= 0 {
				c.replica = table[at].replica
				table = slices.Delete(table, at, at+1)
			} else {
				var ties []int
				for _, i := range st.view.Up {
					if len(ties) > 0 && content[i] < content[ties[0]] {
						ties = nil
					}
					if len(ties) == 0 || content[i] == content[ties[0]] {
						ties = append(ties, int(i))
					}
				}
				c.replica = ties[counter%len(ties)]
				counter++
			}
			table = append(table, c)
			if len(table) > limit {
				table = table[1:]
			}
			content[c.replica] += weight
			if got := r.Route(id, &st.view); got != c.replica {
				t.Fatalf("round %d request %d goes to %d, want %d (%s)", round, id, got, c.replica, fmt.Sprint(c))
			}
			flights = append(flights, flight{id, c.replica, weight})
		}
	}
}
