package queueing

var jsqPolicy = Policy{
	Name:      "jsq",
	Summary:   "join the shortest queue: the server with the fewest requests, the one in service included",
	Needs:     "the number of requests at every server",
	Freshness: "within a small part of a service time: with states as old as four services it is worse than random, unless the dispatcher adds what it sends",
	Breaks:    "on old information all send to the same servers (herding); the number hides the sizes, so that with heavy tails short requests wait behind long ones",
	TieBreak:  "a parameter",
	Speeds:    "ignores them, or with include_self compares (requests + 1)/speed",
	Source:    "Winston, 1977, Optimality of the Shortest Line Discipline",
	New:       func() Params { return new(JSQ) },
}

// JSQ takes the server with the fewest requests.
type JSQ struct {
	Ties
	Self
}

// Self is the parameter of policies that may count the request itself.
type Self struct {
	IncludeSelf bool `yaml:"include_self" doc:"compare what the loads would be with the request, in time at each server's speed; changes nothing where all speeds are equal"`
}

func (*JSQ) sees() sight { return seesRequests }

func (p *JSQ) build(e env) chooser {
	if p.IncludeSelf && !e.equal {
		return &shortestDelay{ties: newTies(p.Ties, e), speed: e.speed}
	}
	j := &jsq{ties: newTies(p.Ties, e)}
	j.levels = newLevels(e.servers)
	j.next = newTournament(e.servers)
	j.queues = make([]ring[int64], e.servers)
	return j
}

// jsq is JSQ that compares requests.
type jsq struct {
	ties ties
	tied []int

	// What serve keeps.
	levels levels
	next   tournament    // departure at each server
	queues []ring[int64] // departures of its requests
}

func (j *jsq) pick(v *view) int {
	j.tied = least(v.loads(), j.tied[:0])
	return j.ties.among(j.tied, v.from)
}

func (j *jsq) serve(f *farm, b *block) {
	for k := range b.n {
		t := b.time[k]
		j.drain(t)
		low := j.levels.low
		i := j.ties.in(j.levels.set(low), j.levels.size[low])
		done := f.serve(i, t, b.need[k])
		b.server[k], b.done[k] = int32(i), done
		if low == 0 {
			j.next.set(i, done)
		}
		j.queues[i].push(done)
		j.levels.up(i)
	}
}

// drain lets all depart whose time has come.
func (j *jsq) drain(t int64) {
	for m := j.next.min(); m.key <= t; m = j.next.min() {
		q := &j.queues[m.id]
		q.drop()
		j.levels.down(m.id)
		next := int64(never)
		if q.len() > 0 {
			next = *q.first()
		}
		j.next.set(m.id, next)
	}
}

func (j *jsq) lengths(t int64, counts []int64) []int64 {
	j.drain(t)
	for level, n := range j.levels.size {
		for len(counts) <= level {
			counts = append(counts, 0)
		}
		counts[level] += int64(n)
	}
	return counts
}

// shortestDelay is JSQ with include_self on servers of unequal speed.
type shortestDelay struct {
	ties  ties
	speed func(int) float64
	keys  []int64
	tied  []int
}

func (s *shortestDelay) pick(v *view) int {
	s.keys = s.keys[:0]
	for i, n := range v.loads() {
		s.keys = append(s.keys, orderedBits(float64(n+1)/s.speed(i)))
	}
	s.tied = least(s.keys, s.tied[:0])
	return s.ties.among(s.tied, v.from)
}
