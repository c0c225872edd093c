package queueing

// engine serves requests event by event. It is the way of a study that needs
// more than first come first served by live information of one dispatcher.
type engine struct {
	*farm
	sees    sight
	chooser chooser
	info    *information
	ps      bool
	next    tournament // departure at each server
	count   []int64    // requests at each server
	queues  []queue    // first come first served
	shares  []share    // processor sharing
	ended   ended
	shown   view
	partial bool // service counts before a request ends, for expected work
}

// queue is a server that serves first come first served.
type queue struct {
	jobs    ring[job]
	since   int64 // start of the first job
	waiting int64 // predictions of the others, summed
}

// job is a request at a server.
type job struct {
	done  int64
	guess int64 // predicted service
	from  int32
}

// ended collects the measured requests that have ended since it was emptied.
type ended struct {
	response, need []int64
}

// view is what a policy may know when it decides.
type view struct {
	engine *engine
	from   int
	time   int64
	need   int64
	guess  int64
}

// load returns what the policy sees of server i.
func (v *view) load(i int) int64 { return v.engine.info.load(v.engine, i, v.from, v.time) }

// loads returns what the policy sees of all servers, valid until the next call.
func (v *view) loads() []int64 { return v.engine.info.all(v.engine, v.from, v.time) }

// service returns how long server i would work on a size.
func (v *view) service(i int, size int64) int64 { return v.engine.service(i, size) }

func newEngine(c *Config, f *farm, ch chooser, info *information) *engine {
	n := c.System.Servers
	e := &engine{
		farm: f, sees: c.Policy.sees(), chooser: ch, info: info, ps: c.System.Discipline == "ps",
		next: newTournament(n), count: make([]int64, n),
	}
	if p, ok := c.Policy.(*ExpectedWork); ok {
		e.partial = p.Progress
	}
	if e.ps {
		e.shares = make([]share, n)
	} else {
		e.queues = make([]queue, n)
	}
	e.shown.engine = e
	return e
}

// level returns the number of server i that its policy sees, at time t, which
// is no earlier than the last event.
func (e *engine) level(i int, t int64) int64 {
	switch e.sees {
	case seesWork, seesQueue:
		return max(0, e.servers[i].free-t)
	case seesExpected:
		if e.ps {
			return e.shares[i].expected(t, e.partial)
		}
		return e.queues[i].expected(t, e.partial)
	}
	return e.count[i]
}

func (q *queue) expected(t int64, partial bool) int64 {
	if q.jobs.len() == 0 {
		return 0
	}
	first := q.jobs.first().guess
	if partial {
		first = max(0, first-(t-q.since))
	}
	return q.waiting + first
}

// serve serves a block. Servers are chosen already where the policy is blind.
func (e *engine) serve(b *block, chosen bool) {
	for k := range b.n {
		t := b.time[k]
		e.advance(t)
		e.info.arrives(t)
		if !chosen {
			v := &e.shown
			v.from, v.time, v.need, v.guess = int(b.from[k]), t, b.need[k], b.guess[k]
			b.server[k] = int32(e.chooser.pick(v))
		}
		e.send(b, k)
	}
}

// send lets request k of a block arrive at its server.
func (e *engine) send(b *block, k int) {
	i, t, need := int(b.server[k]), b.time[k], b.need[k]
	from := int(b.from[k])
	done := e.farm.serve(i, t, need)
	e.count[i]++
	var guess int64
	if e.sees == seesExpected {
		guess = e.service(i, b.guess[k])
	}
	if e.ps {
		e.shares[i].arrive(t, sharer{
			arrival: t, service: e.service(i, need), need: need, guess: guess,
			from: b.from[k], measured: b.measured,
		})
		e.next.set(i, e.shares[i].nextDeparture())
	} else {
		q := &e.queues[i]
		if q.jobs.len() == 0 {
			q.since = t
			e.next.set(i, done)
		} else {
			q.waiting += guess
		}
		q.jobs.push(job{done, guess, b.from[k]})
		b.done[k] = done
	}
	if e.sees == seesWork {
		e.info.arrived(i, from, t, e.servers[i].free, e.service(i, need))
	} else {
		e.info.arrived(i, from, t, e.count[i], 1)
	}
}

// advance lets all happen that does so before the arrivals of time t.
func (e *engine) advance(t int64) {
	e.info.skip(t)
	for {
		m := e.next.min()
		switch {
		case m.key <= t && m.key <= e.info.next:
			if e.ps {
				e.departShared(m.id, m.key)
			} else {
				e.depart(m.id, m.key)
			}
		case e.info.next <= t:
			e.info.refresh(e)
		default:
			return
		}
	}
}

// depart ends the first request of server i.
func (e *engine) depart(i int, t int64) {
	q := &e.queues[i]
	from := int(q.jobs.first().from)
	q.jobs.drop()
	next := int64(never)
	if q.jobs.len() > 0 {
		q.since = t
		q.waiting -= q.jobs.first().guess
		next = q.jobs.first().done
	}
	e.next.set(i, next)
	e.count[i]--
	e.info.departed(i, from, t, e.count[i])
}

// departShared ends the requests of server i that have had their service at
// time t.
func (e *engine) departShared(i int, t int64) {
	s := &e.shares[i]
	s.work(t)
	for first := true; s.due(first); first = false {
		x := s.leave()
		if x.measured {
			e.ended.response = append(e.ended.response, t-x.arrival)
			e.ended.need = append(e.ended.need, x.need)
		}
		e.count[i]--
		e.info.departed(i, int(x.from), t, e.count[i])
	}
	e.next.set(i, s.nextDeparture())
}

// drain ends all requests.
func (e *engine) drain() {
	e.info.next = never
	e.advance(never - 1)
}

func (e *engine) lengths(t int64, counts []int64) []int64 {
	e.advance(t)
	for _, n := range e.count {
		counts = count(counts, int(n))
	}
	return counts
}
