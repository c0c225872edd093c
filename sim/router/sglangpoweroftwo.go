package router

import "switchyard/sim/rng"

var sglangPowerOfTwoPolicy = Policy{
	Name:      "sglang-power-of-two",
	Summary:   "SGLang's power of two: of two distinct replicas drawn uniformly the one with fewer tokens when metrics were last read",
	Formula:   "argmin over two draws of polled tokens, of own requests in flight where either has no sample",
	Needs:     "the replicas' metrics: tokens held and waiting, or with load: usage the share of KV memory in use; its own dispatches in flight until both have been read",
	Belief:    "none",
	Staleness: "polled every 10 s, not corrected in between",
	Terms:     []string{"polled", "requests"},
	TieBreak:  "the first drawn",
	Source:    "sglang sgl-model-gateway/src/policies/power_of_two.rs at 065f331f (tokens); smg model_gateway/src/policies at 73da68ca (usage)",
	New:       func() Params { return new(SGLangPowerOfTwo) },
}

// SGLangPowerOfTwo compares two replicas by what they said last.
type SGLangPowerOfTwo struct {
	Load   string  `yaml:"load" default:"tokens" enum:"tokens|usage" doc:"what is compared: tokens held by running requests and waiting to be prefilled (SGLang), or the share of KV memory in use (SMG)"`
	PollMs float64 `yaml:"poll_ms" default:"10000" min:"0" max:"3600000" unit:"ms" doc:"time between readings of the replicas' metrics"`
}

// Reads implements Reader.
func (p *SGLangPowerOfTwo) Reads() Reading {
	return Reading{On: true, PeriodNs: int64(p.PollMs * 1e6)}
}

// Build implements Params.
func (p *SGLangPowerOfTwo) Build(e Env) Router {
	return &sglangPowerOfTwo{e.Random, p.Load == "usage"}
}

type sglangPowerOfTwo struct {
	stream *rng.Stream
	usage  bool
}

func (r *sglangPowerOfTwo) Route(_ int32, v *View) int {
	v.Believed = none
	a, b := two(v.Up, r.stream)
	first, second, rule := r.load(a, v), r.load(b, v), "polled"
	if !v.Gauges[a].Read || !v.Gauges[b].Read {
		first, second, rule = int64(v.Requests[a]), int64(v.Requests[b]), "requests"
	}
	if d := v.Decide(rule); d != nil {
		d.Score[a], d.Score[b] = float64(first), float64(second)
		for _, i := range v.Up {
			d.Terms[0][i], d.Terms[1][i] = float64(r.load(int(i), v)), float64(v.Requests[i])
		}
	}
	if first <= second {
		return a
	}
	return b
}

// load returns the polled load in tokens. Replicas have equal memories, so that
// the order of shares is that of tokens.
func (r *sglangPowerOfTwo) load(i int, v *View) int64 {
	g := &v.Gauges[i]
	if r.usage {
		return g.KVTokens
	}
	return g.KVTokens + g.Prefill
}
