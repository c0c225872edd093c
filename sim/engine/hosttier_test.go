package engine

import (
	"maps"
	"slices"
	"testing"

	"switchyard/sim/workload"
)

// plainHost is a host tier of maps.
type plainHost struct {
	HostTier
	tokens map[int32]int32 // node -> leading tokens
	used   map[int32]int   // node -> serial number of its last use
	serial int
}

func (h *plainHost) clone() plainHost {
	c := *h
	c.tokens, c.used = maps.Clone(h.tokens), maps.Clone(h.used)
	return c
}

func (h *plainHost) touch(n int32) {
	h.serial++
	h.used[n] = h.serial
}

// store takes the leading tokens of a node that the cache evicts.
func (h *plainHost) store(n, tokens int32) {
	if h.HostTokens == 0 {
		return
	}
	if h.tokens == nil {
		h.tokens, h.used = map[int32]int32{}, map[int32]int{}
	}
	h.tokens[n] = max(h.tokens[n], tokens)
	h.touch(n)
	for {
		sum, oldest := int64(0), n
		for m, t := range h.tokens {
			sum += int64(t)
			if h.used[m] < h.used[oldest] {
				oldest = m
			}
		}
		if sum <= h.HostTokens {
			return
		}
		delete(h.tokens, oldest)
	}
}

// load returns the tokens of a path, root first, behind the first match ones.
func (h *plainHost) load(w *workload.Workload, path []int32, match int32) int32 {
	end := match
	for _, n := range path {
		start := w.Forest.End[n] - w.Forest.Tokens[n]
		if start <= end {
			end = max(end, start+h.tokens[n])
		}
	}
	for _, n := range slices.Backward(path) {
		if h.tokens[n] > 0 && w.Forest.End[n] > match && w.Forest.End[n]-w.Forest.Tokens[n] < end && end > match {
			h.touch(n)
		}
	}
	return end - match
}

// copyNs is the time that copies take.
func (h *plainHost) copyNs(tokens int64) int64 {
	return int64(float64(tokens) / h.HostTokensPerS * 1e9)
}

// A document that was evicted comes back from the host: its last request finds
// it there, computes its question alone, and its step waits for the copy.
func TestHostTier(t *testing.T) {
	doc := func(id int64) []workload.Segment { return []workload.Segment{{ID: id, Tokens: 100}} }
	w := build(t, []call{{0, 110, 1, doc(1)}, {100, 110, 1, doc(2)}, {200, 110, 1, doc(1)}})
	p := defaults(func(p *Lecture) { p.HostTokens, p.HostTokensPerS = 100, 1e8 })
	log, _, _ := drive(t, w, &p, linear{}, 150)
	// 1,000 + 10 × 10 new tokens + 100 of context + 100 copied at 10 ns each.
	if log.Cached[2] != 0 || log.Host[2] != 100 || log.FinishNs[2] != 200000+1000+100+100+1000 {
		t.Errorf("finds %d in the cache and %d on the host, and finishes at %d; want 0, 100, 202200", log.Cached[2], log.Host[2], log.FinishNs[2])
	}
	p.HostTokens = 99 // too little
	if log, _, _ = drive(t, w, &p, linear{}, 150); log.Host[2] != 0 {
		t.Errorf("finds %d tokens on a host that is too small", log.Host[2])
	}
}
