package router

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

type roundRobin struct{ next int }

func (r *roundRobin) Route(_ int32, v *View) int {
	chosen := r.next
	if r.next++; r.next == v.Replicas {
		r.next = 0
	}
	return chosen
}
