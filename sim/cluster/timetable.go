package cluster

import "switchyard/sim/engine"

// timetable holds a time for each replica and knows the first: a tournament
// tree whose leaves are the replicas and whose inner nodes name the winner.
type timetable struct {
	size   int // leaves, a power of two
	times  []int64
	winner []int32 // by inner node, 1 the root
}

func (t *timetable) reset(n int) {
	t.size = 1
	for t.size < n {
		t.size *= 2
	}
	t.times = resized(t.times, t.size)
	for i := range t.times {
		t.times[i] = engine.Never
	}
	t.winner = resized(t.winner, t.size)
	for i := t.size - 1; i > 0; i-- {
		t.winner[i] = t.child(2 * i)
	}
}

// child returns the winner below a node; a leaf is its own.
func (t *timetable) child(node int) int32 {
	if node >= t.size {
		return int32(node - t.size)
	}
	return t.winner[node]
}

// set gives a replica another time.
func (t *timetable) set(replica int, time int64) {
	t.times[replica] = time
	for node := (replica + t.size) / 2; node > 0; node /= 2 {
		a, b := t.child(2*node), t.child(2*node+1)
		if t.times[b] < t.times[a] {
			a = b
		}
		t.winner[node] = a
	}
}

// first returns the smallest time and its replica, the lowest where several
// have it.
func (t *timetable) first() (int64, int) {
	winner := int32(0)
	if t.size > 1 {
		winner = t.winner[1]
	}
	return t.times[winner], int(winner)
}
