package queueing

var roundRobinPolicy = Policy{
	Name:      "round-robin",
	Summary:   "the servers in turn",
	Needs:     "nothing",
	Freshness: "none",
	Breaks:    "evens out arrivals but not sizes: with heavy tails (C2 of 8 and more) hardly better than random; several dispatchers beat against each other",
	TieBreak:  "none",
	Speeds:    "ignores them, so that slow servers overload first",
	Source:    "textbook; each server is an E_n/G/1 queue under Poisson arrivals",
	New:       func() Params { return new(RoundRobin) },
}

// RoundRobin takes the servers in turn. Dispatcher m starts at server m.
type RoundRobin struct{}

func (*RoundRobin) sees() sight { return seesNothing }

func (*RoundRobin) build(e env) chooser {
	r := &roundRobin{servers: e.servers, next: make([]int, e.config.System.Dispatchers)}
	for m := range r.next {
		r.next[m] = m % e.servers
	}
	return r
}

type roundRobin struct {
	servers int
	next    []int // by dispatcher
}

func (r *roundRobin) pick(v *view) int {
	chosen := r.next[v.from]
	if r.next[v.from]++; r.next[v.from] == r.servers {
		r.next[v.from] = 0
	}
	return chosen
}

func (r *roundRobin) choose(b *block) {
	if len(r.next) > 1 {
		var v view
		for k := range b.n {
			v.from = int(b.from[k])
			b.server[k] = int32(r.pick(&v))
		}
		return
	}
	next := r.next[0]
	for k := range b.n {
		b.server[k] = int32(next)
		if next++; next == r.servers {
			next = 0
		}
	}
	r.next[0] = next
}
