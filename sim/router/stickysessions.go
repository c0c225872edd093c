package router

import "switchyard/sim/workload"

// stickySessions remembers when each session was last seen. Entries that have
// not been seen for a while, or are too many, go at the ticks of a timer.
type stickySessions struct {
	of           []int32 // by request: its session, numbered from 0; none without
	seenNs       []int64 // by session: -1 where it is not remembered
	newer, older []int32
	newest       int32
	oldest       int32
	count, limit int
	ttlNs        int64
	periodNs     int64
	tickNs       int64 // of the last tick that has been dealt with
}

// newStickySessions keeps up to limit sessions, 0 for any number.
func newStickySessions(w *workload.Workload, ttlS, periodS float64, limit int) stickySessions {
	k := stickySessions{of: make([]int32, w.Len()), newest: none, oldest: none, limit: limit,
		ttlNs: int64(ttlS * 1e9), periodNs: int64(periodS * 1e9)}
	number := map[int64]int32{}
	for id := range k.of {
		k.of[id] = none
		if w.Session == nil || w.Session[id] == workload.None {
			continue
		}
		n, ok := number[w.Session[id]]
		if !ok {
			n = int32(len(number))
			number[w.Session[id]] = n
		}
		k.of[id] = n
	}
	n := len(number)
	k.seenNs, k.newer, k.older = make([]int64, n), make([]int32, n), make([]int32, n)
	for i := range k.seenNs {
		k.seenNs[i] = none
	}
	return k
}

// knows reports whether a session is remembered.
func (k *stickySessions) knows(session int32) bool { return k.seenNs[session] != none }

// see notes that a session is here at now.
func (k *stickySessions) see(session int32, now int64) {
	if k.knows(session) {
		k.forget(session)
	}
	k.seenNs[session] = now
	k.newer[session], k.older[session] = none, k.newest
	if k.newest != none {
		k.newer[k.newest] = session
	} else {
		k.oldest = session
	}
	k.newest = session
	k.count++
}

// forget drops a session that is remembered.
func (k *stickySessions) forget(session int32) {
	k.seenNs[session] = none
	newer, older := k.newer[session], k.older[session]
	if newer != none {
		k.older[newer] = older
	} else {
		k.newest = older
	}
	if older != none {
		k.newer[older] = newer
	} else {
		k.oldest = newer
	}
	k.count--
}

// expired drops and returns a session that a tick up to now does away with, none
// when there are no more.
func (k *stickySessions) expired(now int64) int32 {
	if k.periodNs == 0 || now-k.tickNs < k.periodNs {
		return none
	}
	tick := now - now%k.periodNs
	if s := k.oldest; s != none && (tick-k.seenNs[s] > k.ttlNs || k.limit > 0 && k.count > k.limit) {
		k.forget(s)
		return s
	}
	k.tickNs = tick
	return none
}
