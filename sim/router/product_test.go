package router

import (
	"fmt"
	"testing"

	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// Products by hand: request 0 has 160 tokens.
func TestLMetric(t *testing.T) {
	for _, c := range []struct {
		name     string
		cached   []int32
		prefill  []int64
		requests []int32
		tokens   []int64
		queued   bool
		want     int
	}{
		{"idle: first index", []int32{0, 0, 0}, []int64{0, 0, 0}, []int32{0, 0, 0}, []int64{0, 0, 0}, true, 0},
		// 160*1 against 32*4 = 128.
		{"cached beats idle", []int32{0, 128, 0}, []int64{0, 0, 0}, []int32{0, 3, 0}, []int64{0, 9, 0}, true, 1},
		// 160*1 against 32*5 = 160: fewer requests.
		{"tie: fewest requests", []int32{128, 0, 0}, []int64{0, 0, 0}, []int32{4, 0, 1}, []int64{9, 0, 0}, true, 1},
		{"beyond the tie", []int32{0, 128, 0}, []int64{0, 0, 0}, []int32{0, 5, 0}, []int64{0, 9, 0}, true, 0},
		// The same product of the same requests: the first, since no router knows how long outputs will be.
		{"outputs do not count", []int32{0, 0, 0}, []int64{0, 0, 0}, []int32{1, 1, 1}, []int64{70, 60, 60}, true, 0},
		// One token to compute counts as much as none; none goes first.
		{"tie: fewest tokens", []int32{160, 160, 0}, []int64{1, 0, 0}, []int32{1, 1, 1}, []int64{0, 0, 0}, true, 1},
		// (32+96)*1 = 128 with what is queued, 32 without.
		{"queued counts", []int32{0, 128, 48}, []int64{0, 96, 0}, []int32{0, 0, 0}, []int64{0, 0, 0}, true, 2},
		{"queued left out", []int32{0, 128, 48}, []int64{0, 96, 0}, []int32{0, 0, 0}, []int64{0, 0, 0}, false, 1},
		// Wholly cached is one token: 1*4 against 1*2.
		{"wholly cached", []int32{160, 160, 0}, []int64{0, 0, 0}, []int32{3, 1, 0}, []int64{0, 0, 0}, true, 1},
		{"less than a block is nothing", []int32{15, 16, 0}, []int64{0, 0, 0}, []int32{0, 0, 0}, []int64{0, 0, 0}, true, 1},
	} {
		v := newPrompts(t, 3, []prompt{{[]workload.Segment{seg(1, 160)}, 0, workload.None}})
		r := routerOf(t, v, "lmetric", func(p Params) { p.(*LMetric).Queued = c.queued })
		for i := range 3 {
			holds(v, i, 0, c.cached[i])
		}
		copy(r.(*lmetric).books.prefill, c.prefill)
		copy(v.Requests, c.requests)
		copy(v.Tokens, c.tokens)
		if got := r.Route(0, v); got != c.want {
			t.Errorf("%s: goes to %d, want %d", c.name, got, c.want)
		}
	}
}

// hotView has four replicas, the first of which holds class 1, whose requests
// are 0 to 9; those of class 2 are 10 to 19.
func hotView(t *testing.T) *View {
	var prompts []prompt
	for i := range 20 {
		prompts = append(prompts, prompt{[]workload.Segment{seg(int64(1+i/10), 160)}, 0, workload.None})
	}
	v := newPrompts(t, 4, prompts)
	holds(v, 0, 0, 160)
	return v
}

func hotRouter(t *testing.T, v *View, window int) Router {
	return routerOf(t, v, "lmetric", func(p Params) {
		p.(*LMetric).HotSpots, p.(*LMetric).Window, p.(*LMetric).ClassTokens, p.(*LMetric).Queued = true, window, 32, false
	})
}

// One holder of four: the alarm is x/(1-x) > 1/3, and after 2 in a row that
// would go to it the third of the others is the least: 160*1 on replica 1.
func TestHotSpot(t *testing.T) {
	v := hotView(t)
	r := hotRouter(t, v, 4)
	for i, want := range []int{0, 1, 1} { // the first makes the streak 1, the second 2
		if got := r.Route(int32(i), v); got != want {
			t.Errorf("request %d of a hot class goes to %d, want %d", i, got, want)
		}
	}
	// Three of the other class: the window is then 1, 2, 2, 2 and x = 1/4, with
	// x/(1-x) = 1/3 not above 1/3: no alarm, and the streak starts anew.
	v = hotView(t)
	r = hotRouter(t, v, 4)
	for id := int32(10); id < 13; id++ {
		r.Route(id, v)
	}
	if got := r.Route(0, v); got != 0 {
		t.Errorf("at the limit of the alarm the request goes to %d, want the holder", got)
	}
	if got := r.Route(1, v); got != 0 { // 2, 2, 1, 1: alarm, streak 1
		t.Errorf("with a streak of 1 it goes to %d, want the holder", got)
	}
	if got := r.Route(2, v); got != 1 { // streak 2
		t.Errorf("with a streak of 2 it goes to %d, want the first of the others", got)
	}
	// A best that is no holder ends the streak.
	v.Requests[0] = 200
	if got := r.Route(3, v); got != 1 {
		t.Errorf("a loaded holder still gets the request: %d", got)
	}
	v.Requests[0] = 0
	if got := r.Route(4, v); got != 0 {
		t.Errorf("after an end of the streak it goes to %d, want the holder", got)
	}
	// A class that leaves the window loses its streak as well.
	for id := int32(10); id < 14; id++ {
		r.Route(id, v)
	}
	if s := r.(*lmetric).spots; s.streak[v.Work.Leaf[0]] != 0 || s.window.count[v.Work.Leaf[0]] != 0 {
		t.Errorf("streak %d and count %d of a class that is gone", s.streak[v.Work.Leaf[0]], s.window.count[v.Work.Leaf[0]])
	}
	// Where all hold it there is nobody else to go to.
	v = hotView(t)
	for i := range 4 {
		holds(v, i, 0, 160)
	}
	r = hotRouter(t, v, 4)
	for id := range int32(5) {
		if got := r.Route(id, v); got != 0 {
			t.Errorf("with all holders request %d goes to %d", id, got)
		}
	}
}

// Times by hand at 1 us a token, blocks of 512: request 0 has 2,000 tokens.
func TestMooncakePolicy(t *testing.T) {
	for _, c := range []struct {
		name   string
		cached []int32
		queue  []int64 // us
		want   int
	}{
		{"idle: first index", []int32{0, 0, 0}, []int64{0, 0, 0}, 0},
		{"most cached", []int32{512, 1024, 0}, []int64{0, 0, 0}, 1},
		{"less than a block is nothing", []int32{0, 511, 0}, []int64{0, 0, 0}, 0},
		// 2000 idle; 1024 cached leaves 976, with a queue of 1024 as long.
		{"tie with a queue", []int32{0, 1024, 0}, []int64{0, 1024, 0}, 0},
		{"shorter queue", []int32{0, 1024, 0}, []int64{0, 1023, 0}, 1},
		{"longer queue", []int32{0, 1024, 0}, []int64{1, 1025, 0}, 2},
		// Three whole blocks are 1,536 tokens and leave 464: 1,536 more are as long as idle.
		{"three blocks", []int32{0, 0, 2000}, []int64{0, 0, 1535}, 2},
		{"three blocks, tie", []int32{0, 0, 2000}, []int64{0, 0, 1536}, 0},
	} {
		v := newPrompts(t, 3, []prompt{{[]workload.Segment{seg(1, 2000)}, 0, workload.None}})
		r := routerOf(t, v, "mooncake", nil)
		for i := range 3 {
			holds(v, i, 0, c.cached[i])
			r.(*mooncake).queueNs[i] = c.queue[i] * 1000
		}
		if got := r.Route(0, v); got != c.want {
			t.Errorf("%s: goes to %d, want %d", c.name, got, c.want)
		}
	}
}

// The queue is what was sent and has no first token; the last token of a prompt
// is computed even if all is cached.
func TestMooncakeQueue(t *testing.T) {
	v := newPrompts(t, 2, []prompt{{rest: 300, session: workload.None}, {rest: 200, session: workload.None}, {rest: 100, session: workload.None}, {[]workload.Segment{seg(1, 512)}, 0, workload.None}})
	r := routerOf(t, v, "mooncake", nil)
	m := r.(*mooncake)
	if a, b, c := r.Route(0, v), r.Route(1, v), r.Route(2, v); a != 0 || b != 1 || c != 1 {
		t.Errorf("they go to %d, %d, %d, want 0, 1, 1", a, b, c)
	}
	if m.queueNs[0] != 300e3 || m.queueNs[1] != 300e3 {
		t.Errorf("queues of %v ns, want 300 us each", m.queueNs)
	}
	m.FirstToken(1, 1, v)
	m.Left(1, 1, v) // it counts once
	m.Left(0, 0, v) // lost before its first token
	if m.queueNs[0] != 0 || m.queueNs[1] != 100e3 {
		t.Errorf("queues of %v ns, want 0 and 100 us", m.queueNs)
	}
	holds(v, 1, 3, 512)
	m.queueNs[0] = 0
	if got := r.Route(3, v); got != 1 || v.Believed != 512 || m.queueNs[1] != 101e3 {
		t.Errorf("the cached prompt goes to %d with %d believed, queue %v", got, v.Believed, m.queueNs)
	}
}

// The shortest prefix that is not hot, against counts of literal texts.
func TestDualMapLevelsAgainstNaive(t *testing.T) {
	for trial := range 25 {
		s := rng.New(uint64(trial), 1, "levels")
		var prompts []prompt
		for range 400 {
			p := prompt{rest: int32(s.IntN(2) * s.IntN(30)), session: workload.None}
			for depth := range s.IntN(5) {
				id := int64(10 * depth)
				if s.IntN(3) == 0 {
					id += int64(s.IntN(6))
				}
				p.path = append(p.path, seg(id, int32(7+3*depth)))
			}
			if len(p.path) == 0 {
				p.rest += 2
			}
			prompts = append(prompts, p)
		}
		v := newPrompts(t, 3+s.IntN(6), prompts)
		window := 5 + s.IntN(60)
		r := routerOf(t, v, "dualmap", func(p Params) {
			p.(*DualMap).BlockTokens, p.(*DualMap).PrefixBlocks, p.(*DualMap).Window = 2, 2, window
		}).(*dualMap)
		var past [][]string
		hashes, names := map[string]uint64{}, map[uint64]string{}
		for id, p := range prompts {
			var texts []string
			for level := range dualMapLevels {
				n := int32(4 << level)
				if n > v.Work.Prompt[id] {
					break
				}
				x := text(p, n)
				if x == "" {
					x = fmt.Sprint("own ", id)
				}
				texts = append(texts, fmt.Sprint(level, " ", x))
			}
			want := ""
			if len(texts) > 0 {
				past = append(past, texts)
				past = past[max(0, len(past)-window):]
				count := map[string]int{}
				for _, q := range past {
					for _, x := range q {
						count[x]++
					}
				}
				want = texts[len(texts)-1]
				for _, x := range texts {
					if float64(count[x])/float64(len(past)) <= 2/float64(v.Replicas) {
						want = x
						break
					}
				}
			}
			got, ok := r.key(int32(id), v)
			if ok != (want != "") {
				t.Fatalf("trial %d: request %d has a key: %v", trial, id, ok)
			}
			if !ok {
				continue
			}
			if h, seen := hashes[want]; seen && h != got {
				t.Fatalf("trial %d: request %d: key %q has two hashes", trial, id, want)
			}
			if name, seen := names[got]; seen && name != want {
				t.Fatalf("trial %d: request %d: keys %q and %q have one hash", trial, id, want, name)
			}
			hashes[want], names[got] = got, want
		}
	}
}

// Two candidates: the warmer one up to the budget, the lighter beyond.
func TestDualMapChoices(t *testing.T) {
	var prompts []prompt
	for i := range 3 {
		prompts = append(prompts, prompt{[]workload.Segment{seg(int64(1+i), 160)}, 0, workload.None})
	}
	prompts = append(prompts, prompt{rest: 63, session: workload.None})
	v := newPrompts(t, 8, prompts)
	fresh := func() *dualMap {
		return routerOf(t, v, "dualmap", func(p Params) { p.(*DualMap).BudgetTokens = 1000 }).(*dualMap)
	}
	// A class alone in the window is hot (1 > 2/8): the longest of its two
	// prefixes within 160 tokens is hashed.
	probe := fresh()
	key, _ := probe.key(0, v)
	first := highest(key, v.Up, 1, -1)
	second := highest(key, v.Up, 2, first)
	if first == second {
		t.Fatal("the candidates are one replica")
	}
	for _, c := range []struct {
		name        string
		cached      [2]int32
		prefill     [2]int64
		want, other int
	}{
		{"colder first", [2]int32{0, 16}, [2]int64{0, 0}, second, first},
		{"warmer first", [2]int32{32, 16}, [2]int64{0, 0}, first, second},
		// 856 + 144 uncached are 1,000: within the budget.
		{"at the budget", [2]int32{0, 16}, [2]int64{0, 856}, second, first},
		{"over the budget", [2]int32{0, 16}, [2]int64{0, 857}, first, second},
		{"over, and the other has more", [2]int32{0, 16}, [2]int64{858, 857}, second, first},
		{"equally warm: the lighter", [2]int32{16, 16}, [2]int64{5, 4}, second, first},
		{"equally warm: the lighter first", [2]int32{16, 16}, [2]int64{4, 5}, first, second},
		{"all equal: the lower index", [2]int32{0, 0}, [2]int64{0, 0}, min(first, second), max(first, second)},
	} {
		d := fresh()
		for i := range 8 {
			holds(v, i, 0, 160) // who is no candidate does not count
		}
		holds(v, first, 0, c.cached[0])
		holds(v, second, 0, c.cached[1])
		d.books.prefill[first], d.books.prefill[second] = c.prefill[0], c.prefill[1]
		if got := d.Route(0, v); got != c.want {
			t.Errorf("%s: goes to %d, want %d rather than %d", c.name, got, c.want, c.other)
		}
	}
	// 63 tokens are no four blocks: the least to compute of all.
	d := fresh()
	copy(d.books.prefill, []int64{5, 4, 3, 2, 3, 4, 5, 2})
	if got := d.Route(3, v); got != 3 {
		t.Errorf("a short prompt goes to %d, want the lightest, first index", got)
	}
	v.Up = []int32{6}
	if got := fresh().Route(0, v); got != 6 {
		t.Errorf("with one replica up the request goes to %d", got)
	}
}
