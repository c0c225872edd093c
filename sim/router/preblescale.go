package router

import (
	"slices"

	"switchyard/sim/workload"
)

// prebleScale knows the queueing times of prefixes within H, in two halves, and
// which prefixes are replicated.
type prebleScale struct {
	halfNs int64
	early  history[prebleQueued] // of the first half of H
	late   history[prebleQueued] // of the second
	of     []prebleQueue         // by node
	split  []prebleSplit
	bound  []prebleBound // by node: where a child of a replicated prefix goes
}

// prebleQueued is a first token: how long its request queued.
type prebleQueued struct {
	atNs, ns   int64
	node, life int32
}

// prebleQueue is what is known of the queueing times of a prefix.
type prebleQueue struct {
	early, late   int64 // sums
	earlyN, lateN int32
	life          int32 // times that it was replicated
	split         int32 // its number in prebleScale.split plus one; 0 where it is not replicated
}

// prebleSplit is a replicated prefix.
type prebleSplit struct {
	members []int32
	lastNs  int64 // of its last request
	version int32 // of members
}

type prebleBound struct{ replica, version int32 }

func (s *prebleScale) reset(nodes int, lengthNs int64) {
	*s = prebleScale{halfNs: lengthNs / 2, of: make([]prebleQueue, nodes)}
}

// add notes a first token of a prefix.
func (s *prebleScale) add(node int32, ns, nowNs int64) {
	if node == workload.None {
		return
	}
	q := &s.of[node]
	s.late.push(prebleQueued{nowNs, ns, node, q.life})
	q.late += ns
	q.lateN++
}

// pass moves first tokens from half to half, and out.
func (s *prebleScale) pass(nowNs int64) {
	for s.late.len() > 0 && s.late.first().atNs <= nowNs-s.halfNs {
		x := s.late.pop()
		s.early.push(x)
		if q := &s.of[x.node]; q.life == x.life {
			q.late -= x.ns
			q.lateN--
			q.early += x.ns
			q.earlyN++
		}
	}
	for s.early.len() > 0 && s.early.first().atNs <= nowNs-2*s.halfNs {
		x := s.early.pop()
		if q := &s.of[x.node]; q.life == x.life {
			q.early -= x.ns
			q.earlyN--
		}
	}
}

// active reports whether a prefix is replicated, and notes a request of it. It
// is forgotten when none has come within H.
func (s *prebleScale) active(node int32, nowNs int64) bool {
	if node == workload.None || s.of[node].split == 0 {
		return false
	}
	x := &s.split[s.of[node].split-1]
	if nowNs-x.lastNs >= 2*s.halfNs {
		x.members = x.members[:0]
	}
	x.lastNs = nowNs
	return len(x.members) > 0
}

// leave takes a replica out of all replicated prefixes, whose children are bound
// anew: it may come back, and caches none of them then.
func (s *prebleScale) leave(replica int) {
	for i := range s.split {
		x := &s.split[i]
		if at := slices.Index(x.members, int32(replica)); at >= 0 {
			x.members = slices.Delete(x.members, at, at+1)
			x.version++
		}
	}
}

// grows reports whether the queueing time of a request's prefix has grown as
// much as calls for another replica, and the one with the least load, light, has
// less than the chosen one and does not cache the prefix.
func (b *preble) grows(id int32, chosen, light int, nowNs int64) bool {
	key := b.work.Key[id]
	if key == workload.None || b.match[light] >= b.work.Forest.End[key] || b.window.load(light) >= b.window.load(chosen) {
		return false
	}
	q := &b.scale.of[key]
	least := int32(b.p.AutoscaleSamples)
	if q.earlyN < least || q.lateN < least {
		return false
	}
	return float64(q.late)/float64(q.lateN) >= b.p.AutoscaleRatio*float64(q.early)/float64(q.earlyN) && q.late > 0
}

// replicate adds the replica to those of a prefix, which are at first those
// that cache it, and starts its queueing times anew.
func (b *preble) replicate(key int32, to int, v *View) {
	s, q := &b.scale, &b.scale.of[key]
	if q.split == 0 {
		s.split = append(s.split, prebleSplit{})
		q.split = int32(len(s.split))
		if s.bound == nil {
			s.bound = make([]prebleBound, len(s.of))
		}
	}
	x := &s.split[q.split-1]
	if len(x.members) == 0 {
		for _, i := range v.Up {
			if b.match[i] >= b.work.Forest.End[key] {
				x.members = append(x.members, i)
			}
		}
	}
	if !slices.Contains(x.members, int32(to)) {
		x.members = append(x.members, int32(to))
	}
	x.version++
	x.lastNs = v.NowNs
	*q = prebleQueue{life: q.life + 1, split: q.split}
}

// member chooses among the replicas of a replicated prefix: where the child on
// the request's path is bound to, else, for it and those after it, the least
// cost.
func (b *preble) member(id, key int32, v *View) int {
	s := &b.scale
	x := &s.split[s.of[key].split-1]
	child := b.work.Leaf[id]
	for child != key && b.work.Forest.Parent[child] != key {
		child = b.work.Forest.Parent[child]
	}
	if child != key {
		if to := s.bound[child]; to.version == x.version && v.IsUp(int(to.replica)) {
			return int(to.replica)
		}
	}
	candidate := func(i int32) bool { return slices.Contains(x.members, i) }
	chosen := b.least(id, v, candidate)
	if child != key {
		s.bound[child] = prebleBound{int32(chosen), x.version}
	}
	return chosen
}
