package router

import "switchyard/sim/workload"

// Index is what cache events have told a router: the tokens of each node that
// each replica has cached, a matrix [node][replica].
type Index struct {
	forest   *workload.Forest
	replicas int
	block    int32 // tokens that are cached together, 1 for any number
	tokens   []int32
	holders  []int32 // by node: replicas with tokens of it
	held     []int64 // by replica: tokens in all
	path     []int32
}

// Reset empties the index and lays it out for a forest and a number of
// replicas, whose caches hold blocks of so many tokens.
func (x *Index) Reset(f *workload.Forest, replicas int, block int32) {
	x.forest, x.replicas, x.block = f, replicas, max(1, block)
	x.tokens = cleared(x.tokens, f.Nodes()*replicas)
	x.holders = cleared(x.holders, f.Nodes())
	x.held = cleared(x.held, replicas)
}

// Set says that a replica now has so many tokens of a node cached.
func (x *Index) Set(replica int, node, tokens int32) {
	at := int(node)*x.replicas + replica
	switch had := x.tokens[at]; {
	case had == 0 && tokens > 0:
		x.holders[node]++
	case had > 0 && tokens == 0:
		x.holders[node]--
	}
	x.held[replica] += int64(tokens - x.tokens[at])
	x.tokens[at] = tokens
}

// Held returns the tokens that a replica has cached.
func (x *Index) Held(replica int) int64 { return x.held[replica] }

// Drop forgets all that a replica has cached.
func (x *Index) Drop(replica int) {
	for n := range x.forest.Nodes() {
		x.Set(replica, int32(n), 0)
	}
}

// Match writes the tokens of the longest prefix of the path to leaf that each
// replica has cached, without a gap, and returns the most.
func (x *Index) Match(leaf int32, dst []int32) (most int32) {
	f := x.forest
	x.path = x.path[:0]
	for n := leaf; n != workload.None; n = f.Parent[n] {
		switch {
		case x.holders[n] > 0:
			x.path = append(x.path, n)
		case f.Tokens[n] <= f.End[n]%x.block:
			// No block ends in it: it is cached with what follows.
		default:
			x.path = x.path[:0] // what lies below a gap is of no use
		}
	}
	clear(dst)
	for i := len(x.path) - 1; i >= 0; i-- {
		n := x.path[i]
		start := f.End[n] - f.Tokens[n]
		whole := start / x.block * x.block // what ends in the middle of a block is cached with what follows
		row := x.tokens[int(n)*x.replicas:][:x.replicas]
		grew := false
		for r, t := range row {
			if t > 0 && dst[r] == whole {
				dst[r] = start + t
				most = max(most, dst[r])
				grew = true
			}
		}
		if !grew {
			break
		}
	}
	return most
}

// cleared returns s with n zero elements, in its old memory where that suffices.
func cleared[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}
