package engine

import "switchyard/sim/workload"

// HostTier is host memory behind the KV cache of a replica. What is evicted
// from the cache goes there, least recently used segments leave it; nothing
// leaves it by being used. A prompt that goes on there where its cached prefix
// ends is copied back when the request is admitted, and need not be computed.
// The step in which that happens waits for the copies. Copies to the host take
// no time, and neither waiting orders nor routers look at what is there.
type HostTier struct {
	HostTokens     int64   `yaml:"host_tokens" default:"0" min:"0" unit:"tokens" doc:"host memory of a replica for what its KV cache evicts; 0 = none"`
	HostTokensPerS float64 `yaml:"host_tokens_per_s" default:"200000" min:"1" unit:"tokens/s" doc:"rate at which tokens come back; 200,000 are 26 GB/s at 131,072 bytes a token"`
}

// hostTier holds the host memory of all replicas, as matrices [node][replica].
type hostTier struct {
	forest   *workload.Forest
	replicas int
	size     int64   // of a replica, 0 without
	tokens   []int32 // leading tokens of the node that are there
	lru      recency
	used     []int64 // by replica
}

func (h *hostTier) reset(f *workload.Forest, replicas int, size int64) {
	h.forest, h.replicas, h.size = f, replicas, size
	if size == 0 {
		return
	}
	h.tokens = cleared(h.tokens, f.Nodes()*replicas)
	h.lru.reset(f.Nodes(), replicas)
	h.used = cleared(h.used, replicas)
}

// drop forgets what replica r has here.
func (h *hostTier) drop(r int) {
	if h.size == 0 {
		return
	}
	for n := range h.forest.Nodes() {
		h.tokens[n*h.replicas+r] = 0
	}
	h.lru.empty(r)
	h.used[r] = 0
}

// store takes the leading tokens of a node that replica r evicts some of.
func (h *hostTier) store(r int, node, tokens int32) {
	at := int(node)*h.replicas + r
	if h.tokens[at] > 0 {
		h.lru.unlink(r, node)
	}
	if more := tokens - h.tokens[at]; more > 0 {
		h.tokens[at] = tokens
		h.used[r] += int64(more)
	}
	h.lru.push(r, node)
	for h.used[r] > h.size {
		oldest := h.lru.head[r]
		h.lru.unlink(r, oldest)
		have := &h.tokens[int(oldest)*h.replicas+r]
		h.used[r] -= int64(*have)
		*have = 0
	}
}

// load returns the tokens of the path to leaf that are here and go on where
// the match tokens that replica r has cached end; their nodes become the newest.
func (h *hostTier) load(r int, leaf, match int32) int32 {
	f := h.forest
	if leaf == none || f.End[leaf] <= match {
		return 0
	}
	end := f.End[leaf]
	for n := leaf; n != none && f.End[n] > match; n = f.Parent[n] {
		start := f.End[n] - f.Tokens[n]
		have := max(h.tokens[int(n)*h.replicas+r], match-start)
		if have < f.Tokens[n] {
			end = start + have
		}
	}
	if end == match {
		return 0
	}
	for n := leaf; n != none && f.End[n] > match; n = f.Parent[n] {
		if at := int(n)*h.replicas + r; h.tokens[at] > 0 && f.End[n]-f.Tokens[n] < end {
			h.lru.unlink(r, n)
			h.lru.push(r, n)
		}
	}
	return end - match
}
