package queueing

import "switchyard/sim/rng"

var jiqPolicy = Policy{
	Name:      "jiq",
	Summary:   "join the idle queue: an idle server if there is one, else one at random",
	Needs:     "which servers are idle: one message from a server when it becomes so",
	Freshness: "at this moment; an idle server on an old list is soon no longer idle",
	Breaks:    "at high load and few servers none is idle and the choice is random",
	TieBreak:  "a parameter, among idle servers",
	Speeds:    "ignores them",
	Source:    "Lu, Xie, Kliot, Geller, Larus and Greenberg, 2011, Join-Idle-Queue",
	New:       func() Params { return new(JIQ) },
}

// JIQ takes an idle server, else any.
type JIQ struct{ Ties }

func (*JIQ) sees() sight { return seesRequests }

func (p *JIQ) build(e env) chooser {
	return &jiq{ties: newTies(p.Ties, e), stream: e.stream, servers: e.servers, idlers: newIdlers(e.servers)}
}

type jiq struct {
	ties    ties
	stream  *rng.Stream
	servers int
	tied    []int
	idlers  idlers // for serve
}

func (j *jiq) pick(v *view) int {
	j.tied = j.tied[:0]
	for i, n := range v.loads() {
		if n == 0 {
			j.tied = append(j.tied, i)
		}
	}
	if len(j.tied) == 0 {
		return j.stream.IntN(j.servers)
	}
	return j.ties.among(j.tied, v.from)
}

func (j *jiq) serve(f *farm, b *block) {
	for k := range b.n {
		t := b.time[k]
		j.idlers.advance(t)
		idle := j.idlers.count > 0
		i := 0
		if idle {
			i = j.ties.in(j.idlers.idle, j.idlers.count)
		} else {
			i = j.stream.IntN(j.servers)
		}
		done := f.serve(i, t, b.need[k])
		b.server[k], b.done[k] = int32(i), done
		j.idlers.send(i, done, idle)
	}
}
