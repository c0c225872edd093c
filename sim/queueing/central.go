package queueing

var centralQueuePolicy = Policy{
	Name:      "central-queue",
	Summary:   "one queue for all servers: a request waits until a server is free",
	Needs:     "to hold requests back, and to hear at once when a server is free",
	Freshness: "at this moment",
	Breaks:    "the bound for first come first served, not a dispatch policy: a server idles until the next request has travelled to it",
	TieBreak:  "a parameter, among idle servers",
	Speeds:    "among idle servers the tie rule alone decides, not the speed",
	Source:    "the M/G/k queue: Erlang, 1917, for exponential sizes",
	New:       func() Params { return new(CentralQueue) },
}

// CentralQueue is first come first served from one queue. The request at its
// head starts where a server is free first, which is known when it arrives: so
// it can be sent there at once, as LWL does.
type CentralQueue struct{ Ties }

func (*CentralQueue) sees() sight { return seesQueue }

func (p *CentralQueue) build(e env) chooser {
	return &lwl{ties: newTies(p.Ties, e), idlers: newIdlers(e.servers)}
}
