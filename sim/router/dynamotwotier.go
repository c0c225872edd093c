package router

var dynamoTwoTierPolicy = Policy{
	Name:      "dynamo-two-tier",
	Summary:   "Dynamo's plugin two_tier: the least loaded while loads are far apart, else the longest cached prefix if long enough",
	Formula:   "if max-min > 32 and max > 1.1*min: argmin l; else if overlap > 0.5 of the prompt's blocks: argmin l of those with the most; else argmin l",
	Needs:     "prefixes cached on every replica, from events or its own decisions, and its own dispatches in flight",
	Belief:    "cache events; or its own decisions for 120 s",
	Staleness: "none; several routers count apart",
	TieBreak:  "first index; the plugin leaves it to the order of its rows",
	Source:    "Dynamo, lib/router-plugins/builtin/src/two_tier_cost_fn.rs at 0c3850ca, after SGLang's experimental cache_aware_zmq",
	New:       func() Params { return new(DynamoTwoTier) },
}

// DynamoTwoTier are the parameters of Dynamo's plugin two_tier.
type DynamoTwoTier struct {
	KVBelief
	CacheThreshold float64 `yaml:"cache_threshold" default:"0.5" min:"0" max:"1" unit:"share" doc:"the longest cached prefix decides where it is more than this share of the prompt's blocks"`
	BalanceAbs     int32   `yaml:"balance_abs" default:"32" min:"0" unit:"requests" doc:"load decides when the most loaded replica has more than this many requests above the least loaded ..."`
	BalanceRatio   float64 `yaml:"balance_ratio" default:"1.1" min:"1" unit:"ratio" doc:"... and more than this many times as many"`
}

// Build implements Params.
func (p *DynamoTwoTier) Build(e Env) Router {
	return &dynamoTwoTier{newKVBooks(e, &p.KVBelief), prefix{abs: p.BalanceAbs, ratio: p.BalanceRatio}, p.CacheThreshold}
}

type dynamoTwoTier struct {
	kvBooks
	guard     prefix
	threshold float64
}

func (r *dynamoTwoTier) Route(id int32, v *View) int {
	r.belief.match(id, v)
	rule, need := "imbalance", int32(0)
	if !r.guard.imbalanced(v.Up, v.Requests) {
		rule = "miss"
		most := int32(0)
		for _, i := range v.Up {
			most = max(most, r.belief.cached[i])
		}
		blocks := (v.Work.Prompt[id] + r.belief.block - 1) / r.belief.block
		if float64(most) > r.threshold*float64(blocks) {
			rule, need = "affinity", most
		}
	}
	d := v.Decide(rule)
	best := int32(-1)
	for _, i := range v.Up {
		if d != nil {
			d.Cached[i] = r.belief.cached[i] * r.belief.block
		}
		if r.belief.cached[i] < need {
			continue
		}
		if d != nil {
			d.Score[i] = float64(v.Requests[i])
		}
		if best < 0 || v.Requests[i] < v.Requests[best] {
			best = i
		}
	}
	r.send(id, int(best), v)
	return int(best)
}
