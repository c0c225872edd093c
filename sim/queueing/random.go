package queueing

import (
	"switchyard/sim/dist"
	"switchyard/sim/rng"
)

var randomPolicy = Policy{
	Name:      "random",
	Summary:   "a server at random",
	Needs:     "nothing",
	Freshness: "none",
	Breaks:    "queues form at some servers while others idle: each is an M/G/1 queue, whose wait grows as C2/(1-rho)",
	TieBreak:  "none",
	Speeds:    "ignores them, or with weights: speeds is as likely to take a server as it is fast",
	Source:    "textbook",
	New:       func() Params { return new(Random) },
}

// Random takes a server at random.
type Random struct {
	Weights string `yaml:"weights" default:"equal" enum:"equal|speeds" doc:"whether all servers are equally likely, or in proportion to their speeds"`
}

func (*Random) sees() sight { return seesNothing }

func (p *Random) build(e env) chooser {
	r := &random{stream: e.stream, servers: e.servers}
	if p.Weights == "speeds" && !e.equal {
		weights := make([]float64, e.servers)
		for i := range weights {
			weights[i] = e.speed(i)
		}
		r.weighted = dist.NewDiscrete(weights)
	}
	return r
}

type random struct {
	stream   *rng.Stream
	servers  int
	weighted *dist.Discrete // nil: all alike
}

func (r *random) pick(*view) int {
	if r.weighted != nil {
		return r.weighted.Draw(r.stream)
	}
	return r.stream.IntN(r.servers)
}

func (r *random) choose(b *block) {
	if r.weighted != nil {
		for k := range b.n {
			b.server[k] = int32(r.weighted.Draw(r.stream))
		}
		return
	}
	for k := range b.n {
		b.server[k] = int32(r.stream.IntN(r.servers))
	}
}
