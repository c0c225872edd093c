package router

import (
	"switchyard/sim/engine"
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// holders are the replicas that hold the longest prefix of a prompt: those of a
// row whose tokens of the row's node are the most.
type holders struct {
	row   []engine.Believed
	most  int32
	whole int32 // tokens of the node that can be cached
	ready bool
}

// longest returns the tokens of the longest prefix of a prompt that a replica
// holds, and who holds it; 0 where nobody holds any.
func (v *View) longest(id int32, ready bool) (int32, holders) {
	f := &v.Work.Forest
	leaf := v.Work.Leaf[id]
	for {
		node, row := v.Cache.Known(leaf)
		if node == workload.None {
			return 0, holders{}
		}
		h := holders{row: row, whole: v.Cache.Whole(node), ready: ready}
		for _, b := range row {
			h.most = max(h.most, h.tokens(b))
		}
		if h.most > 0 {
			return f.End[node] - f.Tokens[node] + h.most, h
		}
		leaf = f.Parent[node] // known only by requests on their way
	}
}

// tokens returns how many of the node's tokens a replica holds.
func (h *holders) tokens(b engine.Believed) int32 {
	if b.Sent > 0 && !h.ready {
		return h.whole
	}
	return b.Cached
}

// argmin returns the holder with the smallest load, drawn uniformly where
// there are several.
func (h *holders) argmin(load []int32, stream *rng.Stream) int {
	best, ties := -1, 0
	for i, b := range h.row {
		switch {
		case h.tokens(b) != h.most:
		case best < 0 || load[i] < load[best]:
			best, ties = i, 1
		case load[i] == load[best]:
			ties++
		}
	}
	if ties == 1 {
		return best
	}
	return nth(stream.IntN(ties), len(h.row), func(i int) bool {
		return h.tokens(h.row[i]) == h.most && load[i] == load[best]
	})
}
