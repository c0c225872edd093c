package router

import (
	"math"

	"switchyard/sim/rng"
)

var rayPrefixAffinityPolicy = Policy{
	Name:      "ray-prefix-affinity",
	Summary:   "Ray Serve's prefix-cache affinity: the owners of the longest known prefix, on a miss the replicas with the least text in the tree; power of two while queues are far apart",
	Formula:   "if max l - min l > threshold (infinite): the lesser of two draws; else if match / prompt >= 0.1: argmin l over the prefix's owners; else argmin l over the smallest trees",
	Needs:     "queue lengths, here its own dispatches in flight; the prompt's text",
	Belief:    "approximate: one radix tree over all replicas, filled at dispatch, cut only where eviction is on; a replica that goes is forgotten",
	Staleness: "loads are exact, of this router alone; in Ray they are a cache of probed queue lengths",
	Terms:     treeTerms,
	TieBreak:  "random, for the order of Ray's sets; of two draws the first",
	Source:    "ray llm prefix_aware_router.py and prefix_tree.py at 06c16f2f",
	New:       func() Params { return new(RayPrefixAffinity) },
}

// RayPrefixAffinity follows prefixes and, with its defaults, no load at all
// beyond the ties.
type RayPrefixAffinity struct {
	Imbalanced  float64 `yaml:"imbalanced_threshold" default:"-1" min:"-1" unit:"requests" doc:"queues are far apart when the longest is more than this many requests above the shortest; -1 = never"`
	MatchRate   float64 `yaml:"match_rate_threshold" default:"0.1" min:"0" max:"1" unit:"share" doc:"least share of the prompt that a known prefix must have"`
	Eviction    bool    `yaml:"do_eviction" default:"false" doc:"whether the tree is ever cut"`
	ThresholdCh int64   `yaml:"eviction_threshold_chars" default:"400000" min:"0" unit:"chars" doc:"a replica's text in the tree above which it is cut, at 4 characters a token ..."`
	TargetCh    int64   `yaml:"eviction_target_chars" default:"360000" min:"0" unit:"chars" doc:"... to this"`
	IntervalS   float64 `yaml:"eviction_interval_s" default:"10" min:"0.001" max:"1000000" unit:"s" doc:"time between looks at its size"`
}

// Build implements Params.
func (p *RayPrefixAffinity) Build(e Env) Router {
	r := &rayPrefixAffinity{tree: newTree(e.Work, e.Replicas, 1), stream: e.Random, apart: p.Imbalanced, rate: p.MatchRate, chosen: make([]int32, 0, e.Replicas)}
	if p.Imbalanced < 0 {
		r.apart = math.Inf(1)
	}
	if p.Eviction {
		r.limits = newTreeLimits(p.IntervalS, p.ThresholdCh)
		r.limits.target = min(p.TargetCh, p.ThresholdCh) / charsPerToken
	}
	return r
}

type rayPrefixAffinity struct {
	tree   *tree
	limits treeLimits
	stream *rng.Stream
	apart  float64
	rate   float64
	chosen []int32 // replicas among which the load decides, ascending
}

func (r *rayPrefixAffinity) Route(id int32, v *View) int {
	r.limits.apply(r.tree, v.NowNs)
	k := r.tree.match(id)
	r.chosen = r.chosen[:0]
	rule, to := "imbalance", 0
	if !r.imbalanced(v) {
		rule = r.candidates(id, k, v)
	}
	if len(r.chosen) > 0 {
		to = argmin(r.chosen, v.Requests, r.stream)
	} else {
		a, b := two(v.Up, r.stream)
		if to = a; v.Requests[b] < v.Requests[a] {
			to = b
		}
		r.chosen = append(r.chosen, int32(a), int32(b))
	}
	if d := v.Decide(rule); d != nil {
		r.tree.each(k, d.Cached)
		for _, i := range v.Up {
			d.Terms[0][i], d.Terms[1][i] = float64(v.Requests[i]), float64(r.tree.size[i])
		}
		for _, i := range r.chosen {
			d.Score[i] = float64(v.Requests[i])
		}
	}
	v.Believed = r.tree.have(k, to)
	r.tree.insert(id, k, to)
	return to
}

func (r *rayPrefixAffinity) imbalanced(v *View) bool {
	low, high := v.Requests[v.Up[0]], v.Requests[v.Up[0]]
	for _, i := range v.Up[1:] {
		low, high = min(low, v.Requests[i]), max(high, v.Requests[i])
	}
	return float64(high-low) > r.apart
}

// candidates lists the owners of the prefix, or the smallest trees; nobody
// where the owners are down.
func (r *rayPrefixAffinity) candidates(id int32, k known, v *View) string {
	if k.node != none && float64(k.tokens) >= r.rate*float64(v.Work.Prompt[id]) {
		for _, i := range v.Up {
			if r.tree.find(k.node, i) != none {
				r.chosen = append(r.chosen, i)
			}
		}
		return "affinity"
	}
	least := r.tree.size[smallestTree(v.Up, r.tree.size)]
	for _, i := range v.Up {
		if r.tree.size[i] == least {
			r.chosen = append(r.chosen, i)
		}
	}
	return "miss"
}

// Down implements Follower.
func (r *rayPrefixAffinity) Down(replica int, _ *View) { r.tree.forget(replica) }

// Came implements Follower.
func (r *rayPrefixAffinity) Came(int, *View) {}
