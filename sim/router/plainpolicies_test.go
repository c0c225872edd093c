package router

import (
	"slices"
	"testing"

	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// Decisions of the policies that look at loads alone, by hand: the replicas
// that they choose among, on all four and with some down.
func TestLoadsByHand(t *testing.T) {
	v := plain(t, 4, 1)
	for _, c := range []struct {
		name   string
		load   []int32 // requests; tokens are ten times as many
		up     []int32
		among  []int
		change func(Params)
	}{
		{"random", []int32{9, 0, 0, 0}, nil, []int{0, 1, 2, 3}, nil}, // whatever the loads
		{"random", []int32{0, 9, 9, 9}, nil, []int{0, 1, 2, 3}, nil},
		{"random", []int32{0, 0, 0, 0}, []int32{1, 3}, []int{1, 3}, nil},
		{"random", []int32{0, 0, 0, 0}, []int32{0, 1, 2}, []int{0, 1, 2}, nil},
		{"random", []int32{0, 0, 9, 0}, []int32{2}, []int{2}, nil},

		{"round-robin", []int32{9, 0, 0, 0}, nil, []int{0}, nil}, // its first turn
		{"round-robin", []int32{0, 0, 0, 0}, []int32{1, 3}, []int{1}, nil},
		{"round-robin", []int32{0, 9, 9, 9}, []int32{3}, []int{3}, nil},
		{"round-robin", []int32{0, 0, 9, 0}, []int32{2, 3}, []int{2}, nil},
		{"round-robin", []int32{5, 5, 5, 5}, []int32{0, 3}, []int{0}, nil},

		{"least-requests", []int32{0, 0, 0, 0}, nil, []int{0, 1, 2, 3}, nil},
		{"least-requests", []int32{2, 1, 1, 3}, nil, []int{1, 2}, nil},
		{"least-requests", []int32{2, 1, 0, 3}, nil, []int{2}, nil},
		{"least-requests", []int32{2, 1, 1, 0}, []int32{0, 1, 2}, []int{1, 2}, nil}, // the least loaded is down
		{"least-requests", []int32{7, 1, 1, 0}, []int32{0}, []int{0}, nil},
		{"least-requests", []int32{4, 5, 4, 5}, nil, []int{0, 2}, nil},

		{"least-tokens", []int32{0, 0, 0, 0}, nil, []int{0, 1, 2, 3}, nil},
		{"least-tokens", []int32{2, 1, 1, 3}, nil, []int{1, 2}, nil},
		{"least-tokens", []int32{2, 1, 1, 0}, []int32{0, 1, 2}, []int{1, 2}, nil},
		{"least-tokens", []int32{3, 4, 5, 6}, nil, []int{0}, nil},
		{"least-tokens", []int32{9, 4, 5, 9}, []int32{0, 3}, []int{0, 3}, nil},

		{"power-of-two", []int32{3, 1, 1, 2}, nil, []int{1, 2, 3}, nil}, // the most loaded never wins
		{"power-of-two", []int32{1, 1, 1, 1}, nil, []int{0, 1, 2, 3}, nil},
		{"power-of-two", []int32{0, 5, 6, 7}, nil, []int{0, 1, 2}, nil},
		{"power-of-two", []int32{5, 4, 0, 0}, []int32{0, 1}, []int{1}, nil},
		{"power-of-two", []int32{5, 5, 0, 0}, []int32{0, 1}, []int{0, 1}, nil}, // the first drawn
		{"power-of-two", []int32{9, 0, 0, 0}, []int32{0}, []int{0}, nil},

		{"aibrix-least-request", []int32{0, 0, 0, 0}, nil, []int{0, 1, 2, 3}, nil},
		{"aibrix-least-request", []int32{2, 1, 0, 3}, nil, []int{2}, nil},
		{"aibrix-least-request", []int32{1, 1, 2, 1}, nil, []int{0, 1, 3}, nil},
		{"aibrix-least-request", []int32{2, 1, 1, 0}, []int32{0, 1, 2}, []int{1, 2}, nil},
		{"aibrix-least-request", []int32{8, 1, 1, 0}, []int32{0}, []int{0}, nil},

		{"envoy-least-request", []int32{0, 0, 0, 0}, nil, []int{0, 1, 2, 3}, nil},
		{"envoy-least-request", []int32{3, 1, 1, 2}, nil, []int{0, 1, 2, 3}, nil}, // both draws may fall on the most loaded
		{"envoy-least-request", []int32{9, 1, 1, 2}, []int32{0}, []int{0}, nil},
		{"envoy-least-request", []int32{3, 1, 1, 2}, []int32{0, 3}, []int{0, 3}, nil},
		{"envoy-least-request", []int32{3, 1, 1, 2}, nil, []int{1, 2}, func(p Params) { p.(*Envoy).Selection = "full-scan" }},
		{"envoy-least-request", []int32{3, 0, 0, 2}, []int32{0, 3}, []int{3}, func(p Params) { p.(*Envoy).Selection = "full-scan" }},
	} {
		if v.Up = c.up; c.up == nil {
			v.Up = all(4)
		}
		for i, n := range c.load {
			v.Requests[i], v.Tokens[i] = n, 10*int64(n)
		}
		if got := choices(v, 0, func(seed uint64) Router { return seeded(t, v, c.name, seed, c.change) }); !slices.Equal(got, c.among) {
			t.Errorf("%s under loads %v with %v up chooses among %v, want %v", c.name, c.load, v.Up, got, c.among)
		}
	}
}

// seeded builds a policy with draws of its own.
func seeded(t *testing.T, v *View, name string, seed uint64, change func(Params)) Router {
	t.Helper()
	p, _ := Find(name)
	params := p.New()
	param.Defaults(params)
	if change != nil {
		change(params)
	}
	return params.Build(Env{Replicas: v.Replicas, Random: rng.New(seed, 1, "by hand"), Work: v.Work})
}

// On a ring of three points, by hand: a key belongs to the first point that is
// not before it, clockwise, of a replica that is up and within the bound.
func TestRingByHand(t *testing.T) {
	g := ring{points: []point{{100, 2}, {200, 0}, {300, 1}}, first: []int32{0}, shift: 64}
	for _, c := range []struct {
		key  uint64
		up   []int32
		want int
	}{
		{99, []int32{0, 1, 2}, 2}, {100, []int32{0, 1, 2}, 2}, {101, []int32{0, 1, 2}, 0}, {300, []int32{0, 1, 2}, 1},
		{301, []int32{0, 1, 2}, 2}, // around
		{100, []int32{0, 1}, 0}, {250, []int32{0, 2}, 2}, {150, []int32{2}, 2},
	} {
		v := &View{Replicas: 3, Up: c.up, Requests: []int32{4, 0, 0}}
		if got := g.owner(c.key, v); got != c.want {
			t.Errorf("key %d with %v up belongs to %d, want %d", c.key, c.up, got, c.want)
		}
	}
	v := &View{Replicas: 3, Up: all(3), Requests: []int32{4, 3, 9}}
	for _, c := range []struct {
		bound float64
		want  int
	}{{9, 2}, {8.9, 0}, {4, 0}, {3.9, 1}, {3, 1}, {2.9, -1}} {
		if got := g.within(50, v, c.bound); got != c.want {
			t.Errorf("within a bound of %v the choice is %d, want %d", c.bound, got, c.want)
		}
	}
}

// Sessions on a ring with points at their hashes, by hand; a session that has no
// point goes on to the next. vLLM's router goes to the first that is up while
// the owner is down, others to the next on the ring.
func TestSessionsByHand(t *testing.T) {
	v := newPrompts(t, 3, []prompt{{rest: 10, session: 5}, {rest: 10, session: 6}, {rest: 10, session: 7}})
	hashes := []uint64{sessionKey(0, v.Work), sessionKey(1, v.Work), sessionKey(2, v.Work)}
	g := ring{first: []int32{0}, shift: 64}
	for i, k := range hashes {
		g.points = append(g.points, point{k, int32(2 - i)}) // sessions 5, 6, 7 on replicas 2, 1, 0
	}
	slices.SortFunc(g.points, func(a, b point) int {
		if a.hash < b.hash {
			return -1
		}
		return 1
	})
	next := func(replica int32) int { // clockwise
		at := slices.IndexFunc(g.points, func(p point) bool { return p.replica == replica })
		return int(g.points[(at+1)%3].replica)
	}
	plain, vllm := &consistentHash{ring: g, keys: keys{kind: "session"}}, &vllmRouterHash{g}
	for _, c := range []struct {
		id     int32
		down   int32
		plain  int
		router int
	}{
		{0, -1, 2, 2}, {1, -1, 1, 1}, {2, -1, 0, 0},
		{0, 2, next(2), 0}, {1, 1, next(1), 0}, {2, 0, next(0), 1}, {2, 1, 0, 0}, {0, 0, 2, 2},
	} {
		v.Up = slices.DeleteFunc(all(3), func(i int32) bool { return i == c.down })
		if a, b := plain.Route(c.id, v), vllm.Route(c.id, v); a != c.plain || b != c.router {
			t.Errorf("session of request %d with %d down goes to %d and, in vLLM's router, to %d; want %d and %d", c.id, c.down, a, b, c.plain, c.router)
		}
	}
}

// Rendezvous hashing by weights that were worked out without this code, by the
// definition of SplitMix64, of which the first 16 bits are below: the highest of
// those that are up, whatever the loads. A replica that goes gives its keys to
// the next highest, and no other key moves.
func TestRendezvousByHand(t *testing.T) {
	v := newPrompts(t, 4, []prompt{{rest: 10, session: 5}, {rest: 10, session: 6}, {rest: 10, session: 7}, {rest: 10, session: 10}, {rest: 10, session: 12}, {rest: 10, session: 5}})
	r := routerOf(t, v, "rendezvous-hash", func(p Params) { p.(*RendezvousHash).Key = "session" })
	weights := [][4]uint64{
		{0x6db5, 0xd122, 0x69d0, 0x6496},
		{0x96bf, 0x1b9c, 0x1064, 0x4485},
		{0xcaa6, 0x9cd4, 0x6ca3, 0xf4f4},
		{0x172e, 0x6f3c, 0xd79e, 0x6b5c},
		{0x3a38, 0xf8d1, 0x77d1, 0x2771},
		{0x6db5, 0xd122, 0x69d0, 0x6496},
	}
	for id, row := range weights {
		for i, want := range row {
			if got := rendezvous(sessionKey(int32(id), v.Work), int32(i), 0) >> 48; got != want {
				t.Errorf("request %d weighs %#x on replica %d, want %#x", id, got, i, want)
			}
		}
	}
	for _, c := range []struct {
		load []int32
		up   []int32
		want [6]int // by request
	}{
		{[]int32{0, 0, 0, 0}, all(4), [6]int{1, 0, 3, 2, 1, 1}},
		{[]int32{90, 90, 0, 90}, all(4), [6]int{1, 0, 3, 2, 1, 1}},
		{[]int32{0, 0, 0, 0}, []int32{0, 2, 3}, [6]int{0, 0, 3, 2, 2, 0}},
		{[]int32{0, 0, 0, 0}, []int32{1, 2, 3}, [6]int{1, 3, 3, 2, 1, 1}},
		{[]int32{0, 0, 0, 0}, []int32{0, 1}, [6]int{1, 0, 0, 1, 1, 1}},
		{[]int32{0, 0, 9, 0}, []int32{2}, [6]int{2, 2, 2, 2, 2, 2}},
	} {
		v.Up = c.up
		copy(v.Requests, c.load)
		for id, want := range c.want {
			if got := r.Route(int32(id), v); got != want {
				t.Errorf("request %d with %v up goes to %d, want %d", id, c.up, got, want)
			}
		}
	}
}

// Dynamo 0.3 by hand: W blocks of prefill of a prompt of 160 tokens, of 16 a
// block, and blocks in flight with its own ten.
func TestDynamo03ByHand(t *testing.T) {
	for _, c := range []struct {
		name    string
		weight  float64
		cached  []int32
		prefill []int64
		blocks  []int64
		want    []int
	}{
		{"nothing known", 1, []int32{0, 0, 0}, []int64{0, 0, 0}, []int64{0, 0, 0}, []int{0, 1, 2}},
		{"cached: 2 + 10 against 10 + 10", 1, []int32{0, 128, 0}, []int64{0, 0, 0}, []int64{0, 0, 0}, []int{1}},
		{"15 tokens are no block", 1, []int32{15, 0, 0}, []int64{0, 0, 0}, []int64{0, 0, 0}, []int{0, 1, 2}},
		{"eight blocks in flight undo eight cached", 1, []int32{0, 128, 0}, []int64{0, 0, 0}, []int64{0, 8, 1}, []int{0, 1}},
		{"nine do more", 1, []int32{0, 128, 0}, []int64{0, 0, 0}, []int64{0, 9, 1}, []int{0}},
		{"so do 128 tokens to compute", 1, []int32{0, 128, 0}, []int64{0, 128, 0}, []int64{0, 0, 1}, []int{0, 1}},
		{"and 129", 1, []int32{0, 128, 0}, []int64{0, 129, 0}, []int64{0, 0, 1}, []int{0}},
		{"at weight 2 sixteen blocks undo eight", 2, []int32{0, 128, 0}, []int64{0, 0, 0}, []int64{0, 16, 1}, []int{0, 1}},
		{"at weight 0 caches do not count", 0, []int32{0, 128, 0}, []int64{500, 0, 0}, []int64{0, 1, 0}, []int{0, 2}},
	} {
		v := newPrompts(t, 3, []prompt{{[]workload.Segment{seg(1, 160)}, 0, workload.None}})
		for i, tokens := range c.cached {
			holds(v, i, 0, tokens)
		}
		got := choices(v, 0, func(seed uint64) Router {
			d := seeded(t, v, "dynamo-kv-0.3", seed, func(p Params) { p.(*DynamoKV03).OverlapWeight = c.weight }).(*dynamo)
			copy(d.books.prefill, c.prefill)
			copy(d.books.blocks, c.blocks)
			return d
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: chooses among %v, want %v", c.name, got, c.want)
		}
	}
}
