package engine

// Holder is implemented by replicas that say how much of their KV cache is in
// use.
type Holder interface {
	// KVTokens returns the tokens that are in use in a step of the current
	// stretch, counted from 0: held by running requests or cached, where cached
	// prefixes do not count as free.
	KVTokens(step int) int64
}

// KVTokens implements Holder. Within a stretch nothing changes: there was room
// for all output from the start, or it is a single step.
func (rp *base) KVTokens(int) int64 { return rp.memory() }

// KVTokens implements Holder, in whole blocks: those of the first step, and
// those that the decodes of later ones have run into since.
func (rp *vllm) KVTokens(step int) int64 {
	used := rp.blocks - rp.pool.free
	if step = min(step, rp.stretch-1); step > 0 {
		used += rp.plan[step].taken
	}
	return int64(used) * int64(rp.size)
}
