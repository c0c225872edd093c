// Package workload holds requests over a prefix forest, and makes them.
//
// A prompt is a path of segments from a root, followed by a private rest that
// no other request has. Two requests share a prefix exactly when their paths
// share segments from the root on. Builder interns the paths into a Forest: a
// segment becomes a dense integer (a node), and a chain of segments that
// never branches, and inside which no prompt and no output ends, becomes one
// node. Caches, routers' trees and indexes are then arrays over nodes;
// matching a prompt is a walk over integers, and nothing hashes tokens.
//
// Invariants: a node's parent has a smaller number than the node; Forest.End
// of a node is its parent's End plus its own Tokens; a request's path ends at
// Leaf with Forest.End[Leaf] <= Prompt; arrivals do not decrease.
package workload

import "fmt"

// None marks an absent node, session or predecessor.
const None = -1

// Segment is one piece of a prompt. Its identity is ID together with the
// segments before it: the same ID under another parent is another segment.
type Segment struct {
	ID     int64
	Tokens int32
}

// Request is one request as a generator or a reader gives it, one row of
// table `workload`.
type Request struct {
	ArrivalUs int64 // since the start; None where After decides
	After     int32 // index of the request whose end releases this one, or None
	ThinkUs   int64 // from the end of After to the arrival
	Session   int64 // conversation, user or agent; None without
	Turn      int32 // position in the session, from 0
	Tags      []string
	Prompt    int32 // prompt tokens, private rest included; at least 1
	Output    int32 // output tokens; at least 1
	Segments  []Segment
	// OutputID names the segment that a later turn's path has in the place of
	// this request's output, directly under this request's last segment; None
	// without. A request with one has no private rest.
	OutputID int64
}

// Forest is the set of all prefixes, one entry a node in every slice.
type Forest struct {
	Parent []int32  // None for a root
	Tokens []int32  // of the node alone
	End    []int32  // from the root to the node's end
	Level  []int32  // nodes from the root to this one, 1 for a root
	Hash   []uint64 // of the segment ids from the root to the node's end: an identity that does not depend on the numbering
}

// Nodes returns the number of nodes.
func (f *Forest) Nodes() int { return len(f.Parent) }

// Workload is the requests of one run, in order of arrival (requests that wait
// for others stand behind their predecessors), one entry a request in every
// slice; slices marked optional are nil where no request needs them.
type Workload struct {
	Forest Forest

	ArrivalUs  []int64
	After      []int32    // optional
	ThinkUs    []int64    // optional
	Session    []int64    // optional
	Turn       []int32    // optional
	Tags       [][]string // optional
	Prompt     []int32
	Output     []int32
	Leaf       []int32 // last node of the prompt's path, or None
	OutputNode []int32 // optional: the node that the output becomes, or None
	// Ceiling is the longest prefix, in tokens, that an earlier request of the
	// workload has as well: what one unlimited cache with no delay would hit.
	Ceiling []int32
	// Key is the node at which the key portion ends: the deepest node that
	// holds more tokens than all its ancestors together (Preble, 2025, section
	// 3); None where the path is empty.
	Key []int32
	// BlockTokens is the unit in which the source counts blocks: 512 for
	// Mooncake's hash ids, 16 otherwise.
	BlockTokens int32
}

// Len returns the number of requests.
func (w *Workload) Len() int { return len(w.Prompt) }

// Closed reports whether some request waits for another.
func (w *Workload) Closed() bool { return w.After != nil }

// check reports what makes a request unusable.
func (r *Request) check(index int) error {
	switch {
	case r.Prompt < 1:
		return fmt.Errorf("prompt_tokens is %d, expected at least 1", r.Prompt)
	case r.Output < 1:
		return fmt.Errorf("output_tokens is %d, expected at least 1", r.Output)
	case r.After != None && (r.After < 0 || int(r.After) >= index):
		return fmt.Errorf("after is %d, expected an earlier request than %d", r.After, index)
	case r.After == None && r.ArrivalUs < 0:
		return fmt.Errorf("arrival_us is %d, expected at least 0", r.ArrivalUs)
	case r.ThinkUs < 0:
		return fmt.Errorf("think_us is %d, expected at least 0", r.ThinkUs)
	}
	var sum int64
	for i, s := range r.Segments {
		if s.Tokens < 1 {
			return fmt.Errorf("segment_tokens[%d] is %d, expected at least 1", i, s.Tokens)
		}
		sum += int64(s.Tokens)
	}
	if sum > int64(r.Prompt) {
		return fmt.Errorf("segments hold %d tokens, expected at most prompt_tokens, %d", sum, r.Prompt)
	}
	if r.OutputID != None && sum != int64(r.Prompt) {
		return fmt.Errorf("output_segment is set while the prompt has %d private tokens, expected none", int64(r.Prompt)-sum)
	}
	return nil
}
