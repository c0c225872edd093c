package engine

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// drive runs one replica over a workload as a cluster of one would, and
// returns how requests ended that did not finish.
func drive(t testing.TB, w *workload.Workload, p Params, step StepModel, capacity int64) (*Log, Replica, []string) {
	t.Helper()
	var cache Cache
	log := new(Log)
	rp := p.NewReplica()
	cache.Reset(&w.Forest, 1, p.Rules())
	log.Reset(w.Len())
	rp.Reset(Setup{Params: p, Step: step, KVTokens: capacity, Cache: &cache, Work: w, Log: log, Random: 99})
	outcome := make([]string, w.Len())
	next, left := 0, 0
	for next < w.Len() || rp.EndNs() != Never {
		now := rp.EndNs()
		if next < w.Len() {
			now = min(now, w.ArrivalUs[next]*1000)
		}
		if rp.EndNs() == now {
			for _, id := range rp.End() {
				left++
				if log.TimedOut[id] {
					outcome[id] = fmt.Sprint("timed out at ", now)
				}
			}
		}
		for next < w.Len() && w.ArrivalUs[next]*1000 == now {
			if rp.Fits(int32(next)) {
				rp.Enqueue(int32(next), now)
			} else {
				outcome[next] = "rejected"
				left++
			}
			next++
		}
		rp.Form(now)
		if s := rp.Stats(now); s.PeakKV > capacity {
			t.Fatalf("%d tokens in memory by %d ns, capacity %d", s.PeakKV, now, capacity)
		}
	}
	if left != w.Len() {
		t.Fatalf("%d of %d requests left", left, w.Len())
	}
	return log, rp, outcome
}

// trials returns n, ten times as many in a long test.
func trials(n int) int {
	if os.Getenv("SWITCHYARD_LONG") != "" {
		n *= 10
	}
	return n
}

// settings draws parameters that sglang-0.1 and preble share.
func settings(s *rng.Stream, p *Radix) {
	p.MaxRunning = []int{0, 1 + s.IntN(12)}[s.IntN(2)]
	p.ContextTokens = 1 + s.IntN(400)
	p.Ratio = float64(s.IntN(11)) / 10
	p.RatioMin = p.Ratio / 2
	p.RatioDecay = []float64{0.0001, 0.01}[s.IntN(2)]
	p.DecodeSteps = 1 + s.IntN(2)*s.IntN(10)
	p.StepWaitMs = []float64{0, 0.0006}[s.IntN(2)]
	p.FinishWaitMs = []float64{0, 0.03}[s.IntN(2)]
	p.HostMs = float64(s.IntN(2)) * 0.0004
	p.HostRequestMs = float64(s.IntN(2)) * 0.00002
	p.StreamSteps = s.IntN(2) * s.IntN(10)
	p.Ready = []string{"finish", "prefill-end"}[s.IntN(2)]
	p.Refresh = s.IntN(2) == 0
	p.Evict = []string{"segment", "token"}[s.IntN(2)]
	uncertain(s, &p.Knowledge)
	bounded(s, &p.Limits)
	tiered(s, &p.HostTier)
}

func uncertain(s *rng.Stream, k *Knowledge) {
	k.Output = []string{"exact", "maximum", "noisy", "nothing"}[s.IntN(4)]
	k.OutputMax = s.IntN(2) * s.IntN(60)
	k.OutputError = []float64{0.2, 2}[s.IntN(2)]
}

func tiered(s *rng.Stream, h *HostTier) {
	if s.IntN(2) == 0 {
		h.HostTokens, h.HostTokensPerS = int64(20+s.IntN(600)), 3e8
	}
}

func bounded(s *rng.Stream, l *Limits) {
	if s.IntN(3) == 0 {
		l.QueueTimeoutS = float64(1+s.IntN(300)) * 1e-6
	}
	if s.IntN(3) == 0 {
		l.QueueLimit = 1 + s.IntN(20)
	}
}

// talks makes a workload of conversations whose turns read earlier outputs,
// some before these are out. Requests have priorities.
func talks(t testing.TB, s *rng.Stream, n int) *workload.Workload {
	t.Helper()
	var b workload.Builder
	var paths [8][]workload.Segment
	at := int64(0)
	for i := range n {
		at += int64(s.IntN(12))
		who := s.IntN(len(paths))
		path := paths[who]
		if len(path) > 8 {
			path = nil // a new conversation
		}
		path = append(slices.Clone(path), workload.Segment{ID: int64(2 * i), Tokens: int32(5 + s.IntN(30))})
		r := workload.Request{
			ArrivalUs: at, After: none, Session: none, OutputID: int64(2*i + 1), Output: int32(1 + s.IntN(25)), Segments: path,
			Tags: []string{fmt.Sprint("priority=", s.IntN(3))},
		}
		for _, segment := range path {
			r.Prompt += segment.Tokens
		}
		if err := b.Add(&r); err != nil {
			t.Fatal(err)
		}
		paths[who] = append(path, workload.Segment{ID: r.OutputID, Tokens: r.Output})
	}
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// plainTrial draws a scheduler, and a plain engine that is to agree with it.
func plainTrial(t *testing.T, trial int) (p Params, v *plain) {
	s := rng.New(uint64(trial), 1, "plain")
	w := random(t, s, 60)
	if trial%3 == 0 {
		w = talks(t, s, 60)
	}
	v = &plain{w: w, capacity: int64(260 + s.IntN(600)), random: 99, cached: map[int32]int32{}, used: map[int32]int{}, credit: map[int]int{}}
	if trial%2 == 0 {
		q := new(SGLang)
		param.Defaults(q)
		settings(s, &q.Radix)
		q.Order = []string{"fcfs", "longest-prefix", "shortest-prompt", "priority"}[s.IntN(4)]
		p, v.p, v.order = q, q.Radix, q.Order
	} else {
		q := new(Preble)
		param.Defaults(q)
		settings(s, &q.Radix)
		q.Order = []string{"priority-groups", "fcfs-mpq", "longest-prefix", "fcfs"}[s.IntN(4)]
		q.ChunkTokens = 8 + s.IntN(120)
		q.WholeFree = float64(s.IntN(12)) / 10
		q.Groups = 2 + s.IntN(12)
		q.Reclassify = s.IntN(2) == 0
		p, v.p, v.order, v.mix = q, q.Radix, q.Order, q
	}
	v.ratio, v.host.HostTier = v.p.Ratio, v.p.HostTier
	v.log.Reset(w.Len())
	return p, v
}

// Start, first token, finish, cached tokens and preemptions of every request,
// how it ended, and the memory in use at the end, are those of the plain engine.
func TestSGLangAndPrebleAgainstPlain(t *testing.T) {
	var retractions, timeouts, rejections int
	for trial := range trials(400) {
		p, v := plainTrial(t, trial)
		w := v.w
		fast, rp, outcome := drive(t, w, p, linear{}, v.capacity)
		want := make([]string, w.Len())
		v.play(t, linear{}, want)
		for i := range w.Len() {
			got := fmt.Sprint(fast.StartNs[i], fast.FirstNs[i], fast.FinishNs[i], fast.Cached[i], fast.Host[i], fast.Preemptions[i], outcome[i])
			if want := fmt.Sprint(v.log.StartNs[i], v.log.FirstNs[i], v.log.FinishNs[i], v.log.Cached[i], v.log.Host[i], v.log.Preemptions[i], want[i]); got != want {
				t.Fatalf("trial %d (%+v, capacity %d), request %d: start, first, finish, cached, host, preemptions, outcome are %v, plain %v", trial, p, v.capacity, i, got, want)
			}
			retractions += int(fast.Preemptions[i])
			switch {
			case outcome[i] == "rejected":
				rejections++
			case outcome[i] != "":
				timeouts++
			}
		}
		if got := rp.(*sglang).memory(); got != v.memory() {
			t.Fatalf("trial %d: %d tokens in memory, plain %d", trial, got, v.memory())
		}
	}
	t.Logf("%d retractions, %d time-outs, %d rejections", retractions, timeouts, rejections)
	if retractions < 200 || timeouts < 200 || rejections < 200 {
		t.Errorf("%d retractions, %d time-outs and %d rejections: the trials do not reach them", retractions, timeouts, rejections)
	}
}

// Two requests with a common prefix of 40 tokens, worked by hand: the second
// comes while the first decodes. It finds the prefix where prompts are taken up
// at the end of their prefill, and does not where at the end of their request,
// as in SGLang 0.1. The engine waits after the step that sends the first token
// out, and after the one that ends a request.
func TestSGLangByHand(t *testing.T) {
	var b workload.Builder
	for i, at := range []int64{0, 2} {
		r := workload.Request{ArrivalUs: at, After: none, Session: none, OutputID: none, Output: int32(4 - 2*i), Prompt: 50, Segments: []workload.Segment{{ID: 1, Tokens: 40}}}
		if err := b.Add(&r); err != nil {
			t.Fatal(err)
		}
	}
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	// The first: 1,000 + 50 x 10 = 1,500 ns of prefill. The second comes at 2,000
	// ns and is admitted behind the wait of a millisecond, or behind the first
	// decode of 1,050 ns. Its prefill takes 1,000 + 10 x 10 + 40 with the prefix and
	// 1,500 without; then, but for waits, both decode in 1,000 + 50 + 50 ns, or
	// 1,101 where the first has decoded before, the second ends, and the first has
	// 1,051 and 1,052 ns, or only the latter, to go.
	for _, x := range []struct {
		ready         string
		stream        int
		cached        int32
		start, finish int64 // of the second, and of the first
	}{
		{"prefill-end", 8, 40, 1_001_500, 3_005_843},
		{"finish", 8, 0, 1_001_500, 3_006_203},
		{"finish", 0, 0, 2_550, 1_006_203},
	} {
		p := new(SGLang)
		param.Defaults(p)
		p.Ready, p.StreamSteps, p.StepWaitMs, p.FinishWaitMs, p.CachePrivate, p.DecodeSteps = x.ready, x.stream, 0, 1, false, 1
		log, _, _ := drive(t, w, p, linear{}, 1000)
		if log.Cached[1] != x.cached || log.StartNs[1] != x.start || log.FirstNs[0] != 1500 || log.FinishNs[0] != x.finish {
			t.Errorf("ready at %s, streamed every %d steps: the second finds %d tokens at %d ns, the first ends at %d; expected %d, %d, %d",
				x.ready, x.stream, log.Cached[1], log.StartNs[1], log.FinishNs[0], x.cached, x.start, x.finish)
		}
	}
}
