package router

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// By hand, blocks of 16: of a document of 30 + 60 tokens five blocks, of the
// prompt of 100 six.
func TestVLLMRouterKVAware(t *testing.T) {
	m := newTreeMoves(t, "vllm-router-kv-aware", 3, []int64{1, 1, 2, -1, 1}, nil)
	v := m.v
	m.goes(0, []int32{1, 0, 0}, 1, "miss")      // nobody has anything: the first of the least loaded
	m.goes(1, []int32{0, 99, 0}, 1, "affinity") // sent there just now: five blocks
	if v.Believed != 80 {
		t.Errorf("believed are %d tokens, want 80", v.Believed)
	}
	m.goes(2, []int32{0, 99, 0}, 1, "affinity") // one block of the system prompt
	v.NowNs = 2e9 - 1
	m.goes(3, []int32{5, 4, 6}, 1, "miss")
	m.goes(4, []int32{0, 99, 0}, 1, "affinity")
	v.NowNs = 2e9
	m.goes(0, []int32{0, 99, 98}, 0, "miss") // the guesses have run out; a new one for 0
	system := v.Work.Forest.Parent[v.Work.Leaf[0]]
	v.Events.Set(2, system, 30)
	v.Events.Set(2, v.Work.Leaf[0], 49)
	m.goes(1, []int32{0, 0, 99}, 0, "affinity") // 80 against 79, four blocks
	v.Events.Set(2, v.Work.Leaf[0], 50)
	m.goes(1, []int32{0, 0, 99}, 2, "affinity") // five each: the last
	off := newTreeMoves(t, "vllm-router-kv-aware", 2, []int64{1, 1}, func(p Params) { p.(*VLLMRouterKVAware).Speculative = false })
	off.goes(0, []int32{0, 1}, 0, "miss")
	off.goes(1, []int32{1, 0}, 1, "miss")
	off.v.Up = []int32{1}
	off.goes(1, []int32{0, 9}, 1, "only")
	if off.v.Believed != none || off.v.Decision.Score[1] != 9 {
		t.Errorf("believed are %d tokens of one replica that is not looked at, want none; scores %v", off.v.Believed, off.v.Decision.Score)
	}
}

// Random events and choices: guesses and events together are what sets of
// blocks with times say.
func TestGuessesAgainstBlocks(t *testing.T) {
	s := rng.New(12, 1, "guesses")
	const block, replicas, ttl = 4, 3, 50
	var prompts []prompt
	for range 80 {
		p := prompt{session: workload.None, rest: int32(s.IntN(6))}
		for depth := range 1 + s.IntN(4) {
			p.path = append(p.path, seg(int64(s.IntN(3)), block*int32(1+(depth*5)%3)))
		}
		prompts = append(prompts, p)
	}
	v := newPrompts(t, replicas, prompts)
	f := &v.Work.Forest
	g := newGuesses(v.Work, block, ttl)
	told := map[string]bool{}
	until := map[string]int64{}
	name := func(r int, node, tokens int32) string { return fmt.Sprint(r, " ", node, " ", tokens) }
	got := make([]int32, replicas)
	extended := 0
	for step := range 6000 {
		v.NowNs = int64(step)
		id := int32(s.IntN(len(prompts)))
		if s.IntN(3) == 0 {
			r, n := s.IntN(replicas), int32(s.IntN(f.Nodes()))
			blocks := int32(s.IntN(int(f.Tokens[n]/block)*2 + 1))
			if blocks > f.Tokens[n]/block {
				blocks = 0
			}
			v.Events.Set(r, n, blocks*block)
			for b := int32(0); b < f.Tokens[n]; b += block {
				told[name(r, n, b)] = b < blocks*block
			}
		}
		g.match(v.Work.Leaf[id], v, got)
		var path []int32
		for n := v.Work.Leaf[id]; n != workload.None; n = f.Parent[n] {
			path = append(path, n)
		}
		slices.Reverse(path)
		for r := range replicas {
			want, events := int32(0), int32(0)
		walk:
			for _, n := range path {
				for b := int32(0); b < f.Tokens[n]; b += block {
					key := name(r, n, b)
					if !told[key] && until[key] <= v.NowNs {
						break walk
					}
					want += block
					if told[key] {
						events += block
					}
				}
			}
			if got[r] != want {
				t.Fatalf("step %d: replica %d has %d tokens of request %d, want %d", step, r, got[r], id, want)
			}
			if events < want {
				extended++
			}
		}
		if s.IntN(4) == 0 {
			r := s.IntN(replicas)
			known := got[r]
			g.add(v.Work.Leaf[id], known, int32(r), v.NowNs)
			at := int32(0)
			for _, n := range path {
				for b := int32(0); b < f.Tokens[n]; b += block {
					if at += block; at > known {
						until[name(r, n, b)] = v.NowNs + ttl
					}
				}
			}
		}
	}
	if extended == 0 {
		t.Error("no guess ever counted")
	}
}

// By hand, one unit of work a character and a rate of 400 a second: a prompt of
// 100 tokens is 400 characters, 1 s; with the time allowed at 1 s and .0001 s a
// character, 1.04 s. A next turn that is known but for 10 tokens is 40.
func TestVLLMRouterSMetric(t *testing.T) {
	fixed := func(p Params) { p.(*VLLMRouterSMetric).Rate = 400 }
	m := newTreeMoves(t, "vllm-router-smetric", 2, []int64{1, 1, 1, 2, -1, 1, -1, -1}, fixed)
	r := m.r.(*vllmRouterSMetric)
	m.goes(0, []int32{1, 1}, 0, "work")  // 400 each, the start is 0
	m.goes(1, []int32{9, 1}, 1, "work")  // next turn: 400 + 40 takes 1.1 s, too long, while 1 could do it in 1 s
	m.r.(Observer).FirstToken(0, 0, m.v) // 400 are done
	m.r.(Observer).Left(1, 1, m.v)       // and 400 given up
	if r.pending[0] != 0 || r.pending[1] != 0 {
		t.Fatalf("pending are %v", r.pending)
	}
	m.goes(2, []int32{9, 1}, 0, "session") // 40 each, both know 90: the first, from a start of 0
	m.goes(3, []int32{1, 1}, 1, "work")    // a first turn: 280 + 40 against 280
	m.goes(4, []int32{3, 2}, 0, "work")    // (40 + 400) * 3 against (280 + 400) * 2: 1,320 against 1,360
	if d := m.v.Decision; d.Score[0] != 1320 || d.Score[1] != 1360 {
		t.Errorf("scores are %v, want 1320 and 1360", d.Score)
	}
}

// The work of n new characters after m known ones: c_att sums the positions.
func TestSMetricCost(t *testing.T) {
	m := newTreeMoves(t, "vllm-router-smetric", 2, []int64{1}, func(p Params) {
		p.(*VLLMRouterSMetric).Linear, p.(*VLLMRouterSMetric).Attention = 2, .5
	})
	r := m.r.(*vllmRouterSMetric)
	// 40 of 400 characters: 2 * 40 + .5 * 40 * (400 - 20) = 7,680.
	if got := r.cost(100, 90); got != 7680 {
		t.Errorf("work is %d, want 7680", got)
	}
	w := new(rateWindow)
	var all []float64
	s := rng.New(2, 1, "rates")
	for range 500 {
		x := math.Floor(s.Float64() * 20)
		all = append(all, x)
		w.add(x)
		last := slices.Clone(all[max(0, len(all)-64):])
		slices.Sort(last)
		want := 0.
		if len(last) >= 8 {
			want = last[int(math.Round(.9*float64(len(last)-1)))]
		}
		if w.rate() != want {
			t.Fatalf("rate of %d samples is %v, want %v", len(last), w.rate(), want)
		}
	}
}

// By hand, two replicas: ranges 0 to 2047 and above. One prompt of 400
// characters is more than 32 above nothing, so that the other is next.
func TestSGLangBucket(t *testing.T) {
	m := newTreeMoves(t, "sglang-bucket", 2, []int64{-1, -1, -1, -1}, nil)
	m.goes(0, []int32{99, 0}, 0, "bucket")
	m.goes(1, []int32{0, 99}, 1, "imbalance")
	m.goes(2, nil, 0, "bucket") // 400 each
	m.v.Up = []int32{0}
	m.goes(3, nil, 0, "imbalance")
	m.v.Up = all(2)
	m.v.NowNs = 5e9                // a mean of 800 where there was none: ranges are set anew, by lengths of 400 that fill it in two
	m.goes(0, nil, 1, "imbalance") // 1,200 against 400
	m.v.NowNs += 5e9 + 1           // all have left, which the next one finds out
	m.goes(0, nil, 1, "imbalance") // still 1,200 against 800
	m.goes(0, nil, 0, "imbalance") // 0 against 400
	m.goes(1, nil, 0, "bucket")    // 400 each, 400 characters are in the first range
	loose := newTreeMoves(t, "sglang-bucket", 2, []int64{-1, -1}, func(p Params) { p.(*SGLangBucket).BalanceAbs = 400 })
	loose.goes(0, nil, 0, "bucket")
	loose.goes(1, nil, 0, "bucket")    // 400 above is not more than 400
	loose.goes(1, nil, 1, "imbalance") // 800 is
	r := &sglangBucket{most: make([]int64, 3), chars: make([]int64, 3)}
	for _, c := range []int64{100, 200, 300, 400, 500} {
		r.note(0, c, 0)
	}
	r.adjust() // mean 500: 100 + 200 + 300 fill it, then 400 + 500
	if want := []int64{300, 500, math.MaxInt64}; !slices.Equal(r.most, want) {
		t.Errorf("ranges end at %v, want %v", r.most, want)
	}
	r.note(0, 1500, 0)
	r.adjust() // mean 1,000, not more than twice
	if r.most[0] != 300 {
		t.Error("ranges move at twice the mean")
	}
	r.note(0, 3, 0)
	r.adjust() // 1,001: 3 + 100 + ... + 400 = 1,003, then 500 + 1,500
	if want := []int64{400, 1500, math.MaxInt64}; !slices.Equal(r.most, want) {
		t.Errorf("ranges end at %v, want %v", r.most, want)
	}
}

// naiveBuckets knows all prompts that were sent, and counts anew.
type naiveBuckets struct {
	periodNs, nextNs, mean int64
	most                   []int64
	sent                   []lengthy
}

// window returns the prompts that counted when the last one was sent.
func (x *naiveBuckets) window() (in []lengthy) {
	for _, s := range x.sent {
		if x.sent[len(x.sent)-1].ns-s.ns <= x.periodNs {
			in = append(in, s)
		}
	}
	return in
}

// adjust fills one range after the other to a mean load.
func (x *naiveBuckets) adjust() {
	total, rest := int64(0), []int64(nil)
	for _, s := range x.window() {
		total += s.chars
		rest = append(rest, s.chars)
	}
	mean := total / int64(len(x.most))
	if len(rest) == 0 || x.mean > 0 && float64(max(mean, x.mean))/float64(min(mean, x.mean)) <= 2 {
		return
	}
	x.mean = mean
	slices.Sort(rest)
	from := int64(0)
	for i := range len(x.most) - 1 {
		x.most[i] = from + mean
		taken, sum := 0, int64(0)
		for taken < len(rest) && sum < mean {
			sum += rest[taken]
			taken++
		}
		if sum >= mean && rest[taken-1] > from {
			x.most[i] = rest[taken-1]
		}
		rest, from = rest[taken:], x.most[i]+1
	}
}

// choice returns the replicas that a prompt may go to.
func (x *naiveBuckets) choice(chars, now int64, up []int32) []int32 {
	if now >= x.nextNs {
		x.nextNs = (now/x.periodNs + 1) * x.periodNs
		x.adjust()
	}
	load := make([]int64, len(x.most))
	for _, s := range x.window() {
		load[s.replica] += s.chars
	}
	if low, high := slices.Min(load), slices.Max(load); high-low > 32 && float64(high) > 1.0001*float64(low) {
		best := up[0]
		for _, i := range up {
			if load[i] < load[best] {
				best = i
			}
		}
		return []int32{best}
	}
	for i := range x.most {
		if chars <= x.most[i] {
			if slices.Contains(up, int32(i)) {
				return []int32{int32(i)}
			}
			break
		}
	}
	return up
}

// Over random traces, with replicas down and lengths that drift, the choice is
// one of the naive ones, and the ranges are the same.
func TestSGLangBucketAgainstNaive(t *testing.T) {
	rules := map[string]int{}
	for round := range 30 {
		s := rng.New(41, round, "buckets")
		replicas := 1 + s.IntN(5)
		var prompts []prompt
		for i := range 500 {
			prompts = append(prompts, prompt{rest: int32(30 + s.IntN(40+(i*13)%(round*50+40))), session: workload.None})
		}
		v := newPrompts(t, replicas, prompts)
		v.Decision = new(Decision)
		r := seeded(t, v, "sglang-bucket", uint64(round), nil).(*sglangBucket)
		x := &naiveBuckets{periodNs: 5e9, nextNs: 5e9, most: slices.Clone(r.most)}
		for id := range int32(len(prompts)) {
			v.NowNs += int64(s.Exp() * 2e8 * float64(1+round%7*4))
			if id%50 == 0 {
				v.Up = slices.DeleteFunc(all(replicas), func(int32) bool { return s.IntN(4) == 0 })
				if len(v.Up) == 0 {
					v.Up = []int32{0}
				}
			}
			chars := 4 * int64(v.Work.Prompt[id])
			want := x.choice(chars, v.NowNs, v.Up)
			got := r.Route(id, v)
			if !slices.Contains(want, int32(got)) || !slices.Equal(r.most, x.most) {
				t.Fatalf("round %d request %d goes to %d, want one of %v; ranges end at %v, want %v", round, id, got, want, r.most, x.most)
			}
			rules[v.Decision.Rule]++
			x.sent = append(x.sent, lengthy{v.NowNs, chars, int32(got)})
		}
	}
	if rules["bucket"] < 1000 || rules["imbalance"] < 1000 || rules["gone"] == 0 {
		t.Errorf("rules that decide are %v", rules)
	}
}
