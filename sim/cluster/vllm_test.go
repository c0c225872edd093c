package cluster

import (
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/engine/vllmref"
	"switchyard/sim/hardware"
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// vllmTrial is one random configuration with its requests, as the engine and
// as the reference are given them.
type vllmTrial struct {
	config   vllmref.Config
	requests []vllmref.Request
	builder  workload.Builder
}

// tokens appends the identities of a segment's tokens.
func tokens(content []int64, segment int64, n int32) []int64 {
	for i := range int64(n) {
		content = append(content, segment<<20|i)
	}
	return content
}

// add adds a request with a prompt of segments and a private rest.
func (v *vllmTrial) add(t *testing.T, r workload.Request, rest int32) {
	t.Helper()
	own := int64(1e6) + 2*int64(len(v.requests))
	q := vllmref.Request{ArrivalUs: r.ArrivalUs, OutputTokens: int(r.Output)}
	for _, s := range r.Segments {
		q.Content = tokens(q.Content, s.ID, s.Tokens)
		r.Prompt += s.Tokens
	}
	r.Prompt += rest
	q.Content = tokens(q.Content, own, rest)
	q.PromptTokens = len(q.Content)
	if r.OutputID != workload.None {
		q.OutputContent = tokens(nil, r.OutputID, r.Output)
	}
	r.After, r.Session = workload.None, workload.None
	v.requests = append(v.requests, q)
	if err := v.builder.Add(&r); err != nil {
		t.Fatal(err)
	}
}

// pick returns one of its arguments.
func pick[T any](s *rng.Stream, of ...T) T { return of[s.IntN(len(of))] }

// newVLLMTrial draws a configuration. The cache is large, or as small as about
// the largest request or a few of them.
func newVLLMTrial(t *testing.T, trial int) *vllmTrial {
	t.Helper()
	s := rng.New(uint64(trial), 1, "vllm")
	v := &vllmTrial{config: vllmref.Config{
		Replicas: 1 + s.IntN(3),
		BaseUs:   float64(pick(s, 500, 1000, 4000)), PerRequestUs: pick(s, 0, 3.5), PerPrefillUs: pick(s, 2, 10.25), PerContextUs: pick(s, 0.01, 0.125),
		BlockSize: pick(s, 4, 8, 16, 32, 7), TokenBudget: pick(s, 512, 1024, 2048, 4096), MaxSeqs: pick(s, 8, 32, 64, 256),
		LongPrefillThreshold: pick(s, 0, 0, 64, 200, 500), AdmissionDelayUs: pick[int64](s, 0, 0, 700, 60000), FrontEndUs: pick[int64](s, 0, 1234),
	}}
	if trial%7 == 0 { // fewer tokens than sequences
		v.config.TokenBudget, v.config.LongPrefillThreshold = 20+s.IntN(60), pick(s, 0, 16)
	}
	systems, documents, aligned := 1+s.IntN(3), 1+s.IntN(12), s.IntN(3) == 0
	unit := int32(1)
	if aligned {
		unit = int32(v.config.BlockSize)
	}
	size := func(id int64, most int) int32 {
		return unit * (1 + int32(rng.New(uint64(trial), int(id), "size").IntN(max(1, most/int(unit)))))
	}
	largest, at := 0, int64(0)
	gap := pick(s, 2000, 12000, 60000)
	outputs := pick(s, 3, 40, 150)
	n := pick(s, 60, 150)
	var histories [][]workload.Segment
	var turns []workload.Request
	for i := range n {
		at += int64(s.IntN(gap))
		if s.IntN(8) == 0 {
			at += int64(s.IntN(20 * gap))
		}
		r := workload.Request{ArrivalUs: at, OutputID: workload.None, Output: 1 + int32(s.IntN(outputs))}
		rest := int32(s.IntN(120))
		switch s.IntN(5) {
		case 0: // nothing shared
			rest += int32(1 + s.IntN(700))
		case 1: // a turn of a conversation whose outputs later prompts hold
			if len(turns) > 0 && s.IntN(5) == 0 { // the same once more, to the last token of its output
				again := turns[len(turns)-1-s.IntN(min(3, len(turns)))]
				r.Segments, r.Output, r.OutputID, rest = again.Segments, again.Output, again.OutputID, 0
				break
			}
			history := []workload.Segment{{ID: 900, Tokens: size(900, 60)}}
			if len(histories) > 0 && s.IntN(4) > 0 {
				history = histories[s.IntN(len(histories))]
			}
			question := int64(3000 + i)
			history = append(history[:len(history):len(history)], workload.Segment{ID: question, Tokens: size(question, 90)})
			r.Segments, rest = history, 0
			r.OutputID = int64(6000 + i)
			histories = append(histories, append(history[:len(history):len(history)], workload.Segment{ID: r.OutputID, Tokens: r.Output}))
			turns = append(turns, r)
		default: // a document under a system prompt
			system := int64(1 + s.IntN(systems))
			r.Segments = []workload.Segment{{ID: system, Tokens: size(system, 200)}}
			if s.IntN(4) > 0 {
				document := 100*system + int64(s.IntN(documents))
				r.Segments = append(r.Segments, workload.Segment{ID: document, Tokens: size(document, 900)})
			}
			if s.IntN(4) == 0 {
				rest = 0
			}
		}
		v.add(t, r, rest)
		q := v.requests[i]
		largest = max(largest, (q.PromptTokens+q.OutputTokens)/v.config.BlockSize+1)
	}
	switch s.IntN(3) {
	case 0:
		v.config.Blocks = 20000
	case 1:
		v.config.Blocks = max(260, 2*largest)
	default:
		v.config.Blocks = largest*3/4 + s.IntN(largest)
	}
	return v
}

// run simulates the trial with the engine.
func (v *vllmTrial) run(t *testing.T, sim *Sim) *Result {
	t.Helper()
	c := v.config
	p := &engine.VLLM{
		TokenBudget: c.TokenBudget, MaxSeqs: c.MaxSeqs, LongPrefill: c.LongPrefillThreshold, BlockSize: c.BlockSize, Blocks: c.Blocks,
		PrefixCaching: true, AdmissionDelayUs: c.AdmissionDelayUs, FrontEndUs: c.FrontEndUs,
	}
	linear := hardware.LinearParams{
		BaseUs: c.BaseUs, PerRequestUs: c.PerRequestUs, PerPrefillTokenUs: c.PerPrefillUs, PerContextTokenUs: c.PerContextUs, WholeUs: true,
	}
	step, err := linear.Build(hardware.GPU{}, hardware.Model{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	w, err := v.builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(Config{Replicas: c.Replicas, Step: step, KVTokens: p.KVTokens(0), Engine: p}, w, "round-robin", policy(t, "round-robin"), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// outcome is what both say of a request.
func outcome(r *Result, i int) vllmref.Outcome {
	if r.Status[i] == Rejected {
		return vllmref.Outcome{Rejected: true}
	}
	us := func(ns int64) int64 { return (ns - r.ArrivalNs[i]) / 1000 }
	return vllmref.Outcome{TTFTUs: us(r.FirstNs[i]), E2EUs: us(r.FinishNs[i]), CachedTokens: int(r.Cached[i]), Preemptions: int(r.Preemptions[i])}
}

// The engine agrees with the plain reference on every request: time to first
// token, end-to-end latency, hits and preemptions.
func TestVLLMReference(t *testing.T) {
	var sim Sim
	trials, preemptions, hits, rejected, many := 280, 0, 0, 0, 0
	if testing.Short() {
		trials = 60
	}
	for trial := range trials {
		v := newVLLMTrial(t, trial)
		want, err := vllmref.Run(v.config, v.requests)
		if err != nil {
			t.Fatal(err)
		}
		got := v.run(t, &sim)
		here := 0
		for i := range want {
			if o := outcome(got, i); o != want[i] {
				t.Fatalf("trial %d, %+v: request %d of %d: got %+v, want %+v", trial, v.config, i, len(want), o, want[i])
			}
			here += want[i].Preemptions
			hits += want[i].CachedTokens
			if want[i].Rejected {
				rejected++
			}
		}
		preemptions += here
		if here > 100 {
			many++
		}
	}
	t.Logf("%d preemptions (more than 100 in %d trials), %d tokens hit, %d requests rejected", preemptions, many, hits, rejected)
	if preemptions == 0 || many == 0 || hits == 0 || rejected == 0 {
		t.Error("the trials leave something out")
	}
}
