package engine

import (
	"math"

	"switchyard/sim/heap"
)

// Limits are what ends a request's wait before it is served.
type Limits struct {
	QueueTimeoutS float64 `yaml:"queue_timeout_s" default:"0" min:"0" unit:"s" doc:"a request that has waited so long since its arrival and was never admitted leaves unserved at the next step boundary; 0 = never"`
	QueueLimit    int     `yaml:"queue_limit" default:"0" min:"0" unit:"requests" doc:"requests that may wait on a replica; one that finds so many is rejected; 0 = any number"`
}

// waitingRules say in which order requests wait, and how long.
type waitingRules struct {
	order  string // see Lecture.Order and Preble.Order
	groups int
	fixed  bool // requests keep the group in which they were first looked at
	limits Limits
}

// place is where a waiting request stands.
type place struct {
	seq         int32 // order of coming; dead for one that left from the middle
	left, right int32 // see index
}

const dead = math.MinInt32

// line is a waiting order. A request that is added is newer than all others or,
// where the places say so, older.
type line interface {
	add(id int32)
	begin()       // an iteration's admissions begin
	first() int32 // the request that is next; none where no other may be admitted
	take(id int32)
	drop(id int32)
}

// queue is the waiting line of a replica. No order sorts it or goes through it:
// adding, taking and dropping a request cost a logarithm of the number that
// wait, a change of the cache as much for each set of requests with one prefix
// below the node that changed.
type queue struct {
	n      int // waiting requests
	newest int32
	oldest int32
	places []place // by request
	line   line
	limits Limits

	fifo   fifo
	sorted sorted
	index  index
	fixed  fixed
	rounds rounds
	cursor cursor

	timeouts []heap.Item // first arrivals by the time at which they leave
	timed    int         // of these, gone or admitted
}

func (q *queue) reset(rules waitingRules, s *Setup) {
	s.Log.wait(len(s.Work.Prompt))
	q.n, q.newest, q.oldest, q.limits, q.places = 0, 0, 0, rules.limits, s.Log.places
	q.timeouts, q.timed = q.timeouts[:0], 0
	switch rules.order {
	case "fcfs":
		q.fifo.reset(q.places)
		q.line = &q.fifo
	case "shortest-prompt":
		q.sorted.reset(q.places, s.Work.Prompt, 1)
		q.line = &q.sorted
	case "priority":
		q.sorted.reset(q.places, s.Work.Priority, -1)
		q.line = &q.sorted
	case "longest-prefix":
		q.index.reset(s, grouping{})
		q.line = &q.index
	case "priority-groups", "fcfs-mpq":
		by := grouping{count: rules.groups, code: rules.order == "fcfs-mpq"}
		q.index.reset(s, by)
		of := groups(&q.index)
		if rules.fixed {
			s.Cache.unwatch(s.Index)
			q.fixed.reset(&q.index, by)
			of = &q.fixed
		}
		if by.code {
			q.cursor.reset(of, by.count)
			q.line = &q.cursor
		} else {
			q.rounds.reset(of, by.count)
			q.line = &q.rounds
		}
	default:
		panic("engine: no waiting order " + rules.order)
	}
}

func (q *queue) len() int { return q.n }

// full reports whether the queue takes no other request.
func (q *queue) full() bool { return q.limits.QueueLimit > 0 && q.n >= q.limits.QueueLimit }

// push adds a request that arrives now.
func (q *queue) push(id int32, now int64) {
	q.back(id)
	if t := q.limits.QueueTimeoutS; t > 0 {
		q.timeouts = append(q.timeouts, heap.Item{Key: now + int64(t*1e9), ID: id})
	}
}

// back adds a request behind all others.
func (q *queue) back(id int32) {
	q.n++
	q.newest++
	q.places[id].seq = q.newest
	q.line.add(id)
}

// front adds a request before all others.
func (q *queue) front(id int32) {
	q.n++
	q.oldest--
	q.places[id].seq = q.oldest
	q.line.add(id)
}

// begin starts an iteration's admissions.
func (q *queue) begin() {
	if q.n > 0 {
		q.line.begin()
	}
}

// peek returns the request that is next, none where no other may be admitted
// in this iteration.
func (q *queue) peek() int32 {
	if q.n == 0 {
		return none
	}
	return q.line.first()
}

// take removes the request that peek returned.
func (q *queue) take(id int32) {
	q.n--
	q.line.take(id)
}

// deadline returns the time at which the next request leaves that has not been
// admitted by then, Never without.
func (q *queue) deadline(log *Log) int64 {
	for ; q.timed < len(q.timeouts); q.timed++ {
		if t := q.timeouts[q.timed]; log.StartNs[t.ID] < 0 {
			return t.Key
		}
	}
	q.timeouts, q.timed = q.timeouts[:0], 0
	return Never
}

// expire appends the requests whose time is up to gone, and notes it.
func (q *queue) expire(now int64, log *Log, gone []int32) []int32 {
	for q.deadline(log) <= now {
		id := q.timeouts[q.timed].ID
		q.timed++
		q.n--
		q.line.drop(id)
		log.TimedOut[id] = true
		gone = append(gone, id)
	}
	return gone
}

// fifo is first come, first served.
type fifo struct {
	ids    []int32 // from at on
	at     int
	places []place
}

func (f *fifo) reset(places []place) { f.ids, f.at, f.places = f.ids[:0], 0, places }

func (f *fifo) begin() {}

func (f *fifo) add(id int32) {
	if f.places[id].seq >= 0 {
		f.ids = append(f.ids, id)
		return
	}
	if f.at == 0 {
		const room = 16
		f.ids = append(f.ids, make([]int32, room)...)
		copy(f.ids[room:], f.ids)
		f.at = room
	}
	f.at--
	f.ids[f.at] = id
}

func (f *fifo) first() int32 {
	for f.at < len(f.ids) {
		if id := f.ids[f.at]; f.places[id].seq != dead {
			return id
		}
		f.pop()
	}
	return none
}

func (f *fifo) take(int32) { f.pop() }

// pop removes the first request and now and then the room before it.
func (f *fifo) pop() {
	f.at++
	if f.at == len(f.ids) {
		f.ids, f.at = f.ids[:0], 0
	} else if f.at >= 1024 && f.at > len(f.ids)/2 {
		f.ids = f.ids[:copy(f.ids, f.ids[f.at:])]
		f.at = 0
	}
}

func (f *fifo) drop(id int32) {
	if f.first() == id {
		f.pop()
	} else {
		f.places[id].seq = dead
	}
}

// sorted is an order by what does not change while a request waits.
type sorted struct {
	places []place
	rank   []int32 // by request, nil where all are equal
	sign   int64   // 1 for the least rank first, -1 for the greatest
	heap   heap.Heap
}

func (s *sorted) reset(places []place, rank []int32, sign int64) {
	s.places, s.rank, s.sign, s.heap = places, rank, sign, s.heap[:0]
}

func (s *sorted) begin() {}

func (s *sorted) add(id int32) {
	rank := int64(0)
	if s.rank != nil {
		rank = s.sign * int64(s.rank[id])
	}
	s.heap.Push(heap.Item{Key: rank<<32 + int64(s.places[id].seq), ID: id})
}

func (s *sorted) first() int32 {
	for len(s.heap) > 0 {
		if id := s.heap[0].ID; s.places[id].seq != dead {
			return id
		}
		s.heap.Pop()
	}
	return none
}

func (s *sorted) take(int32) { s.heap.Pop() }

func (s *sorted) drop(id int32) {
	if s.first() == id {
		s.heap.Pop()
	} else {
		s.places[id].seq = dead
	}
}

var _ = []line{(*fifo)(nil), (*sorted)(nil), (*index)(nil), (*rounds)(nil), (*cursor)(nil)}
