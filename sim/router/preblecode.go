package router

import "switchyard/sim/workload"

var prebleCodePolicy = Policy{
	Name:      "preble-code",
	Summary:   "Preble as released: exploits by where prefixes were ever sent, explores to the least windowed cost, re-homes whole prefixes; with its bug in the choice among several holders",
	Formula:   "new tokens < known tokens: the nearest allocated ancestor's replicas; else the replica with a hit ratio of .7; else argmin of Σ miss × count × prefill / replicas + in flight × output × TPOT, and the cost of eviction",
	Needs:     "its own dispatches, first tokens and ends, times of steps",
	Belief:    "a radix tree of where prompts were ever sent; for costs, nodes beyond 198,516 tokens dropped in an order of its own",
	Staleness: "allocations outlive what replicas evict, until no request has come for the window",
	Terms:     []string{"load", "eviction"},
	TieBreak:  "first index",
	Source:    "Preble, commit 8e7906a (2024-05-24), preble/global_scheduler_with_time.py and global_lru_cache.py",
	New:       func() Params { return new(PrebleCode) },
}

// PrebleCode are the parameters of preble-code, the scheduler that was released
// with the paper. It differs from preble in nearly every part:
//
//	leaf      the node of a prompt's end in the tree, after insertion
//	exploit   tokens of leaf < tokens before it: among the replicas that the
//	          nearest allocated node, from leaf upwards, is allocated to
//	explore   otherwise: the replica with the highest hit ratio, if that is at
//	          least pairing_ratio; else the least cost over all
//	cost      Σ_n miss_n × count_n × prefill(n) / |allocated_n|
//	          + in flight_n × output_n × TPOT  +  eviction
//	n         important nodes, those with more tokens than lie before them, of
//	          requests within the window; count_n their requests; miss_n the share
//	          of their prompts that was new to the tree; output_n what was
//	          expected of the latest; TPOT the median of the last 200 outputs
//	eviction  Σ_n miss_n × count_n × prefill(n) over large nodes that would go
//
// Allocated means that a request was once sent there: evictions do not change
// it. There is no term for the request's own prefill. Times are those of the
// replicas' step model, where the code has that of Mistral-7B on an A6000; the
// window is in simulated time, where the code reads the wall clock even in its
// simulator. Depth is that of the tree as it is, where the code's numbers stay
// what they were before a split. Hit ratios are the router's own belief at
// first tokens; the code asks the replicas.
type PrebleCode struct {
	WindowS        float64 `yaml:"window_s" default:"180" min:"0.001" max:"1000000" unit:"s" doc:"the window of loads and times to first token"`
	CandidateBug   bool    `yaml:"candidate_bug" default:"true" doc:"of several holders take not the best, but the replica whose number is the best one's place among them, as the code does"`
	Eviction       bool    `yaml:"eviction" default:"true" doc:"GlobalSchedulerTimeWithEviction: costs of eviction, and nodes dropped beyond the capacity"`
	CapacityTokens int64   `yaml:"capacity_tokens" default:"198516" min:"1" unit:"tokens" doc:"what a replica is believed to have room for"`
	Notices        bool    `yaml:"notices" default:"false" doc:"whether notices of evictions are listened to (enable_iterative_eviction); they change costs of eviction alone"`
	Pairing        bool    `yaml:"pairing" default:"true" doc:"send explored requests to the replica with the highest hit ratio (report_hit_ratio)"`
	PairingRatio   float64 `yaml:"pairing_ratio" default:"0.7" min:"0" max:"1" unit:"share" doc:"least such ratio"`
	PairingWindowS float64 `yaml:"pairing_window_s" default:"30" min:"0.001" max:"1000000" unit:"s" doc:"window of hit ratios"`
	Rebalance      bool    `yaml:"rebalance" default:"true" doc:"re-home important nodes of the most loaded replica; without it GlobalSchedulerTimeNoRebalance"`
	RebalanceRatio float64 `yaml:"rebalance_ratio" default:"1.5" min:"1" max:"1000000" unit:"ratio" doc:"Th_bal: the most loaded replica is relieved when it has at least this many times the least load"`
	WarmUp         int     `yaml:"warm_up" default:"50" min:"0" unit:"requests" doc:"requests a replica before rebalancing begins"`
	Depth          int     `yaml:"depth" default:"3" min:"0" unit:"nodes" doc:"no rebalancing after a request whose leaf is so many nodes below its important node"`
	Autoscale      bool    `yaml:"autoscale" default:"true" doc:"share the only important node of the most loaded replica when its times to first token have doubled over the window"`
}

// Build implements Params.
func (p *PrebleCode) Build(e Env) Router {
	c := &code{p: *p, work: e.Work, times: prebleTimes{step: e.Step}}
	c.tree.reset(e.Work, e.Replicas)
	c.tree.parting = c.unsettle
	c.window = codeWindow{lengthNs: int64(p.WindowS * 1e9), slots: make([]codeSlot, 1), load: make([]codeLoad, e.Replicas), busy: make([]codeLoad, e.Replicas), several: make([][]int32, e.Replicas+1)}
	c.hits.reset(e.Replicas, int64(p.PairingWindowS*1e9))
	c.perToken = make([]codeMedian, e.Replicas)
	for i := range c.perToken {
		c.perToken[i].add(seedTPOT)
	}
	c.flights = make([]codeFlight, e.Work.Len())
	c.compareFunc, c.descendFunc, c.offersFunc = c.compare, c.descend, c.compareOffers
	return c
}

const (
	seedTPOT      = 150_000_000 // ns an output token that the code starts from
	unknownOutput = 45          // output tokens where the request names no maximum
)

// code is the released scheduler.
type code struct {
	p     PrebleCode
	work  *workload.Workload
	times prebleTimes

	tree     codeTree
	window   codeWindow
	hits     prebleHits
	perToken []codeMedian
	flights  []codeFlight
	sent     int64

	moves, copies int // of prefixes from replica to replica, for tests

	order, again, among []int32 // scratch
	shares              []codeShare
	offers              []codeOffer

	compareFunc, descendFunc func(a, b int32) int
	offersFunc               func(a, b codeOffer) int
}

// codeFlight is what is remembered of a request until it leaves.
type codeFlight struct {
	sentNs, firstNs int64 // firstNs is 0 before the first token
	leaf, cached    int32
}

// Route implements Router.
func (c *code) Route(id int32, v *View) int {
	c.hits.pass(v.NowNs)
	leaf, upper := c.tree.insert(c.work.Leaf[id], c.work.Prompt[id])
	if upper != 0 {
		c.parted(upper)
	}
	chosen := c.choose(leaf, v)
	v.Believed = c.believed(leaf, chosen)
	c.flights[id] = codeFlight{sentNs: v.NowNs, leaf: leaf, cached: v.Believed}
	c.dispatch(leaf, chosen)
	output := v.Outputs.Of(id)
	if output == 0 {
		output = unknownOutput
	}
	important := c.important(leaf)
	c.enter(important, leaf, output, v.NowNs)
	c.sent++
	if c.p.Eviction {
		c.evict(chosen)
	}
	if c.p.Rebalance && c.depth(leaf, important) < c.p.Depth {
		c.rebalance(v)
	}
	return chosen
}

// parted gives what is known of a node that was split to its upper part, where
// that is now the large one.
func (c *code) parted(upper int32) {
	t := &c.tree
	lower := t.lower
	if c.large(upper) && !c.large(lower) && t.nodes[lower].slot != 0 {
		k := t.nodes[lower].slot
		t.nodes[lower].slot, t.nodes[upper].slot = 0, k
		c.window.slots[k].node = upper
		for r := range t.replicas {
			if from := t.at(lower, r); from != nil && t.isHome(lower, r) {
				to := t.at(upper, r)
				to.first, to.last = from.first, from.last
				from.first, from.last = 0, 0
			}
		}
	}
	c.settle(upper)
	c.settle(lower)
}

func (c *code) depth(leaf, important int32) (nodes int) {
	for n := leaf; n != important; n = c.tree.nodes[n].parent {
		nodes++
	}
	return nodes
}

// choose returns the replica of a request with this leaf.
func (c *code) choose(leaf int32, v *View) int {
	x := &c.tree.nodes[leaf]
	c.among = c.among[:0]
	if x.tokens < x.start {
		c.holders(leaf, v)
		if len(c.among) == 1 {
			c.explain(leaf, "exploit", v)
			return int(c.among[0])
		}
		at := c.least(leaf, "exploit", v)
		if c.p.CandidateBug {
			return int(v.Up[at])
		}
		return int(c.among[at])
	}
	c.among = append(c.among, v.Up...)
	if i, ok := c.paired(v); ok {
		c.explain(leaf, "pairing", v)
		return i
	}
	return int(c.among[c.least(leaf, "explore", v)])
}

// holders lists the replicas that the nearest allocated node is allocated to;
// all where there is none.
func (c *code) holders(n int32, v *View) {
	t := &c.tree
	for n != 0 && t.nodes[n].homes == 0 {
		n = t.nodes[n].parent
	}
	for _, i := range v.Up {
		if n == 0 || t.isHome(n, int(i)) {
			c.among = append(c.among, i)
		}
	}
	if len(c.among) == 0 { // all of them are gone
		c.among = append(c.among, v.Up...)
	}
}

// least returns the place of the first among the candidates with the least cost.
func (c *code) least(leaf int32, rule string, v *View) (best int) {
	c.explain(leaf, rule, v)
	least := int64(0)
	for k, i := range c.among {
		cost := c.cost(c.window.load, int(i)) + c.evictionCost(leaf, int(i))
		if k == 0 || cost < least {
			best, least = k, cost
		}
	}
	return best
}

func (c *code) evictionCost(leaf int32, i int) int64 {
	if !c.p.Eviction {
		return 0
	}
	return c.eviction(i, int64(c.tree.nodes[leaf].tokens))
}

// cost returns the load of a replica as a time.
func (c *code) cost(load []codeLoad, i int) int64 {
	return load[i].prefill + load[i].tokens*c.perToken[i].median
}

// paired returns the replica with the highest hit ratio, the first of equals,
// and whether that takes what explores.
func (c *code) paired(v *View) (best int, ok bool) {
	if !c.p.Pairing {
		return 0, false
	}
	most := -1.0
	for _, i := range v.Up {
		if x := c.hits.ratio(int(i)); x > most {
			best, most = int(i), x
		}
	}
	return best, most >= c.p.PairingRatio
}

// believed returns the tokens before a leaf that were sent to a replica.
func (c *code) believed(leaf int32, r int) int32 {
	for n := leaf; n != 0; n = c.tree.nodes[n].parent {
		if c.tree.isHome(n, r) {
			return c.tree.nodes[n].start + c.tree.nodes[n].tokens
		}
	}
	return 0
}

// dispatch notes that a request in flight on replica r has the path to leaf.
func (c *code) dispatch(leaf int32, r int) {
	t := &c.tree
	for n := leaf; n != 0; n = t.nodes[n].parent {
		if x := &t.nodes[n]; x.only == noReplica {
			x.only = int32(r)
			x.cell = t.single()
		}
		c.allocate(n, r)
		c.refer(n, r, 1)
		if c.p.Eviction {
			t.cache(n, r)
		}
	}
}

// FirstToken implements Observer.
func (c *code) FirstToken(id int32, i int, v *View) {
	f := &c.flights[id]
	f.firstNs = v.NowNs
	c.hits.add(v.NowNs, i, f.cached, c.work.Prompt[id])
}

// Left implements Observer.
func (c *code) Left(id int32, i int, v *View) {
	f := &c.flights[id]
	t := &c.tree
	if f.firstNs > 0 {
		t.delays.add(t.at(c.important(f.leaf), i), v.NowNs, f.firstNs-f.sentNs, v.NowNs-c.window.lengthNs)
		if output := int64(c.work.Output[id]); output > 1 && v.NowNs > f.firstNs {
			c.perToken[i].add((v.NowNs - f.firstNs) / output)
		}
	}
	for n := f.leaf; n != 0; {
		up := t.nodes[n].parent
		c.refer(n, i, -1)
		t.collect(n)
		n = up
	}
}

// Evicted implements Evictee.
func (c *code) Evicted(i int, node, tokens int32, _ *View) {
	if !c.p.Notices || !c.p.Eviction || tokens >= c.work.Forest.Tokens[node] {
		return
	}
	if n := c.tree.owner[node]; n != 0 {
		c.tree.uncache(n, i)
	}
}

// explain fills the decision with the costs of the candidates.
func (c *code) explain(leaf int32, rule string, v *View) {
	d := v.Decide(rule)
	if d == nil {
		return
	}
	for _, i := range v.Up {
		d.Cached[i] = c.believed(leaf, int(i))
	}
	for _, i := range c.among {
		load, eviction := c.cost(c.window.load, int(i)), c.evictionCost(leaf, int(i))
		d.Score[i] = float64(load+eviction) * 1e-9
		d.Terms[0][i] = float64(load) * 1e-9
		d.Terms[1][i] = float64(eviction) * 1e-9
	}
}
