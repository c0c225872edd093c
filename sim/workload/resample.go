package workload

import (
	"cmp"
	"slices"

	"switchyard/sim/rng"
)

// Log is a recorded workload whose requests can be read in any order.
type Log interface {
	Len() int
	At(i int, r *Request) // may reuse r's Segments
}

// Resampler draws bootstrap replications of a Log.
//
// The units that are drawn, with replacement, are whole sessions where the log
// has sessions or requests that wait for others, and else whole windows of
// time. There are as many draws as units. Draw k stands where unit k stood: a
// session starts when session k started, a window covers the time of window k;
// inside a unit times stay as they are. So the process of starts is the
// recorded one and what starts is drawn, or busy and quiet windows come in
// another number and order.
//
// A unit that is drawn twice must not become its own perfect cache hit: in
// all copies but the first, segments that no other unit has get new ids, while
// those shared with other units, such as a system prompt, stay shared.
//
// A Resampler is not changed by use.
type Resampler struct {
	log     Log
	members [][]int32 // requests of each unit, in order
	start   []int64   // of each unit
	nodes   segmentIndex
	shared  []bool // by node: several units have it
}

// NewResampler finds the log's units; windowUs is the length of a window where
// it has no sessions.
func NewResampler(log Log, windowUs int64) *Resampler {
	s := &Resampler{log: log}
	unit := s.units(windowUs)
	s.findShared(unit)
	return s
}

// units numbers the units in order of their first requests and returns the
// unit of each request.
func (s *Resampler) units(windowUs int64) []int32 {
	var r Request
	unit := make([]int32, s.log.Len())
	session := map[int64]int32{}
	windows := true
	for i := range unit {
		s.log.At(i, &r)
		windows = windows && r.Session == None && r.After == None
	}
	for i := range unit {
		s.log.At(i, &r)
		at, known := int32(0), false
		switch {
		case windows:
			k := r.ArrivalUs / windowUs
			for int64(len(s.start)) <= k {
				s.start = append(s.start, int64(len(s.start))*windowUs)
				s.members = append(s.members, nil)
			}
			at, known = int32(k), true
		case r.After != None:
			at, known = unit[r.After], true
		case r.Session != None:
			at, known = session[r.Session]
		}
		if !known {
			at = int32(len(s.members))
			s.members = append(s.members, nil)
			s.start = append(s.start, r.ArrivalUs)
			if r.Session != None {
				session[r.Session] = at
			}
		}
		unit[i] = at
		s.members[at] = append(s.members[at], int32(i))
	}
	return unit
}

// findShared interns all paths and marks the segments that several units have.
func (s *Resampler) findShared(unit []int32) {
	var owner []int32
	visit := func(parent int32, id int64, by int32) int32 {
		n, known := s.nodes.find(parent, id)
		if !known {
			owner = append(owner, by)
			s.shared = append(s.shared, false)
		} else if owner[n] != by {
			s.shared[n] = true
		}
		return n
	}
	var r Request
	for i := range unit {
		s.log.At(i, &r)
		n := int32(None)
		for _, segment := range r.Segments {
			n = visit(n, segment.ID, unit[i])
		}
		if r.OutputID != None {
			visit(n, r.OutputID, unit[i])
		}
	}
}

// placed is a request of a draw.
type placed struct {
	request, draw, copy int32
	at                  int64 // nominal arrival: its own, or its unit's start where it waits
	session             int64
}

// Each calls emit with the requests of the replication that a stream makes, in
// order of arrival, those that wait behind the request they wait for. The
// request is valid until emit returns.
func (s *Resampler) Each(stream *rng.Stream, emit func(*Request) error) error {
	plan := s.draw(stream)
	index := make(map[[2]int32]int32) // (draw, request) -> place, where others wait
	var r Request
	for i := range plan {
		p := &plan[i]
		s.log.At(int(p.request), &r)
		r.Session = p.session
		if r.After != None {
			r.After = index[[2]int32{p.draw, r.After}]
		} else {
			r.ArrivalUs = p.at
		}
		index[[2]int32{p.draw, p.request}] = int32(i)
		s.rename(&r, p.copy)
		if err := emit(&r); err != nil {
			return err
		}
	}
	return nil
}

// draw draws the units and sorts their requests.
func (s *Resampler) draw(stream *rng.Stream) []placed {
	var plan []placed
	copies := make([]int32, len(s.members))
	var r Request
	for k := range s.members {
		u := stream.IntN(len(s.members))
		shift := s.start[k] - s.start[u]
		last := s.start[k]
		for _, i := range s.members[u] {
			s.log.At(int(i), &r)
			if r.After == None {
				last = r.ArrivalUs + shift
			}
			session := int64(None)
			if r.Session != None {
				session = int64(k)
			}
			plan = append(plan, placed{i, int32(k), copies[u], last, session})
		}
		copies[u]++
	}
	slices.SortStableFunc(plan, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	return plan
}

// rename gives the segments that only this unit has the ids of a copy.
func (s *Resampler) rename(r *Request, copy int32) {
	if copy == 0 {
		return
	}
	n, own := int32(None), false
	name := func(id int64) int64 {
		n, _ = s.nodes.get(n, id)
		own = own || !s.shared[n]
		if !own {
			return id
		}
		return copyID(id, copy)
	}
	for j := range r.Segments {
		r.Segments[j].ID = name(r.Segments[j].ID)
	}
	if r.OutputID != None {
		r.OutputID = name(r.OutputID)
	}
}

// copyID is the id of a segment in a later copy of its unit: a hash, which two
// of some million segments under one parent share with a probability of about
// 10^-7. It is never None.
func copyID(id int64, copy int32) int64 {
	h := int64(rng.Mix(rng.Mix(uint64(id)) ^ uint64(copy)))
	if h == None {
		return 0
	}
	return h
}
