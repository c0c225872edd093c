package router

import "switchyard/sim/rng"

var leastRequestsPolicy = Policy{
	Name:     "least-requests",
	Summary:  "the replica with the fewest outstanding requests (join the shortest queue)",
	Needs:    "its own dispatches in flight",
	TieBreak: "random",
	Source:   "textbook",
	New:      func() Params { return new(LeastRequests) },
}

var leastTokensPolicy = Policy{
	Name:     "least-tokens",
	Summary:  "the replica with the fewest outstanding prompt and output tokens",
	Needs:    "its own dispatches in flight, and the output length of each",
	TieBreak: "random",
	Source:   "textbook; output lengths as an oracle knows them",
	New:      func() Params { return new(LeastTokens) },
}

// LeastRequests takes the replica with the fewest outstanding requests.
type LeastRequests struct{}

// Build implements Params.
func (*LeastRequests) Build(e Env) Router { return leastRequests{e.Random} }

type leastRequests struct{ stream *rng.Stream }

func (r leastRequests) Route(_ int32, v *View) int {
	explainLoads(v, "least", v.Up)
	return argmin(v.Up, v.Requests, r.stream)
}

// LeastTokens takes the replica with the fewest outstanding tokens.
type LeastTokens struct{}

// Build implements Params.
func (*LeastTokens) Build(e Env) Router { return leastTokens{e.Random} }

type leastTokens struct{ stream *rng.Stream }

func (r leastTokens) Route(_ int32, v *View) int {
	if d := v.Decide("least"); d != nil {
		for _, i := range v.Up {
			d.Score[i] = float64(v.Tokens[i])
		}
	}
	return argmin(v.Up, v.Tokens, r.stream)
}

// argmin returns which of the replicas in up has the smallest load, drawn
// uniformly where there are several; it draws only then.
func argmin[T int32 | int64 | float64](up []int32, load []T, stream *rng.Stream) int {
	best, ties := up[0], 1
	for _, i := range up[1:] {
		switch {
		case load[i] < load[best]:
			best, ties = i, 1
		case load[i] == load[best]:
			ties++
		}
	}
	if ties == 1 {
		return int(best)
	}
	return nth(stream.IntN(ties), up, func(i int32) bool { return load[i] == load[best] })
}

// nth returns the k-th replica in up, from 0, that is one of the ties.
func nth(k int, up []int32, tied func(int32) bool) int {
	for _, i := range up {
		if tied(i) {
			if k == 0 {
				return int(i)
			}
			k--
		}
	}
	panic("router: fewer ties than counted")
}
