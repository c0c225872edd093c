package engine

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// perStep is the linear model of the worked transcript, in microseconds: 1,000
// a step, 10 a prefill token, 1 a token of context of decodes, their own
// included.
type perStep struct{}

func (perStep) StepNs(b Batch) int64 {
	return 1000 * (1000 + 10*b.Prefill + b.DecodeContext + b.Decodes())
}

// vllmRun is one replica under vllm-v1 that plays a workload.
type vllmRun struct {
	vllm
	cache Cache
	log   Log
	left  []int32                // in order of leaving
	watch func(now int64)        // after every step end, and after every arrival
	seen  func(id int32, at int) // before a request enters, with what the cache shows of its prompt
}

func (v *vllmRun) play(w *workload.Workload, p VLLM, ahead int) {
	v.cache.Reset(&w.Forest, 1, p.Rules())
	v.log.Reset(w.Len())
	v.Reset(Setup{Params: &p, Step: perStep{}, KVTokens: p.KVTokens(0), Cache: &v.cache, Work: w, Log: &v.log})
	v.ahead = ahead
	next := 0
	for next < w.Len() || v.EndNs() != Never {
		now := v.EndNs()
		if next < w.Len() {
			now = min(now, w.ArrivalUs[next]*1000)
		}
		if v.EndNs() == now {
			v.left = append(v.left, v.End()...)
			v.watch(now)
		}
		for ; next < w.Len() && w.ArrivalUs[next]*1000 == now; next++ {
			if v.seen != nil {
				v.seen(int32(next), int(v.cache.Match(0, w.Leaf[next])))
			}
			if v.Fits(int32(next)) {
				v.Enqueue(int32(next), now)
			}
		}
		v.Form(now)
	}
}

// The transcript of the scheduler's rules: A (prompt 6, output 4) and B (prompt
// 5, output 3) at once, blocks of 4, budget 8, two sequences. With 5 blocks both
// end at 4,147; with 4, A's last decode preempts B, which finds its first block
// again and ends at 5,170.
func TestVLLMTranscript(t *testing.T) {
	w := build(t, []call{{0, 6, 4, nil}, {0, 5, 3, nil}})
	for _, c := range []struct {
		blocks        int
		finish        []int64
		preempted     []int16
		steps, peakKV int64
	}{
		{5, []int64{4147000, 4147000}, []int16{0, 0}, 4, 20},
		{4, []int64{4140000, 5170000}, []int16{0, 1}, 5, 16},
	} {
		v := vllmRun{watch: func(int64) {}}
		v.play(w, VLLM{TokenBudget: 8, MaxSeqs: 2, BlockSize: 4, Blocks: c.blocks, PrefixCaching: true}, 4096)
		if want := []int64{1080000, 2117000}; !slices.Equal(v.log.FirstNs, want) {
			t.Errorf("%d blocks: first tokens at %v, want %v", c.blocks, v.log.FirstNs, want)
		}
		if !slices.Equal(v.log.FinishNs, c.finish) || !slices.Equal(v.log.Preemptions, c.preempted) {
			t.Errorf("%d blocks: ends at %v with preemptions %v, want %v and %v", c.blocks, v.log.FinishNs, v.log.Preemptions, c.finish, c.preempted)
		}
		if s := v.Stats(c.finish[1]); s.Steps != c.steps || s.PeakKV != c.peakKV || s.BusyNs != c.finish[1] || s.CachedTokens != 0 {
			t.Errorf("%d blocks: stats are %+v, want %d steps, busy all the time, %d tokens at most, none cached", c.blocks, s, c.steps, c.peakKV)
		}
	}
}

// mixed makes a workload in which prompts share system prompts and documents,
// end where those end or go on, and continue conversations whose outputs they
// hold.
func mixed(t testing.TB, s *rng.Stream, n, gap int) *workload.Workload {
	t.Helper()
	var b workload.Builder
	var histories [][]workload.Segment
	at := int64(0)
	for i := range n {
		at += int64(s.IntN(gap))
		r := workload.Request{ArrivalUs: at, After: none, Session: none, OutputID: none, Output: 1 + int32(s.IntN(60))}
		rest := int32(s.IntN(40))
		if s.IntN(3) == 0 {
			r.Segments = []workload.Segment{{ID: 1, Tokens: 33}}
			if len(histories) > 0 && s.IntN(4) > 0 {
				h := histories[s.IntN(len(histories))]
				r.Segments = append(h[:len(h):len(h)], workload.Segment{ID: int64(1000 + i), Tokens: int32(1 + s.IntN(50))})
			}
			r.OutputID, rest = int64(5000+i), 0
			histories = append(histories, append(slices.Clone(r.Segments), workload.Segment{ID: r.OutputID, Tokens: r.Output}))
		} else {
			document := int64(s.IntN(9))
			r.Segments = []workload.Segment{{ID: 10 + document%2, Tokens: 16 * int32(1+document%2)}, {ID: 20 + document, Tokens: 30 + 14*int32(document)}}
			if s.IntN(3) == 0 {
				rest = 0
			}
		}
		for _, segment := range r.Segments {
			r.Prompt += segment.Tokens
		}
		r.Prompt += rest
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

// vllmTrials calls f with random workloads and parameters.
func vllmTrials(t *testing.T, n int, f func(name string, w *workload.Workload, p VLLM)) {
	for trial := range n {
		s := rng.New(uint64(trial), 1, "vllm laws")
		w := mixed(t, s, 120, 1+s.IntN(30000))
		p := VLLM{
			TokenBudget: 30 + s.IntN(400), MaxSeqs: 1 + s.IntN(40), LongPrefill: s.IntN(2) * (8 + s.IntN(100)), BlockSize: 1 + s.IntN(20),
			PrefixCaching: s.IntN(8) > 0, AdmissionDelayUs: int64(s.IntN(3) * s.IntN(5000)),
		}
		p.Blocks = (200+s.IntN(1000*(1+trial%3)))/p.BlockSize + 1
		p.AsyncScheduling, p.IdleStepUs = s.IntN(2) == 0, int64(s.IntN(2)*s.IntN(3000))
		f(fmt.Sprintf("trial %d, %+v", trial, p), w, p)
	}
}

// What must hold after every step: blocks that are used and free ones are all
// there are, a run has the users that hold it, the valid blocks of a path are
// its first ones, and the cache shows them. Every request that fits leaves once.
func TestVLLMLaws(t *testing.T) {
	vllmTrials(t, 60, func(name string, w *workload.Workload, p VLLM) {
		v := new(vllmRun)
		v.watch = func(now int64) {
			if err := v.check(); err != nil {
				t.Fatalf("%s: at %d: %v", name, now, err)
			}
		}
		v.play(w, p, 4096)
		if v.pool.free != v.blocks || v.running != 0 {
			t.Fatalf("%s: %d of %d blocks are free and %d requests run at the end", name, v.pool.free, v.blocks, v.running)
		}
		fit := 0
		for id := range int32(w.Len()) {
			if v.Fits(id) {
				fit++
			}
			l := &v.log
			if done := slices.Contains(v.left, id); done != v.Fits(id) || done && !(w.ArrivalUs[id]*1000 <= l.StartNs[id] && l.StartNs[id] < l.FirstNs[id] && l.FirstNs[id] <= l.FinishNs[id]) {
				t.Fatalf("%s: request %d: left %v, times %d %d %d", name, id, done, l.StartNs[id], l.FirstNs[id], l.FinishNs[id])
			}
			if l.Cached[id]%int32(p.BlockSize) != 0 || l.Cached[id] >= w.Prompt[id] || l.Cached[id] > l.Unlimited[id] || l.Unlimited[id] >= w.Prompt[id] {
				t.Fatalf("%s: request %d of %d prompt tokens has %d cached, %d unlimited", name, id, w.Prompt[id], l.Cached[id], l.Unlimited[id])
			}
			if v.pool.evicted == 0 && l.Cached[id] != l.Unlimited[id] {
				t.Fatalf("%s: nothing was evicted, but request %d has %d cached, %d unlimited", name, id, l.Cached[id], l.Unlimited[id])
			}
		}
		if len(v.left) != fit {
			t.Fatalf("%s: %d requests left, want %d", name, len(v.left), fit)
		}
	})
}

// check looks for what is wrong with a replica between two steps.
func (v *vllmRun) check() error {
	p := &v.pool
	free, users := int32(0), map[int32]int32{}
	for id := p.runs[0].next; id != 0; id = p.runs[id].next {
		r := &p.runs[id]
		free += r.to - r.from
		users[id] = 0
		if next := &p.runs[r.next]; r.from >= r.to || next.prev != id || r.owner == garbage && r.next != 0 && next.owner == garbage {
			return fmt.Errorf("free run %d is %+v, next %+v", id, *r, *next)
		}
	}
	if free != p.free {
		return fmt.Errorf("%d blocks in the free list, counted %d", free, p.free)
	}
	used, decoding, context := int32(0), int64(0), int64(0)
	for i := v.slots[0].next; i != 0; i = v.slots[i].next {
		q := &v.slots[i]
		tokens := q.done
		if q.decoding {
			tokens = v.contextOf(q)
			decoding, context = decoding+1, context+int64(tokens)
		}
		used += v.whole(tokens) - q.full // blocks that it alone has
		at := int32(0)
		for _, h := range q.holds {
			for id := h.run; ; id = p.runs[id].after {
				r := &p.runs[id]
				if r.from != at {
					return fmt.Errorf("request %d holds up to position %d, then from %d", q.id, at, r.from)
				}
				users[id]++
				if at = r.to; at >= h.to {
					break
				}
			}
			if at != h.to {
				return fmt.Errorf("request %d holds up to position %d of a run up to %d", q.id, h.to, at)
			}
		}
		if at != q.full {
			return fmt.Errorf("request %d holds %d blocks of nodes, counted %d", q.id, at, q.full)
		}
	}
	if decoding != v.decoding || context != v.context {
		return fmt.Errorf("%d decodes of context %d, counted %d and %d", decoding, context, v.decoding, v.context)
	}
	for id, n := range users {
		r := &p.runs[id]
		if n != r.users {
			return fmt.Errorf("run %d %+v has %d users", id, *r, n)
		}
		if n > 0 {
			used += r.to - r.from
		}
	}
	if used+free != v.blocks {
		return fmt.Errorf("%d blocks used and %d free of %d", used, free, v.blocks)
	}
	return v.checkNodes(users)
}

// checkNodes compares what is known of each node with the runs that there are.
func (v *vllmRun) checkNodes(users map[int32]int32) error {
	p, listed := &v.pool, 0
	for node := range int32(p.forest.Nodes()) {
		from, to := p.span(node)
		valid := map[int32]bool{}
		c := &p.cells[node]
		for id := c.first; id != 0; id = p.runs[id].after {
			r := &p.runs[id]
			listed++
			if _, known := users[id]; !known || r.owner != node || r.from < from || r.to > to {
				return fmt.Errorf("node %d, blocks %d to %d, lists run %+v", node, from, to, *r)
			}
			for at := r.from; at < r.to; at++ {
				valid[at] = true
			}
		}
		most := from + int32(len(valid))
		for at := range valid {
			if at >= most {
				return fmt.Errorf("node %d, blocks from %d: block %d is valid and an earlier one is not", node, from, at)
			}
		}
		if len(valid) == 0 {
			most = 0
		}
		shown := max(0, most*p.size-(p.forest.End[node]-p.forest.Tokens[node]))
		if got := v.cache.believed[node].Cached; c.valid != most || got != shown || c.ever < most {
			return fmt.Errorf("node %d: valid up to block %d, ever %d, shown %d tokens; want %d and %d", node, c.valid, c.ever, got, most, shown)
		}
		up := p.forest.Parent[node]
		for ; most > 0 && up != none; up = p.forest.Parent[up] {
			if a, b := p.span(up); a < b && p.cells[up].valid != b {
				return fmt.Errorf("node %d is valid, its ancestor %d only up to block %d of %d", node, up, p.cells[up].valid, b)
			}
		}
	}
	for id := range users {
		if p.runs[id].owner >= 0 {
			listed--
		}
	}
	if listed != 0 {
		return fmt.Errorf("%d runs are listed by nodes and neither free nor held", listed)
	}
	return nil
}

// Planning steps ahead changes nothing: times, hits, totals and what routers see
// at every arrival are those of a replica that forms every step.
func TestVLLMLookAhead(t *testing.T) {
	planned := false
	vllmTrials(t, 60, func(name string, w *workload.Workload, p VLLM) {
		var runs [2]vllmRun
		var seen [2][]int
		var totals [2][]Stats
		for k, ahead := range []int{1, 4096} {
			v := &runs[k]
			v.watch = func(int64) { planned = planned || len(v.plan) > 2 }
			v.seen = func(id int32, at int) {
				seen[k] = append(seen[k], at)
				totals[k] = append(totals[k], v.Stats(w.ArrivalUs[id]*1000))
			}
			v.play(w, p, ahead)
		}
		a, b := &runs[0].log, &runs[1].log
		if !slices.Equal(a.StartNs, b.StartNs) || !slices.Equal(a.FirstNs, b.FirstNs) || !slices.Equal(a.FinishNs, b.FinishNs) ||
			!slices.Equal(a.Cached, b.Cached) || !slices.Equal(a.Unlimited, b.Unlimited) || !slices.Equal(a.Preemptions, b.Preemptions) {
			t.Fatalf("%s: requests differ", name)
		}
		if !slices.Equal(seen[0], seen[1]) {
			t.Fatalf("%s: routers see different caches", name)
		}
		for i := range totals[0] {
			x, y := totals[0][i], totals[1][i]
			if math.Abs(x.KVTimeNs-y.KVTimeNs) > 1e-9*x.KVTimeNs {
				t.Fatalf("%s: at arrival %d the integral of KV is %v and %v", name, i, x.KVTimeNs, y.KVTimeNs)
			}
			x.KVTimeNs, x.QueueTimeNs, x.SystemTimeNs = y.KVTimeNs, y.QueueTimeNs, y.SystemTimeNs
			x.PeakKV = y.PeakKV // of a stretch it is known at its end
			if x != y {
				t.Fatalf("%s: at arrival %d totals are %+v and %+v", name, i, x, y)
			}
		}
	})
	if !planned {
		t.Error("nothing was ever planned")
	}
}

// A step allocates nothing once slices have grown.
func TestVLLMAllocatesNothing(t *testing.T) {
	w := mixed(t, rng.New(1, 1, "allocations"), 300, 20000)
	p := VLLM{TokenBudget: 256, MaxSeqs: 32, BlockSize: 16, Blocks: 60, PrefixCaching: true}
	v := vllmRun{watch: func(int64) {}, left: make([]int32, 0, 10000)}
	v.play(w, p, 4096)
	runs := testing.AllocsPerRun(3, func() {
		v.left = v.left[:0]
		v.play(w, p, 4096)
	})
	if runs > 2 { // Setup and Params, which play makes
		t.Errorf("a second run allocates %v times", runs)
	}
}
