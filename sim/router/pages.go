package router

import "switchyard/sim/workload"

// pages is the forest of a workload as an index sees it that cuts prompts into
// pages of so many tokens from their start on and drops what does not fill the
// last one. A page belongs to the node in which it ends: two prompts share the
// page exactly when they share that node, or when one node's text ends inside
// it, which then differs. A node in which no page ends has no part in the index.
type pages struct {
	size   int32
	end    []int32 // by node: tokens of whole pages from the root to the node's end
	parent []int32 // by node: the nearest node above in which a page ends
	self   []int32 // by node: itself, or the nearest above in which a page ends; nil where all have one
}

// newPages returns the forest in pages of size tokens, at least 1.
func newPages(f *workload.Forest, size int32) pages {
	if size == 1 {
		return pages{size: 1, end: f.End, parent: f.Parent}
	}
	n := f.Nodes()
	p := pages{size, make([]int32, n), make([]int32, n), make([]int32, n)}
	for i := range n {
		p.end[i], p.parent[i], p.self[i] = f.End[i]/size*size, none, int32(i)
		start := int32(0)
		if up := f.Parent[i]; up != workload.None {
			start, p.parent[i] = p.end[up], p.self[up]
		}
		if start == p.end[i] {
			p.self[i] = p.parent[i]
		}
	}
	return p
}

// leaf returns the deepest node of a path in which a page ends, none without.
func (p *pages) leaf(node int32) int32 {
	if node == workload.None || p.self == nil {
		return node
	}
	return p.self[node]
}

// whole returns the tokens of the whole pages of a prompt.
func (p *pages) whole(prompt int32) int32 { return prompt - prompt%p.size }
