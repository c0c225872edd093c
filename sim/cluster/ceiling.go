package cluster

import "switchyard/sim/workload"

// ceiling finds the longest prefix of each prompt that an earlier arrival has as
// well, outputs that later turns read included: Workload.Ceiling, but in the
// order in which requests arrive, which closed loops decide during the run.
type ceiling struct {
	work   *workload.Workload
	seen   []bool // by node
	tokens []int32
}

func (c *ceiling) reset(w *workload.Workload) {
	c.work = w
	if w.Closed() {
		c.seen = resized(c.seen, w.Forest.Nodes())
		clear(c.seen)
		c.tokens = resized(c.tokens, w.Len())
	}
}

// arrive takes the next arrival.
func (c *ceiling) arrive(id int32) {
	w := c.work
	if !w.Closed() {
		return
	}
	c.tokens[id] = c.mark(w.Leaf[id])
	if w.OutputNode != nil {
		c.mark(w.OutputNode[id])
	}
}

// mark notes a path and returns the tokens of it that were noted before.
func (c *ceiling) mark(n int32) int32 {
	f := &c.work.Forest
	for n != workload.None && !c.seen[n] {
		c.seen[n] = true
		n = f.Parent[n]
	}
	if n == workload.None {
		return 0
	}
	return f.End[n]
}

// values returns the ceiling of every request.
func (c *ceiling) values() []int32 {
	if c.work.Closed() {
		return c.tokens
	}
	return c.work.Ceiling
}
