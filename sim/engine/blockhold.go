package engine

// blockHold is what a request holds of a node: the pieces of a run up to a
// position. A run that is split after it was held stays one hold, since its
// pieces follow each other in their node's list.
type blockHold struct{ run, to int32 }

// deepest returns the positions that are valid on the path to a node, and those
// that would be, had nothing ever been overwritten.
func (p *blockPool) deepest(node int32) (valid, ever int32) {
	for n := node; n != none; n = p.forest.Parent[n] {
		c := &p.cells[n]
		if ever == 0 {
			ever = c.ever
		}
		if c.valid > 0 {
			return c.valid, ever
		}
	}
	return 0, ever
}

// find lists the runs that a lookup of the first upTo positions of a path finds,
// all of which are valid, and returns how many of the blocks are free.
func (p *blockPool) find(path []int32, upTo int32) (free int32) {
	p.parts = p.parts[:0]
	for _, node := range path {
		from, to := p.span(node)
		if from >= upTo {
			break
		}
		to = min(to, upTo)
		c := &p.cells[node]
		for at := from; at < to; {
			part := blockPart{c.first, at, to}
			if c.first != c.last {
				part = p.firstValid(c.first, at, to)
			}
			if p.runs[part.run].users == 0 {
				free += part.to - part.from
			}
			p.parts = append(p.parts, part)
			at = part.to
		}
	}
	return free
}

// firstValid returns the first of a node's runs that has position at, as far as
// it goes up to limit. No run that was registered earlier begins between the
// two: whoever held such a run also held position at, of a run that was
// registered before it, and gave that up later.
func (p *blockPool) firstValid(run, at, limit int32) blockPart {
	for ; run != 0; run = p.runs[run].after {
		if r := &p.runs[run]; r.from <= at && at < r.to {
			return blockPart{run, at, min(limit, r.to)}
		}
	}
	panic("engine: a valid block is in no run")
}

// hold makes the parts that find has listed a request's and appends them to
// what it holds.
func (p *blockPool) hold(holds []blockHold) []blockHold {
	for _, part := range p.parts {
		run := part.run
		for p.runs[run].to <= part.from { // an earlier part has split it
			run = p.runs[run].after
		}
		if p.runs[run].from < part.from {
			run = p.split(run, part.from)
		}
		if p.runs[run].to > part.to {
			p.split(run, part.to)
		}
		if p.runs[run].users == 0 {
			p.pull(run)
		}
		p.runs[run].users++
		holds = append(holds, blockHold{run, part.to})
	}
	return holds
}

// fill registers positions [from, to) of a node, which the request with these
// holds is about to compute. It makes its last run longer where nobody else has
// it and no later run is registered.
func (p *blockPool) fill(holds []blockHold, node, from, to int32) []blockHold {
	if n := len(holds); n > 0 && holds[n-1].to == from && holds[n-1].run == p.cells[node].last {
		if r := &p.runs[holds[n-1].run]; r.users == 1 && r.to == from {
			r.to = to
			holds[n-1].to = to
			p.grown(node, to)
			return holds
		}
	}
	return append(holds, blockHold{p.register(node, from, to), to})
}

// release gives up all holds, the last position first.
func (p *blockPool) release(holds []blockHold) {
	for i := len(holds) - 1; i >= 0; i-- {
		h := holds[i]
		run := h.run
		for p.runs[run].to < h.to {
			run = p.runs[run].after
		}
		for {
			r := &p.runs[run]
			before, last := r.before, run == h.run
			if r.users--; r.users == 0 {
				p.push(run)
			}
			if last {
				break
			}
			run = before
		}
	}
}
