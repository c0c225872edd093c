package router

import (
	"math"
	"slices"
	"testing"

	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// The thresholds from both sides: a prompt of 160 tokens, 10 blocks.
func TestDynamoTwoTier(t *testing.T) {
	for _, c := range []struct {
		name   string
		cached []int32
		load   []int32
		rule   string
		want   int
	}{
		{"six of ten blocks", []int32{0, 96, 0}, []int32{0, 4, 1}, "affinity", 1},
		{"five of ten are not above half", []int32{0, 80, 0}, []int32{1, 4, 0}, "miss", 2},
		{"95 tokens are five blocks", []int32{0, 95, 0}, []int32{0, 4, 1}, "miss", 0},
		{"a spread of 32", []int32{0, 160, 0}, []int32{0, 32, 1}, "affinity", 1},
		{"a spread of 33", []int32{0, 160, 0}, []int32{0, 33, 1}, "imbalance", 0},
		// 1.1*400 = 440.
		{"not above the ratio", []int32{0, 160, 0}, []int32{400, 440, 400}, "affinity", 1},
		{"above the ratio", []int32{0, 160, 0}, []int32{400, 441, 400}, "imbalance", 0},
		{"the least loaded of the longest", []int32{160, 160, 144}, []int32{5, 3, 0}, "affinity", 1},
		{"ties: first", []int32{0, 160, 160}, []int32{0, 3, 3}, "affinity", 1},
	} {
		v := newPrompts(t, 3, []prompt{{[]workload.Segment{seg(1, 160)}, 0, workload.None}})
		for i := range 3 {
			holds(v, i, 0, c.cached[i])
		}
		copy(v.Requests, c.load)
		v.Decision = new(Decision)
		r := routerOf(t, v, "dynamo-two-tier", nil)
		if got := r.Route(0, v); got != c.want || v.Decision.Rule != c.rule || v.Believed != c.cached[got]/16*16 {
			t.Errorf("%s: goes to %d by %s with %d believed, want %d by %s", c.name, got, v.Decision.Rule, v.Believed, c.want, c.rule)
		}
	}
}

// Scores affinity - 4*load by hand, a token of affinity a block of 16 tokens.
func TestRamjet(t *testing.T) {
	for _, c := range []struct {
		name    string
		basis   string
		cached  []int32 // blocks
		load    []int32
		prefill []int64
		want    int
	}{
		// 32 (of 40) - 28 = 4 against 0; -4 against 0.
		{"capped", "absolute", []int32{0, 40}, []int32{0, 7}, []int64{0, 0}, 1},
		{"capped, more load", "absolute", []int32{0, 40}, []int32{0, 9}, []int64{0, 0}, 0},
		// 32-32 = 0: a tie of scores goes to the more cached.
		{"tie: the most cached", "absolute", []int32{0, 40}, []int32{0, 8}, []int64{0, 0}, 1},
		{"prefill", "absolute", []int32{0, 10}, []int32{0, 1}, []int64{0, 8192}, 1},
		{"more prefill", "absolute", []int32{0, 10}, []int32{0, 1}, []int64{0, 12289}, 0},
		// 28 against 24; relative: 32-10-4 = 18 against 24; marginal: 0-4 against 10-8.
		{"both capped", "absolute", []int32{90, 100}, []int32{1, 2}, []int64{0, 0}, 0},
		{"behind the warmest", "relative", []int32{90, 100}, []int32{1, 2}, []int64{0, 0}, 1},
		{"beyond the coldest", "marginal", []int32{90, 100}, []int32{1, 2}, []int64{0, 0}, 1},
		{"not enough beyond", "marginal", []int32{97, 100}, []int32{1, 2}, []int64{0, 0}, 0},
		// Relative: 32 - min(40, 32) = 0 - 0 against 32 - 36.
		{"too far behind, yet idle", "relative", []int32{0, 40}, []int32{0, 9}, []int64{0, 0}, 0},
	} {
		v := newPrompts(t, 2, []prompt{{[]workload.Segment{seg(1, 2048)}, 0, workload.None}})
		for i := range 2 {
			holds(v, i, 0, 16*c.cached[i])
		}
		copy(v.Requests, c.load)
		r := routerOf(t, v, "ramjet", func(p Params) { p.(*Ramjet).AffinityTokens, p.(*Ramjet).Basis = 16, c.basis })
		copy(r.(*ramjet).books.prefill, c.prefill)
		if got := r.Route(0, v); got != c.want {
			t.Errorf("%s: goes to %d, want %d", c.name, got, c.want)
		}
	}
	// Ties go in turn.
	v := plain(t, 3, 4)
	r := routerOf(t, v, "ramjet", nil)
	var got []int
	for id := range int32(4) {
		i := r.Route(id, v)
		got = append(got, i)
		r.(Observer).Left(id, i, v)
	}
	if !slices.Equal(got, []int{0, 1, 2, 0}) {
		t.Errorf("ties go to %v", got)
	}
}

// A session moves when its replica has more than 32 and another at least 2 fewer.
func TestSoftAffinity(t *testing.T) {
	v := newPrompts(t, 3, []prompt{{rest: 9, session: 7}, {rest: 9, session: workload.None}, {rest: 9, session: 7}, {rest: 9, session: 5}})
	r := routerOf(t, v, "dynamo-soft-affinity", nil)
	for _, c := range []struct {
		name string
		id   int32
		load []int32
		up   []int32
		want int
	}{
		{"a new session: least, first index", 0, []int32{2, 1, 1}, all(3), 1},
		{"it stays", 2, []int32{0, 5, 0}, all(3), 1},
		{"up to 32", 2, []int32{0, 32, 0}, all(3), 1},
		{"33, and others have one fewer", 2, []int32{32, 33, 32}, all(3), 1},
		{"33, and one has two fewer", 2, []int32{32, 33, 31}, all(3), 2},
		{"it is bound there now", 0, []int32{0, 0, 9}, all(3), 2},
		{"its replica is down", 0, []int32{4, 3, 0}, []int32{0, 1}, 1},
		{"and it stays where it went", 0, []int32{0, 3, 0}, all(3), 1},
		{"another session", 3, []int32{1, 0, 0}, all(3), 1},
		{"no session: least", 1, []int32{3, 3, 2}, all(3), 2},
	} {
		copy(v.Requests, c.load)
		v.Up = c.up
		if got := r.Route(c.id, v); got != c.want {
			t.Errorf("%s: goes to %d, want %d", c.name, got, c.want)
		}
	}
	v.Up = []int32{1}
	v.Requests[1] = 90
	if got := r.Route(0, v); got != 1 {
		t.Errorf("with one replica up the session goes to %d", got)
	}
}

// With weights of one and exponents of nothing it is dynamo-kv, and each of its
// factors does what its formula says.
func TestJSEW(t *testing.T) {
	neutral := JSEW{Footprint: 1, Alpha: 1, WorkExponent: 1, LoadExponent: 1}
	neutral.BlockTokens, neutral.Belief = 16, "events"
	for _, c := range []struct {
		name   string
		change func(*JSEW)
		want   [2]float64
	}{
		// Prompt 10 blocks; replica 0 holds 5 of them and has 30 in flight, 40 with
		// it, in 4 requests; replica 1 has 10 in flight, 20 with it, in 1.
		{"neutral", func(*JSEW) {}, [2]float64{5 + 40, 10 + 20}},
		{"footprint", func(p *JSEW) { p.Footprint = 2 }, [2]float64{5 + 80, 10 + 40}},
		// 80 uncached tokens are 5 blocks, half of its own: weight 1 + 4*.5.
		{"work", func(p *JSEW) { p.WorkScale = 4 }, [2]float64{5 + 120, 10 + 60}},
		{"work squared", func(p *JSEW) { p.WorkScale, p.WorkExponent = 4, 2 }, [2]float64{5 + 80, 10 + 40}},
		// Output 5 tokens of 160: weight 1 + 4/32.
		{"output", func(p *JSEW) { p.WorkScale, p.Predictor = 4, "output" }, [2]float64{5 + 45, 10 + 22.5}},
		// Mean 30: 40*40/30 and 20*20/30.
		{"load squared", func(p *JSEW) { p.LoadExponent = 2 }, [2]float64{5 + 1600./30, 10 + 400./30}},
		// 40*sqrt(4) and 20*sqrt(1).
		{"shared", func(p *JSEW) { p.ShareExponent = .5 }, [2]float64{5 + 80, 10 + 20}},
	} {
		v := newPrompts(t, 2, []prompt{{[]workload.Segment{seg(1, 160)}, 0, workload.None}})
		p := neutral
		c.change(&p)
		j := p.Build(Env{Replicas: 2, Work: v.Work}).(*jsew)
		j.books.blocks = []int64{30, 10}
		v.Requests = []int32{4, 1}
		holds(v, 0, 0, 80)
		v.Decision = new(Decision)
		want := 0
		if c.want[1] < c.want[0] {
			want = 1
		}
		got := j.Route(0, v)
		if math.Abs(j.cost[0]-c.want[0]) > 1e-9 || math.Abs(j.cost[1]-c.want[1]) > 1e-9 || got != want {
			t.Errorf("%s: costs %v, want %v; goes to %d", c.name, j.cost, c.want, got)
		}
		if d := v.Decision; d.Score[0] != j.cost[0] || math.Abs(d.Terms[0][0]+d.Terms[1][0]-d.Score[0]) > 1e-9 {
			t.Errorf("%s: score %v of terms %v", c.name, d.Score, d.Terms)
		}
	}
	// Choices by those costs: a prompt of 10 blocks, footprint 1, scale 0.
	for _, c := range []struct {
		name   string
		cached []int32
		blocks []int64
		want   []int
	}{
		{"tie: 10 + 10 each", []int32{0, 0}, []int64{0, 0}, []int{0, 1}},
		{"2 + 10 against 10 + 10", []int32{128, 0}, []int64{0, 0}, []int{0}},
		{"tie: 2 + 18 against 10 + 10", []int32{128, 0}, []int64{8, 0}, []int{0, 1}},
		{"2 + 19 against 10 + 10", []int32{128, 0}, []int64{9, 0}, []int{1}},
		{"127 tokens are 7 blocks: 3 + 18 against 10 + 10", []int32{127, 0}, []int64{8, 0}, []int{1}},
	} {
		v := newPrompts(t, 2, []prompt{{[]workload.Segment{seg(1, 160)}, 0, workload.None}})
		for i := range 2 {
			holds(v, i, 0, c.cached[i])
		}
		got := choices(v, 0, func(seed uint64) Router {
			j := neutral.Build(Env{Replicas: 2, Random: rng.New(seed, 1, "ties"), Work: v.Work}).(*jsew)
			copy(j.books.blocks, c.blocks)
			return j
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: chooses among %v, want %v", c.name, got, c.want)
		}
	}
	// The average: 160, then 1/4 of 80 and 3/4 of 160.
	v := newPrompts(t, 2, []prompt{{[]workload.Segment{seg(1, 160)}, 0, workload.None}})
	p := neutral
	p.Alpha = .25
	j := p.Build(Env{Replicas: 2, Work: v.Work}).(*jsew)
	j.ratio(0, v)
	j.belief.cached[1] = 5
	if got := j.ratio(0, v); j.average != 140 || got != .875 {
		t.Errorf("average %v and ratio %v, want 140 and 0.875", j.average, got)
	}
}
