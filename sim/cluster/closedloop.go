package cluster

import (
	"switchyard/sim/engine"
	"switchyard/sim/heap"
	"switchyard/sim/workload"
)

// closedLoop releases requests that wait for others: a heap of released ones by
// (time, number), and for each request the list of those that wait for it.
type closedLoop struct {
	work   *workload.Workload
	after  []int32 // by request: the first that waits for it, or None
	beside []int32 // by request: the next that waits for the same, or None
	heap   heap.Heap

	// Where requests wait for more than one:
	left   []int32        // by request: how many of those have not ended
	behind workload.Lists // of each request: those that have it in Also
}

func (c *closedLoop) reset(w *workload.Workload) {
	c.work, c.heap = w, c.heap[:0]
	if !w.Closed() {
		return
	}
	c.after = resized(c.after, w.Len())
	c.beside = resized(c.beside, w.Len())
	for i := range c.after {
		c.after[i], c.beside[i] = workload.None, workload.None
	}
	c.joins(w)
	for i := w.Len() - 1; i >= 0; i-- {
		if p := w.After[i]; p != workload.None {
			c.beside[i] = c.after[p]
			c.after[p] = int32(i)
		}
	}
}

// joins lists what waits for several requests.
func (c *closedLoop) joins(w *workload.Workload) {
	c.left = c.left[:0]
	if w.Also.From == nil {
		return
	}
	n := w.Len()
	c.left = zeroed(c.left, n)
	c.behind.From = zeroed(c.behind.From, n+1)
	c.behind.Items = resized(c.behind.Items, len(w.Also.Items))
	for _, p := range w.Also.Items {
		c.behind.From[p+1]++
	}
	for i := range n {
		c.behind.From[i+1] += c.behind.From[i]
	}
	at := make([]int32, n)
	copy(at, c.behind.From)
	for i := range n {
		list := w.Also.Of(i)
		if w.After[i] != workload.None {
			c.left[i] = int32(1 + len(list))
		}
		for _, p := range list {
			c.behind.Items[at[p]] = int32(i)
			at[p]++
		}
	}
}

// next returns the time of the next released request, Never without.
func (c *closedLoop) next() int64 {
	if len(c.heap) == 0 {
		return engine.Never
	}
	return c.heap[0].Key
}

// id returns the number of the next released request.
func (c *closedLoop) id() int32 { return c.heap[0].ID }

// release lets those arrive that wait for request id, which left at now.
func (c *closedLoop) release(id int32, now int64) {
	if !c.work.Closed() {
		return
	}
	for i := c.after[id]; i != workload.None; i = c.beside[i] {
		c.ended(i, now)
	}
	if len(c.left) > 0 {
		for _, i := range c.behind.Of(int(id)) {
			c.ended(i, now)
		}
	}
}

// ended says that a request that i waits for has left at now.
func (c *closedLoop) ended(i int32, now int64) {
	if len(c.left) > 0 {
		if c.left[i]--; c.left[i] > 0 {
			return
		}
	}
	think := int64(0)
	if c.work.ThinkUs != nil {
		think = c.work.ThinkUs[i] * 1000
	}
	c.heap.Push(heap.Item{Key: now + think, ID: i})
}

// take removes the next released request and returns its number.
func (c *closedLoop) take() int32 { return c.heap.Pop().ID }
