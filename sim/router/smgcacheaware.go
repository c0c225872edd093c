package router

var smgCacheAwarePolicy = Policy{
	Name:      "smg-cache-aware",
	Summary:   "SMG's default: SGLang's rule with ties by requests served, guards on KV memory, and a mode that believes cache events",
	Formula:   "if max l - min l > 64 and max l > 1.5 min l, or KV use too high or too far apart: argmin l; else tree: as sglang-cache-aware; events: argmax whole cached blocks, argmin l where there are none",
	Needs:     "its own dispatches in flight, the prompt's text; KV use where a threshold on it is set; cache events with belief: events",
	Belief:    "approximate tree as sglang-cache-aware's, which a replica that leaves is not taken out of; or the engines' cache events, in blocks of 16",
	Staleness: "loads are exact, of this router alone; KV use is polled every 10 s; events as section view delays them",
	Terms:     treeTerms,
	TieBreak:  "least load, then fewest requests served, then the first index; with events equal blocks go to the lower load, then to the smaller index of blocks, then to the last index",
	Source:    "smg model_gateway/src/policies/cache_aware.rs, crates/kv_index at 73da68ca; eviction every 120 s as of main.rs (Python arguments: 60 s)",
	New:       func() Params { return new(SMGCacheAware) },
}

// SMGCacheAware is treeAffinity as SMG ships it.
type SMGCacheAware struct {
	TreeGuard
	Belief   string  `yaml:"belief" default:"tree" enum:"tree|events" doc:"what is believed of caches: that they hold what was sent, or what their events say"`
	Block    int32   `yaml:"block_tokens" default:"16" min:"1" max:"65536" unit:"tokens" doc:"with belief: events, size of a block"`
	Overload float64 `yaml:"overload_usage" default:"1" min:"0" max:"1" unit:"share" doc:"loads also count as far apart when a replica has more than this share of its KV memory in use; 1 = off"`
	Apart    float64 `yaml:"balance_usage" default:"1" min:"0" max:"1" unit:"share" doc:"or when these shares are further apart than this; 1 = off"`
	PollMs   float64 `yaml:"poll_ms" default:"10000" min:"0" max:"3600000" unit:"ms" doc:"time between readings of KV use"`
	TreeStore
}

// WantsEvents implements Subscriber.
func (p *SMGCacheAware) WantsEvents() bool { return p.Belief == "events" }

// Reads implements Reader.
func (p *SMGCacheAware) Reads() Reading {
	if p.Overload >= 1 && p.Apart >= 1 {
		return Reading{}
	}
	return Reading{On: true, PeriodNs: int64(p.PollMs * 1e6)}
}

// Build implements Params.
func (p *SMGCacheAware) Build(e Env) Router {
	a := newTreeAffinity(e, &p.TreeGuard, &p.TreeStore)
	a.processed = make([]int64, e.Replicas)
	a.overload, a.apart = p.Overload, p.Apart
	if p.Belief == "events" {
		return &smgEvents{a, p.Block, make([]int32, e.Replicas)}
	}
	return &a
}

// smgEvents has the guard of treeAffinity and no tree.
type smgEvents struct {
	treeAffinity
	block  int32
	tokens []int32
}

func (s *smgEvents) Route(id int32, v *View) int {
	rule, chosen := "imbalance", 0
	v.Events.Match(v.Work.Leaf[id], s.tokens)
	if s.imbalanced(v) {
		chosen = s.least(v)
	} else {
		rule, chosen = s.overlap(v)
	}
	if d := v.Decide(rule); d != nil {
		for _, i := range v.Up {
			d.Terms[0][i], d.Terms[1][i] = float64(v.Requests[i]), float64(v.Events.Held(int(i)))
			d.Cached[i] = s.tokens[i] / s.block * s.block
			d.Score[i] = d.Terms[0][i]
			if rule == "affinity" {
				d.Score[i] = float64(s.tokens[i] / s.block)
			}
		}
	}
	v.Believed = s.tokens[chosen] / s.block * s.block
	s.processed[chosen]++
	return chosen
}

// overlap returns the replica with the most whole blocks of the prompt, the
// least loaded where nobody has one.
func (s *smgEvents) overlap(v *View) (string, int) {
	best := v.Up[0]
	for _, i := range v.Up[1:] {
		a, b := s.tokens[i]/s.block, s.tokens[best]/s.block
		if a == b {
			a, b = v.Requests[best], v.Requests[i]
		}
		if a > b || a == b && v.Events.Held(int(i)) <= v.Events.Held(int(best)) {
			best = i
		}
	}
	if s.tokens[best] < s.block {
		return "miss", s.least(v)
	}
	return "affinity", int(best)
}
