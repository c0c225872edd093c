package workload

import "switchyard/sim/rng"

// segmentIndex numbers segments by id and parent in the order in which they
// are first asked for. It is an open hash table over the numbers, with linear
// probing and at most half full: a third of the memory of a map with the same
// keys, and a lookup is most often one comparison.
type segmentIndex struct {
	slots []int32 // number of a segment plus one; 0 is free
	keys  []segmentKey
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
	if 2*len(x.keys) >= len(x.slots) {
		x.grow()
	}
	if n, known := x.get(parent, id); known {
		return n, true
	}
	n = int32(len(x.keys))
	x.keys = append(x.keys, segmentKey{id, parent})
	x.put(n)
	return n, false
}

// get returns the number of a segment that has one.
func (x *segmentIndex) get(parent int32, id int64) (n int32, known bool) {
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
	x.slots = make([]int32, max(1024, 2*len(x.slots)))
	for n := range x.keys {
		x.put(int32(n))
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
}
