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
		for _, i := range v.Up {
			h.most = max(h.most, h.tokens(row[i]))
		}
		if h.most > 0 {
			return f.End[node] - f.Tokens[node] + h.most, h
		}
		leaf = f.Parent[node] // known only by requests on their way
	}
}

// held returns the tokens of the longest prefix of a prompt that a replica holds.
func (v *View) held(id int32, replica int, ready bool) int32 {
	f := &v.Work.Forest
	for n := v.Work.Leaf[id]; n != workload.None; n = f.Parent[n] {
		h := holders{whole: v.Cache.Whole(n), ready: ready}
		if t := h.tokens(v.Cache.Believed(replica, n)); t > 0 {
			return f.End[n] - f.Tokens[n] + t
		}
	}
	return 0
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
func (h *holders) argmin(up, load []int32, stream *rng.Stream) int {
	best, ties := int32(-1), 0
	for _, i := range up {
		switch {
		case h.tokens(h.row[i]) != h.most:
		case best < 0 || load[i] < load[best]:
			best, ties = i, 1
		case load[i] == load[best]:
			ties++
		}
	}
	if ties == 1 {
		return int(best)
	}
	return nth(stream.IntN(ties), up, func(i int32) bool {
		return h.tokens(h.row[i]) == h.most && load[i] == load[best]
	})
}
