package router

import (
	"math"

	"switchyard/sim/workload"
)

const trtSource = "TensorRT-LLM, tensorrt_llm/serve/router.py of 2026"

var trtLoadBalancingPolicy = Policy{
	Name:      "tensorrt-llm-load-balancing",
	Summary:   "the replica with the fewest active requests, or tokens",
	Formula:   "argmin active requests",
	Needs:     "its own dispatches in flight",
	Belief:    "none",
	Staleness: "none with one router",
	TieBreak:  "round robin: a counter of decisions modulo the replicas that tie",
	Source:    trtSource + ", LoadBalancingRouter",
	New:       func() Params { return new(TRTLoadBalancing) },
}

// TRTLoadBalancing takes the least loaded replica.
type TRTLoadBalancing struct {
	Unit string `yaml:"unit" default:"requests" enum:"requests|tokens" doc:"of the load; tokens are those of prompts"`
}

// Build implements Params.
func (p *TRTLoadBalancing) Build(e Env) Router {
	r := &trtLoadBalancing{ties: turns{cost: make([]float64, e.Replicas)}}
	if p.Unit == "tokens" {
		return &trtTokenBalancing{*r, make([]int64, e.Replicas)}
	}
	return r
}

type trtLoadBalancing struct{ ties turns }

// Route implements Router.
func (r *trtLoadBalancing) Route(_ int32, v *View) int {
	for _, i := range v.Up {
		r.ties.cost[i] = float64(v.Requests[i])
	}
	return r.least(v)
}

func (r *trtLoadBalancing) least(v *View) int {
	v.Believed = -1
	if d := v.Decide("least"); d != nil {
		for _, i := range v.Up {
			d.Score[i] = r.ties.cost[i]
		}
	}
	return r.ties.least(v.Up)
}

// trtTokenBalancing counts the prompt tokens of its requests in flight.
type trtTokenBalancing struct {
	trtLoadBalancing
	tokens []int64
}

// Route implements Router.
func (r *trtTokenBalancing) Route(id int32, v *View) int {
	for _, i := range v.Up {
		r.ties.cost[i] = float64(r.tokens[i])
	}
	chosen := r.least(v)
	r.tokens[chosen] += int64(v.Work.Prompt[id])
	return chosen
}

// FirstToken implements Observer.
func (r *trtTokenBalancing) FirstToken(int32, int, *View) {}

// Left implements Observer.
func (r *trtTokenBalancing) Left(id int32, replica int, v *View) {
	r.tokens[replica] -= int64(v.Work.Prompt[id])
}

// turns takes the candidate of least cost, in turn where several tie.
type turns struct {
	cost    []float64 // by replica
	counter int
}

func (t *turns) least(up []int32) int {
	best, ties := up[0], 1
	for _, i := range up[1:] {
		switch {
		case t.cost[i] < t.cost[best]:
			best, ties = i, 1
		case t.cost[i] == t.cost[best]:
			ties++
		}
	}
	k := t.counter % ties
	t.counter++
	return nth(k, up, func(i int32) bool { return t.cost[i] == t.cost[best] })
}

var trtKVCacheAwarePolicy = Policy{
	Name:      "tensorrt-llm-kv-cache-aware",
	Summary:   "the replica of the conversation's first messages; a new one goes where the matched blocks outweigh the active requests",
	Formula:   "argmax matched blocks - .25 active requests; form share: matched/prompt tokens - active/64",
	Needs:     "the prompt, and its own dispatches in flight; notices of evictions",
	Belief:    "blocks of prompts that have finished, until their eviction is told",
	Staleness: "a prompt counts as cached when its request has finished; evictions as old as their notices, in the system polled at each finish",
	Terms:     []string{"matched blocks", "active", "pinned"},
	TieBreak:  "round robin: a counter of decisions modulo the replicas that tie",
	Source:    trtSource + ", KvCacheAwareRouter; form share as at 3e53e4ad",
	New:       func() Params { return new(TRTKVCacheAware) },
}

// TRTKVCacheAware weighs matched blocks against active requests.
type TRTKVCacheAware struct {
	Form        string  `yaml:"form" default:"blocks" enum:"blocks|share" doc:"what a match counts: blocks, less load_weight an active request; or its share of the prompt, less active requests over max_batch as in older versions"`
	BlockTokens int32   `yaml:"block_tokens" default:"32" min:"1" max:"4096" unit:"tokens" doc:"of a block"`
	LoadWeight  float64 `yaml:"load_weight" default:"0.25" min:"0" unit:"blocks" doc:"that an active request outweighs"`
	LoadCap     float64 `yaml:"load_cap" default:"0" min:"0" unit:"share" doc:"of max_batch from which active requests on a replica is left out unless all are; 0 = none"`
	MaxBatch    int32   `yaml:"max_batch" default:"64" min:"1" unit:"requests" doc:"of a replica"`
	Pin         string  `yaml:"pin" default:"segments" enum:"segments|tokens|off" doc:"what pins a prompt to where it went before: its first two segments, which stand for messages (chains that never branch count as one), its first 256 tokens, or nothing"`
	Pins        int     `yaml:"pins" default:"50000" min:"1" unit:"pins" doc:"that are remembered, the least recently used is forgotten"`
}

// Build implements Params.
func (p *TRTKVCacheAware) Build(e Env) Router {
	r := &trtKVCacheAware{p: *p, matched: make([]int32, e.Replicas), started: make([]bool, e.Work.Len()),
		ties:  turns{cost: make([]float64, e.Replicas)},
		index: newBlockIndex(e.Work, e.Replicas, blockRules{tokens: p.BlockTokens, scope: allEntries})}
	if p.Pin != "off" {
		r.pins = newLRUTable(e.Work.Forest.Nodes(), p.Pins)
	}
	return r
}

type trtKVCacheAware struct {
	p       TRTKVCacheAware
	index   *blockIndex
	pins    *lruTable // by node
	started []bool    // by request: whether it has had its first token
	ties    turns

	// Of the current request.
	up      []int32 // candidates
	matched []int32 // blocks, by replica
}

// Route implements Router.
func (r *trtKVCacheAware) Route(id int32, v *View) int {
	r.started[id] = false // it may have been on a replica that failed
	r.index.match(id, r.matched)
	r.up = r.up[:0]
	for _, i := range v.Up {
		active := float64(v.Requests[i])
		if r.p.Form == "share" {
			r.ties.cost[i] = active/float64(r.p.MaxBatch) - float64(r.matched[i]*r.p.BlockTokens)/float64(v.Work.Prompt[id])
		} else {
			r.ties.cost[i] = float64(r.p.LoadWeight*active) - float64(r.matched[i])
		}
		if r.p.LoadCap == 0 || active/float64(r.p.MaxBatch) < r.p.LoadCap {
			r.up = append(r.up, i)
		}
	}
	if len(r.up) == 0 {
		r.up = append(r.up, v.Up...)
	}
	key := r.key(id, v.Work)
	chosen := r.pinned(key)
	r.explain(v, chosen)
	if chosen == none {
		chosen = r.ties.least(r.up)
	} else {
		r.ties.counter++
	}
	if key != workload.None {
		r.pins.put(key, int32(chosen))
	}
	v.Believed = r.matched[chosen] * r.p.BlockTokens
	return chosen
}

// trtPinTokens are the leading tokens that make up a pin.
const trtPinTokens = 256

// key returns the node that stands for what pins a prompt; None where no other
// prompt can have the same.
func (r *trtKVCacheAware) key(id int32, w *workload.Workload) int32 {
	n := w.Leaf[id]
	switch {
	case r.pins == nil || n == workload.None:
		return workload.None
	case r.p.Pin == "tokens":
		first := min(trtPinTokens, w.Prompt[id])
		if w.Forest.End[n] < first {
			return workload.None
		}
		for p := w.Forest.Parent[n]; p != workload.None && w.Forest.End[p] >= first; p = w.Forest.Parent[p] {
			n = p
		}
		return n
	case w.Forest.Level[n] < 2 && w.Prompt[id] > w.Forest.End[n]:
		return workload.None // the second message is the private rest
	}
	for w.Forest.Level[n] > 2 {
		n = w.Forest.Parent[n]
	}
	return n
}

// pinned returns the replica that a key is pinned to if it is a candidate.
func (r *trtKVCacheAware) pinned(key int32) int {
	if key == workload.None {
		return none
	}
	home := r.pins.value[key]
	for _, i := range r.up {
		if i == home {
			return int(i)
		}
	}
	return none
}

func (r *trtKVCacheAware) explain(v *View, pinned int) {
	rule := "score"
	if pinned != none {
		rule = "pin"
	}
	d := v.Decide(rule)
	if d == nil {
		return
	}
	for _, i := range r.up {
		d.Score[i] = -r.ties.cost[i]
		d.Terms[0][i], d.Terms[1][i], d.Terms[2][i] = float64(r.matched[i]), float64(v.Requests[i]), 0
		d.Cached[i] = r.matched[i] * r.p.BlockTokens
	}
	if pinned != none {
		d.Terms[2][pinned], d.Score[pinned] = 1, math.Inf(1)
	}
}

// FirstToken implements Observer.
func (r *trtKVCacheAware) FirstToken(id int32, _ int, _ *View) { r.started[id] = true }

// Left implements Observer. The blocks of a request that never began are not cached.
func (r *trtKVCacheAware) Left(id int32, replica int, v *View) {
	if r.started[id] && v.IsUp(replica) {
		r.index.insert(id, replica, v.NowNs)
	}
}

// Evicted implements Evictee.
func (r *trtKVCacheAware) Evicted(replica int, node, tokens int32, _ *View) {
	r.index.keep(replica, node, tokens)
}

// Down implements Follower.
func (r *trtKVCacheAware) Down(replica int, _ *View) { r.index.drop(replica) }

// Came implements Follower.
func (r *trtKVCacheAware) Came(int, *View) {}
