package router

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// holds says by event that a replica has so many tokens of a request's path
// cached, from its start on.
func holds(v *View, replica int, id, tokens int32) {
	f := &v.Work.Forest
	for n := v.Work.Leaf[id]; n != workload.None; n = f.Parent[n] {
		v.Events.Set(replica, n, max(0, min(f.Tokens[n], tokens-(f.End[n]-f.Tokens[n]))))
	}
}

// choices are the replicas that a policy takes over many draws, each time built
// anew and led to the same state.
func choices(v *View, id int32, build func(seed uint64) Router) (seen []int) {
	for seed := range uint64(60) {
		if r := build(seed).Route(id, v); !slices.Contains(seen, r) {
			seen = append(seen, r)
		}
	}
	slices.Sort(seen)
	return seen
}

// Costs by hand with blocks of 16 tokens. Request 0 has 160 tokens, 10 blocks.
func TestDynamoCosts(t *testing.T) {
	type load struct{ prefill, blocks, requests int }
	for _, c := range []struct {
		name   string
		change func(*DynamoKV)
		cached []int32 // tokens of request 0 by replica
		loads  []load
		want   []int
	}{
		// 10 + 10 everywhere but 1, which holds 8 blocks: 2 + 10.
		{"cached", nil, []int32{0, 128, 0}, []load{{}, {}, {}}, []int{1}},
		// 8 blocks and 15 tokens are 8 blocks: 12 again; 0 has none but 7 blocks less in flight: 20 against 12+8, tie.
		{"tie", nil, []int32{0, 143, 0}, []load{{}, {0, 8, 1}, {0, 1, 1}}, []int{0, 1}},
		{"above the tie", nil, []int32{0, 143, 0}, []load{{}, {0, 9, 1}, {0, 1, 1}}, []int{0}},
		{"below the tie", nil, []int32{0, 143, 0}, []load{{}, {0, 7, 1}, {0, 1, 1}}, []int{1}},
		// Active prefill of 128 tokens is 8 blocks: (128+160)/16 - 8 = 10, as much as on an idle one.
		{"prefill", nil, []int32{0, 128, 0}, []load{{}, {128, 0, 1}, {16, 0, 1}}, []int{0, 1}},
		{"credit beyond the prompt", func(p *DynamoKV) { p.OverlapCredit = 3 }, []int32{0, 128, 0}, []load{{}, {16, 9, 1}, {}}, []int{1}},
		// Credit 24 of raw 11: the cost is 0 + 10 + blocks, never less.
		{"not below nothing", func(p *DynamoKV) { p.OverlapCredit = 3 }, []int32{0, 128, 112}, []load{{}, {16, 0, 1}, {}}, []int{1, 2}},
		// Scale 0.5: 10*.5 + 10 = 15 idle; (10-8)*.5 + 10 + 4 = 15.
		{"scale", func(p *DynamoKV) { p.PrefillScale = .5 }, []int32{0, 128, 0}, []load{{}, {0, 4, 1}, {0, 1, 0}}, []int{0, 1}},
		// Weight 2 a request: 12 + 2*4 = 20.
		{"weight", func(p *DynamoKV) { p.ActiveWeight = 2 }, []int32{0, 128, 0}, []load{{}, {0, 0, 4}, {0, 0, 1}}, []int{0, 1}},
		// Decay 1, excess 160 tokens = 10 blocks = the request's own: credit 1/2 of 8 = 4; 20-4+10 = 26; idle with 6 more blocks 26.
		{"decay", func(p *DynamoKV) { p.CreditDecay = 1 }, []int32{0, 128, 0}, []load{{0, 6, 1}, {160, 0, 1}, {0, 7, 1}}, []int{0, 1}},
		// The same backlog on all is no excess: full credit, 20-8.
		{"no excess", func(p *DynamoKV) { p.CreditDecay = 1 }, []int32{0, 128, 0}, []load{{160, 0, 1}, {160, 7, 1}, {160, 0, 1}}, []int{1}},
	} {
		v := newPrompts(t, 3, []prompt{{[]workload.Segment{seg(1, 160)}, 0, workload.None}})
		for i, tokens := range c.cached {
			holds(v, i, 0, tokens)
			v.Requests[i] = int32(c.loads[i].requests)
		}
		got := choices(v, 0, func(seed uint64) Router {
			p := &DynamoKV{KVBelief: KVBelief{BlockTokens: 16, Belief: "events"}, OverlapCredit: 1, PrefillScale: 1}
			if c.change != nil {
				c.change(p)
			}
			d := p.Build(Env{Replicas: 3, Random: rng.New(seed, 1, "d"), Work: v.Work}).(*dynamo)
			for i, l := range c.loads {
				d.books.prefill[i], d.books.blocks[i] = int64(l.prefill), int64(l.blocks)
			}
			return d
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: chooses among %v, want %v", c.name, got, c.want)
		}
	}
}

// A prompt's shared blocks count once on the replica that has it in flight, so
// that the second of two equal prompts costs less there: before any event.
func TestDynamoSharesBlocksInFlight(t *testing.T) {
	same := prompt{[]workload.Segment{seg(1, 160)}, 32, workload.None}
	v := newPrompts(t, 2, []prompt{same, same, {[]workload.Segment{seg(2, 320)}, 0, workload.None}})
	r := routerOf(t, v, "dynamo-kv", nil)
	first := r.Route(0, v)
	// Active prefill 192 tokens: there 24 + 12 + 2 = 38, elsewhere 12 + 12 = 24.
	if got := r.Route(1, v); got == first {
		t.Errorf("while the prompt is computed the second goes to %d as well", got)
	}
	r.(Observer).FirstToken(0, first, v)
	r.(Observer).Left(1, 1-first, v)
	// Decoding now: there 12 + 12 + 2 = 26, elsewhere 12 + 12 = 24.
	if got := r.Route(1, v); got == first {
		t.Errorf("without a cached block the second goes to the one that decodes, %d", got)
	}
	r.(Observer).Left(1, 1-first, v)
	holds(v, first, 0, 160)
	v.Decision = new(Decision)
	if got := r.Route(1, v); got != first || v.Believed != 160 {
		t.Errorf("with the prefix cached the second goes to %d with %d believed, want %d with 160", got, v.Believed, first)
	}
	// Prefill 12-10 = 2, blocks 12 in flight and 2 new; elsewhere 12 and 12.
	if d := v.Decision; d.Score[first] != 16 || d.Score[1-first] != 24 || d.Terms[1][first] != 14 || d.Cached[first] != 160 {
		t.Errorf("scores %v of %v with %v cached, want 16 and 24", d.Score, d.Terms, d.Cached)
	}
}

// With a temperature the shares are those of a softmax over cost/(max-min).
func TestDynamoTemperature(t *testing.T) {
	d := &dynamo{stream: rng.New(4, 1, "softmax"), cost: []float64{10, 12, 14, 99}, share: make([]float64, 4)}
	up := []int32{0, 1, 2}
	for _, temperature := range []float64{.5, 2} {
		d.temperature = temperature
		count := make([]float64, 4)
		const n = 60000
		for range n {
			count[d.sample(up)]++
		}
		z := 1 + math.Exp(-.5/temperature) + math.Exp(-1/temperature)
		for i, want := range []float64{1 / z, math.Exp(-.5/temperature) / z, math.Exp(-1/temperature) / z, 0} {
			if math.Abs(count[i]/n-want) > 5*math.Sqrt(.25/n) {
				t.Errorf("temperature %v: replica %d has share %.4f, want %.4f", temperature, i, count[i]/n, want)
			}
		}
	}
	d.cost = []float64{7, 7, 7, 0}
	count := make([]int, 4)
	for range 3000 {
		count[d.sample(up)]++
	}
	if slices.Min(count[:3]) < 860 || count[3] > 0 {
		t.Errorf("equal costs are drawn %v times", count)
	}
}

// A tie is broken uniformly, whatever came before it.
func TestReservoir(t *testing.T) {
	s := rng.New(4, 1, "reservoir")
	count := make([]int, 5)
	for range 9000 {
		count[reservoir([]int32{0, 1, 2, 4}, []float64{5, 3, 3, 0, 3}, s)]++
	}
	if slices.Min([]int{count[1], count[2], count[4]}) < 2780 || count[0]+count[3] > 0 {
		t.Errorf("three equal costs are drawn %v times", count)
	}
}

// naiveBooks keep blocks as strings of literal tokens.
type naiveBooks struct {
	blocks  []map[string]int // by replica: requests that have a block
	prefill []int
	part    map[int32]int
}

func spell(p prompt, id int32, block int) (blocks []string) {
	var tokens []string
	for _, s := range p.path {
		for i := range s.Tokens {
			tokens = append(tokens, fmt.Sprintf("%d.%d", s.ID, i))
		}
	}
	for i := range p.rest {
		tokens = append(tokens, fmt.Sprintf("own%d.%d", id, i))
	}
	text := ""
	for i, x := range tokens {
		text += x + " "
		if (i+1)%block == 0 {
			blocks = append(blocks, text)
		}
	}
	return blocks
}

// Books agree with literal sets of blocks over random histories.
func TestBooksAgainstNaive(t *testing.T) {
	for trial := range 30 {
		s := rng.New(uint64(trial), 1, "books")
		var prompts []prompt
		for range 50 {
			p := prompt{rest: int32(1 + s.IntN(20)), session: workload.None}
			for depth := range s.IntN(5) {
				p.path = append(p.path, seg(int64(10*depth+s.IntN(2)), int32(3+s.IntN(1)+5*depth)))
			}
			prompts = append(prompts, p)
		}
		v := newPrompts(t, 3, prompts)
		block := 1 + s.IntN(8)
		b := newBooks(v.Work, 3, int32(block))
		n := naiveBooks{prefill: make([]int, 3), part: map[int32]int{}}
		for range 3 {
			n.blocks = append(n.blocks, map[string]int{})
		}
		at := map[int32]int{}
		got := make([]int64, 3)
		for step := range 300 {
			id := int32(s.IntN(len(prompts)))
			r, flying := at[id]
			switch {
			case !flying:
				b.potential(id, got)
				for i := range 3 {
					want := len(n.blocks[i])
					for _, x := range spell(prompts[id], id, block) {
						if n.blocks[i][x] == 0 {
							want++
						}
					}
					if got[i] != int64(want) {
						t.Fatalf("trial %d, step %d: request %d would make %d blocks on %d, want %d", trial, step, id, got[i], i, want)
					}
				}
				r, uncached := s.IntN(3), s.IntN(30)
				b.send(id, r, int32(uncached))
				at[id], n.part[id] = r, uncached
				n.prefill[r] += uncached
				for _, x := range spell(prompts[id], id, block) {
					n.blocks[r][x]++
				}
			case s.IntN(2) == 0:
				b.firstToken(id)
				n.prefill[r] -= n.part[id]
				n.part[id] = 0
			default:
				b.left(id)
				b.left(id) // a second notice changes nothing
				n.prefill[r] -= n.part[id]
				delete(at, id)
				for _, x := range spell(prompts[id], id, block) {
					if n.blocks[r][x]--; n.blocks[r][x] == 0 {
						delete(n.blocks[r], x)
					}
				}
			}
			for i := range 3 {
				if b.blocks[i] != int64(len(n.blocks[i])) || b.prefill[i] != int64(n.prefill[i]) {
					t.Fatalf("trial %d, step %d: replica %d has %d blocks and %d tokens, want %d and %d",
						trial, step, i, b.blocks[i], b.prefill[i], len(n.blocks[i]), n.prefill[i])
				}
			}
		}
		for id := range at {
			b.left(id)
		}
		if slices.Max(b.blocks) != 0 || slices.Max(b.prefill) != 0 {
			t.Fatalf("trial %d: empty books hold %v blocks, %v tokens", trial, b.blocks, b.prefill)
		}
	}
}

// Its own decisions are believed for 120 s after the last, to the second.
func TestDynamoApproximate(t *testing.T) {
	same := prompt{[]workload.Segment{seg(1, 160)}, 0, workload.None}
	v := newPrompts(t, 2, []prompt{same, same, same})
	r := routerOf(t, v, "dynamo-kv-0.3", func(p Params) { p.(*DynamoKV03).Belief = "approximate" })
	holds(v, 0, 0, 160)
	holds(v, 1, 0, 160) // events that it does not read
	first := r.Route(0, v)
	if v.Believed != 0 {
		t.Errorf("before the first decision %d tokens are believed", v.Believed)
	}
	r.(Observer).Left(0, first, v)
	v.NowNs = 120e9 - 1
	if got := r.Route(1, v); got != first || v.Believed != 160 {
		t.Errorf("before 120 s: to %d with %d believed, want %d with 160", got, v.Believed, first)
	}
	r.(Observer).Left(1, first, v)
	v.NowNs += 120e9 // since it was sent again
	if r.Route(2, v); v.Believed != 0 {
		t.Errorf("after 120 s %d tokens are believed", v.Believed)
	}
}

// Requests wait while all replicas are above the threshold, and go in the order
// that is asked for.
func TestDynamoQueue(t *testing.T) {
	prompts := []prompt{{rest: 100}, {rest: 101}, {rest: 300}, {rest: 50}, {path: []workload.Segment{seg(1, 200)}, rest: 20}, {rest: 90}}
	for i := range prompts {
		prompts[i].session = workload.None
	}
	for name, want := range map[string][]int32{
		"fcfs": {2, 3, 4, 5}, "lcfs": {5, 4, 3, 2}, "wspt": {4, 3, 5, 2},
		// A priority of 11 is worth 11 s, and weighs 12: 300/12 = 25 is below 28.
		"fcfs 5": {5, 2, 3, 4}, "lcfs 3": {3, 5, 4, 2}, "wspt 2": {2, 4, 3, 5},
	} {
		v := newPrompts(t, 2, prompts)
		order, first, _ := strings.Cut(name, " ")
		if first != "" {
			v.Work.Priority = make([]int32, len(prompts))
			v.Work.Priority[first[0]-'0'] = 11
		}
		holds(v, 1, 4, 192) // 220 - 192 = 28 tokens, fewer than 50 and 90 and 300
		r := routerOf(t, v, "dynamo-kv", func(p Params) {
			p.(*DynamoKV).QueueThreshold, p.(*DynamoKV).BatchTokens, p.(*DynamoKV).QueueOrder = 2, 50, order
		})
		v.NowNs = 1
		a := r.Route(0, v) // 100 tokens: at the threshold, not above
		v.NowNs = 2
		b := r.Route(1, v) // 101 on the other one
		if a == Hold || b == Hold || a == b {
			t.Fatalf("%s: the first two go to %d and %d", order, a, b)
		}
		v.NowNs = 3
		c := r.Route(2, v) // 0 is at the threshold: not all are above
		if c != a {
			t.Fatalf("%s: the third goes to %d, want %d", order, c, a)
		}
		q := r.(Queuer)
		r.(Observer).Left(2, c, v)
		r.(Observer).Left(0, a, v)
		r.(*dynamoQueued).books.send(0, a, 101)
		for id := int32(2); id < 6; id++ {
			v.NowNs++
			if got := r.Route(id, v); got != Hold {
				t.Fatalf("%s: request %d goes to %d while both replicas are above", order, id, got)
			}
		}
		if got := q.Next(v); got != -1 {
			t.Fatalf("%s: request %d may go while both replicas are above", order, got)
		}
		r.(Observer).FirstToken(0, a, v)
		r.(Observer).FirstToken(1, b, v)
		var got []int32
		for range 4 {
			got = append(got, q.Next(v))
		}
		if !slices.Equal(got, want) || q.Next(v) != -1 {
			t.Errorf("%s: they go in order %v, want %v", name, got, want)
		}
	}
}
