package router

import "switchyard/sim/workload"

var vllmRouterKVAwarePolicy = Policy{
	Name:      "vllm-router-kv-aware",
	Summary:   "vLLM's router over cache events: the replica with the most cached blocks of the prompt, counting for 2 s what was just sent there",
	Formula:   "argmax contiguous cached blocks of 16; argmin l where nobody has one",
	Needs:     "cache events; its own dispatches in flight",
	Belief:    "the engines' caches as events tell of them, and the uncached blocks of each prompt on the replica that got it, for 2 s",
	Staleness: "events as section view delays them; loads are exact, of this router alone",
	TieBreak:  "the last index among equal matches, the first among equal loads",
	Source:    "vllm-project/router src/policies/kv_aware.rs at 71af9941, perhaps never merged, and so not verified against code that was released",
	New:       func() Params { return new(VLLMRouterKVAware) },
}

// VLLMRouterKVAware follows cache events and its own guesses.
//
// It looks at loads only where no replica has a block of the prompt. A system
// prompt that all requests share so sends nearly all of them to the replica that
// has it first, as any rule without a threshold or a load does.
type VLLMRouterKVAware struct {
	Block       int32   `yaml:"block_tokens" default:"16" min:"1" max:"65536" unit:"tokens" doc:"size of a block"`
	Speculative bool    `yaml:"speculative" default:"true" doc:"whether what was sent to a replica counts as cached there for a while"`
	TTLS        float64 `yaml:"speculative_ttl_s" default:"2" min:"0" max:"1000000" unit:"s" doc:"for how long"`
}

// WantsEvents implements Subscriber.
func (*VLLMRouterKVAware) WantsEvents() bool { return true }

// Build implements Params.
func (p *VLLMRouterKVAware) Build(e Env) Router {
	r := &vllmRouterKVAware{tokens: make([]int32, e.Replicas), guesses: newGuesses(e.Work, p.Block, int64(p.TTLS*1e9))}
	r.guesses.off = !p.Speculative
	return r
}

type vllmRouterKVAware struct {
	tokens  []int32 // by replica: of whole blocks of the prompt
	guesses guesses
}

func (r *vllmRouterKVAware) Route(id int32, v *View) int {
	whole := r.guesses.text.whole(v.Work.Prompt[id])
	if len(v.Up) == 1 || whole == 0 {
		explainLoads(v, "only", v.Up)
		if v.Believed = 0; whole > 0 {
			v.Believed = none // it does not look
		}
		return firstLeast(v.Up, v.Requests)
	}
	r.guesses.match(v.Work.Leaf[id], v, r.tokens)
	best := v.Up[0]
	for _, i := range v.Up[1:] {
		if r.tokens[i] >= r.tokens[best] {
			best = i
		}
	}
	rule, known := "affinity", r.tokens[best]
	if known == 0 {
		rule, best = "miss", int32(firstLeast(v.Up, v.Requests))
	}
	if d := v.Decide(rule); d != nil {
		for _, i := range v.Up {
			d.Score[i], d.Cached[i] = float64(r.tokens[i]/r.guesses.text.size), r.tokens[i]
			if rule == "miss" {
				d.Score[i] = float64(v.Requests[i])
			}
		}
	}
	v.Believed = known
	r.guesses.add(v.Work.Leaf[id], known, best, v.NowNs)
	return int(best)
}

// guesses are blocks that a replica is taken to have since they were sent to
// it, each for the same time, so that the oldest end first. They are kept by
// the nodes in which blocks end, the younger before the older: a chain ends at
// the first guess that is no more.
type guesses struct {
	text  pages
	ttlNs int64
	off   bool
	first []int64 // by node: its youngest guess
	list  []guess // from number base on
	base  int64
	head  int64 // the oldest that holds
	path  []int32
}

// guess says that a replica has the blocks of a node from so many tokens on.
type guess struct {
	next    int64 // older, of the same node
	untilNs int64
	replica int32
	from    int32
}

func newGuesses(w *workload.Workload, block int32, ttlNs int64) guesses {
	g := guesses{text: newPages(&w.Forest, block), ttlNs: ttlNs, first: make([]int64, w.Forest.Nodes())}
	for i := range g.first {
		g.first[i] = none
	}
	return g
}

// match writes the tokens of whole blocks of the path to leaf that each replica
// has without a gap, by events and guesses.
func (g *guesses) match(leaf int32, v *View, dst []int32) {
	v.Events.Match(leaf, dst)
	for i, t := range dst {
		dst[i] = t / g.text.size * g.text.size
	}
	for g.head < g.base+int64(len(g.list)) && g.list[g.head-g.base].untilNs <= v.NowNs {
		g.head++
	}
	if g.head == g.base+int64(len(g.list)) {
		return
	}
	g.path = g.path[:0]
	for n := g.text.leaf(leaf); n != none; n = g.text.parent[n] {
		g.path = append(g.path, n)
	}
	grown := false
	start := int32(0)
	for i := len(g.path) - 1; i >= 0; i-- {
		n := g.path[i]
		if grown {
			g.after(n, start, v, dst)
		}
		end := g.text.end[n]
		for k := g.first[n]; k >= g.head; k = g.list[k-g.base].next {
			x := &g.list[k-g.base]
			if has := dst[x.replica]; has >= x.from && has >= start && has < end {
				dst[x.replica] = end
				grown = true
			}
		}
		start = end
	}
}

// after adds what events say of a node to those who have all before it.
func (g *guesses) after(n, start int32, v *View, dst []int32) {
	f := &v.Work.Forest
	row := v.Events.tokens[int(n)*v.Replicas:][:v.Replicas]
	for i, t := range row {
		if t > 0 && dst[i] == start {
			dst[i] = max(start, (f.End[n]-f.Tokens[n]+t)/g.text.size*g.text.size)
		}
	}
}

// add takes a replica to have the blocks of a path from so many tokens on.
func (g *guesses) add(leaf, from, replica int32, now int64) {
	if g.off {
		return
	}
	for n := g.text.leaf(leaf); n != none && g.text.end[n] > from; n = g.text.parent[n] {
		g.list = append(g.list, guess{g.first[n], now + g.ttlNs, replica, from})
		g.first[n] = g.base + int64(len(g.list)) - 1
	}
	if gone := int(g.head - g.base); gone > 1024 && gone > len(g.list)/2 {
		g.list = g.list[:copy(g.list, g.list[gone:])]
		g.base = g.head
	}
}
