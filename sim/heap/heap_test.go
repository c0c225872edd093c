package heap

import (
	"cmp"
	"slices"
	"testing"

	"switchyard/sim/rng"
)

// A sorted list is the naive heap.
func TestAgainstSorting(t *testing.T) {
	s := rng.New(1, 1, "heap")
	var h Heap
	var naive []Item
	for i := range 20000 {
		if len(naive) == 0 || s.IntN(2) == 0 {
			x := Item{Key: int64(s.IntN(50)), ID: int32(i)}
			h.Push(x)
			naive = append(naive, x)
			slices.SortFunc(naive, func(a, b Item) int {
				return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.ID, b.ID))
			})
			continue
		}
		if got := h.Pop(); got != naive[0] {
			t.Fatalf("operation %d: popped %v, want %v", i, got, naive[0])
		}
		naive = naive[1:]
	}
}

// What is left after an item is removed comes out in order.
func TestRemove(t *testing.T) {
	for i := range 9 {
		var h Heap
		for _, key := range []int64{5, 3, 8, 1, 9, 2, 7, 4, 6} {
			h.Push(Item{Key: key, ID: int32(key)})
		}
		gone := h[i].Key
		h.Remove(i)
		for key := int64(1); key < 10; key++ {
			if key != gone && h.Pop().Key != key {
				t.Fatalf("after %d is removed, the rest does not come out in order", gone)
			}
		}
	}
}
