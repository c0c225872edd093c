package router

import "switchyard/sim/workload"

// books are a router's own records of the requests that it has in flight, as
// Dynamo's ActiveSequences keeps them: by replica the prompt tokens still to be
// computed, by what the router believed to be cached when it sent them, and the
// whole blocks of prompts, each counted once however many requests have it.
//
// Prompt tokens count until the first token is out, blocks until the request has
// left; output tokens do not count. Requests share exactly the blocks that end
// within the nodes of the forest that their paths have in common, so that the
// blocks in flight are found by a walk over nodes.
type books struct {
	work    *workload.Workload
	block   int32
	replica []int32 // by request: where it is in flight, or None
	part    []int32 // by request: its part of prefill
	prefill []int64 // by replica: uncached prompt tokens of requests without a first token
	blocks  []int64 // by replica: distinct blocks of prompts in flight
	active  active
	deepest []int32
}

func newBooks(w *workload.Workload, replicas int, block int32) *books {
	b := &books{work: w, block: block, replica: make([]int32, w.Len()), part: make([]int32, w.Len()),
		prefill: make([]int64, replicas), blocks: make([]int64, replicas), deepest: make([]int32, replicas)}
	for i := range b.replica {
		b.replica[i] = workload.None
	}
	b.active.reset(&w.Forest)
	return b
}

// send enters a request that goes to a replica, of whose prompt so many tokens
// are believed not to be cached there.
func (b *books) send(id int32, replica int, uncached int32) {
	b.replica[id], b.part[id] = int32(replica), uncached
	b.prefill[replica] += int64(uncached)
	had := b.active.add(b.work.Leaf[id], int32(replica))
	b.blocks[replica] += int64(b.work.Prompt[id]/b.block - had/b.block)
}

// firstToken takes the prompt of a request off those to be computed.
func (b *books) firstToken(id int32) {
	if r := b.replica[id]; r != workload.None {
		b.prefill[r] -= int64(b.part[id])
		b.part[id] = 0
	}
}

// left takes a request off the books.
func (b *books) left(id int32) {
	r := b.replica[id]
	if r == workload.None {
		return
	}
	b.firstToken(id)
	kept := b.active.remove(b.work.Leaf[id], r)
	b.blocks[r] -= int64(b.work.Prompt[id]/b.block - kept/b.block)
	b.replica[id] = workload.None
}

// potential writes the blocks that each replica would have in flight with a
// request more.
func (b *books) potential(id int32, dst []int64) {
	b.active.depth(b.work.Leaf[id], b.deepest)
	all := b.work.Prompt[id] / b.block
	for i, had := range b.deepest {
		dst[i] = b.blocks[i] + int64(all-had/b.block)
	}
}

// active are the nodes of prompts in flight, by node a list of the replicas that
// have it. An entry counts the requests whose path ends at its node and the
// entries right below, so that a request walks up only as far as it is new.
// Memory is as large as what is in flight.
type active struct {
	forest  *workload.Forest
	head    []int32 // by node: its first entry, or None
	entries []activeEntry
	free    int32
}

type activeEntry struct{ replica, refs, next int32 }

func (a *active) reset(f *workload.Forest) {
	a.forest, a.entries, a.free = f, a.entries[:0], workload.None
	a.head = make([]int32, f.Nodes())
	for i := range a.head {
		a.head[i] = workload.None
	}
}

// add enters a path and returns the tokens of it that were in flight before.
func (a *active) add(leaf, replica int32) int32 {
	for n := leaf; n != workload.None; n = a.forest.Parent[n] {
		for e := a.head[n]; e != workload.None; e = a.entries[e].next {
			if a.entries[e].replica == replica {
				a.entries[e].refs++
				return a.forest.End[n]
			}
		}
		e := a.free
		if e == workload.None {
			e = int32(len(a.entries))
			a.entries = append(a.entries, activeEntry{})
		} else {
			a.free = a.entries[e].next
		}
		a.entries[e] = activeEntry{replica, 1, a.head[n]}
		a.head[n] = e
	}
	return 0
}

// remove takes a path out and returns the tokens of it that are still in flight.
func (a *active) remove(leaf, replica int32) int32 {
	for n := leaf; n != workload.None; n = a.forest.Parent[n] {
		at := &a.head[n]
		for a.entries[*at].replica != replica {
			at = &a.entries[*at].next
		}
		e := *at
		if a.entries[e].refs--; a.entries[e].refs > 0 {
			return a.forest.End[n]
		}
		*at = a.entries[e].next
		a.entries[e].next = a.free
		a.free = e
	}
	return 0
}

// depth writes how many tokens of the path to leaf each replica has in flight.
func (a *active) depth(leaf int32, dst []int32) {
	clear(dst)
	found := 0
	for n := leaf; n != workload.None && found < len(dst); n = a.forest.Parent[n] {
		for e := a.head[n]; e != workload.None; e = a.entries[e].next {
			if r := a.entries[e].replica; dst[r] == 0 {
				dst[r] = a.forest.End[n]
				found++
			}
		}
	}
}
