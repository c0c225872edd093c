package router

import "switchyard/sim/engine"

var mooncakePolicy = Policy{
	Name:      "mooncake",
	Summary:   "Mooncake's algorithm 1 without transfers of KV: the least estimated time to first token",
	Formula:   "argmin estimated prefills before it + estimated prefill(L, cached)",
	Needs:     "prefixes cached on every replica, from events or its own decisions, the step model, and its own dispatches in flight",
	Belief:    "cache events, in blocks of 512 tokens; or its own decisions for 120 s",
	Staleness: "estimates of its own requests; several routers do not see each other's",
	Terms:     []string{"queue ms", "prefill ms"},
	TieBreak:  "first index; the paper does not say",
	Source:    "Mooncake (arXiv 2407.00079), algorithm 1; not verified against code, since the repository's conductor is an index without a policy. Left out: the branch that fetches a longer prefix from another replica, which needs a KV pool, and rejection by objective",
	New:       func() Params { return new(Mooncake) },
}

// Mooncake are the parameters of Mooncake's choice of a prefill replica.
//
// The queue of a replica is the sum of the estimates of its requests without a
// first token: what of a prefill is already done is not taken off. A prefill is
// estimated as one step without decodes beside it.
type Mooncake struct {
	BlockTokens int32   `yaml:"block_tokens" default:"512" min:"1" unit:"tokens" doc:"tokens of a block; what is cached counts in whole blocks"`
	Belief      string  `yaml:"belief" default:"events" enum:"events|approximate" doc:"what is known of caches: the engines' cache events, or the router's own decisions, believed for a time"`
	TTLSec      float64 `yaml:"ttl_s" default:"120" min:"0.001" max:"1e6" unit:"s" doc:"with belief: approximate, how long a block is believed in after it was last sent"`
}

// WantsEvents implements Subscriber.
func (p *Mooncake) WantsEvents() bool { return p.Belief == "events" }

// Build implements Params.
func (p *Mooncake) Build(e Env) Router {
	b := KVBelief{BlockTokens: p.BlockTokens, Belief: p.Belief, TTLSec: p.TTLSec, TreeBlocks: 1 << 20, PruneTo: .8}
	m := &mooncake{belief: b.build(e), step: e.Step, queueNs: make([]int64, e.Replicas), costNs: make([]int64, e.Replicas),
		partNs: make([]int64, e.Work.Len()), replica: make([]int32, e.Work.Len()), chunk: make([]engine.Chunk, 1)}
	return m
}

type mooncake struct {
	belief  *kvBelief
	step    engine.StepModel
	queueNs []int64 // by replica: estimates of requests without a first token
	costNs  []int64 // by replica: estimated prefill of the request that is routed
	partNs  []int64 // by request: its part of queueNs
	replica []int32 // by request: where it was sent last
	chunk   []engine.Chunk
}

func (m *mooncake) Route(id int32, v *View) int {
	m.belief.match(id, v)
	best := v.Up[0]
	known, lastNs := int32(-1), int64(0) // most replicas have the same cached
	for _, i := range v.Up {
		if c := m.belief.cached[i]; c != known {
			known, lastNs = c, m.prefillNs(v.Work.Prompt[id], c*m.belief.block)
		}
		m.costNs[i] = lastNs
		if m.queueNs[i]+lastNs < m.queueNs[best]+m.costNs[best] {
			best = i
		}
	}
	if d := v.Decide("ttft"); d != nil {
		for _, i := range v.Up {
			d.Terms[0][i], d.Terms[1][i] = float64(m.queueNs[i])/1e6, float64(m.costNs[i])/1e6
			d.Score[i] = float64(m.queueNs[i]+m.costNs[i]) / 1e6
			d.Cached[i] = m.belief.cached[i] * m.belief.block
		}
	}
	v.Believed = m.belief.cached[best] * m.belief.block
	m.replica[id], m.partNs[id] = best, m.costNs[best]
	m.queueNs[best] += m.costNs[best]
	m.belief.sent(id, int(best), v.NowNs)
	return int(best)
}

// prefillNs estimates the prefill of a prompt of which so much is cached; its
// last token is always computed.
func (m *mooncake) prefillNs(prompt, cached int32) int64 {
	done := int64(min(cached, prompt-1))
	tokens := int64(prompt) - done
	m.chunk[0] = engine.Chunk{New: tokens, Done: done}
	return m.step.StepNs(engine.Batch{Tokens: tokens, Prefill: tokens, Requests: 1, Context: done,
		Attention2: tokens * (2*done + tokens), Chunks: &m.chunk})
}

// FirstToken implements Observer.
func (m *mooncake) FirstToken(id int32, _ int, _ *View) {
	m.queueNs[m.replica[id]] -= m.partNs[id]
	m.partNs[id] = 0
}

// Left implements Observer.
func (m *mooncake) Left(id int32, replica int, v *View) { m.FirstToken(id, replica, v) }

// Down implements Follower.
func (m *mooncake) Down(replica int, _ *View) { m.belief.forget(replica) }

// Came implements Follower.
func (m *mooncake) Came(int, *View) {}
