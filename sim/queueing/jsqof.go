package queueing

import "switchyard/sim/rng"

var jsqOfPolicy = Policy{
	Name:      "jsq-d",
	Summary:   "of d servers drawn at random the one with the fewest requests",
	Needs:     "the number of requests at d servers",
	Freshness: "forgiving: two choices stay below random up to ages of 16 services; more choices need fresher states",
	Breaks:    "at very old information (50 services); the worst server is never found on purpose, so that a full one drains only as chance has it",
	TieBreak:  "a parameter; random means the first drawn, which is as likely to be any",
	Speeds:    "ignores them, or with include_self compares (requests + 1)/speed",
	Source:    "Mitzenmacher, 2001, The Power of Two Choices in Randomized Load Balancing; Vvedenskaya, Dobrushin and Karpelevich, 1996",
	New:       func() Params { return new(JSQOf) },
}

// JSQOf takes the least loaded of Choices servers drawn at random. The j-th
// drawn is the r-th in order of index of those not drawn yet, r uniform; with
// Replacement it is any server.
type JSQOf struct {
	Choices     int  `yaml:"choices" default:"2" min:"1" max:"1000" doc:"d, how many servers are drawn"`
	Replacement bool `yaml:"replacement" doc:"whether one server may be drawn twice"`
	Ties
	Self
}

func (*JSQOf) sees() sight { return seesRequests }

func (p *JSQOf) build(e env) chooser {
	j := &jsqOf{
		stream: e.stream, servers: e.servers, ties: newTies(p.Ties, e), keys: make([]int64, p.Choices),
		draws: draws{count: p.Choices, of: e.servers, distinct: !p.Replacement},
	}
	if p.IncludeSelf && !e.equal {
		return &shortestDelayOf{jsqOf: j, speed: e.speed}
	}
	j.queues = make([]ring[int64], e.servers)
	return &plainJSQOf{j}
}

type jsqOf struct {
	stream  *rng.Stream
	servers int
	ties    ties
	draws   draws
	keys    []int64       // of the drawn
	queues  []ring[int64] // departures of each server's requests, for serve
}

// best returns the drawn server with the least key.
func (j *jsqOf) best(drawn []int, from int) int {
	chosen, lowest := drawn[0], j.keys[0]
	for c := 1; c < len(drawn); c++ {
		i, key := drawn[c], j.keys[c]
		if key < lowest || key == lowest && j.prefers(i, chosen, from) {
			chosen, lowest = i, key
		}
	}
	if j.ties.rule == tieRotating {
		j.ties.turn(chosen, from)
	}
	return chosen
}

// prefers says whether i, drawn after k, is taken before it when they tie.
func (j *jsqOf) prefers(i, k, from int) bool {
	switch j.ties.rule {
	case tieFirst:
		return i < k
	case tieRotating:
		next := j.ties.next[from]
		if (i >= next) != (k >= next) {
			return i >= next
		}
		return i < k
	}
	return false
}

// plainJSQOf compares requests.
type plainJSQOf struct{ *jsqOf }

func (j *plainJSQOf) pick(v *view) int {
	drawn := j.draws.draw(j.stream)
	for c, i := range drawn {
		j.keys[c] = v.load(i)
	}
	return j.best(drawn, v.from)
}

func (j *plainJSQOf) serve(f *farm, b *block) {
	if j.draws.count == 2 && j.draws.distinct && j.ties.rule == tieRandom {
		j.serveTwo(f, b)
		return
	}
	for k := range b.n {
		t := b.time[k]
		drawn := j.draws.draw(j.stream)
		for c, i := range drawn {
			j.keys[c] = int64(j.length(i, t))
		}
		j.send(f, b, k, j.best(drawn, 0))
	}
}

// serveTwo is serve for the common case.
func (j *plainJSQOf) serveTwo(f *farm, b *block) {
	for k := range b.n {
		t := b.time[k]
		i := j.stream.IntN(j.servers)
		other := j.stream.IntN(j.servers - 1)
		if other >= i {
			other++
		}
		if j.length(other, t) < j.length(i, t) {
			i = other
		}
		j.send(f, b, k, i)
	}
}

func (j *plainJSQOf) send(f *farm, b *block, k, i int) {
	done := f.serve(i, b.time[k], b.need[k])
	b.server[k], b.done[k] = int32(i), done
	j.queues[i].push(done)
}

// length returns the number of requests at server i, whose departures up to t
// are forgotten.
func (j *jsqOf) length(i int, t int64) int {
	q := &j.queues[i]
	for q.len() > 0 && *q.first() <= t {
		q.drop()
	}
	return q.len()
}

func (j *plainJSQOf) lengths(t int64, counts []int64) []int64 {
	for i := range j.queues {
		counts = count(counts, j.length(i, t))
	}
	return counts
}

// count adds one server with n requests.
func count(counts []int64, n int) []int64 {
	for len(counts) <= n {
		counts = append(counts, 0)
	}
	counts[n]++
	return counts
}

// shortestDelayOf is JSQOf with include_self on servers of unequal speed.
type shortestDelayOf struct {
	*jsqOf
	speed func(int) float64
}

func (s *shortestDelayOf) pick(v *view) int {
	drawn := s.draws.draw(s.stream)
	for c, i := range drawn {
		s.keys[c] = orderedBits(float64(v.load(i)+1) / s.speed(i))
	}
	return s.best(drawn, v.from)
}
