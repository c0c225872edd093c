package cluster

import (
	"cmp"
	"fmt"
	"slices"

	"switchyard/sim/engine"
)

// EventKind says what happens to a replica.
type EventKind uint8

// What can happen to a replica.
const (
	Fail  EventKind = iota // it loses its memory and its requests, and takes no more
	Drain                  // it takes no more requests and serves those that it has
	Join                   // it takes requests from then on, with an empty cache; before its first Join it takes none
	Slow                   // its steps take Factor times as long, from the start on
)

// Event is something that happens to a replica.
type Event struct {
	Kind    EventKind
	Replica int
	AtNs    int64
	BackNs  int64   // Fail, Drain: when it takes requests again, after a failure with an empty cache; 0 for never
	Factor  float64 // Slow
	Retry   bool    // Fail: its requests are routed again at once, else they are lost
}

// action is a part of an event: a replica goes or comes.
type action struct {
	atNs    int64
	replica int
	up      bool
	empty   bool // its memory is lost
	retry   bool
}

// slowed is a step model whose steps take longer.
type slowed struct {
	engine.StepModel
	factor float64
}

// StepNs implements engine.StepModel.
func (m slowed) StepNs(b engine.Batch) int64 {
	return int64(float64(m.StepModel.StepNs(b)) * m.factor)
}

// plan lists the actions of the events in order, and the replicas that are up
// at the start.
func (s *Sim) plan(c Config) error {
	s.actions = s.actions[:0]
	absent := make([]bool, c.Replicas)
	for _, e := range c.Events {
		switch {
		case e.Replica < 0 || e.Replica >= c.Replicas:
			return fmt.Errorf("an event names replica %d, expected one of 0 to %d", e.Replica, c.Replicas-1)
		case e.BackNs != 0 && e.BackNs <= e.AtNs:
			return fmt.Errorf("replica %d comes back at %.3f s, before it goes at %.3f s", e.Replica, float64(e.BackNs)/1e9, float64(e.AtNs)/1e9)
		}
		switch e.Kind {
		case Join:
			absent[e.Replica] = true
			s.actions = append(s.actions, action{atNs: e.AtNs, replica: e.Replica, up: true})
		case Fail, Drain:
			s.actions = append(s.actions, action{atNs: e.AtNs, replica: e.Replica, empty: e.Kind == Fail, retry: e.Retry})
			if e.BackNs > 0 {
				s.actions = append(s.actions, action{atNs: e.BackNs, replica: e.Replica, up: true})
			}
		}
	}
	slices.SortStableFunc(s.actions, func(a, b action) int { return cmp.Compare(a.atNs, b.atNs) })
	f := &s.front
	for i := range c.Replicas {
		if !absent[i] {
			f.up = append(f.up, int32(i))
		}
	}
	s.next = 0
	s.setUp(c)
	return nil
}

// setUp tells all views which replicas take requests.
func (s *Sim) setUp(c Config) {
	f := &s.front
	for i, in := range f.routers {
		lo, hi := c.span(i / f.sight.Instances)
		from, _ := slices.BinarySearch(f.up, int32(lo))
		to, _ := slices.BinarySearch(f.up, int32(hi))
		in.view.Up = f.up[from:to]
	}
}

// actNs returns the time of the next action.
func (s *Sim) actNs() int64 {
	if s.next == len(s.actions) {
		return engine.Never
	}
	return s.actions[s.next].atNs
}

// act carries out the next action, and returns how many requests were lost for
// good in it.
func (s *Sim) act(c Config, now int64) (lost int, err error) {
	a := s.actions[s.next]
	s.next++
	f := &s.front
	at, is := slices.BinarySearch(f.up, int32(a.replica))
	if a.up == is {
		return 0, nil // it is so already
	}
	if a.up {
		f.up = slices.Insert(f.up, at, int32(a.replica))
	} else {
		f.up = slices.Delete(f.up, at, at+1)
	}
	s.setUp(c)
	for _, in := range f.routers {
		if in.follower == nil || !s.serves(c, in, a.replica) {
			continue
		}
		in.view.NowNs = now
		if a.up {
			in.follower.Came(a.replica, &in.view)
		} else {
			in.follower.Down(a.replica, &in.view)
		}
	}
	if !a.empty {
		return 0, nil
	}
	return s.fail(c, a, now)
}

// serves reports whether a router sends to a replica's pool.
func (s *Sim) serves(c Config, in *instance, replica int) bool {
	return slices.Index(s.front.routers, in)/s.front.sight.Instances == c.poolOf(replica)
}

// fail takes a replica's memory and requests from it.
func (s *Sim) fail(c Config, a action, now int64) (lost int, err error) {
	r := a.replica
	s.kept[r] = s.engine[r].Stats(now).Plus(s.kept[r])
	s.cache.Drop(r)
	s.front.follow.dropped(r, now)
	s.engine[r].Reset(s.setup(c, r))
	s.ends.set(r, engine.Never)
	var again []int32
	for id, status := range s.result.Status {
		if status == Pending && s.result.Replica[id] == int32(r) {
			again = append(again, int32(id))
		}
	}
	for _, id := range again {
		s.away(id, now)
		s.result.Log.Clear(id)
		s.result.Replica[id] = None
		if !a.retry {
			s.closeBooks(id, now, Lost)
			lost++
		}
	}
	if a.retry {
		for _, id := range again {
			gone, err := s.arrive(c, id, now)
			if err != nil {
				return lost, err
			}
			if gone {
				lost++
			}
		}
	}
	return lost, nil
}
