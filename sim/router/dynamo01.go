package router

import "switchyard/sim/rng"

var dynamo01Policy = Policy{
	Name:      "dynamo-kv-0.1",
	Summary:   "NVIDIA Dynamo's first KV router: cached share of the prompt against KV usage and waiting requests",
	Formula:   "argmax 2*overlap/L - KV usage - waiting/max waiting",
	Needs:     "prefixes cached on every replica by event, KV usage and waiting requests of every replica",
	Belief:    "cache events",
	Staleness: "metrics as last polled, with one waiting request added for each of its own picks since",
	Terms:     []string{"overlap", "KV usage", "waiting"},
	TieBreak:  "random",
	Source:    "Dynamo 0.1, lib/llm/src/kv_router/scheduler.rs at 00564be8; the period of its metrics is not verified against code",
	New:       func() Params { return new(DynamoKV01) },
}

// DynamoKV01 are the parameters of the router of Dynamo 0.1.
type DynamoKV01 struct {
	BlockTokens   int32   `yaml:"block_tokens" default:"16" min:"1" unit:"tokens" doc:"tokens of a block; what is cached counts in whole blocks"`
	OverlapWeight float64 `yaml:"overlap_weight" default:"2" min:"0" max:"1000" unit:"ratio" doc:"weight of the cached share of the prompt against KV usage and against waiting requests"`
	PollMs        float64 `yaml:"poll_ms" default:"100" min:"0" max:"3600000" unit:"ms" doc:"time between readings of metrics"`
}

// Reads implements Reader.
func (p *DynamoKV01) Reads() Reading {
	return Reading{On: true, PeriodNs: int64(p.PollMs * 1e6), Corrected: true}
}

// WantsEvents implements Subscriber.
func (*DynamoKV01) WantsEvents() bool { return true }

// Build implements Params.
func (p *DynamoKV01) Build(e Env) Router {
	b := KVBelief{BlockTokens: p.BlockTokens, Belief: "events"}
	return &dynamo01{stream: e.Random, weight: p.OverlapWeight, belief: b.build(e), score: make([]float64, e.Replicas)}
}

type dynamo01 struct {
	stream *rng.Stream
	weight float64
	belief *kvBelief
	score  []float64 // negative: the least is taken
}

func (d *dynamo01) Route(id int32, v *View) int {
	d.belief.match(id, v)
	longest := int32(0)
	for _, i := range v.Up {
		longest = max(longest, v.gauge(i).Waiting)
	}
	explain := v.Decide("score")
	for _, i := range v.Up {
		g := v.gauge(i)
		overlap := float64(d.belief.cached[i]*d.belief.block) / float64(v.Work.Prompt[id])
		usage := float64(g.KVTokens) / float64(v.KVTokens)
		waiting := 0.0
		if longest > 0 {
			waiting = float64(g.Waiting) / float64(longest)
		}
		d.score[i] = usage + waiting - float64(d.weight*overlap)
		if explain != nil {
			explain.Score[i] = -d.score[i]
			explain.Cached[i] = d.belief.cached[i] * d.belief.block
			explain.Terms[0][i], explain.Terms[1][i], explain.Terms[2][i] = overlap, usage, waiting
		}
	}
	chosen := argmin(v.Up, d.score, d.stream)
	v.Believed = d.belief.cached[chosen] * d.belief.block
	return chosen
}
