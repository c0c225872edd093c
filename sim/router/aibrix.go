package router

import (
	"math"

	"switchyard/sim/param"
	"switchyard/sim/rng"
)

var aibrixPrefixCachePolicy = Policy{
	Name:      "aibrix-prefix-cache",
	Summary:   "the replica that matches the greatest percentage of the prompt, among those that are not loaded far above the mean; else the least loaded",
	Formula:   "first by match % descending, load ascending with load <= mean + 1 standard deviation; only the least loaded match while most - least > 8",
	Needs:     "the prompt, and its own dispatches in flight; cache events with belief: events",
	Belief:    "the last 200000 blocks of 4 characters sent anywhere, inserted at dispatch, heads forgotten first, each after 20 minutes; or events with what was sent until an eviction is told",
	Staleness: "none with one gateway",
	Terms:     []string{"match %", "load", "bound"},
	TieBreak:  "random",
	Source:    "AIBrix e3e10f9e, pkg/plugins/gateway/algorithms/prefix_cache.go, pkg/utils/prefixcacheindexer/hash.go",
	New:       func() Params { return new(AIBrixPrefixCache) },
}

// AIBrixPrefixCache matches prefixes as AIBrix's gateway does.
type AIBrixPrefixCache struct {
	Belief     string  `yaml:"belief" default:"approximate" enum:"approximate|events" doc:"whether a prefix counts as cached where it was sent, or also where events tell of it and until they tell of its eviction; the latter has blocks of 16 tokens"`
	BlockChars int32   `yaml:"block_chars" default:"4" min:"4" max:"16384" unit:"characters" doc:"of a block of the approximate belief, of which four are a token"`
	Blocks     int64   `yaml:"blocks" default:"200000" min:"1" unit:"blocks" doc:"that are remembered, for all replicas together"`
	TTLMin     float64 `yaml:"ttl_min" default:"20" min:"0" max:"100000" unit:"min" doc:"after which an unused block is forgotten; 0 = never"`
	SweepS     float64 `yaml:"sweep_s" default:"1" min:"0" max:"100000" unit:"s" doc:"between looks for such blocks"`
	Imbalance  int32   `yaml:"imbalance" default:"8" min:"0" unit:"requests" doc:"by which the most loaded may exceed the least loaded replica before only the least loaded are matched"`
	Deviations float64 `yaml:"deviations" default:"1" min:"0" unit:"ratio" doc:"standard deviations above the mean load up to which a match counts"`
}

// Check implements param's check of what bounds cannot say.
func (p *AIBrixPrefixCache) Check() error { return wholeTokens("block_chars", p.BlockChars) }

// wholeTokens refuses a number of characters that is no number of tokens.
func wholeTokens(field string, chars int32) error {
	if chars%4 == 0 {
		return nil
	}
	return &param.Error{Field: field, Value: param.Format(chars), Expected: "a multiple of 4, since four characters are a token"}
}

// aibrixSyncTokens is a block of the index that follows cache events.
const aibrixSyncTokens = 16

// Build implements Params.
func (p *AIBrixPrefixCache) Build(e Env) Router {
	rules := blockRules{tokens: p.BlockChars / 4, scope: allBlocks, capacity: p.Blocks,
		ttlNs: int64(p.TTLMin * 60e9), sweepNs: int64(p.SweepS * 1e9)}
	if p.Belief == "events" {
		rules.tokens = aibrixSyncTokens
	}
	r := &aibrixPrefixCache{p: *p, stream: e.Random, matched: make([]int32, e.Replicas), tokens: rules.tokens,
		index: newBlockIndex(e.Work, e.Replicas, rules)}
	if p.Belief == "events" {
		return &aibrixSynced{*r}
	}
	return r
}

// WantsEvents implements Subscriber.
func (p *AIBrixPrefixCache) WantsEvents() bool { return p.Belief == "events" }

type aibrixPrefixCache struct {
	p       AIBrixPrefixCache
	stream  *rng.Stream
	index   *blockIndex
	tokens  int32   // of a block
	matched []int32 // blocks, by replica
}

// Route implements Router.
func (r *aibrixPrefixCache) Route(id int32, v *View) int {
	r.index.expire(v.NowNs)
	r.index.match(id, r.matched)
	return r.route(id, v)
}

func (r *aibrixPrefixCache) route(id int32, v *View) int {
	chosen := r.choose(id, v)
	v.Believed = r.matched[chosen] * r.tokens
	r.index.insert(id, chosen, v.NowNs)
	return chosen
}

// choose takes the best match that is not overloaded, or the least loaded
// replica.
func (r *aibrixPrefixCache) choose(id int32, v *View) int {
	low, high := span(v.Up, func(i int32) int32 { return v.Requests[i] })
	gated := high-low > r.p.Imbalance
	bound := r.bound(v)
	blocks := r.index.blocks(id)
	best, ties, percent := int32(none), 0, int32(0)
	for _, i := range v.Up {
		if !r.candidate(i, v, gated, low, bound) {
			continue
		}
		m := r.matched[i] * 100 / blocks
		switch {
		case best == none || m > percent || m == percent && v.Requests[i] < v.Requests[best]:
			best, ties, percent = i, 1, m
		case m == percent && v.Requests[i] == v.Requests[best]:
			ties++
		}
	}
	r.explain(v, best != none, blocks, gated, low, bound)
	switch {
	case best == none:
		return argmin(v.Up, v.Requests, r.stream)
	case ties == 1:
		return int(best)
	}
	return nth(r.stream.IntN(ties), v.Up, func(i int32) bool {
		return r.candidate(i, v, gated, low, bound) && r.matched[i]*100/blocks == percent && v.Requests[i] == v.Requests[best]
	})
}

// candidate reports whether a replica's match counts.
func (r *aibrixPrefixCache) candidate(i int32, v *View, gated bool, low int32, bound float64) bool {
	return r.matched[i] > 0 && (!gated || v.Requests[i] == low) && float64(v.Requests[i]) <= bound
}

// bound returns the mean load with the sample's standard deviations on top.
func (r *aibrixPrefixCache) bound(v *View) float64 {
	n := float64(len(v.Up))
	var sum float64
	for _, i := range v.Up {
		sum += float64(v.Requests[i])
	}
	mean := sum / n
	if n == 1 {
		return mean
	}
	var squares float64
	for _, i := range v.Up {
		d := float64(v.Requests[i]) - mean
		squares += float64(d * d)
	}
	return mean + float64(r.p.Deviations*math.Sqrt(squares/(n-1)))
}

// explain scores by the match among the replicas whose match counts, or by load.
func (r *aibrixPrefixCache) explain(v *View, hit bool, blocks int32, gated bool, low int32, bound float64) {
	rule := "miss"
	if hit {
		rule = "affinity"
	}
	d := v.Decide(rule)
	if d == nil {
		return
	}
	for _, i := range v.Up {
		d.Cached[i] = r.matched[i] * r.tokens
		d.Terms[0][i] = float64(r.matched[i] * 100 / max(blocks, 1))
		d.Terms[1][i], d.Terms[2][i] = float64(v.Requests[i]), bound
		switch {
		case !hit:
			d.Score[i] = float64(v.Requests[i])
		case r.candidate(i, v, gated, low, bound):
			d.Score[i] = d.Terms[0][i]
		}
	}
}

// aibrixSynced follows cache events.
type aibrixSynced struct{ aibrixPrefixCache }

// Route implements Router. What was sent and what events tell of count apart,
// the longer of both.
func (r *aibrixSynced) Route(id int32, v *View) int {
	r.index.expire(v.NowNs)
	clear(r.matched)
	if v.Events != nil {
		v.Events.Match(v.Work.Leaf[id], r.matched)
		for i := range r.matched {
			r.matched[i] /= r.tokens
		}
	}
	r.index.most(id, r.matched)
	return r.route(id, v)
}

// Evicted implements Evictee.
func (r *aibrixSynced) Evicted(replica int, node, tokens int32, _ *View) {
	r.index.keep(replica, node, tokens)
}
