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
//
// # Making workloads
//
// A Generator makes sessions of requests without times; a Process says when
// sessions start; a Spec joins the two for one (seed, replication):
//
//	tool := new(workload.ToolUse)
//	param.Defaults(tool)
//	s := workload.Spec{Seed: 1, Replication: 1, Requests: 2000,
//		Generator: tool, Arrivals: &workload.Poisson{Rate: workload.Rate{RPS: 8}}}
//	w, err := s.Build()
//
// Every random choice comes from a stream that is named after its purpose
// (popularity, groups, lengths, turns, think, arrivals) and holds no
// parameter. Workloads that differ in one parameter so share all else: two
// rates have the same requests at the same times up to the factor.
//
// Most generators draw lengths as lognormal, by mean and standard deviation,
// rounded to whole tokens. A group's length is drawn once and shared by its
// requests. Each part that a generator declares is a segment even if one
// request alone has it (a document that is asked about once still fills a
// cache); questions, and outputs that no later prompt holds, are private.
//
// Where a turn waits for the one before it, arrivals start sessions, and the
// order of requests is that of nominal times, at 25 ms an output token.
//
// # After table 1
//
// tool-use, embodied-agent, programming, video-qa and long-documents follow
// table 1 of Preble (2025), which gives mean and standard deviation over
// requests of prompt, output, the share of the prompt that another request
// has too, and the share up to the end of its key portion, and of the requests
// that share a key portion. Measured over 30 replications of 8,000 requests,
// published in brackets:
//
//	                 prompt                    output             shared share             key share                sharers
//	tool-use         1821, 731 (1835, 742)     43, 16 (43, 16)    .84, .127 (.85, .13)     .75, .15 (.76, .16)      39, 60 (39, 64)
//	embodied-agent   2280, 467 (2285, 471)     16, 13 (16, 13)    .98, .14 (.97, .14)      .78, .13 (.76, .12)      48, 8 (48, 8)
//	programming      3871, 1623 (3871, 1656)   190, 334 (190, 343) .98, .078 (.97, .074)   .79, .14 (.78, .13)      126, 864 (126, 2157)
//	video-qa         9888, 5972 (9865, 5976)   4, 1.53 (4, 1.5)   .88, .31 (.88, .32)      .99, .002 (.99, .002)    8.6, 2.0 (8.6, 2)
//	long-documents   23530, 6036 (23474, 6105) 16, 9.9 (16, 9.9)  .91, .234 (.91, .24)     .93, .148 (.94, .15)     18, 8.7 (18, 8.6)
//
// Two columns of the table bear on each other. A shared share with a large
// deviation means that some requests share nothing, that is, have a group of
// their own: parameter alone, 2 % to 11 % of requests. With those groups
// counted among the key portions, the published number of sharers could not be
// met with any spread near the published one (see Profile), so they are not
// counted. The deviation of programming's sharers is that of one key portion,
// the system prompt, which most requests have: it grows with the number of
// requests, and the published one is that of a set of about 50,000.
package workload

import (
	"fmt"
	"slices"
)

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
	ArrivalUs int64    // since the start; None where After decides
	After     int32    // index of the request whose end releases this one, or None
	Also      []int32  // further earlier requests that must have ended too; only beside After
	ThinkUs   int64    // from the end of After to the arrival
	Session   int64    // conversation, user or agent; None without
	Turn      int32    // position in the session, from 0
	Tags      []string // priority=3, a whole number, gives a priority; 0 without
	Prompt    int32    // prompt tokens, private rest included; at least 1
	Output    int32    // output tokens; at least 1
	Segments  []Segment
	// OutputID names the segment that a later turn's path has in the place of
	// this request's output, directly under this request's last segment; None
	// without. A request with one has no private rest.
	OutputID int64
	// Served is the number, from 1, of the replica that served this request
	// when it was recorded; 0 where that is not known.
	Served int32
	// Pool is the pool of replicas that serves this request, where a cluster has
	// several, from 0.
	Pool int32
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
	Also       Lists      // optional: further requests that each one waits for
	ThinkUs    []int64    // optional
	Session    []int64    // optional
	Turn       []int32    // optional
	Tags       [][]string // optional
	Priority   []int32    // optional: of a request, greater ones first where an engine goes by it; from its tag
	Prompt     []int32
	Output     []int32
	Leaf       []int32 // last node of the prompt's path, or None
	Served     []int32 // optional: see Request.Served
	Pool       []int32 // optional: see Request.Pool
	OutputNode []int32 // optional: the node that the output becomes, or None
	// Ceiling is the longest prefix, in tokens, that an earlier request of the
	// workload has as well: what one unlimited cache with no delay would hit.
	Ceiling []int32
	// Key is the node at which the key portion ends: the deepest node that
	// holds more tokens than all its ancestors together (Preble, 2025, section
	// 3); None where the path is empty.
	Key []int32
	// Private is the number of the first node that only one request can have;
	// None where the forest has no such nodes, see WithPrivate.
	Private int32
	// BlockTokens is the unit in which the source counts blocks: 512 for
	// Mooncake's hash ids, 16 otherwise.
	BlockTokens int32
}

// Lists is a list of numbers for each request, one behind the other; those of
// request i are Items[From[i]:From[i+1]]. From is nil where all are empty.
type Lists struct{ From, Items []int32 }

// Of returns the list of request i.
func (l *Lists) Of(i int) []int32 {
	if l.From == nil {
		return nil
	}
	return l.Items[l.From[i]:l.From[i+1]]
}

// add appends the list of request i, all before which are there or empty.
func (l *Lists) add(i int, list []int32) {
	if l.From == nil && len(list) == 0 {
		return
	}
	if l.From == nil {
		l.From = []int32{0}
	}
	for len(l.From) <= i {
		l.From = append(l.From, int32(len(l.Items)))
	}
	l.Items = append(l.Items, list...)
	l.From = append(l.From, int32(len(l.Items)))
}

// Len returns the number of requests.
func (w *Workload) Len() int { return len(w.Prompt) }

// Closed reports whether some request waits for another.
func (w *Workload) Closed() bool { return w.After != nil }

// MaxUs is the longest time that a workload may last or wait, about 31 years:
// clusters count in nanoseconds, which must not run over.
const MaxUs = int64(1e15)

// check reports what makes a request unusable.
func (r *Request) check(index int) error {
	switch {
	case r.Prompt < 1:
		return fmt.Errorf("prompt_tokens is %d, expected at least 1", r.Prompt)
	case r.Output < 1:
		return fmt.Errorf("output_tokens is %d, expected at least 1", r.Output)
	case r.After != None && (r.After < 0 || int(r.After) >= index):
		return fmt.Errorf("after is %d, expected an earlier request than %d", r.After, index)
	case len(r.Also) > 0 && (r.After == None || slices.Min(r.Also) < 0 || int(slices.Max(r.Also)) >= index):
		return fmt.Errorf("also is %v, expected earlier requests than %d, beside after", r.Also, index)
	case r.Pool < 0:
		return fmt.Errorf("pool is %d, expected at least 0", r.Pool)
	case r.After == None && r.ArrivalUs < 0:
		return fmt.Errorf("arrival_us is %d, expected at least 0", r.ArrivalUs)
	case r.After == None && r.ArrivalUs > MaxUs:
		return fmt.Errorf("arrival_us is %d, expected at most %d, about 31 years: a higher rate or fewer requests", r.ArrivalUs, MaxUs)
	case r.ThinkUs > MaxUs:
		return fmt.Errorf("think_us is %d, expected at most %d", r.ThinkUs, MaxUs)
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
