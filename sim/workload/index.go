package workload

import "switchyard/sim/rng"

// segmentIndex numbers segments by id and parent in the order in which they
// are first asked for. The first child of a segment is kept with it, so a chain
// is followed without a search; the others, and roots, are in an open hash table
// over the numbers, with linear probing and at most half full: a third of the
// memory of a map with the same keys.
type segmentIndex struct {
	keys  []segmentKey
	first []int32 // by segment: its first child's number plus one; 0 without
	slots []int32 // number of a segment plus one; 0 is free
	used  int     // slots that are not free
}

type segmentKey struct {
	id     int64
	parent int32
}

func (k segmentKey) hash() uint64 {
	return rng.Mix(uint64(k.id) ^ uint64(uint32(k.parent))<<32)
}

// find returns the number of a segment, and whether it had one before.
func (x *segmentIndex) find(parent int32, id int64) (n int32, known bool) {
	if n, known := x.get(parent, id); known {
		return n, true
	}
	n = int32(len(x.keys))
	x.keys = append(x.keys, segmentKey{id, parent})
	x.first = append(x.first, 0)
	if parent != None && x.first[parent] == 0 {
		x.first[parent] = n + 1
		return n, false
	}
	if 2*x.used >= len(x.slots) {
		x.grow()
	}
	x.put(n)
	return n, false
}

// get returns the number of a segment that has one.
func (x *segmentIndex) get(parent int32, id int64) (n int32, known bool) {
	if parent != None {
		child := x.first[parent]
		if child == 0 {
			return None, false
		}
		if x.keys[child-1].id == id {
			return child - 1, true
		}
	}
	if x.used == 0 {
		return None, false
	}
	key := segmentKey{id, parent}
	mask := uint64(len(x.slots) - 1)
	for at := key.hash() & mask; x.slots[at] != 0; at = (at + 1) & mask {
		if n := x.slots[at] - 1; x.keys[n] == key {
			return n, true
		}
	}
	return None, false
}

func (x *segmentIndex) grow() {
	old := x.slots
	x.slots, x.used = make([]int32, max(1024, 2*len(old))), 0
	for _, n := range old {
		if n != 0 {
			x.put(n - 1)
		}
	}
}

// put enters a number at the first free slot from its hash on.
func (x *segmentIndex) put(n int32) {
	mask := uint64(len(x.slots) - 1)
	at := x.keys[n].hash() & mask
	for x.slots[at] != 0 {
		at = (at + 1) & mask
	}
	x.slots[at] = n + 1
	x.used++
}
