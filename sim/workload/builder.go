package workload

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"switchyard/sim/rng"
)

// Builder interns requests into a Workload. The zero value is ready to use.
type Builder struct {
	BlockTokens int32 // see Workload.BlockTokens; 0 means 16

	w       Workload
	index   segmentIndex // raw nodes, one a segment, before chains are joined
	parent  []int32
	tokens  []int32
	hash    []uint64
	outputs []int32 // raw node of each request's output, or None
	fanout  []int32 // children of a raw node
	end     []bool  // whether a prompt or an output ends at a raw node
	last    int64
}

// Grow makes room for that many requests.
func (b *Builder) Grow(requests int) {
	w := &b.w
	w.ArrivalUs = slices.Grow(w.ArrivalUs, requests)
	w.Prompt = slices.Grow(w.Prompt, requests)
	w.Output = slices.Grow(w.Output, requests)
	w.Leaf = slices.Grow(w.Leaf, requests)
}

// Add appends a request; it keeps nothing of r but Tags. Requests come in order
// of arrival, those that wait for another behind it. The error says which
// field is wrong and what was expected.
func (b *Builder) Add(r *Request) error {
	i := len(b.w.Prompt)
	if err := r.check(i); err != nil {
		return err
	}
	if r.After == None {
		if r.ArrivalUs < b.last {
			return fmt.Errorf("arrival_us is %d, expected at least the %d of an earlier request", r.ArrivalUs, b.last)
		}
		b.last = r.ArrivalUs
	}
	leaf := int32(None)
	for _, s := range r.Segments {
		var err error
		if leaf, err = b.intern(leaf, s.ID, s.Tokens); err != nil {
			return err
		}
	}
	output := int32(None)
	if leaf != None {
		b.end[leaf] = true
	}
	if r.OutputID != None {
		var err error
		if output, err = b.intern(leaf, r.OutputID, r.Output); err != nil {
			return fmt.Errorf("output_segment: %w", err)
		}
		b.end[output] = true
	}
	w := &b.w
	arrival := r.ArrivalUs
	if r.After != None {
		arrival = None
	}
	w.ArrivalUs = append(w.ArrivalUs, arrival)
	w.After = optional(w.After, i, None, r.After)
	w.Also.add(i, r.Also)
	w.Pool = optional(w.Pool, i, 0, r.Pool)
	w.ThinkUs = optional(w.ThinkUs, i, 0, r.ThinkUs)
	w.Session = optional(w.Session, i, None, r.Session)
	w.Turn = optional(w.Turn, i, 0, r.Turn)
	if r.Tags != nil || w.Tags != nil {
		for len(w.Tags) < i {
			w.Tags = append(w.Tags, nil)
		}
		w.Tags = append(w.Tags, r.Tags)
		w.Priority = optional(w.Priority, i, 0, priority(r.Tags))
	}
	w.Prompt = append(w.Prompt, r.Prompt)
	w.Output = append(w.Output, r.Output)
	w.Leaf = append(w.Leaf, leaf)
	w.Served = optional(w.Served, i, 0, r.Served)
	b.outputs = optional(b.outputs, i, None, output)
	return nil
}

// priority returns the priority that a request's tags give it.
func priority(tags []string) int32 {
	for _, tag := range tags {
		if text, ok := strings.CutPrefix(tag, "priority="); ok {
			if p, err := strconv.ParseInt(text, 10, 32); err == nil {
				return int32(p)
			}
		}
	}
	return 0
}

// optional appends v at index i to a slice that stays nil while all its values
// are the absent one.
func optional[T comparable](s []T, i int, absent, v T) []T {
	if s == nil && v == absent {
		return nil
	}
	for len(s) < i {
		s = append(s, absent)
	}
	return append(s, v)
}

func (b *Builder) intern(parent int32, id int64, tokens int32) (int32, error) {
	n, known := b.index.find(parent, id)
	if known {
		if b.tokens[n] != tokens {
			return None, fmt.Errorf("segment %d has %d tokens, expected the %d that it has in an earlier request", id, tokens, b.tokens[n])
		}
		return n, nil
	}
	h := uint64(0x9e3779b97f4a7c15)
	if parent != None {
		h = b.hash[parent]
		b.fanout[parent]++
	}
	b.parent = append(b.parent, parent)
	b.tokens = append(b.tokens, tokens)
	b.hash = append(b.hash, rng.Mix(h^rng.Mix(uint64(id))))
	b.fanout = append(b.fanout, 0)
	b.end = append(b.end, false)
	return n, nil
}

// Build joins chains, and completes the workload. The builder is spent.
func (b *Builder) Build() (*Workload, error) {
	w := &b.w
	if len(w.Prompt) == 0 {
		return nil, errors.New("no requests")
	}
	b.index = segmentIndex{}
	w.BlockTokens = b.BlockTokens
	if w.BlockTokens == 0 {
		w.BlockTokens = 16
	}
	f := &w.Forest
	joined := make([]int32, len(b.parent)) // raw node -> node, for the last raw node of each chain
	head := make([]int32, len(b.parent))   // raw node -> first raw node of its chain
	for n, p := range b.parent {
		if p != None && b.fanout[p] == 1 && !b.end[p] {
			head[n] = head[p]
			b.tokens[n] += b.tokens[p] // a chain's tokens gather at its last raw node
		} else {
			head[n] = int32(n)
		}
		if b.fanout[n] == 1 && !b.end[n] {
			continue // the next raw node continues the chain
		}
		node := int32(len(f.Parent))
		joined[n] = node
		up, end, level := int32(None), b.tokens[n], int32(1)
		if above := b.parent[head[n]]; above != None {
			up = joined[above]
			end += f.End[up]
			level += f.Level[up]
		}
		f.Parent = append(f.Parent, up)
		f.Tokens = append(f.Tokens, b.tokens[n])
		f.End = append(f.End, end)
		f.Level = append(f.Level, level)
		f.Hash = append(f.Hash, b.hash[n])
	}
	for i, n := range w.Leaf {
		if n != None {
			w.Leaf[i] = joined[n]
		}
	}
	if b.outputs != nil {
		for i, n := range b.outputs {
			if n != None {
				b.outputs[i] = joined[n]
			}
		}
		for len(b.outputs) < len(w.Prompt) {
			b.outputs = append(b.outputs, None)
		}
		w.OutputNode = b.outputs
	}
	w.Private = None
	w.fillKeys()
	w.fillCeiling()
	return w, nil
}

func (w *Workload) fillKeys() {
	f := &w.Forest
	key := make([]int32, f.Nodes())
	for n := range key {
		if f.Tokens[n] > f.End[n]-f.Tokens[n] {
			key[n] = int32(n)
		} else {
			key[n] = key[f.Parent[n]]
		}
	}
	w.Key = make([]int32, len(w.Leaf))
	for i, n := range w.Leaf {
		w.Key[i] = None
		if n != None {
			w.Key[i] = key[n]
		}
	}
}

func (w *Workload) fillCeiling() {
	seen := make([]bool, w.Forest.Nodes())
	w.Ceiling = make([]int32, len(w.Leaf))
	for i, leaf := range w.Leaf {
		n := leaf
		for n != None && !seen[n] {
			seen[n] = true
			n = w.Forest.Parent[n]
		}
		if n != None {
			w.Ceiling[i] = w.Forest.End[n]
		}
		if w.OutputNode != nil && w.OutputNode[i] != None {
			seen[w.OutputNode[i]] = true
		}
	}
}
