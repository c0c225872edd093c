package simulate

import (
	"math"

	"switchyard/sim/engine"
)

// work is what a request of the window asks of a replica, on average over those
// that started, in tokens.
type work struct{ prompt, cached, output float64 }

// limits are what a scheduler lets a step hold.
type limits struct{ tokens, requests float64 }

// limitsOf returns the limits of schedulers that mix prefill and decode in
// every step under one budget; ok is false for others, whose steps are of two
// kinds.
func limitsOf(p engine.Params) (l limits, ok bool) {
	switch p := p.(type) {
	case *engine.Lecture:
		return limits{float64(p.ChunkTokens), float64(p.MaxRunning)}, true
	case *engine.VLLM:
		return limits{float64(p.TokenBudget), float64(p.MaxSeqs)}, true
	}
	return l, false
}

// capacity returns the requests a second that a replica completes while all
// its steps are full. A request has p = prompt - cached tokens to compute and
// o - 1 decodes, so that a step that completes x requests holds x p and
// x (o - 1) new tokens, and needs x (o - 1) requests in memory, each with p and
// half its output. The largest x that budget, requests and memory allow is put
// to the step model:
//
//	x = min(budget / (p + o - 1), requests / (o - 1), C / ((o - 1) (p + o/2)))
//
// Cached prefixes are taken to be held once and to leave the memory free, so
// that this is what a replica could do at best, with the hits that it had.
func (c *Cluster) capacity(w work) float64 {
	l, ok := limitsOf(c.Engine)
	compute, decodes := w.prompt-w.cached, w.output-1
	if !ok || !(compute+decodes > 0) {
		return math.NaN()
	}
	x := l.tokens / (compute + decodes)
	if decodes > 0 {
		x = min(x, l.requests/decodes, float64(c.Config.KVTokens)/(decodes*(compute+w.output/2)))
	}
	q, d := x*compute, x*decodes
	context := d * (w.prompt + w.output/2)
	before := w.cached + compute/2 // context of a prefill token, on average
	whole := func(v float64) int64 { return int64(math.Round(v)) }
	b := engine.Batch{
		Tokens: whole(q) + whole(d), Prefill: whole(q), Requests: max(1, whole(d+x)),
		Context: whole(context + x*before), DecodeContext: whole(context),
		Attention2: whole(q*(2*w.cached+compute)) + 2*whole(context) + whole(d),
		Chunks:     &[]engine.Chunk{{New: whole(q), Done: whole(before)}},
	}
	return x / (float64(c.Config.Step.StepNs(b)) / 1e9)
}

// load returns what arrives in the window over what the replicas could
// complete at best.
func (c *Cluster) load(m *Meter, out *Metrics) float64 {
	var w work
	n := 0.0
	for i, in := range m.in {
		if in && m.start[i] >= 0 {
			n++
			w.output += float64(m.output[i])
		}
	}
	w = work{float64(out.PromptTokens) / n, float64(out.CachedTokens) / n, w.output / n}
	taken := ratio(float64(out.Arrived-out.Turned)*1e6, float64(out.WindowEndUs-out.WindowStartUs))
	return ratio(taken, c.capacity(w)*float64(c.Params.Replicas))
}
