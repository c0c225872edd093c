package queueing

var lwlPolicy = Policy{
	Name:      "lwl",
	Summary:   "least work left: the server that will have done all its requests first",
	Needs:     "the sizes of all requests, and with them every server's remaining work",
	Freshness: "within a small part of a service time; herds on old information as jsq does",
	Breaks:    "sizes are seldom known; one long request at each server still blocks all short ones",
	TieBreak:  "a parameter; idle servers tie",
	Speeds:    "compares times, remaining work over speed; with include_self the times at which the request would end",
	Source:    "Harchol-Balter, Crovella and Murta, 1999; equals central-queue request by request (but for the server where several are idle)",
	New:       func() Params { return new(LWL) },
}

// LWL takes the server with the least work left.
type LWL struct {
	Ties
	Self
}

func (*LWL) sees() sight { return seesWork }

func (p *LWL) build(e env) chooser {
	if p.IncludeSelf && !e.equal {
		return &earliestEnd{ties: newTies(p.Ties, e)}
	}
	return &lwl{ties: newTies(p.Ties, e), idlers: newIdlers(e.servers)}
}

type lwl struct {
	ties   ties
	tied   []int
	idlers idlers // for serve
}

func (l *lwl) pick(v *view) int {
	l.tied = least(v.loads(), l.tied[:0])
	return l.ties.among(l.tied, v.from)
}

func (l *lwl) serve(f *farm, b *block) {
	for k := range b.n {
		t := b.time[k]
		l.idlers.advance(t)
		idle := l.idlers.count > 0
		i := 0
		if idle {
			i = l.ties.in(l.idlers.idle, l.idlers.count)
		} else {
			i = l.firstDone()
		}
		done := f.serve(i, t, b.need[k])
		b.server[k], b.done[k] = int32(i), done
		l.idlers.send(i, done, idle)
	}
}

// firstDone chooses where no server is idle.
func (l *lwl) firstDone() int {
	i := l.idlers.busy.min().id
	if l.ties.rule == tieFirst {
		return i
	}
	l.tied = append(l.tied[:0], i)
	if !l.idlers.busy.unique(i) {
		l.tied = l.idlers.busy.winners(l.tied[:0])
	}
	return l.ties.among(l.tied, 0)
}

// earliestEnd is LWL with include_self on servers of unequal speed.
type earliestEnd struct {
	ties ties
	keys []int64
	tied []int
}

func (e *earliestEnd) pick(v *view) int {
	e.keys = e.keys[:0]
	for i, work := range v.loads() {
		e.keys = append(e.keys, work+v.service(i, v.need))
	}
	e.tied = least(e.keys, e.tied[:0])
	return e.ties.among(e.tied, v.from)
}
