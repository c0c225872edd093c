// Package heap is a binary heap of numbered items in order of a 64-bit key, an
// item with a lower number first among equal keys. Its order is total, so that
// what comes out does not depend on how the heap was built.
//
//	var h heap.Heap
//	h.Push(heap.Item{Key: 20, ID: 1})
//	h.Push(heap.Item{Key: 10, ID: 2})
//	h.Pop() // {10 2}
package heap

// Item is an entry of a heap.
type Item struct {
	Key int64
	ID  int32
}

func (a Item) before(b Item) bool { return a.Key < b.Key || a.Key == b.Key && a.ID < b.ID }

// Heap holds its least item at index 0. The zero value is empty; it allocates
// only when it grows past its capacity.
type Heap []Item

// Push adds an item.
func (h *Heap) Push(x Item) {
	s := append(*h, x)
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !x.before(s[up]) {
			break
		}
		s[i] = s[up]
		i = up
	}
	s[i] = x
	*h = s
}

// Remove takes out the item at index i, at the cost of building the heap anew.
func (h *Heap) Remove(i int) {
	s := *h
	last := len(s) - 1
	s[i] = s[last]
	old := s[:last]
	*h = s[:0]
	for _, x := range old {
		h.Push(x)
	}
}

// Pop removes the least item of a heap that is not empty.
func (h *Heap) Pop() Item {
	s := *h
	top, x := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	i := 0
	for {
		down := 2*i + 1
		if down >= len(s) {
			break
		}
		if down+1 < len(s) && s[down+1].before(s[down]) {
			down++
		}
		if !s[down].before(x) {
			break
		}
		s[i] = s[down]
		i = down
	}
	if len(s) > 0 {
		s[i] = x
	}
	return top
}
