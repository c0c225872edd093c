package engine

// Holder is implemented by replicas that say how much of their KV cache is in
// use.
type Holder interface {
	// KVTokens returns the tokens that are in use, held by running requests or
	// cached (where cached prefixes do not count as free), and whether every
	// decode step adds a token for each decode: otherwise there is room for all
	// output from the start.
	KVTokens() (tokens int64, grows bool)
}

// KVTokens implements Holder.
func (rp *base) KVTokens() (tokens int64, grows bool) { return rp.memory(), rp.rules.grows }

// KVTokens implements Holder, in whole blocks.
func (rp *vllm) KVTokens() (tokens int64, grows bool) {
	return int64(rp.blocks-rp.pool.free) * int64(rp.size), true
}
