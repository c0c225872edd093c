package router

import (
	"math"

	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

var preblePolicy = Policy{
	Name:      "preble",
	Summary:   "E2: exploits a cached prefix longer than the rest of the prompt, else explores to the least load cost; with rebalancing, autoscaling and prefill/decode pairing",
	Formula:   "missed < cached: argmin of L + M + P over those that cache most; else over all. L: prefill and decode times dispatched within H, M: prefill times of what would be evicted, each times its share of the requests, P: prefill time of what is missed",
	Needs:     "its own dispatches, first tokens and ends, times of steps, notices of evictions",
	Belief:    "a radix tree with insertion at dispatch, least recently used nodes dropped beyond a replica's capacity, and notices of evictions",
	Staleness: "notices come notice_ms late; the tree knows nothing of what replicas hold beside prefixes",
	Terms:     []string{"load", "eviction", "prefill"},
	TieBreak:  "fewest outstanding requests, then random; the first index for the highest and the lowest load, and for pairing",
	Source:    "Srivatsa et al., Preble, ICLR 2025 (arXiv:2407.00023), algorithms 1 and 2 and section 3.2; not verified against code, which differs: see preble-code",
	New:       func() Params { return new(Preble) },
}

// Preble are the parameters of preble, the scheduler of the paper. In symbols,
// for request k and replica i:
//
//	cached   tokens of the longest prefix of k that some replica caches
//	exploit  prompt - cached < cached: the candidates are those that cache so much
//	explore  otherwise: all replicas
//	cost     L_i + M_i + P_i, the least of which is taken
//	L_i      Σ over requests that were sent to i within H of
//	         prefill(missed tokens) + (mean output on i in H) × decode(prompt)
//	M_i      Σ over nodes j that i would evict for k of prefill(tokens of j) × N_j,
//	         N_j the share of the requests on i within H whose prompt has j
//	P_i      prefill(missed tokens of k on i)
//
// prefill(n) is the step of n new tokens without context, decode(n) that of one
// decode after n tokens, both by the step model of the replicas, which stands
// for the paper's offline regressions. Sums are whole nanoseconds and are kept
// up to date, not summed at a decision.
//
// The paper leaves open what follows; this is what is done here. Outputs count
// once they have ended; before any has on a replica those of all replicas do.
// Nodes are those of the workload's forest, which never split, and are evicted
// as a whole; nodes of k itself are never among those that k evicts. What an
// engine does not cache (a private rest, where it gives that back) takes no room.
// A notice is believed whatever was sent since the eviction.
// Load in the rule of rebalancing is L. A prefix in the rule of autoscaling is
// the key portion of a prompt; it is replicated to the replica with the lowest
// L, unless that caches it. Its subtree is split as its requests come: each
// child goes to the member with the least cost and stays there.
type Preble struct {
	WindowS      float64 `yaml:"window_s" default:"180" min:"0.001" max:"1000000" unit:"s" doc:"the window H of loads, shares, outputs and queueing times"`
	Belief       string  `yaml:"belief" default:"model" enum:"model|dispatched|ready" doc:"where cached prefixes come from: the router's own tree; what replicas have cached or had dispatched; or what they have cached"`
	EvictionCost string  `yaml:"eviction_cost" default:"always" enum:"always|needed|none" doc:"whether M assumes full caches, as the paper does, counts what the router's tree has no room for, or is left out"`
	PrefillCost  bool    `yaml:"prefill_cost" default:"true" doc:"whether the cost has the term P"`
	DecodeCharge string  `yaml:"decode_charge" default:"lone" enum:"lone|marginal" doc:"what L charges for an output token: a decode step alone, or what it adds to the step of another"`
	Explore      string  `yaml:"explore" default:"cost" enum:"cost|fewest-dispatches" doc:"where explored requests go: the least cost, or the fewest dispatches within H"`

	Rebalance      bool    `yaml:"rebalance" default:"true" doc:"send what would exploit the most loaded replica to the least loaded one while their loads are too far apart"`
	RebalanceRatio float64 `yaml:"rebalance_ratio" default:"1.5" min:"1" max:"1000000" unit:"ratio" doc:"Th_bal: loads are too far apart when one is more than this many times the other; the paper gives no number, its code this"`

	Autoscale        bool    `yaml:"autoscale" default:"true" doc:"replicate a prefix whose queueing time grows, and split its subtree by load"`
	AutoscaleRatio   float64 `yaml:"autoscale_ratio" default:"2" min:"1" max:"1000000" unit:"ratio" doc:"growth of the mean queueing time from the first to the second half of H"`
	AutoscaleSamples int     `yaml:"autoscale_samples" default:"10" min:"1" unit:"requests" doc:"first tokens of the prefix that each half must have; ours, against chance"`

	Pairing        string  `yaml:"pairing" default:"decode-requests" enum:"none|hit-ratio|sent-hit-ratio|decode-time|decode-requests" doc:"what makes one replica take all explored requests: a high share of cached prompt tokens, by first tokens or by dispatches, of decode time in its load, or of its outstanding requests that decode"`
	PairingRatio   float64 `yaml:"pairing_ratio" default:"0.7" min:"0" max:"1" unit:"share" doc:"least such share; the paper's IMBALR, for which it has no number; its code has this one for hit-ratio; at 0.5 decode-requests gives the lecture's figures"`
	PairingWindowS float64 `yaml:"pairing_window_s" default:"30" min:"0.001" max:"1000000" unit:"s" doc:"window of the two hit ratios"`
}

// WantsPrefixes implements Prefixed.
func (p *Preble) WantsPrefixes() bool { return p.Belief == "dispatched" }

// Build implements Params.
func (p *Preble) Build(e Env) Router {
	b := &preble{p: *p, stream: e.Random, work: e.Work, times: prebleTimes{step: e.Step, marginal: p.DecodeCharge == "marginal"}}
	b.tree.reset(&e.Work.Forest, e.Replicas, e.KVTokens)
	b.window.reset(e.Replicas, int64(p.WindowS*1e9))
	b.hits.reset(e.Replicas, int64(p.PairingWindowS*1e9))
	b.decoding = make([]int32, e.Replicas)
	b.match = make([]int32, e.Replicas)
	b.flights = make([]prebleFlight, e.Work.Len())
	if p.Autoscale {
		b.scale.reset(e.Work.Forest.Nodes(), int64(p.WindowS*1e9))
	}
	return b
}

// preble is the global scheduler.
type preble struct {
	p      Preble
	stream *rng.Stream
	work   *workload.Workload
	times  prebleTimes

	tree     prebleTree
	window   prebleWindow
	hits     prebleHits
	scale    prebleScale
	decoding []int32        // by replica: requests that have a first token and have not left
	flights  []prebleFlight // by request

	match []int32 // by replica: prompt tokens of the request at hand that are cached
}

// prebleFlight is what is remembered of a request until it leaves.
type prebleFlight struct {
	readyNs int64 // dispatch, and the time of its prefill
	cached  int32 // prompt tokens that were believed to be cached
	decodes bool
}

// prebleCost is what a request would cost on a replica.
type prebleCost struct{ load, eviction, prefill int64 }

func (c prebleCost) sum() int64 { return c.load + c.eviction + c.prefill }

// Route implements Router.
func (b *preble) Route(id int32, v *View) int {
	b.pass(v.NowNs)
	longest := b.look(id, v)
	prompt := b.work.Prompt[id]
	chosen, rule := 0, "exploit"
	if prompt-longest < longest {
		chosen, rule = b.exploit(id, longest, v)
	} else {
		chosen, rule = b.explore(id, v)
	}
	if v.Decision != nil {
		b.explain(id, longest, chosen, rule, v)
	}
	v.Believed = b.match[chosen]
	b.send(id, chosen, v.NowNs)
	return chosen
}

// look finds what each replica caches of the prompt, and returns the most that
// one which takes requests does.
func (b *preble) look(id int32, v *View) (longest int32) {
	b.tree.mark(b.work.Leaf[id])
	if b.p.Belief == "model" {
		b.tree.match(b.match)
	} else {
		for _, i := range v.Up {
			b.match[i] = v.held(id, int(i), b.p.Belief == "ready")
		}
	}
	for _, i := range v.Up {
		longest = max(longest, b.match[i])
	}
	return longest
}

// exploit chooses among the replicas that cache most.
func (b *preble) exploit(id, longest int32, v *View) (int, string) {
	if key := b.work.Key[id]; b.p.Autoscale && b.scale.active(key, v.NowNs) {
		return b.member(id, key, v), "split"
	}
	candidate := func(i int32) bool { return b.match[i] == longest }
	chosen := b.least(id, v, candidate)
	if !b.p.Rebalance && !b.p.Autoscale {
		return chosen, "exploit"
	}
	heavy, light := b.extremes(v)
	if b.p.Autoscale && b.grows(id, chosen, light, v.NowNs) {
		key := b.work.Key[id]
		b.replicate(key, light, v)
		return b.member(id, key, v), "autoscale"
	}
	if b.p.Rebalance && chosen == heavy && float64(b.window.load(heavy)) > b.p.RebalanceRatio*float64(b.window.load(light)) {
		return light, "rebalance"
	}
	return chosen, "exploit"
}

// extremes returns the replicas with the highest and the lowest load; of
// equals, the first.
func (b *preble) extremes(v *View) (heavy, light int) {
	high, low := int64(-1), int64(math.MaxInt64)
	for _, i := range v.Up {
		load := b.window.load(int(i))
		if load > high {
			high, heavy = load, int(i)
		}
		if load < low {
			low, light = load, int(i)
		}
	}
	return heavy, light
}

// explore chooses among all replicas.
func (b *preble) explore(id int32, v *View) (int, string) {
	if i, ok := b.paired(v); ok {
		return i, "pairing"
	}
	if b.p.Explore == "cost" {
		return b.least(id, v, nil), "explore"
	}
	return b.pick(v, nil, func(i int32) int64 { return b.window.of[i].requests }), "explore"
}

// least returns the candidate with the least cost; all replicas are candidates
// where candidate is nil.
func (b *preble) least(id int32, v *View, candidate func(int32) bool) int {
	only, n := 0, 0
	for _, i := range v.Up {
		if candidate == nil || candidate(i) {
			only = int(i)
			n++
		}
	}
	if n == 1 {
		return only
	}
	return b.pick(v, candidate, func(i int32) int64 { return b.costs(id, int(i)).sum() })
}

// pick returns the candidate with the least value, of equals that with the
// fewest outstanding requests, of equals a random one.
func (b *preble) pick(v *View, candidate func(int32) bool, value func(int32) int64) int {
	best, least, ties := int32(-1), int64(0), 0
	for _, i := range v.Up {
		if candidate != nil && !candidate(i) {
			continue
		}
		x := value(i)
		switch {
		case best < 0 || x < least || x == least && v.Requests[i] < v.Requests[best]:
			best, least, ties = i, x, 1
		case x == least && v.Requests[i] == v.Requests[best]:
			ties++
			if b.stream.IntN(ties) == 0 { // each of the ties with the same chance
				best = i
			}
		}
	}
	return int(best)
}

// costs returns what a request would cost on replica i.
func (b *preble) costs(id int32, i int) prebleCost {
	missed := b.work.Prompt[id] - b.match[i]
	c := prebleCost{load: b.window.load(i)}
	switch b.p.EvictionCost {
	case "always":
		c.eviction = b.evicted(i, int64(missed))
	case "needed":
		c.eviction = b.evicted(i, b.tree.excess(i, int64(missed)))
	}
	if b.p.PrefillCost {
		c.prefill = b.times.prefill(missed)
	}
	return c
}

// evicted returns M: what replica i loses when it makes room for need tokens.
func (b *preble) evicted(i int, need int64) (ns int64) {
	requests := b.window.of[i].requests
	if requests == 0 {
		return 0
	}
	for e := b.tree.head[i]; e != 0 && need > 0; {
		x := &b.tree.entries[e]
		if !b.tree.marked(x.node) {
			need -= int64(x.tokens)
			if x.uses > 0 {
				ns += b.times.prefill(x.tokens) * int64(x.uses) / requests
			}
		}
		e = x.next
	}
	return ns
}

// send notes that a request goes to replica i.
func (b *preble) send(id int32, i int, nowNs int64) {
	missed := b.work.Prompt[id] - b.match[i]
	prefill := b.times.prefill(missed)
	b.window.add(preblePast{atNs: nowNs, id: id, replica: int32(i),
		prefill: prefill, decode: b.times.decode(b.work.Prompt[id])})
	b.tree.insert(i, b.work.Leaf[id])
	if b.p.Pairing == "sent-hit-ratio" {
		b.hits.add(nowNs, i, b.match[i], b.work.Prompt[id])
	}
	b.flights[id] = prebleFlight{readyNs: nowNs + prefill, cached: b.match[i]}
}

// pass forgets what has left the windows.
func (b *preble) pass(nowNs int64) {
	for {
		id, i, ok := b.window.expire(nowNs)
		if !ok {
			break
		}
		b.tree.unuse(i, b.work.Leaf[id])
	}
	b.hits.pass(nowNs)
	if b.p.Autoscale {
		b.scale.pass(nowNs)
	}
}

// FirstToken implements Observer.
func (b *preble) FirstToken(id int32, i int, v *View) {
	f := &b.flights[id]
	f.decodes = true
	b.decoding[i]++
	if b.p.Pairing == "hit-ratio" {
		b.hits.add(v.NowNs, i, f.cached, b.work.Prompt[id])
	}
	if b.p.Autoscale {
		b.scale.add(b.work.Key[id], max(0, v.NowNs-f.readyNs), v.NowNs)
	}
}

// Left implements Observer.
func (b *preble) Left(id int32, i int, v *View) {
	f := &b.flights[id]
	if f.decodes {
		f.decodes = false
		b.decoding[i]--
		b.window.ended(v.NowNs, i, b.work.Output[id])
	}
}

// Evicted implements Evictee.
func (b *preble) Evicted(i int, node, tokens int32, _ *View) { b.tree.shrink(i, node, tokens) }

// Down implements Follower: what the replica had cached counts no more.
func (b *preble) Down(i int, _ *View) {
	b.tree.drop(i)
	b.scale.leave(i)
}

// Came implements Follower: the replica starts without a load.
func (b *preble) Came(i int, _ *View) {
	b.tree.drop(i)
	b.window.restart(i)
	b.hits.restart(i)
}

// explain fills the decision with the costs of the candidates.
func (b *preble) explain(id, longest int32, chosen int, rule string, v *View) {
	d := v.Decide(rule)
	exploits := b.work.Prompt[id]-longest < longest
	for _, i := range v.Up {
		d.Cached[i] = b.match[i]
		if exploits && int(i) != chosen && b.match[i] != longest {
			continue
		}
		c := b.costs(id, int(i))
		d.Score[i] = float64(c.sum()) * 1e-9
		if rule == "explore" && b.p.Explore != "cost" {
			d.Score[i] = float64(b.window.of[i].requests)
		}
		d.Terms[0][i] = float64(c.load) * 1e-9
		d.Terms[1][i] = float64(c.eviction) * 1e-9
		d.Terms[2][i] = float64(c.prefill) * 1e-9
	}
}
