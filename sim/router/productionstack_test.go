package router

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// chunksOf spells the prompt of a request and cuts it into chunks, the last one
// as short as it comes; each is spelt with all before it.
func chunksOf(w *workload.Workload, id, chunk int32) (out []string, ends []int32) {
	l := literal{work: w, page: 1, tails: int(id) * 1000}
	text, tokens := "", l.pagesOf(id)
	for i, t := range tokens {
		text += t
		if n := int32(i + 1); n%chunk == 0 || int(n) == len(tokens) {
			out, ends = append(out, text+"|"), append(ends, n)
		}
	}
	return out, ends
}

// Random inserts: the trie of bits knows what sets of texts know.
func TestChunkTrieAgainstTexts(t *testing.T) {
	for _, replicas := range []int{3, 70} {
		s := rng.New(8, replicas, "trie")
		w := branching(t, 120, s)
		const chunk = 8
		trie := newChunkTrie(w, replicas, chunk)
		texts := make([]map[string]bool, replicas)
		for i := range texts {
			texts[i] = map[string]bool{}
		}
		got, short := make([]int32, replicas), 0
		for step := range 800 {
			id := int32(s.IntN(w.Len()))
			chunks, ends := chunksOf(w, id, chunk)
			var up, list []int32
			most := int32(0)
			trie.each(id, got)
			for r := range int32(replicas) {
				want := int32(0)
				for i, c := range chunks {
					// The tail of a prompt is spelt alike when it comes again; the
					// trie takes it for another.
					if w.Leaf[id] == workload.None || ends[i] > w.Forest.End[w.Leaf[id]] || !texts[r][c] {
						break
					}
					want = ends[i]
				}
				if got[r] != want {
					t.Fatalf("step %d: replica %d knows %d tokens of request %d, want %d", step, r, got[r], id, want)
				}
				if want%chunk != 0 {
					short++
				}
				if s.IntN(3) > 0 {
					up = append(up, r)
					if want > most {
						most, list = want, nil
					}
					if want == most && want > 0 {
						list = append(list, r)
					}
				}
			}
			if k, among := trie.longest(id, up, nil); k != most || !slices.Equal(among, list) {
				t.Fatalf("step %d: %v know %d tokens of request %d, want %v and %d", step, among, k, id, list, most)
			}
			r := s.IntN(replicas)
			trie.insert(id, r)
			for _, c := range chunks {
				texts[r][c] = true
			}
		}
		if short == 0 {
			t.Error("no short chunk was ever known")
		}
	}
}

// By hand: a system prompt of 30 tokens has no whole chunk of 32; with the
// document of 60 two chunks, 64 of 90 tokens, are shared.
func TestProductionStackPrefix(t *testing.T) {
	m := newTreeMoves(t, "production-stack-prefixaware", 3, []int64{1, 1, 2, 0, 1}, nil)
	one := m.r.Route(0, m.v)
	m.among(1, one)
	if m.v.Believed != 64 {
		t.Errorf("believed are %d tokens of a known document, want 64", m.v.Believed)
	}
	m.v.Requests[one] = 1000
	m.among(1, one)     // whatever its load
	m.among(3, 0, 1, 2) // 30 tokens are no chunk: anybody
	m.v.Up = slices.DeleteFunc(all(3), func(i int32) bool { return int(i) == one })
	other := m.r.Route(4, m.v)
	m.among(4, other)
	m.v.Up = all(3)
	m.among(1, min(one, other), max(one, other)) // both have been sent it
	small := newTreeMoves(t, "production-stack-prefixaware", 2, []int64{1, 2, 2}, func(p Params) { p.(*ProductionStackPrefix).Chunk = 60 })
	one = small.r.Route(0, small.v)
	small.among(1, one) // chunks of 15: the system prompt is known, and follows
	if small.v.Believed != 90 {
		t.Errorf("believed are %d tokens, want 90", small.v.Believed)
	}
}

// By hand: loads 3, 0, 0 have mean 1; the document, known at replica 0 for 64 of
// 100 tokens, makes .64 - 2 = -1.36 against 0 + 1 = 1 elsewhere; with loads 1, 1, 1 .64
// against 0; loads 0, 0, 0 divide by 1 rather than by 0.
func TestProductionStackLoad(t *testing.T) {
	m := newTreeMoves(t, "production-stack-loadaware", 3, []int64{1, 1, 1, 2, 1, 1}, nil)
	m.goes(0, []int32{0, 0, 0}, 0, "score")
	m.goes(1, []int32{3, 0, 0}, 1, "score")
	if d := m.v.Decision; math.Abs(d.Score[0]+1.36) > 1e-12 || d.Score[1] != 1 {
		t.Errorf("scores are %v, want -1.36, 1, 1", d.Score)
	}
	m.goes(2, []int32{1, 1, 1}, 0, "score")
	m.goes(3, []int32{2, 1, 0}, 2, "score")
	// .64 - (1 - 1/3) against 0 + 1/3 at 2 where document 1 is not known, .64 + 1/3 at 1.
	m.goes(4, []int32{1, 0, 0}, 1, "score")
	beta := newTreeMoves(t, "production-stack-loadaware", 2, []int64{1, 1}, func(p Params) { p.(*ProductionStackLoad).Beta = .1 })
	beta.goes(0, []int32{0, 1}, 0, "score")
	beta.goes(1, []int32{3, 0}, 0, "score") // .64 - .1 (1.5/1.5) = .54 against .1
}

// Sessions go round the ring; requests without one to whom nothing was sent,
// then where the fewest came in the last minute.
func TestProductionStackSession(t *testing.T) {
	m := newTreeMoves(t, "production-stack-session", 3, []int64{-1, 1, 2, 3, 4, 5, 6}, nil)
	m.goes(0, []int32{9, 0, 0}, 0, "unseen")
	m.goes(0, []int32{9, 0, 0}, 1, "unseen")
	m.goes(0, []int32{0, 9, 0}, 2, "unseen")
	m.v.NowNs = 30e9
	m.goes(0, []int32{9, 0, 0}, 0, "rate") // one each: the first, whatever its load
	m.goes(0, []int32{0, 9, 0}, 1, "rate")
	m.v.NowNs = 60e9
	m.goes(0, []int32{0, 9, 0}, 2, "rate") // 2, 2, 1
	m.v.NowNs = 60e9 + 1                   // the first three are gone: 1, 1, 1
	m.goes(0, []int32{9, 9, 0}, 0, "rate")
	went := map[int]bool{}
	for id := int32(1); id < 7; id++ {
		to := m.choices(id)
		if len(to) != 1 {
			t.Errorf("session %d goes to %v", id, to)
		}
		went[to[0]] = true
		m.v.Up = slices.DeleteFunc(all(3), func(i int32) bool { return int(i) == to[0] })
		if next := m.choices(id); len(next) != 1 || next[0] == to[0] {
			t.Errorf("session %d goes to %v while %d is down", id, next, to[0])
		}
		m.v.Up = all(3)
	}
	if len(went) < 2 {
		t.Error("six sessions all go to one replica")
	}
}

// By hand, threshold 5: of 100 tokens 95 have to be there. Without, by session.
func TestProductionStackKV(t *testing.T) {
	m := newTreeMoves(t, "production-stack-kvaware", 3, []int64{1, -1, 0}, func(p Params) { p.(*ProductionStackKV).Threshold = 10 })
	v := m.v
	doc := v.Work.Leaf[0]
	system := v.Work.Forest.Parent[doc]
	v.Events.Set(1, system, 30)
	v.Events.Set(2, system, 30)
	v.Events.Set(2, doc, 59)
	to := m.choices(0)
	m.goes(0, nil, to[0], "session") // 89 of 100
	v.Events.Set(2, doc, 60)
	m.goes(0, []int32{0, 0, 99}, 2, "affinity") // 90
	if v.Believed != 90 {
		t.Errorf("believed are %d tokens, want 90", v.Believed)
	}
	v.Events.Set(1, doc, 60)
	m.goes(0, []int32{0, 99, 0}, 1, "affinity") // two have it: the first
	v.Up = []int32{0, 2}
	m.goes(0, nil, 2, "affinity")
	m.goes(1, nil, 0, "unseen") // nothing shared, no session
	all := newTreeMoves(t, "production-stack-kvaware", 2, []int64{0, 1}, nil)
	all.v.Events.Set(1, all.v.Work.Leaf[0], 1)
	all.goes(0, nil, 1, "affinity") // at the default of 2,000 any token will do for a short prompt
}

// By hand, match rate .1: 90 of 100 follow the owners, 30 of 100 as well; what
// is not known goes to the smallest trees, and load decides among equals alone.
func TestRayPrefixAffinity(t *testing.T) {
	m := newTreeMoves(t, "ray-prefix-affinity", 3, []int64{1, 1, 2, -1, -1, -1}, nil)
	m.goes(3, []int32{1, 0, 1}, 1, "miss") // all trees empty: the least loaded
	m.goes(4, []int32{1, 0, 0}, 2, "miss") // 0, 100, 0 tokens
	m.goes(5, []int32{99, 0, 0}, 0, "miss")
	m.goes(0, []int32{99, 98, 99}, 1, "miss")
	m.goes(1, []int32{0, 999, 0}, 1, "affinity") // whatever its load
	m.goes(2, []int32{0, 999, 0}, 1, "affinity") // 30 of 100
	m.r.(Follower).Down(1, m.v)
	m.goes(1, []int32{5, 999, 4}, 1, "miss") // forgotten: its tree is the smallest
	rate := func(x float64) func(Params) {
		return func(p Params) { p.(*RayPrefixAffinity).MatchRate = x }
	}
	at := newTreeMoves(t, "ray-prefix-affinity", 2, []int64{1, 2}, rate(.3))
	at.goes(0, []int32{0, 1}, 0, "miss")
	at.goes(1, []int32{9, 1}, 0, "affinity") // .3 is enough
	above := newTreeMoves(t, "ray-prefix-affinity", 2, []int64{1, 2}, rate(.31))
	above.goes(0, []int32{0, 1}, 0, "miss")
	above.goes(1, []int32{9, 1}, 1, "miss")
	far := newTreeMoves(t, "ray-prefix-affinity", 2, []int64{1, 1, 1}, func(p Params) { p.(*RayPrefixAffinity).Imbalanced = 10 })
	far.goes(0, []int32{0, 1}, 0, "miss")
	far.goes(1, []int32{10, 0}, 0, "affinity")
	far.goes(1, []int32{11, 0}, 1, "imbalance")
	far.goes(2, []int32{5, 4}, 1, "affinity") // both own it now: the shorter queue
	cut := newTreeMoves(t, "ray-prefix-affinity", 1, []int64{-1, -1, -1}, func(p Params) {
		q := p.(*RayPrefixAffinity)
		q.Eviction, q.ThresholdCh, q.TargetCh = true, 800, 400
	})
	for i, want := range []float64{0, 100, 200} {
		cut.goes(int32(i), nil, 0, "miss")
		cut.v.NowNs += 10e9
		if got := cut.v.Decision.Terms[1][0]; got != want {
			t.Errorf("the tree has %v tokens before request %d, want %v", got, i, want)
		}
	}
	cut.goes(2, nil, 0, "miss") // 300 tokens are 1,200 characters: cut to 100 tokens
	if got := fmt.Sprint(cut.v.Decision.Terms[1]); got != "[100]" {
		t.Errorf("the tree has %v tokens after its eviction", got)
	}
}
