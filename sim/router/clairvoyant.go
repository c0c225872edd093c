package router

import "switchyard/sim/engine"

var clairvoyantPolicy = Policy{
	Name:      "clairvoyant",
	Summary:   "the replica on which the request would end first, by all that is so: no real router knows this much",
	Formula:   "argmin prefill(tokens ahead) + miss_weight × prefill(own tokens not cached) + (output - 1) × step(decodes there and its own)",
	Needs:     "caches, queues and outputs as they are, its own dispatches included",
	Belief:    "live caches, and what is on its way; takes all replicas to be equally fast",
	Staleness: "none",
	Terms:     []string{"ahead_ns", "own_ns", "decode_ns"},
	TieBreak:  "first index",
	Source:    "a heuristic with perfect information, to say what a router could gain; greedy, so that it is no bound",
	New:       func() Params { return new(Clairvoyant) },
}

// Clairvoyant takes the replica with the earliest estimated completion.
type Clairvoyant struct {
	MissWeight   float64 `yaml:"miss_weight" default:"1" min:"0" max:"1000" unit:"ratio" doc:"how often the request's own prefill counts: above 1, requests wait for a cached prefix rather than compute it again for others to wait for"`
	DecodeWeight float64 `yaml:"decode_weight" default:"1" min:"0" max:"1000" unit:"ratio" doc:"how often its decodes count"`
}

// Build implements Params.
func (p *Clairvoyant) Build(e Env) Router {
	const prompt = 2048
	return &clairvoyant{*p, e.Step, float64(engine.Prefill(e.Step, prompt, 0)) / prompt}
}

// Reads implements Reader.
func (*Clairvoyant) Reads() Reading { return Reading{On: true} }

// WantsPrefixes implements Prefixed.
func (*Clairvoyant) WantsPrefixes() bool { return true }

type clairvoyant struct {
	Clairvoyant
	step    engine.StepModel
	perNext float64 // ns of a prompt token that is ahead
}

func (c *clairvoyant) Route(id int32, v *View) int {
	d := v.Decide("least")
	prompt, output := int64(v.Work.Prompt[id]), int64(v.Work.Output[id])
	best, least := v.Up[0], 0.0
	for k, i := range v.Up {
		g := &v.Gauges[i]
		held := v.held(id, int(i), false)
		hit := min(int64(held), prompt-1)
		fresh := prompt - hit
		ahead := float64(c.perNext * float64(g.Prefill))
		own := float64(c.MissWeight * float64(c.step.StepNs(engine.Batch{
			Tokens: fresh, Prefill: fresh, Requests: 1, Context: hit, Attention2: fresh * (2*hit + fresh),
		})))
		decodes := int64(g.Running+g.Waiting) + 1
		context := g.KVTokens + prompt
		decode := float64(c.DecodeWeight * float64(output-1) * float64(c.step.StepNs(engine.Batch{
			Tokens: decodes, Requests: decodes, Context: context, DecodeContext: context, Attention2: 2*context + decodes,
		})))
		score := ahead + own + decode
		if d != nil {
			d.Score[i], d.Cached[i] = score, held
			d.Terms[0][i], d.Terms[1][i], d.Terms[2][i] = ahead, own, decode
		}
		if k == 0 || score < least {
			best, least, v.Believed = i, score, held
		}
	}
	return int(best)
}
