package queueing

import "math"

// never is the time of what does not happen.
const never = math.MaxInt64

// tournament knows the least of a fixed number of keys while they change, the
// lower index first among equal ones: a binary tree whose nodes hold the winner
// of the two below.
type tournament struct {
	leaves int // a power of two
	nodes  []entrant
}

type entrant struct {
	key int64
	id  int
}

// newTournament returns n keys of never.
func newTournament(n int) tournament {
	leaves := 1
	for leaves < n {
		leaves *= 2
	}
	t := tournament{leaves, make([]entrant, 2*leaves)}
	for i := range leaves {
		t.nodes[leaves+i] = entrant{never, i}
	}
	for i := leaves - 1; i > 0; i-- {
		t.nodes[i] = t.nodes[2*i]
	}
	return t
}

// min returns the least key and its index.
func (t *tournament) min() entrant { return t.nodes[1] }

// set changes key i.
func (t *tournament) set(i int, key int64) {
	at := t.leaves + i
	t.nodes[at] = entrant{key, i}
	for at > 1 {
		left, right := &t.nodes[at&^1], &t.nodes[at|1]
		winner := left
		if right.key < left.key {
			winner = right
		}
		at >>= 1
		above := &t.nodes[at]
		if above.id != i && winner.id != i {
			return // i neither won here before nor does now
		}
		*above = *winner
	}
}

// unique says whether the least key, which is i's, is less than all others.
func (t *tournament) unique(i int) bool {
	key := t.nodes[1].key
	for at := t.leaves + i; at > 1; at >>= 1 {
		if t.nodes[at^1].key == key {
			return false
		}
	}
	return true
}

// winners appends the indices of all keys that are equal to the least one, in
// order.
func (t *tournament) winners(out []int) []int { return t.collect(1, t.nodes[1].key, out) }

func (t *tournament) collect(at int, key int64, out []int) []int {
	if t.nodes[at].key != key {
		return out
	}
	if at >= t.leaves {
		return append(out, t.nodes[at].id)
	}
	return t.collect(2*at+1, key, t.collect(2*at, key, out))
}
