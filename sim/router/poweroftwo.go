package router

import "switchyard/sim/rng"

var powerOfTwoPolicy = Policy{
	Name:     "power-of-two",
	Summary:  "of two distinct replicas drawn uniformly the one with fewer outstanding requests",
	Needs:    "its own dispatches in flight",
	TieBreak: "the first drawn",
	Source:   "Mitzenmacher, 2001, The Power of Two Choices in Randomized Load Balancing",
	New:      func() Params { return new(PowerOfTwo) },
}

// PowerOfTwo takes the less loaded of two replicas.
type PowerOfTwo struct{}

// Build implements Params.
func (*PowerOfTwo) Build(e Env) Router { return powerOfTwo{e.Random} }

type powerOfTwo struct{ stream *rng.Stream }

func (r powerOfTwo) Route(_ int32, v *View) int {
	if v.Replicas == 1 {
		return 0
	}
	a := r.stream.IntN(v.Replicas)
	b := r.stream.IntN(v.Replicas - 1)
	if b >= a {
		b++
	}
	if v.Requests[b] < v.Requests[a] {
		return b
	}
	return a
}
