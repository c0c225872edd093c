package engine

import (
	"fmt"
	"slices"
	"testing"

	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// linear is a step model whose times can be added up by hand: 1,000 ns a step,
// 10 a prefill token, 1 a token of context.
type linear struct{}

func (linear) StepNs(b Batch) int64 { return 1000 + 10*b.Prefill + b.Context }

func defaults(change func(*Lecture)) Lecture {
	var p Lecture
	param.Defaults(&p)
	if change != nil {
		change(&p)
	}
	return p
}

// call is a request of a test.
type call struct {
	atUs           int64
	prompt, output int32
	segments       []workload.Segment
}

// build makes a workload of calls in order of arrival.
func build(t testing.TB, calls []call) *workload.Workload {
	t.Helper()
	var b workload.Builder
	for _, c := range calls {
		r := workload.Request{ArrivalUs: c.atUs, After: none, Session: none, OutputID: none, Prompt: c.prompt, Output: c.output, Segments: c.segments}
		if err := b.Add(&r); err != nil {
			t.Fatal(err)
		}
	}
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// play runs one replica over a workload, as a cluster of one would.
func play(t testing.TB, w *workload.Workload, p Lecture, step StepModel, capacity int64) (*Log, *lecture) {
	t.Helper()
	var cache Cache
	var log Log
	var rp lecture
	cache.Reset(&w.Forest, 1, p.Rules())
	log.Reset(w.Len())
	rp.Reset(Setup{Params: &p, Step: step, KVTokens: capacity, Cache: &cache, Work: w, Log: &log})
	next := 0
	for next < w.Len() || rp.end != Never {
		now := rp.end
		if next < w.Len() {
			now = min(now, w.ArrivalUs[next]*1000)
		}
		if rp.end == now {
			rp.End()
		}
		for next < w.Len() && w.ArrivalUs[next]*1000 == now {
			rp.Enqueue(int32(next), now)
			next++
		}
		rp.Form(now)
		if p.Evict != "none" && rp.memory() > capacity {
			t.Fatalf("%d tokens in memory at %d ns, capacity %d", rp.memory(), now, capacity)
		}
	}
	return &log, &rp
}

// Two requests by hand, budget 8: A has prompt 6 and output 3, B prompt 7 and
// output 2, both at 0.
//
//	step 1: A prefills 6, B is admitted with the 2 left: 1,000 + 80 = 1,080.
//	step 2: A decodes (context 6), B has 5 to go and 7 of budget (context 2):
//	        1,000 + 50 + 8 = 1,058, ends 2,138: B's first token.
//	step 3: A decodes (context 7) and ends, B decodes (context 7) and ends:
//	        1,000 + 14 = 1,014, ends 3,152.
func TestByHand(t *testing.T) {
	w := build(t, []call{{0, 6, 3, nil}, {0, 7, 2, nil}})
	log, rp := play(t, w, defaults(func(p *Lecture) { p.ChunkTokens = 8 }), linear{}, 1000)
	if want := []int64{1080, 2138}; !slices.Equal(log.FirstNs, want) {
		t.Errorf("first tokens at %v, want %v", log.FirstNs, want)
	}
	if want := []int64{3152, 3152}; !slices.Equal(log.FinishNs, want) {
		t.Errorf("finished at %v, want %v", log.FinishNs, want)
	}
	if s := rp.Stats(3152); s.Steps != 3 || s.BusyNs != 3152 || s.PeakKV != 6+3+7+2 {
		t.Errorf("stats are %+v, want 3 steps, 3152 ns busy, 18 tokens at most", s)
	}
}

// An arrival in the middle of a decode stretch joins at the next step boundary.
// A alone: prefill of 4 ends at 1,040, decodes at contexts 4, 5, ... take
// 1,004, 1,005, ...: boundaries 2,044, 3,049, 4,055. B comes at 3,000: it joins
// at 3,049; that step takes 1,000 + 20 + 6 = 1,026.
func TestArrivalInStretch(t *testing.T) {
	w := build(t, []call{{0, 4, 50, nil}, {3, 2, 1, nil}})
	log, _ := play(t, w, defaults(nil), linear{}, 1000)
	if log.StartNs[1] != 3049 || log.FinishNs[1] != 4075 {
		t.Errorf("B starts at %d and ends at %d, want 3049 and 4075", log.StartNs[1], log.FinishNs[1])
	}
}

// A prompt that is cached to its end still computes its last token; a private
// rest is never found; a segment is reusable only after the prefill's end.
func TestReuse(t *testing.T) {
	doc := []workload.Segment{{ID: 1, Tokens: 40}}
	w := build(t, []call{
		{0, 40, 1, doc},
		{0, 50, 1, doc},   // prefills beside the first: nothing cached yet
		{100, 40, 1, doc}, // all cached
		{200, 50, 1, doc},
	})
	log, rp := play(t, w, defaults(nil), linear{}, 1000)
	if want := []int32{0, 0, 39, 40}; !slices.Equal(log.Cached, want) {
		t.Errorf("cached tokens are %v, want %v", log.Cached, want)
	}
	if rp.memory() != 40 {
		t.Errorf("%d tokens stay in memory, want the document's 40", rp.memory())
	}
}

// An output that a later turn reads stays, and the next turn finds it.
func TestConversation(t *testing.T) {
	var b workload.Builder
	user := []workload.Segment{{ID: 1, Tokens: 10}}
	next := []workload.Segment{{ID: 1, Tokens: 10}, {ID: 2, Tokens: 5}, {ID: 3, Tokens: 7}}
	for _, r := range []workload.Request{
		{After: none, Session: none, OutputID: 2, Prompt: 10, Output: 5, Segments: user},
		{ArrivalUs: 1000, After: none, Session: none, OutputID: none, Prompt: 22, Output: 4, Segments: next},
	} {
		if err := b.Add(&r); err != nil {
			t.Fatal(err)
		}
	}
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	log, rp := play(t, w, defaults(nil), linear{}, 1000)
	if log.Cached[1] != 15 {
		t.Errorf("the second turn finds %d tokens, want 15", log.Cached[1])
	}
	if rp.memory() != 22 {
		t.Errorf("%d tokens stay in memory, want 22", rp.memory())
	}
}

// The least recently used document goes first, its tail before its head, and
// what runs is pinned.
func TestEviction(t *testing.T) {
	doc := func(id int64) []workload.Segment {
		return []workload.Segment{{ID: 0, Tokens: 10}, {ID: id, Tokens: 30}}
	}
	calls := []call{
		{0, 40, 1, doc(1)}, {100, 40, 1, doc(2)}, {200, 40, 1, doc(3)}, // 10 + 3 x 30 cached
		{300, 40, 1, doc(1)}, // touches document 1
		{400, 40, 9, doc(4)}, // needs 30 + 9 of the 10 that are left: 29 of document 2 go
		{500, 40, 1, doc(2)}, // finds 11
		{600, 40, 1, doc(1)}, // still whole
	}
	log, _ := play(t, build(t, calls), defaults(func(p *Lecture) { p.Evict = "token" }), linear{}, 110)
	if want := []int32{0, 10, 10, 39, 10, 11, 39}; !slices.Equal(log.Cached, want) {
		t.Errorf("token by token: cached %v, want %v", log.Cached, want)
	}
	log, _ = play(t, build(t, calls), defaults(nil), linear{}, 110)
	if want := []int32{0, 10, 10, 39, 10, 10, 39}; !slices.Equal(log.Cached, want) {
		t.Errorf("whole segments: cached %v, want %v", log.Cached, want)
	}
	log, _ = play(t, build(t, calls), defaults(func(p *Lecture) { p.Evict = "none" }), linear{}, 110)
	if want := []int32{0, 10, 10, 39, 10, 39, 39}; !slices.Equal(log.Cached, want) {
		t.Errorf("no eviction: cached %v, want %v", log.Cached, want)
	}
}

// At random any leaf goes, whole, and never an ancestor before it.
func TestRandomEviction(t *testing.T) {
	var c Cache
	f := workload.Forest{
		Parent: []int32{none, 0, 0, 1, 1}, Tokens: []int32{10, 20, 30, 5, 7}, End: []int32{10, 30, 40, 35, 37}, Level: []int32{1, 2, 2, 3, 3}, Hash: make([]uint64, 5),
	}
	first := map[int32]int{}
	for trial := range 600 {
		c.Reset(&f, 1, Rules{Evict: "random"})
		c.draws = uint64(1000 * trial)
		for _, leaf := range []int32{2, 3, 4} {
			c.pin(0, leaf)
			c.insert(0, leaf)
			c.unpin(0, leaf)
		}
		for gone := 0; c.cached[0] > 0; gone++ {
			had := c.cached[0]
			before := slices.Clone(c.believed)
			c.free(0, 1)
			lost := -1
			for n := range before {
				if before[n].Cached != c.believed[n].Cached {
					if lost >= 0 || c.believed[n].Cached != 0 || had-c.cached[0] != int64(f.Tokens[n]) {
						t.Fatalf("node %d is evicted beside %d or in part", n, lost)
					}
					lost = n
				}
			}
			for n, parent := range f.Parent {
				if int(parent) == lost && before[n].Cached > 0 {
					t.Fatalf("node %d goes before node %d below it", lost, n)
				}
			}
			if gone == 0 {
				first[int32(lost)]++
			}
		}
	}
	for _, n := range []int32{2, 3, 4} {
		if first[n] < 150 || first[n] > 250 {
			t.Errorf("leaf %d of three goes first in %d of 600 trials", n, first[n])
		}
	}
}

// Waiting orders over one busy replica: the prompt that is computed first makes
// the others wait; groups take from high to low in proportion.
func TestOrders(t *testing.T) {
	doc := []workload.Segment{{ID: 1, Tokens: 80}}
	calls := []call{{0, 80, 1, doc}}
	for i := range 4 { // all wait for the step that ends at 1,800 ns
		calls = append(calls, call{1, int32(200 + i), 1, nil}, call{1, int32(100 + i), 1, doc})
	}
	starts := func(order string) string {
		log, _ := play(t, build(t, calls), defaults(func(p *Lecture) { p.Order, p.MaxRunning = order, 1 }), linear{}, 100000)
		ids := []int{1, 2, 3, 4, 5, 6, 7, 8}
		slices.SortFunc(ids, func(a, b int) int { return int(log.StartNs[a] - log.StartNs[b]) })
		return fmt.Sprint(ids)
	}
	for order, want := range map[string]string{
		"fcfs":           "[1 2 3 4 5 6 7 8]",
		"longest-prefix": "[2 4 6 8 1 3 5 7]",
		// Prompts of 100 with 80 cached are group 8, those of 101 to 103 group 7,
		// the others group 1; no round ends before all have had their turn.
		"priority-groups": "[2 4 6 8 1 3 5 7]",
	} {
		if got := starts(order); got != want {
			t.Errorf("%s: admitted in order %s, want %s", order, got, want)
		}
	}
}

// Of 55 slots with plenty in every group, 10 go to group 10, 9 to group 9, ...
func TestGroupShares(t *testing.T) {
	doc := []workload.Segment{{ID: 1, Tokens: 100}}
	calls := []call{{0, 101, 1, doc}}
	for range 20 {
		for g := range 10 { // prompt 100 × 10 / (g + 1) - 1 or less has group g + 1
			calls = append(calls, call{10, int32(1000 / (g + 1)), 1, doc})
		}
	}
	log, rp := play(t, build(t, calls), defaults(func(p *Lecture) { p.Order, p.MaxRunning = "priority-groups", 1 }), linear{}, 1000000)
	ids := make([]int, len(calls))
	for i := range ids {
		ids[i] = i
	}
	slices.SortFunc(ids, func(a, b int) int { return int(log.StartNs[a] - log.StartNs[b]) })
	counts := make([]int, 11)
	counts[1]++ // the first request found nothing
	for _, id := range ids[1:55] {
		counts[min(10, max(1, 1000/int(rp.work.Prompt[id])))]++
	}
	if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; !slices.Equal(counts, want) {
		t.Errorf("55 slots went %v to groups 0 to 10, want %v", counts, want)
	}
}

// Nothing allocates once a replica has grown, under any scheduler and order.
func TestNoAllocation(t *testing.T) {
	w := random(t, rng.New(1, 1, "alloc"), 300)
	for _, scheduler := range Schedulers() {
		orders := []string{""}
		for _, f := range param.Fields(scheduler.New()) {
			if f.Name == "order" {
				orders = f.Enum
			}
		}
		for _, order := range orders {
			p := scheduler.New()
			param.Defaults(p)
			if order != "" {
				if err := param.Set(p, "order", order); err != nil {
					t.Fatal(err)
				}
			}
			noAllocation(t, scheduler.Name+"/"+order, w, p)
		}
	}
}

func noAllocation(t *testing.T, name string, w *workload.Workload, p Params) {
	t.Helper()
	var cache Cache
	var log Log
	rp := p.NewReplica()
	run := func() {
		cache.Reset(&w.Forest, 1, p.Rules())
		log.Reset(w.Len())
		rp.Reset(Setup{Params: p, Step: linear{}, KVTokens: 3008, Cache: &cache, Work: w, Log: &log})
		for i := range w.Len() {
			rp.Enqueue(int32(i), 0)
		}
		rp.Form(0)
		for rp.EndNs() != Never {
			now := rp.EndNs()
			rp.End()
			rp.Form(now)
		}
	}
	run()
	run()
	if n := testing.AllocsPerRun(3, run); n > 0 {
		t.Errorf("%s: a run of 300 requests allocates %v times", name, n)
	}
}
