package router

import "switchyard/sim/rng"

var productionStackPrefixPolicy = Policy{
	Name:      "production-stack-prefixaware",
	Summary:   "vLLM production stack's prefix-aware routing: one of the replicas that were sent the longest prefix, whatever its load",
	Formula:   "a uniform draw from the replicas that know the most chunks of 128 characters; from all where nobody knows any",
	Needs:     "the prompt's text",
	Belief:    "approximate: a trie of chunks, filled at dispatch and never emptied",
	Staleness: "none: it looks at no load",
	TieBreak:  "random",
	Source:    "production-stack src/vllm_router/routers/routing_logic.py and prefix/hashtrie.py at a6c01db0",
	New:       func() Params { return new(ProductionStackPrefix) },
}

var productionStackLoadPolicy = Policy{
	Name:      "production-stack-loadaware",
	Summary:   "vLLM production stack's load-aware routing: known share of the prompt minus how far the load is above the mean",
	Formula:   "argmax match / prompt - beta (l - mean l) / max(1, mean l), beta = 1",
	Needs:     "its own dispatches in flight, the prompt's text",
	Belief:    "approximate: a trie of chunks, filled at dispatch and never emptied",
	Staleness: "loads are exact, of this router alone",
	Terms:     []string{"match", "excess_load"},
	TieBreak:  "the first index",
	Source:    "production-stack, pull request 1035, merged 2026-08-09, as described; not verified against code: which load it reads and how it breaks ties",
	New:       func() Params { return new(ProductionStackLoad) },
}

// ProductionStackPrefix follows prefixes alone.
type ProductionStackPrefix struct {
	Chunk int64 `yaml:"chunk_chars" default:"128" min:"4" max:"1000000" unit:"chars" doc:"size of a chunk, at 4 characters a token"`
}

// ProductionStackLoad weighs prefixes against loads.
type ProductionStackLoad struct {
	Chunk int64   `yaml:"chunk_chars" default:"128" min:"4" max:"1000000" unit:"chars" doc:"size of a chunk, at 4 characters a token"`
	Beta  float64 `yaml:"beta" default:"1" min:"0" max:"1000" unit:"ratio" doc:"weight of the load"`
}

// Build implements Params.
func (p *ProductionStackPrefix) Build(e Env) Router {
	return &productionStackPrefix{newChunkTrie(e.Work, e.Replicas, int32(p.Chunk/charsPerToken)), e.Random, make([]int32, 0, e.Replicas)}
}

// Build implements Params.
func (p *ProductionStackLoad) Build(e Env) Router {
	return &productionStackLoad{newChunkTrie(e.Work, e.Replicas, int32(p.Chunk/charsPerToken)), p.Beta, make([]int32, e.Replicas)}
}

type productionStackPrefix struct {
	trie   *chunkTrie
	stream *rng.Stream
	known  []int32
}

func (r *productionStackPrefix) Route(id int32, v *View) int {
	match, among := r.trie.longest(id, v.Up, r.known[:0])
	rule := "affinity"
	if len(among) == 0 {
		rule, among = "miss", v.Up
	}
	chosen := int(among[r.stream.IntN(len(among))])
	if d := v.Decide(rule); d != nil {
		r.trie.each(id, d.Cached)
		for _, i := range among {
			d.Score[i] = float64(match)
		}
	}
	v.Believed = match
	r.trie.insert(id, chosen)
	return chosen
}

type productionStackLoad struct {
	trie  *chunkTrie
	beta  float64
	known []int32
}

func (r *productionStackLoad) Route(id int32, v *View) int {
	r.trie.each(id, r.known)
	sum := int64(0)
	for _, i := range v.Up {
		sum += int64(v.Requests[i])
	}
	mean, prompt := float64(sum)/float64(len(v.Up)), float64(v.Work.Prompt[id])
	d := v.Decide("score")
	best, most := v.Up[0], 0.0
	for k, i := range v.Up {
		match, excess := float64(r.known[i])/prompt, (float64(v.Requests[i])-mean)/max(1, mean)
		score := match - float64(r.beta*excess)
		if k == 0 || score > most {
			best, most = i, score
		}
		if d != nil {
			d.Score[i], d.Terms[0][i], d.Terms[1][i], d.Cached[i] = score, match, excess, r.known[i]
		}
	}
	v.Believed = r.known[best]
	r.trie.insert(id, int(best))
	return int(best)
}
