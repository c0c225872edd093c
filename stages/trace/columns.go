package trace

import (
	"cmp"
	"math"
	"slices"

	"switchyard/sim/workload"
)

// columns holds requests, one entry each in every slice; those marked
// optional are nil where no request needs them.
type columns struct {
	timeUs []int64 // arrival, or that of the first of its predecessors
	seq    []int64 // optional: number in the source, where that is not the order of the lines
	line   []int32
	prompt []int32
	output []int32

	after   []int64 // optional: seq of the predecessor, its index after finish; or None
	thinkUs []int64 // optional
	session []int64 // optional
	turn    []int32 // optional
	tags    [][]string
	answer  []int64 // optional: workload.Request.OutputID
	served  []int32 // optional

	// The segments of request i are ids[first[i]:first[i+1]]. Their lengths
	// are in length, or, where that is nil, blockTokens each, the last one
	// what is left of the prompt.
	blockTokens int32
	first       []int64 // optional
	ids         []int64
	length      []int32 // optional
}

func (c *columns) len() int { return len(c.timeUs) }

// add appends a record that has tokens. Lengths are kept for formats that
// give them (blockTokens is 0).
func (c *columns) add(line int, r *workload.Request) {
	i := c.len()
	c.timeUs = append(c.timeUs, r.ArrivalUs)
	c.line = append(c.line, int32(line))
	c.prompt = append(c.prompt, r.Prompt)
	c.output = append(c.output, r.Output)
	c.after = optional(c.after, i, workload.None, int64(r.After))
	c.thinkUs = optional(c.thinkUs, i, 0, r.ThinkUs)
	c.session = optional(c.session, i, workload.None, r.Session)
	c.turn = optional(c.turn, i, 0, r.Turn)
	c.answer = optional(c.answer, i, workload.None, r.OutputID)
	c.served = optional(c.served, i, 0, r.Served)
	if r.Tags != nil || c.tags != nil {
		for len(c.tags) < i {
			c.tags = append(c.tags, nil)
		}
		c.tags = append(c.tags, r.Tags)
	}
	if len(r.Segments) > 0 || c.first != nil {
		for len(c.first) <= i {
			c.first = append(c.first, int64(len(c.ids)))
		}
		for _, s := range r.Segments {
			c.ids = append(c.ids, s.ID)
			if c.blockTokens == 0 {
				c.length = append(c.length, s.Tokens)
			}
		}
		c.first = append(c.first, int64(len(c.ids)))
	}
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

// at fills r with request i; after is as in the column.
func (c *columns) at(i int, r *workload.Request) {
	*r = workload.Request{
		ArrivalUs: c.timeUs[i], After: int32(get(c.after, i, workload.None)), ThinkUs: get(c.thinkUs, i, 0),
		Session: get(c.session, i, workload.None), Turn: get(c.turn, i, 0), Tags: get(c.tags, i, nil),
		Prompt: c.prompt[i], Output: c.output[i], OutputID: get(c.answer, i, workload.None), Served: get(c.served, i, 0),
		Segments: r.Segments[:0],
	}
	if r.After != workload.None {
		r.ArrivalUs = workload.None
	}
	if c.first == nil {
		return
	}
	left := r.Prompt
	for j := c.first[i]; j < c.first[i+1]; j++ {
		n := min(left, c.blockTokens)
		if c.length != nil {
			n = c.length[j]
		}
		left -= n
		r.Segments = append(r.Segments, workload.Segment{ID: c.ids[j], Tokens: n})
	}
}

func get[T any](s []T, i int, absent T) T {
	if s == nil {
		return absent
	}
	return s[i]
}

// sort sorts all columns by the key, stably, and returns the number of
// entries that stood behind one with a greater key.
func (c *columns) sort(key []int64) (moved int) {
	latest := int64(math.MinInt64)
	for _, k := range key {
		if k < latest {
			moved++
		}
		latest = max(latest, k)
	}
	if moved == 0 {
		return 0
	}
	p := make([]int32, len(key))
	for i := range p {
		p[i] = int32(i)
	}
	slices.SortStableFunc(p, func(a, b int32) int { return cmp.Compare(key[a], key[b]) })
	c.permute(p)
	return moved
}

// permute rearranges all columns.
func (c *columns) permute(p []int32) {
	if c.first != nil {
		ids, length, first := make([]int64, 0, len(c.ids)), make([]int32, 0, len(c.length)), make([]int64, 1, len(c.first))
		for _, i := range p {
			from, to := c.first[i], c.first[i+1]
			ids = append(ids, c.ids[from:to]...)
			if c.length != nil {
				length = append(length, c.length[from:to]...)
			}
			first = append(first, int64(len(ids)))
		}
		c.ids, c.first = ids, first
		if c.length != nil {
			c.length = length
		}
	}
	c.timeUs, c.seq, c.line = gather(c.timeUs, p), gather(c.seq, p), gather(c.line, p)
	c.prompt, c.output = gather(c.prompt, p), gather(c.output, p)
	c.after, c.thinkUs, c.answer = gather(c.after, p), gather(c.thinkUs, p), gather(c.answer, p)
	c.served = gather(c.served, p)
	c.session, c.turn, c.tags = gather(c.session, p), gather(c.turn, p), gather(c.tags, p)
}

func gather[T any](s []T, p []int32) []T {
	if s == nil {
		return nil
	}
	out := make([]T, len(p))
	for i, j := range p {
		out[i] = s[j]
	}
	return out
}

// countTurns numbers the requests of each session from 0.
func (c *columns) countTurns() {
	if c.session == nil {
		return
	}
	next := map[int64]int32{}
	c.turn = make([]int32, c.len())
	for i, s := range c.session {
		if s != workload.None {
			c.turn[i] = next[s]
			next[s]++
		}
	}
}
