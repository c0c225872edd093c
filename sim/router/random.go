package router

import "switchyard/sim/rng"

var randomPolicy = Policy{
	Name:     "random",
	Summary:  "a replica drawn uniformly",
	Needs:    "nothing",
	TieBreak: "none",
	Source:   "textbook",
	New:      func() Params { return new(Random) },
}

// Random draws a replica uniformly.
type Random struct{}

// Build implements Params.
func (*Random) Build(e Env) Router { return random{e.Random} }

type random struct{ stream *rng.Stream }

func (r random) Route(_ int32, v *View) int {
	v.candidates("draw", v.Up...)
	return int(v.Up[r.stream.IntN(len(v.Up))])
}
