package router

import (
	"maps"
	"math"
	"slices"
	"testing"

	"switchyard/sim/rng"
)

// choices returns where a policy sends a request over many draws, which must
// not change its state.
func (m *treeMoves) choices(id int32) []int {
	seen := map[int]bool{}
	for range 200 {
		seen[m.r.Route(id, m.v)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

func (m *treeMoves) among(id int32, want ...int) {
	m.t.Helper()
	if got := m.choices(id); !slices.Equal(got, want) {
		m.t.Errorf("%s: request %d goes to %v, want %v", m.name, id, got, want)
	}
}

// vLLM's router: threshold .5 strict, 32 and 1.1 strict, sessions first.
func TestVLLMRouterCacheAware(t *testing.T) {
	plain := func(p Params) { p.(*VLLMRouterCacheAware).Sessions = false }
	m := newTreeMoves(t, "vllm-router-cache-aware", 3, []int64{1, 1, 2}, plain)
	m.goes(0, []int32{1, 0, 0}, 1, "miss")
	m.goes(1, []int32{0, 32, 0}, 1, "affinity")
	m.goes(1, []int32{0, 33, 0}, 0, "imbalance")
	m.goes(1, []int32{330, 363, 330}, 1, "affinity") // 1.1 times
	m.goes(1, []int32{330, 364, 330}, 0, "imbalance")
	m.goes(2, []int32{0, 9, 1}, 0, "miss")

	// Documents are sessions: request 1 follows its session where a text of
	// 100 tokens would no longer be known.
	s := newTreeMoves(t, "vllm-router-cache-aware", 3, []int64{1, 1, 1, -1}, func(p Params) { p.(*VLLMRouterCacheAware).MaxTreeChars = 2 })
	s.goes(0, []int32{1, 0, 0}, 1, "miss")
	s.v.NowNs = 30e9
	s.goes(1, []int32{0, 9, 0}, 1, "session")
	s.goes(1, []int32{0, 33, 0}, 0, "imbalance")
	s.goes(1, []int32{9, 0, 0}, 0, "session") // which the session has learnt
	s.v.NowNs = 3630e9
	s.goes(1, []int32{9, 0, 0}, 0, "session") // an hour since it was seen
	s.v.NowNs += 3630e9
	s.goes(1, []int32{9, 0, 0}, 1, "miss")
	s.goes(3, []int32{9, 1, 0}, 2, "miss") // no session
	s.r.(Follower).Down(1, s.v)
	s.v.Up = []int32{0, 2}
	s.goes(1, []int32{9, 0, 8}, 2, "miss")
}

// A session keeps its replica, then its second candidate, and is forgotten by
// the first sweep after four hours.
func TestSGLangManual(t *testing.T) {
	load := func(p Params) { p.(*SGLangManual).Assignment = "min_load" }
	m := newTreeMoves(t, "sglang-manual", 3, []int64{1, 1, 2, -1}, load)
	m.goes(0, []int32{2, 1, 1}, 1, "new")
	m.goes(1, []int32{0, 9, 0}, 1, "session")
	m.v.Up = []int32{0, 2}
	m.goes(1, []int32{5, 0, 4}, 2, "new") // second candidate
	m.goes(1, []int32{0, 0, 9}, 2, "session")
	m.v.Up = all(3)
	m.goes(1, []int32{0, 9, 0}, 1, "session") // the first again
	m.v.Up = []int32{0}
	m.goes(1, []int32{0, 9, 0}, 0, "new") // a third: the first goes
	m.v.Up = []int32{1, 2}
	m.goes(1, []int32{0, 0, 9}, 2, "session")
	m.v.Up = all(3)
	m.v.NowNs = 14400e9 // four hours, not more
	m.goes(1, []int32{9, 9, 9}, 2, "session")
	m.v.NowNs += 14459e9 // the sweep at 28,800 s was not later than four hours
	m.goes(1, []int32{9, 9, 9}, 2, "session")
	m.v.NowNs += 14461e9
	m.goes(1, []int32{9, 0, 9}, 1, "new")

	g := newTreeMoves(t, "sglang-manual", 3, []int64{1, 2, 3, 4, 5}, func(p Params) { p.(*SGLangManual).Assignment = "min_group" })
	for i, want := range []int{0, 1, 2, 0, 1} {
		g.goes(int32(i), []int32{9, 0, 0}, want, "new")
	}
	g.v.NowNs = 14461e9 // all but none are gone
	g.goes(3, []int32{0, 0, 0}, 0, "new")
	g.goes(4, []int32{0, 0, 0}, 1, "new")

	r := newTreeMoves(t, "sglang-manual", 3, []int64{-1, 1, 2}, nil)
	r.among(0, 0, 1, 2) // no key: anywhere each time
	if got := r.choices(1); len(got) != 1 {
		t.Errorf("a session goes to %v", got)
	}
}

// Random sessions, departures and times: the list in order of use does what a
// map with times does.
func TestStickySessionsAgainstMap(t *testing.T) {
	s := rng.New(3, 1, "sessions")
	docs := make([]int64, 60)
	for i := range docs {
		docs[i] = int64(s.IntN(12)) + 1
	}
	m := newTreeMoves(t, "sglang-manual", 2, docs, nil)
	k := newStickySessions(m.v.Work, 50, 10, 7)
	seen := map[int32]int64{}
	now, tick := int64(0), int64(0)
	for step := range 4000 {
		now += int64(s.IntN(6e9))
		if now/10e9 > tick {
			tick = now / 10e9
			for x, at := range seen {
				if tick*10e9-at > 50e9 {
					delete(seen, x)
				}
			}
			for len(seen) > 7 {
				oldest := int32(none)
				for x, at := range seen {
					if oldest == none || at < seen[oldest] {
						oldest = x
					}
				}
				delete(seen, oldest)
			}
		}
		for k.expired(now) != none {
		}
		x := k.of[s.IntN(len(docs))]
		if _, ok := seen[x]; ok != k.knows(x) || len(seen) != k.count {
			t.Fatalf("step %d: session %d is known: %v, of %d; want %v, of %d", step, x, k.knows(x), k.count, ok, len(seen))
		}
		if s.IntN(5) > 0 {
			seen[x] = now
			k.see(x, now)
		} else if k.knows(x) {
			delete(seen, x)
			k.forget(x)
		}
	}
}

// The polled tokens decide when both have been read, else the requests.
func TestSGLangPowerOfTwo(t *testing.T) {
	m := newTreeMoves(t, "sglang-power-of-two", 2, []int64{-1}, nil)
	g := m.v.Gauges
	copy(m.v.Requests, []int32{5, 3})
	m.among(0, 1) // nothing was read: requests
	g[0] = Gauge{KVTokens: 10, Read: true}
	m.among(0, 1) // only one was
	g[1] = Gauge{KVTokens: 20, Prefill: 0, Read: true}
	m.among(0, 0) // 10 against 20 tokens
	g[0].Prefill = 10
	m.among(0, 0, 1) // 20 each: the first drawn, either way
	g[0].Prefill = 11
	m.among(0, 1)
	u := newTreeMoves(t, "sglang-power-of-two", 2, []int64{-1}, func(p Params) { p.(*SGLangPowerOfTwo).Load = "usage" })
	u.v.Gauges[0], u.v.Gauges[1] = Gauge{KVTokens: 10, Prefill: 11, Read: true}, Gauge{KVTokens: 20, Read: true}
	u.among(0, 0)
	three := newTreeMoves(t, "sglang-power-of-two", 3, []int64{-1}, nil)
	copy(three.v.Requests, []int32{1, 2, 3})
	three.among(0, 0, 1) // the most loaded never wins
}

// By hand: 1,000 queued tokens are .5 s at 2,000 a second; half-full memory
// costs .15 s, nine tenths 1.35 s; full memory counts as .999: 149.85 s.
func TestSMGLeastLoad(t *testing.T) {
	m := newTreeMoves(t, "smg-least-load", 2, []int64{-1, -1, -1, -1, -1, -1}, nil)
	g := m.v.Gauges
	m.goes(0, []int32{2, 1}, 1, "requests")
	m.goes(1, []int32{1, 1}, 0, "requests")
	m.v.Reads++
	g[0] = Gauge{Prefill: 1000, Read: true}
	m.goes(2, []int32{0, 0}, 1, "score") // .5 s against nothing in flight
	g[0].Prefill = 1023
	m.goes(3, []int32{0, 1}, 0, "score") // .5115 s against one request of 1,024: .512 s
	m.v.Reads++
	g[0], g[1] = Gauge{Prefill: 1000, Read: true}, Gauge{Prefill: 690, KVTokens: 50000, Read: true}
	m.goes(4, []int32{0, 0}, 1, "score") // .5 against .345 + .15 = .495
	m.goes(5, []int32{0, 0}, 0, "score") // 100 tokens more since: .545
	d := m.v.Decision
	if math.Abs(d.Score[0]-.5) > 1e-12 || math.Abs(d.Terms[0][1]-.395) > 1e-12 || math.Abs(d.Terms[1][1]-.15) > 1e-12 {
		t.Errorf("scores %v of %v", d.Score, d.Terms)
	}
	m.v.NowNs = 25e9                     // no poll yet, whatever the policy's own period is: section view has another
	m.goes(5, []int32{0, 0}, 1, "score") // 100 more at either: .55 against .545
	m.v.Reads++                          // polled anew, and the same: what was sent has been done
	m.goes(4, []int32{0, 0}, 1, "score")
	g[1].KVTokens = 90000
	m.goes(4, []int32{0, 0}, 0, "score")
	if kv := m.v.Decision.Terms[1][1]; math.Abs(kv-1.35) > 1e-12 {
		t.Errorf("nine tenths of the memory cost %v s, want 1.35", kv)
	}
	g[1].KVTokens = 100000
	m.goes(4, []int32{0, 0}, 0, "score")
	if kv := m.v.Decision.Terms[1][1]; math.Abs(kv-149.85) > 1e-9 {
		t.Errorf("full memory costs %v s, want 149.85", kv)
	}
}

// Where section view says how metrics are corrected, a policy leaves that to it.
func TestSettledMetricsAreLeftAlone(t *testing.T) {
	m := newTreeMoves(t, "smg-least-load", 2, []int64{-1, -1}, nil)
	m.v.Settled = true
	m.v.Gauges[0], m.v.Gauges[1] = Gauge{Prefill: 50, Read: true}, Gauge{Read: true}
	m.goes(0, nil, 1, "score")
	m.goes(1, nil, 1, "score") // 100 tokens were sent there, which metrics alone do not say
	d := newTreeMoves(t, "vllm-dp", 2, []int64{-1, -1}, nil)
	d.r = (&VLLMDP{WaitingWeight: 4}).Build(Env{Replicas: 2, Routers: 3})
	d.v.Settled = true
	d.goes(0, nil, 0, "least")
	d.goes(1, nil, 0, "least")
	d.v.Settled = false
	d.goes(0, nil, 0, "least")
	d.goes(1, nil, 1, "least") // two picks of the other clients are supposed
}
