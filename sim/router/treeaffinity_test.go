package router

import (
	"math"
	"slices"
	"testing"

	"switchyard/sim/workload"
)

// treeMoves is a router under test that is told where to send what.
type treeMoves struct {
	t    testing.TB
	v    *View
	r    Router
	name string
}

// newTreeMoves has prompts of a system prompt of 30 tokens, the document given,
// of 60, and 10 of their own; 0 is the system prompt alone with 70 of its own,
// a negative one a prompt of 100 that shares nothing. Sessions are numbered by
// document.
func newTreeMoves(t testing.TB, name string, replicas int, docs []int64, change func(Params)) *treeMoves {
	t.Helper()
	var prompts []prompt
	for _, d := range docs {
		p := prompt{path: []workload.Segment{seg(1, 30), seg(100+d, 60)}, rest: 10, session: d}
		if d <= 0 {
			p.path, p.rest, p.session = p.path[:1], 70, workload.None
		}
		if d < 0 {
			p.path, p.rest = nil, 100
		}
		prompts = append(prompts, p)
	}
	v := newPrompts(t, replicas, prompts)
	return &treeMoves{t, v, routerOf(t, v, name, change), name}
}

// goes checks where the requests go under loads, and under which rule.
func (m *treeMoves) goes(id int32, load []int32, want int, rule string) {
	m.t.Helper()
	copy(m.v.Requests, load)
	m.v.Decision = new(Decision)
	if got := m.r.Route(id, m.v); got != want || m.v.Decision.Rule != rule {
		m.t.Errorf("%s: request %d under loads %v goes to %d by %s, want %d by %s", m.name, id, load, got, m.v.Decision.Rule, want, rule)
	}
}

// By hand, threshold .3: a prompt of 100 whose system prompt of 30 is known is
// at exactly .3, which is a miss; one whose document is known is at .9. Loads
// are far apart from a difference above 64 and a ratio above 1.5, both strict.
func TestSGLangCacheAware(t *testing.T) {
	m := newTreeMoves(t, "sglang-cache-aware", 3, []int64{1, 1, 2, 0, -1, 1}, nil)
	m.goes(0, []int32{1, 0, 0}, 1, "miss")       // nothing known: least load, first index
	m.goes(1, []int32{0, 9, 0}, 1, "affinity")   // 90 of 100
	m.goes(2, []int32{2, 9, 3}, 0, "miss")       // 30 of 100 is not more than .3
	m.goes(4, []int32{2, 9, 1}, 2, "miss")       // nothing shared
	m.goes(1, []int32{0, 64, 0}, 1, "affinity")  // difference 64
	m.goes(1, []int32{5, 65, 0}, 2, "imbalance") // 65; ratio to 0
	m.goes(5, []int32{130, 195, 130}, 1, "affinity")
	m.goes(5, []int32{130, 196, 130}, 0, "imbalance") // ratio above 1.5
	m.goes(5, []int32{0, 9, 0}, 1, "affinity")        // the node was made for 1, though 2 and 0 have been sent it since
	if m.v.Believed != 90 || m.v.Decision.Cached[2] != 90 || m.v.Decision.Score[1] != 90 || !math.IsNaN(m.v.Decision.Score[2]) {
		t.Errorf("believed are %d and %v, scores %v", m.v.Believed, m.v.Decision.Cached, m.v.Decision.Score)
	}
	lower := newTreeMoves(t, "sglang-cache-aware", 3, []int64{1, 2}, func(p Params) { p.(*SGLangCacheAware).Threshold = .29 })
	lower.goes(0, []int32{1, 0, 0}, 1, "miss")
	lower.goes(1, []int32{0, 9, 0}, 1, "affinity") // 30 of 100 is more than .29
}

// Over pages of 16 tokens the system prompt of 30 counts as one page of six.
func TestSGLangOverTokens(t *testing.T) {
	pages := func(p Params) { p.(*SGLangCacheAware).Unit, p.(*SGLangCacheAware).Threshold = "tokens", 16./96 }
	m := newTreeMoves(t, "sglang-cache-aware", 2, []int64{1, 2, 1}, pages)
	m.goes(0, []int32{1, 0}, 1, "miss")
	m.goes(1, []int32{0, 9}, 0, "miss")     // 16 of 96: not more
	m.goes(2, []int32{0, 9}, 1, "affinity") // 80 of 96
	if m.v.Believed != 80 {
		t.Errorf("believed are %d tokens, want 80", m.v.Believed)
	}
}

// Whoever was sent a prefix last is named under owner: last-inserter.
func TestSGLangOwner(t *testing.T) {
	m := newTreeMoves(t, "sglang-cache-aware", 3, []int64{1, 1, 1}, func(p Params) { p.(*SGLangCacheAware).Owner = "last-inserter" })
	m.goes(0, []int32{1, 0, 1}, 1, "miss")
	m.goes(1, []int32{90, 91, 0}, 2, "imbalance")
	m.goes(2, []int32{0, 0, 5}, 2, "affinity")
}

// The miss path of older releases: the smallest tree, whatever its load. Sizes
// are 100 after a first prompt and 100 + 70 after one that shares 30.
func TestSmallestTree(t *testing.T) {
	m := newTreeMoves(t, "sglang-cache-aware", 3, []int64{1, 2, 3, -1, -1}, func(p Params) { p.(*SGLangCacheAware).Miss = "smallest-tree" })
	m.goes(0, []int32{9, 0, 0}, 0, "miss") // all empty: the first
	m.goes(1, []int32{0, 9, 0}, 1, "miss")
	m.goes(2, []int32{0, 0, 9}, 2, "miss")
	m.goes(3, []int32{9, 0, 0}, 0, "miss") // all 100
	m.goes(4, []int32{0, 9, 0}, 1, "miss") // 200, 100, 100
	if got := m.v.Decision.Terms[1]; !slices.Equal(got, []float64{200, 100, 100}) {
		t.Errorf("trees have %v tokens", got)
	}
}

// A tree is cut to its size only at the timer, oldest leaves first, and the
// named tenant changes when it has lost the prefix.
func TestTreeTimer(t *testing.T) {
	m := newTreeMoves(t, "sglang-cache-aware", 2, []int64{1, 2, 1, 2, 1}, func(p Params) { p.(*SGLangCacheAware).MaxTreeChars = 4 * 110 })
	m.goes(0, []int32{0, 1}, 0, "miss")
	m.goes(1, []int32{0, 1}, 0, "miss") // replica 0: 30 + 70 + 70
	m.v.NowNs = 120e9 - 1
	m.goes(2, []int32{0, 1}, 0, "affinity") // 30 + 60 + 10 + 10 + 70, above its size
	m.v.NowNs = 120e9                       // 180 > 110: the tail of 0 and request 1 go, 100 stay
	m.goes(3, []int32{9, 1}, 1, "miss")
	m.goes(4, []int32{9, 1}, 0, "affinity")
	if m.v.Decision.Cached[1] != 30 {
		t.Errorf("replica 1 is believed to have %d tokens of document 1, want the system prompt", m.v.Decision.Cached[1])
	}
}

// A named replica that is down leaves the first that is up, and nothing is
// entered; the spread of loads counts the one that is down.
func TestSGLangDown(t *testing.T) {
	for _, down := range []string{"keep", "drop"} {
		m := newTreeMoves(t, "sglang-cache-aware", 3, []int64{1, 1, 1, 1}, func(p Params) { p.(*SGLangCacheAware).Down = down })
		m.goes(0, []int32{1, 0, 1}, 1, "miss")
		m.r.(Follower).Down(1, m.v)
		m.v.Up = []int32{0, 2}
		if down == "drop" {
			m.goes(1, []int32{2, 0, 1}, 2, "miss")
			continue
		}
		m.goes(1, []int32{9, 0, 1}, 0, "gone")
		if m.v.Decision.Cached[0] != 0 {
			t.Error("a request to a stand-in is entered into the tree")
		}
		m.goes(1, []int32{70, 0, 66}, 2, "imbalance") // 70 above the one that is down
		m.v.Up = all(3)
		m.goes(2, []int32{0, 9, 0}, 1, "affinity") // back with an empty cache, and believed in
	}
}

// SMG: ties by requests served, loads of those that are up alone, KV use.
func TestSMGCacheAware(t *testing.T) {
	m := newTreeMoves(t, "smg-cache-aware", 3, []int64{-1, -1, -1, -1, 1, 1, 1}, nil)
	m.goes(0, []int32{0, 0, 0}, 0, "miss")
	m.goes(1, []int32{0, 0, 0}, 1, "miss") // equal load: 0 has served one
	m.goes(2, []int32{0, 0, 0}, 2, "miss")
	m.goes(3, []int32{0, 0, 0}, 0, "miss")
	m.goes(4, []int32{1, 1, 1}, 1, "miss") // 2, 1, 1 served: the first of those
	m.v.Up = []int32{0, 1}
	m.goes(5, []int32{66, 66, 0}, 1, "affinity") // replica 2 is down and does not count
	used := newTreeMoves(t, "smg-cache-aware", 2, []int64{1, 1, 1, 1}, func(p Params) { p.(*SMGCacheAware).Overload = .9 })
	used.goes(0, []int32{0, 1}, 0, "miss")
	used.v.Gauges[0] = Gauge{KVTokens: 90000, Read: true} // of 100,000
	used.goes(1, []int32{2, 1}, 0, "affinity")
	used.v.Gauges[0].KVTokens++
	used.goes(2, []int32{2, 1}, 1, "imbalance")
	apart := newTreeMoves(t, "smg-cache-aware", 2, []int64{1, 1, 1, 1}, func(p Params) { p.(*SMGCacheAware).Apart = .5 })
	apart.goes(0, []int32{0, 1}, 0, "miss")
	apart.v.Gauges[0], apart.v.Gauges[1] = Gauge{KVTokens: 60000, Read: true}, Gauge{KVTokens: 10000, Read: true}
	apart.goes(1, []int32{2, 1}, 0, "affinity") // .5 apart
	apart.v.Gauges[0].KVTokens++
	apart.goes(2, []int32{2, 1}, 1, "imbalance")
}

// SMG over events: most whole blocks of 16, then load, then the smaller index,
// then the last.
func TestSMGEvents(t *testing.T) {
	m := newTreeMoves(t, "smg-cache-aware", 4, []int64{1, 2, -1}, func(p Params) { p.(*SMGCacheAware).Belief = "events" })
	v := m.v
	doc, other := v.Work.Leaf[0], v.Work.Leaf[1]
	system := v.Work.Forest.Parent[doc]
	m.goes(0, []int32{1, 0, 0, 0}, 1, "miss") // nobody has anything, first index
	v.Events.Set(2, system, 15)
	m.goes(0, []int32{1, 0, 1, 0}, 3, "miss") // no whole block; 1 has served one
	v.Events.Set(2, system, 16)
	m.goes(0, []int32{0, 0, 9, 0}, 2, "affinity")
	v.Events.Set(3, system, 31)
	m.goes(0, []int32{0, 0, 9, 10}, 2, "affinity") // one block each: lower load
	v.Events.Set(3, system, 30)
	m.goes(0, []int32{0, 0, 9, 9}, 2, "affinity") // then 16 against 30 tokens held
	v.Events.Set(2, other, 14)
	m.goes(0, []int32{0, 0, 9, 9}, 3, "affinity") // 30 each: the last
	v.Events.Set(0, system, 30)
	v.Events.Set(0, doc, 2)
	m.goes(0, []int32{50, 0, 9, 9}, 0, "affinity") // 32 tokens are two blocks
	if v.Believed != 32 {
		t.Errorf("believed are %d tokens, want 32", v.Believed)
	}
	m.goes(0, []int32{70, 0, 9, 9}, 1, "imbalance")
}
