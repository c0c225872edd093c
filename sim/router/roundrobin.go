package router

import "slices"

var roundRobinPolicy = Policy{
	Name:     "round-robin",
	Summary:  "the replicas in turn",
	Needs:    "nothing",
	TieBreak: "none",
	Source:   "textbook",
	New:      func() Params { return new(RoundRobin) },
}

// RoundRobin takes the replicas in turn, from the first on.
type RoundRobin struct{}

// Build implements Params.
func (*RoundRobin) Build(Env) Router { return new(roundRobin) }

type roundRobin struct{ next int32 }

func (r *roundRobin) Route(_ int32, v *View) int {
	at, _ := slices.BinarySearch(v.Up, r.next)
	if at == len(v.Up) {
		at = 0
	}
	r.next = v.Up[at] + 1
	v.candidates("turn", v.Up[at])
	return int(v.Up[at])
}
