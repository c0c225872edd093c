package router

var sglangCacheAwarePolicy = Policy{
	Name:      "sglang-cache-aware",
	Summary:   "SGLang's default: the replica that a tree of sent prompts names for the longest prefix; the least loaded one on a miss or while loads are far apart",
	Formula:   "if max l - min l > 64 and max l > 1.5 min l: argmin l; else if match / prompt > 0.3: the named tenant; else argmin l",
	Needs:     "its own dispatches in flight, the prompt's text",
	Belief:    "approximate: one radix tree over all replicas, filled at dispatch; LRU leaves of a replica go every 120 s while it has more than 2^26 characters; nothing is learnt of the replicas' evictions",
	Staleness: "loads are exact, of this router alone",
	Terms:     treeTerms,
	TieBreak:  "the first index; among the owners of a prefix the one that the tree's node was made for, whatever its load",
	Source:    "sglang sgl-model-gateway/src/policies/cache_aware.rs and tree.rs at b93974f1, 053b63ff and 092fb045, defaults of router_args.py at 05e589ad (command line; the library's struct has 0.5, 32, 1.1, 30 s and 10,000); smallest-tree is the miss path of older releases",
	New:       func() Params { return new(SGLangCacheAware) },
}

// TreeGuard are the thresholds of the two stages.
type TreeGuard struct {
	Threshold    float64 `yaml:"threshold" default:"0.3" min:"0" max:"1" unit:"share" doc:"a known prefix counts when it is more than this share of the prompt"`
	BalanceAbs   int32   `yaml:"balance_abs" default:"64" min:"0" unit:"requests" doc:"loads are far apart when the greatest is more than this many requests above the least ..."`
	BalanceRatio float64 `yaml:"balance_ratio" default:"1.5" min:"0" unit:"ratio" doc:"... and more than this many times as great"`
}

// TreeStore is how a tree is kept.
type TreeStore struct {
	Unit         string  `yaml:"unit" default:"chars" enum:"chars|tokens" doc:"what the tree is over: characters, at 4 a token, or pages of 16 tokens (requests over gRPC)"`
	MaxTreeChars int64   `yaml:"max_tree_size" default:"67108864" min:"0" unit:"chars" doc:"what eviction leaves of each replica's text in the tree; in tokens where the tree is over tokens"`
	EvictionS    float64 `yaml:"eviction_s" default:"120" min:"0" max:"1000000" unit:"s" doc:"time between evictions; 0 = never"`
	Owner        string  `yaml:"owner" default:"creator" enum:"creator|last-inserter" doc:"which owner of a prefix is named while it owns it: the one that its node was made for, as the code sets it, or the last that was sent it"`
	Down         string  `yaml:"down" default:"keep" enum:"keep|drop" doc:"whether the tree keeps a replica that takes no more requests, as when its health check fails, or forgets it, as when it is removed"`
}

// SGLangCacheAware is treeAffinity as SGLang ships it.
type SGLangCacheAware struct {
	TreeGuard
	Miss string `yaml:"miss" default:"least-load" enum:"least-load|smallest-tree" doc:"where a request goes whose prefix is not known: to the least loaded replica, or as in older releases to the one with the least text in the tree"`
	TreeStore
}

// Build implements Params.
func (p *SGLangCacheAware) Build(e Env) Router {
	a := newTreeAffinity(e, &p.TreeGuard, &p.TreeStore)
	a.smallest = p.Miss == "smallest-tree"
	a.all = e.pool()
	return &a
}
