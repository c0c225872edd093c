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
	a, b := two(v.Up, r.stream)
	if d := v.Decide("draws"); d != nil {
		d.Score[a], d.Score[b] = float64(v.Requests[a]), float64(v.Requests[b])
	}
	if v.Requests[b] < v.Requests[a] {
		return b
	}
	return a
}

// two draws two distinct replicas; the same twice where there is one.
func two(up []int32, stream *rng.Stream) (a, b int) {
	if len(up) == 1 {
		return int(up[0]), int(up[0])
	}
	i := stream.IntN(len(up))
	j := stream.IntN(len(up) - 1)
	if j >= i {
		j++
	}
	return int(up[i]), int(up[j])
}
