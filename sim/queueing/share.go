package queueing

import (
	"math"

	"switchyard/sim/heap"
)

// share is a server that works on all its requests at once: with n of them,
// each has the service v' = 1/n a unit of time. v, summed over a busy period,
// is what a request that was there from its start has had; one that comes at
// v ends at v + service.
type share struct {
	v     float64
	last  int64     // the time to which v has been counted
	order heap.Heap // jobs by the v at which they end
	jobs  []sharer  // by ID of order
	spare []int32   // IDs that are not in use
	whole int64     // predictions of all, summed
}

type sharer struct {
	arrival, service, need, guess int64
	from                          int32
	measured                      bool
	entered                       float64 // v at arrival
}

// work counts service up to time t.
func (s *share) work(t int64) {
	if n := len(s.order); n > 0 {
		s.v += float64(t-s.last) / float64(n)
	} else {
		s.v = 0
	}
	s.last = t
}

func (s *share) arrive(t int64, x sharer) {
	s.work(t)
	x.entered = s.v
	id := int32(len(s.jobs))
	if n := len(s.spare); n > 0 {
		id = s.spare[n-1]
		s.spare = s.spare[:n-1]
		s.jobs[id] = x
	} else {
		s.jobs = append(s.jobs, x)
	}
	s.whole += x.guess
	s.order.Push(heap.Item{Key: orderedBits(s.v + float64(x.service)), ID: id})
}

// end is the v at which the next request ends.
func (s *share) end() float64 { return math.Float64frombits(uint64(s.order[0].Key)) }

// nextDeparture returns the first whole tick at which a request has ended.
func (s *share) nextDeparture() int64 {
	n := len(s.order)
	if n == 0 {
		return never
	}
	return s.last + int64(math.Ceil(max(0, s.end()-s.v)*float64(n)))
}

// due says whether a request has ended. The one for which the departure was
// set has, whatever the rounding of v.
func (s *share) due(sure bool) bool { return len(s.order) > 0 && (sure || s.end() <= s.v) }

// leave removes the request that has ended.
func (s *share) leave() sharer {
	id := s.order.Pop().ID
	s.spare = append(s.spare, id)
	s.whole -= s.jobs[id].guess
	return s.jobs[id]
}

// expected returns the work that is left as predictions have it.
func (s *share) expected(t int64, partial bool) int64 {
	if !partial {
		return s.whole
	}
	n := len(s.order)
	if n == 0 {
		return 0
	}
	v := s.v + float64(t-s.last)/float64(n)
	var sum int64
	for _, x := range s.order {
		j := &s.jobs[x.ID]
		sum += max(0, j.guess-int64(v-j.entered))
	}
	return sum
}
