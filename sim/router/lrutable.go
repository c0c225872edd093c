package router

// lruTable keeps a number for each of the keys 0 to n-1 that were put in last,
// up to a capacity: a map in order of use without hashing or allocation.
type lruTable struct {
	value    []int32 // none without
	next     []int32 // towards older ones; entry n stands between oldest and latest
	prev     []int32
	size     int
	capacity int
}

func newLRUTable(n, capacity int) *lruTable {
	t := &lruTable{value: make([]int32, n), next: make([]int32, n+1), prev: make([]int32, n+1), capacity: capacity}
	for i := range t.value {
		t.value[i] = none
	}
	t.next[n], t.prev[n] = int32(n), int32(n)
	return t
}

// put sets the number of a key, which is the latest now, and returns the key
// that had to go for it, none mostly.
func (t *lruTable) put(key, value int32) (gone int32) {
	if t.value[key] == none {
		t.size++
	} else {
		t.unlink(key)
	}
	t.value[key] = value
	head := int32(len(t.value))
	t.prev[key], t.next[key] = head, t.next[head]
	t.prev[t.next[head]] = key
	t.next[head] = key
	if t.size <= t.capacity {
		return none
	}
	gone = t.oldest()
	t.remove(gone)
	return gone
}

// remove takes a key out that is in.
func (t *lruTable) remove(key int32) {
	t.unlink(key)
	t.value[key] = none
	t.size--
}

func (t *lruTable) unlink(key int32) {
	t.next[t.prev[key]], t.prev[t.next[key]] = t.next[key], t.prev[key]
}

// oldest returns the key that was put in first, of those that are in.
func (t *lruTable) oldest() int32 { return t.prev[len(t.value)] }
