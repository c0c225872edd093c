package router

import (
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

var aibrixPreblePolicy = Policy{
	Name:    "aibrix-prefix-cache-preble",
	Summary: "where more than half of the prompt is known, the replica with the longest prefix and the fewest requests of late; else the one with the least cost of late",
	Formula: "match/prompt > .5 -> argmin requests in 3 minutes among replicas of the deepest node; else argmin Σ over last nodes of requests in " +
		"3 minutes: miss rate requests prefill time + 45 output tokens .15 s",
	Needs:     "the prompt",
	Belief:    "a tree of the prompts of the last 5 minutes with the replicas that each was sent to; a node that is forgotten takes its replicas from the nodes above",
	Staleness: "none with one gateway",
	Terms:     []string{"cost (s)", "requests in window", "deepest match"},
	TieBreak:  "random among equal requests, in the system the order of a map; the first index among equal costs",
	Source: "AIBrix e3e10f9e, pkg/plugins/gateway/algorithms/prefix_cache_preble.go, after Preble; " +
		"nodes are those of the workload's forest, which the system's tree comes to have as prompts branch",
	New: func() Params { return new(AIBrixPreble) },
}

// AIBrixPreble is AIBrix's version of Preble's scheduler.
type AIBrixPreble struct {
	Threshold    float64 `yaml:"threshold" default:"0.5" min:"0" max:"1" unit:"share" doc:"of the prompt that must be known, and more, for affinity"`
	WindowMin    float64 `yaml:"window_min" default:"3" min:"0.1" max:"5" unit:"min" doc:"in which requests count"`
	OutputTokens float64 `yaml:"output_tokens" default:"45" min:"0" unit:"tokens" doc:"that each request is taken to make"`
	TokenS       float64 `yaml:"token_s" default:"0.15" min:"0" unit:"s" doc:"that an output token is taken to need"`
	GPU          string  `yaml:"gpu" default:"V100" enum:"V100|A6000" doc:"of the system's formulas of prefill times, of Mistral 7B"`
}

// Build implements Params.
func (p *AIBrixPreble) Build(e Env) Router {
	nodes := e.Work.Forest.Nodes()
	r := &aibrixPreble{p: *p, stream: e.Random, words: (e.Replicas + 63) / 64, replicas: e.Replicas,
		touched: make([]int64, nodes), count: make([]int32, nodes),
		requests: make([]int64, e.Replicas), cost: make([]float64, e.Replicas)}
	r.on = make([]uint64, nodes*r.words)
	return r
}

// aibrixPreble keeps the tree. Its last nodes are of two kinds: a prompt with a
// private rest has a last node of its own, on the one replica that it was sent
// to; one without ends in a node of the forest.
type aibrixPreble struct {
	p        AIBrixPreble
	stream   *rng.Stream
	words    int // of a node's set
	replicas int

	on      []uint64 // by node: the set of its replicas
	touched []int64  // by node: 1 + time of the last prompt through it, 0 where it is not in the tree
	count   []int32  // by node: prompts in the window that end with it
	sent    []aibrixSent
	counts  int // of sent, from which on they are in the window
	kept    int // of sent, from which on their prompts are in the tree

	requests []int64   // in the window, by replica
	cost     []float64 // s, by replica
}

// aibrixSent is a prompt that was sent.
type aibrixSent struct {
	ns      int64
	id      int32
	replica int32 // none once it has gone
}

// aibrixKeepNs is how long a node is kept without use; the look for old ones
// comes every second.
const (
	aibrixKeepNs  = 300e9
	aibrixSweepNs = 1e9
)

// Route implements Router.
func (r *aibrixPreble) Route(id int32, v *View) int {
	w := v.Work
	r.expire(w, v.NowNs)
	known := w.Leaf[id]
	for known != workload.None && r.touched[known] == 0 {
		known = w.Forest.Parent[known]
	}
	chosen, node := none, known
	if known != workload.None && float64(w.Forest.End[known]) > r.p.Threshold*float64(w.Prompt[id]) {
		chosen, node = r.exploit(known, v)
	}
	rule := "exploit"
	if chosen == none {
		rule, chosen = "cost", int(v.Up[0])
		for _, i := range v.Up[1:] {
			if r.cost[i] < r.cost[chosen] {
				chosen = int(i)
			}
		}
	}
	r.explain(v, rule, node)
	v.Believed = r.held(known, chosen, w)
	r.send(id, chosen, v)
	return chosen
}

// exploit returns the replica with the fewest requests in the window of those
// of the deepest node that has any, at or above known.
func (r *aibrixPreble) exploit(known int32, v *View) (chosen int, node int32) {
	for n := known; n != workload.None; n = v.Work.Forest.Parent[n] {
		best, ties := int32(none), 0
		for _, i := range v.Up {
			switch {
			case !r.has(n, int(i)):
			case best == none || r.requests[i] < r.requests[best]:
				best, ties = i, 1
			case r.requests[i] == r.requests[best]:
				ties++
			}
		}
		if ties > 1 {
			return nth(r.stream.IntN(ties), v.Up, func(i int32) bool {
				return r.has(n, int(i)) && r.requests[i] == r.requests[best]
			}), n
		}
		if best != none {
			return int(best), n
		}
	}
	return none, known
}

// held returns the tokens of the prompt that the tree has on a replica.
func (r *aibrixPreble) held(n int32, replica int, w *workload.Workload) int32 {
	for ; n != workload.None; n = w.Forest.Parent[n] {
		if r.has(n, replica) {
			return w.Forest.End[n]
		}
	}
	return 0
}

// send puts a prompt into the tree and the window.
func (r *aibrixPreble) send(id int32, replica int, v *View) {
	w := v.Work
	for n := w.Leaf[id]; n != workload.None; n = w.Forest.Parent[n] {
		r.touched[n] = v.NowNs + 1
		r.set(n, replica, true, w)
	}
	r.sent = append(r.sent, aibrixSent{v.NowNs, id, int32(replica)})
	if rest := r.rest(id, w); rest > 0 {
		r.book(replica, 1, r.prompt(rest, w.Prompt[id])+r.decode())
		return
	}
	r.add(w.Leaf[id], 1, w)
}

// expire takes what is too old out of the window and the tree, at whole seconds.
func (r *aibrixPreble) expire(w *workload.Workload, nowNs int64) {
	nowNs -= nowNs % aibrixSweepNs
	for ; r.counts < len(r.sent) && r.sent[r.counts].ns+int64(r.p.WindowMin*60e9) <= nowNs; r.counts++ {
		s := r.sent[r.counts]
		switch rest := r.rest(s.id, w); {
		case rest == 0:
			r.add(w.Leaf[s.id], -1, w)
		case s.replica != none:
			r.book(int(s.replica), -1, -r.prompt(rest, w.Prompt[s.id])-r.decode())
		}
	}
	for ; r.kept < r.counts && r.sent[r.kept].ns+aibrixKeepNs < nowNs; r.kept++ {
		r.forget(r.sent[r.kept], w)
	}
	if r.kept > 1024 && 2*r.kept > len(r.sent) {
		r.sent = append(r.sent[:0], r.sent[r.kept:]...)
		r.counts -= r.kept
		r.kept = 0
	}
}

// forget takes the nodes of a prompt out of the tree that no later one went
// through, and their replicas from the nodes above them.
func (r *aibrixPreble) forget(s aibrixSent, w *workload.Workload) {
	if s.replica != none && r.rest(s.id, w) > 0 {
		for n := w.Leaf[s.id]; n != workload.None; n = w.Forest.Parent[n] {
			r.set(n, int(s.replica), false, w)
		}
	}
	for n := w.Leaf[s.id]; n != workload.None; n = w.Forest.Parent[n] {
		if r.touched[n] == 0 || r.touched[n]-1 > s.ns {
			continue
		}
		r.touched[n] = 0
		for i := range r.replicas {
			if r.has(n, i) {
				for a := n; a != workload.None; a = w.Forest.Parent[a] {
					r.set(a, i, false, w)
				}
			}
		}
	}
}

// rest returns the private tokens of a prompt.
func (r *aibrixPreble) rest(id int32, w *workload.Workload) int32 {
	if w.Leaf[id] == workload.None {
		return w.Prompt[id]
	}
	return w.Prompt[id] - w.Forest.End[w.Leaf[id]]
}

func (r *aibrixPreble) has(node int32, replica int) bool {
	return r.on[int(node)*r.words+replica/64]>>(replica%64)&1 != 0
}

// set puts a replica into a node's set or takes it out, with what the node
// counts.
func (r *aibrixPreble) set(node int32, replica int, on bool, w *workload.Workload) {
	if r.has(node, replica) == on {
		return
	}
	r.on[int(node)*r.words+replica/64] ^= 1 << (replica % 64)
	if n := r.count[node]; n > 0 {
		sign := -1.
		if on {
			sign = 1
		}
		r.book(replica, int64(sign)*int64(n), sign*(float64(float64(n)*r.whole(node, w))+r.decode()))
	}
}

// add changes the prompts in the window that end with a node.
func (r *aibrixPreble) add(node, change int32, w *workload.Workload) {
	before := r.count[node]
	r.count[node] += change
	cost := float64(float64(change) * r.whole(node, w))
	switch {
	case before == 0:
		cost += r.decode()
	case r.count[node] == 0:
		cost -= r.decode()
	}
	for i := range r.replicas {
		if r.has(node, i) {
			r.book(i, int64(change), cost)
		}
	}
}

// book adds to what a replica has in the window. What is left of costs when
// nothing is in it is rounding.
func (r *aibrixPreble) book(replica int, requests int64, cost float64) {
	r.requests[replica] += requests
	r.cost[replica] += cost
	if r.requests[replica] == 0 {
		r.cost[replica] = 0
	}
}

func (r *aibrixPreble) explain(v *View, rule string, node int32) {
	d := v.Decide(rule)
	if d == nil {
		return
	}
	for _, i := range v.Up {
		d.Terms[0][i], d.Terms[1][i], d.Terms[2][i] = r.cost[i], float64(r.requests[i]), 0
		d.Cached[i] = r.held(node, int(i), v.Work)
		if node != workload.None {
			d.Terms[2][i] = float64(v.Work.Forest.End[node])
		}
		switch {
		case rule == "cost":
			d.Score[i] = r.cost[i]
		case r.has(node, int(i)):
			d.Score[i] = float64(r.requests[i])
		}
	}
}

// Down implements Follower: a replica that goes is taken out of the tree.
func (r *aibrixPreble) Down(replica int, v *View) {
	for n := range r.touched {
		r.set(int32(n), replica, false, v.Work)
	}
	for k := range r.sent {
		if int(r.sent[k].replica) == replica {
			r.sent[k].replica = none
		}
	}
	r.requests[replica], r.cost[replica] = 0, 0
}

// Came implements Follower.
func (r *aibrixPreble) Came(int, *View) {}
