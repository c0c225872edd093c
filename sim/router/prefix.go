package router

import (
	"math"

	"switchyard/sim/rng"
)

var prefixAffinityPolicy = Policy{
	Name:     "prefix-affinity",
	Summary:  "the replica that holds the longest prefix of the prompt, of whatever length",
	Needs:    "what every replica has cached, and its own dispatches in flight",
	TieBreak: "fewest outstanding requests, then random",
	Source:   "the rule that prefix-aware routing starts from; it collapses when all prompts share a system prompt",
	New:      func() Params { return new(PrefixAffinity) },
}

var prefixThresholdPolicy = Policy{
	Name:     "prefix-threshold",
	Summary:  "the replica that holds the longest prefix, if that is long enough a share of the prompt; else the least loaded",
	Needs:    "what every replica has cached, and its own dispatches in flight",
	TieBreak: "fewest outstanding requests, then random",
	Source:   "the exploit rule of Preble's E2 (Srivatsa et al., ICLR 2025, section 3.2) at threshold 0.5, with the least loaded replica otherwise",
	New:      func() Params { return new(PrefixThreshold) },
}

var cacheAwarePolicy = Policy{
	Name:     "cache-aware",
	Summary:  "prefix-threshold, except that it takes the least loaded replica while loads are far apart",
	Needs:    "what every replica has cached, and its own dispatches in flight",
	TieBreak: "fewest outstanding requests, then random",
	Source:   "a threshold and an imbalance guard as in SGLang's router (Zheng et al., 2024), with other numbers, live caches and another miss path: not that router",
	New:      func() Params { return new(CacheAware) },
}

// PrefixAffinity follows the longest prefix.
type PrefixAffinity struct {
	Belief string `yaml:"belief" default:"dispatched" enum:"dispatched|ready" doc:"whether a prefix counts as held while its first request is still on its way"`
}

// PrefixThreshold follows the longest prefix when it is long enough.
type PrefixThreshold struct {
	Threshold float64 `yaml:"threshold" default:"0.5" min:"0" max:"1" unit:"share" doc:"least share of the prompt that a held prefix must have"`
	Belief    string  `yaml:"belief" default:"dispatched" enum:"dispatched|ready" doc:"whether a prefix counts as held while its first request is still on its way"`
}

// CacheAware is PrefixThreshold with a guard against imbalance.
type CacheAware struct {
	Threshold    float64 `yaml:"threshold" default:"0.5" min:"0" max:"1" unit:"share" doc:"least share of the prompt that a held prefix must have"`
	BalanceAbs   int32   `yaml:"balance_abs" default:"8" min:"0" unit:"requests" doc:"the guard acts when the most loaded replica has more than this many outstanding requests above the least loaded ..."`
	BalanceRatio float64 `yaml:"balance_ratio" default:"1.5" min:"1" unit:"ratio" doc:"... and more than this many times as many"`
	Belief       string  `yaml:"belief" default:"dispatched" enum:"dispatched|ready" doc:"whether a prefix counts as held while its first request is still on its way"`
}

// Build implements Params.
func (p *PrefixAffinity) Build(e Env) Router {
	return &prefix{stream: e.Random, ready: p.Belief == "ready"}
}

// Build implements Params.
func (p *PrefixThreshold) Build(e Env) Router {
	return &prefix{stream: e.Random, ready: p.Belief == "ready", threshold: p.Threshold}
}

// Build implements Params.
func (p *CacheAware) Build(e Env) Router {
	return &prefix{stream: e.Random, ready: p.Belief == "ready", threshold: p.Threshold,
		guard: true, abs: p.BalanceAbs, ratio: p.BalanceRatio}
}

// WantsPrefixes implements Prefixed.
func (*PrefixAffinity) WantsPrefixes() bool { return true }

// WantsPrefixes implements Prefixed.
func (*PrefixThreshold) WantsPrefixes() bool { return true }

// WantsPrefixes implements Prefixed.
func (*CacheAware) WantsPrefixes() bool { return true }

// prefix is the rule that the three policies share.
type prefix struct {
	stream    *rng.Stream
	ready     bool
	threshold float64
	guard     bool
	abs       int32
	ratio     float64
}

func (p *prefix) Route(id int32, v *View) int {
	if p.guard && p.imbalanced(v.Up, v.Requests) {
		return p.least(id, v, "imbalance")
	}
	match, holders := v.longest(id, p.ready)
	if match == 0 || float64(match) < p.threshold*float64(v.Work.Prompt[id]) {
		return p.least(id, v, "miss")
	}
	v.Believed = match
	if d := p.explain(id, v, "affinity"); d != nil {
		for _, i := range v.Up {
			if holders.tokens(holders.row[i]) != holders.most {
				d.Score[i] = math.NaN()
			}
		}
	}
	return holders.argmin(v.Up, v.Requests, p.stream)
}

// least takes the least loaded replica, whatever it holds.
func (p *prefix) least(id int32, v *View, rule string) int {
	p.explain(id, v, rule)
	chosen := argmin(v.Up, v.Requests, p.stream)
	v.Believed = v.held(id, chosen, p.ready)
	return chosen
}

// explain fills the decision with the loads that the choice goes by.
func (p *prefix) explain(id int32, v *View, rule string) *Decision {
	d := v.Decide(rule)
	if d == nil {
		return nil
	}
	for _, i := range v.Up {
		d.Score[i] = float64(v.Requests[i])
		d.Cached[i] = v.held(id, int(i), p.ready)
	}
	return d
}

func (p *prefix) imbalanced(up, load []int32) bool {
	low, high := load[up[0]], load[up[0]]
	for _, i := range up[1:] {
		low, high = min(low, load[i]), max(high, load[i])
	}
	return high-low > p.abs && float64(high) > p.ratio*float64(low)
}
