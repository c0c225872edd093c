package engine

import "switchyard/sim/heap"

// ranking is a heap of small numbers by a key of which each has its own, in
// which a number's key can be changed and a number be removed.
type ranking struct {
	items []heap.Item
	place []int32 // by number: its index in items plus one, 0 without
}

func (r *ranking) reset() { r.items, r.place = r.items[:0], r.place[:0] }

// first returns the number with the least key, none without.
func (r *ranking) first() int32 {
	if len(r.items) == 0 {
		return none
	}
	return r.items[0].ID
}

// set gives number n a key.
func (r *ranking) set(n int32, key int64) {
	for int(n) >= len(r.place) {
		r.place = append(r.place, 0)
	}
	at := int(r.place[n]) - 1
	if at < 0 {
		at = len(r.items)
		r.items = append(r.items, heap.Item{Key: key, ID: n})
	} else if r.items[at].Key == key {
		return
	}
	r.settle(at, heap.Item{Key: key, ID: n})
}

// drop removes number n where it is in.
func (r *ranking) drop(n int32) {
	if int(n) >= len(r.place) || r.place[n] == 0 {
		return
	}
	at, end := int(r.place[n])-1, len(r.items)-1
	last := r.items[end]
	r.items, r.place[n] = r.items[:end], 0
	if at < end {
		r.settle(at, last)
	}
}

// has reports whether number n is in, and its key.
func (r *ranking) has(n int32) (key int64, ok bool) {
	if int(n) >= len(r.place) || r.place[n] == 0 {
		return 0, false
	}
	return r.items[r.place[n]-1].Key, true
}

// settle puts x where it belongs, from index i up or down.
func (r *ranking) settle(i int, x heap.Item) {
	for i > 0 {
		up := (i - 1) / 2
		if r.items[up].Key <= x.Key {
			break
		}
		r.put(i, r.items[up])
		i = up
	}
	for {
		down := 2*i + 1
		if down >= len(r.items) {
			break
		}
		if down+1 < len(r.items) && r.items[down+1].Key < r.items[down].Key {
			down++
		}
		if r.items[down].Key >= x.Key {
			break
		}
		r.put(i, r.items[down])
		i = down
	}
	r.put(i, x)
}

func (r *ranking) put(i int, x heap.Item) {
	r.items[i] = x
	r.place[x.ID] = int32(i + 1)
}
