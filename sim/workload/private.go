package workload

import "slices"

// WithPrivate returns w with the private rest of every prompt as a node of its
// own, which no other request has. It is for showing what a cache does that
// keeps what nobody can hit.
func (w *Workload) WithPrivate() *Workload {
	c := *w
	f := &c.Forest
	f.Parent, f.Tokens, f.End = slices.Clone(f.Parent), slices.Clone(f.Tokens), slices.Clone(f.End)
	f.Level, f.Hash = slices.Clone(f.Level), slices.Clone(f.Hash)
	c.Leaf = slices.Clone(w.Leaf)
	c.Private = int32(f.Nodes())
	for i, leaf := range w.Leaf {
		end, level, hash := int32(0), int32(0), uint64(0)
		if leaf != None {
			end, level, hash = f.End[leaf], f.Level[leaf], f.Hash[leaf]
		}
		rest := w.Prompt[i] - end
		if rest == 0 {
			continue
		}
		c.Leaf[i] = int32(f.Nodes())
		f.Parent = append(f.Parent, leaf)
		f.Tokens = append(f.Tokens, rest)
		f.End = append(f.End, w.Prompt[i])
		f.Level = append(f.Level, level+1)
		f.Hash = append(f.Hash, hash+uint64(i)+1)
	}
	return &c
}
