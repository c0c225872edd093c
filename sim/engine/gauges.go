package engine

// Gauges are what a replica's metrics say: its state at the end of its last
// finished step, with the requests that came since as waiting. A step that is
// under way shows nothing of what it does.
type Gauges struct {
	Waiting  int32 // requests that wait to be admitted
	Running  int32 // admitted requests
	KVTokens int64 // tokens of the KV cache that those hold
}

// show notes the gauges at the end of a step.
func (rp *base) show() {
	rp.shown = Gauges{
		int32(rp.waiting.len()), int32(rp.admitted()),
		rp.cache.cached[rp.index] - rp.cache.loose[rp.index] + rp.reserved,
	}
}

// Gauges implements Replica.
func (rp *base) Gauges(now int64) Gauges {
	g := rp.shown
	if rp.rules.grows && rp.running && rp.decoded > 1 {
		steps, end := rp.advance(now, rp.decoded)
		if end > now {
			steps--
		}
		g.KVTokens += steps * int64(len(rp.finish))
	}
	return g
}

// Started implements Replica.
func (rp *base) Started() []int32 { return rp.started }

// show notes the gauges at the end of a step.
func (rp *vllm) show() {
	rp.shown = Gauges{
		int32(len(rp.queue) - rp.head + len(rp.preempted)), int32(rp.running),
		int64(rp.blocks-rp.pool.free) * int64(rp.size),
	}
}

// Gauges implements Replica.
func (rp *vllm) Gauges(now int64) Gauges {
	g := rp.shown
	if rp.busy && rp.stretch > 1 {
		if n := rp.boundary(now + 1); n > 0 {
			g.KVTokens = int64(rp.blocks-rp.pool.free+rp.plan[n-1].taken) * int64(rp.size)
		}
	}
	return g
}

// Started implements Replica.
func (rp *vllm) Started() []int32 { return rp.started }
