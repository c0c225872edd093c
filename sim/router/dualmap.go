package router

import (
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

var dualMapPolicy = Policy{
	Name:      "dualmap",
	Summary:   "DualMap: two replicas by two hashes of a prompt's prefix; the one with more of it cached, unless it has too much to compute",
	Formula:   "warm of two candidates if active prefill + uncached <= budget, else the one with less active prefill",
	Needs:     "prefixes cached on the two candidates, from events or its own decisions, and its own dispatches in flight",
	Belief:    "cache events; or its own decisions for 120 s",
	Staleness: "books of its own requests are exact; several routers do not see each other's",
	Terms:     []string{"active prefill", "uncached"},
	TieBreak:  "equally cached candidates: less active prefill, then first index",
	Source:    "DualMap (arXiv 2602.06502, ICLR 2026) as Dynamo's plugin dualmap at 6dcfceb3 has it: rendezvous hashing, doubling of hot prefixes, a budget of tokens in the place of an estimated TTFT, no migration",
	New:       func() Params { return new(DualMap) },
}

// dualMapLevels is how many lengths of prefixes there are, each twice the last.
const dualMapLevels = 8

// DualMap are the parameters of DualMap.
type DualMap struct {
	KVBelief
	PrefixBlocks int32 `yaml:"prefix_blocks" default:"4" min:"1" max:"65536" unit:"blocks" doc:"leading blocks that are hashed; twice as many, up to 7 times over, while they are hot: had by more than 2/n of the last requests"`
	BudgetTokens int64 `yaml:"budget_tokens" default:"65536" min:"1" unit:"tokens" doc:"prompt tokens that the warm candidate may have to compute, this request's among them"`
	Window       int   `yaml:"window" default:"1000" min:"1" max:"1000000" unit:"requests" doc:"last requests over which shares are taken"`
}

// Build implements Params.
func (p *DualMap) Build(e Env) Router {
	d := &dualMap{kvBooks: newKVBooks(e, &p.KVBelief), budget: p.BudgetTokens,
		window: newArrivalWindow(e.Work, p.Window, dualMapLevels)}
	for level := range dualMapLevels {
		d.keys[level] = newPrefixKeys(e.Work, p.PrefixBlocks*p.BlockTokens<<level)
	}
	return d
}

// dualMap keeps of each request in the window the nodes in which its prefixes
// end. All requests that have a node have all of it, so that one count serves
// the levels that end in one node.
type dualMap struct {
	kvBooks
	budget int64
	keys   [dualMapLevels]prefixKeys
	window arrivalWindow
	nodes  [dualMapLevels]int32
}

func (d *dualMap) Route(id int32, v *View) int {
	d.belief.match(id, v)
	key, keyed := uint64(0), false
	if len(v.Up) > 1 {
		key, keyed = d.key(id, v)
	}
	chosen, rule := 0, "warm"
	if !keyed {
		chosen, rule = int(v.Up[0]), "no-prefix"
		for _, i := range v.Up[1:] {
			chosen = d.lighter(chosen, int(i))
		}
	} else {
		chosen, rule = d.pick(id, key, v)
	}
	if e := v.Decide(rule); e != nil {
		for _, i := range v.Up {
			e.Cached[i] = d.belief.cached[i] * d.belief.block
			e.Terms[0][i], e.Terms[1][i] = float64(d.books.prefill[i]), float64(d.uncached(id, i, v))
			if !keyed {
				e.Score[i] = e.Terms[0][i]
			}
		}
		if keyed {
			first := highest(key, v.Up, 1, -1)
			for _, i := range []int{first, highest(key, v.Up, 2, first)} {
				e.Score[i] = e.Terms[0][i] + e.Terms[1][i]
			}
		}
	}
	d.send(id, chosen, v)
	return chosen
}

// pick chooses one of a key's two candidates.
func (d *dualMap) pick(id int32, key uint64, v *View) (chosen int, rule string) {
	first := highest(key, v.Up, 1, -1)
	warm, cold := first, highest(key, v.Up, 2, first)
	switch a, b := d.belief.cached[warm], d.belief.cached[cold]; {
	case a == b:
		return d.lighter(warm, cold), "equal"
	case a < b:
		warm, cold = cold, warm
	}
	if d.books.prefill[warm]+int64(d.uncached(id, int32(warm), v)) > d.budget {
		return d.lighter(warm, cold), "over-budget"
	}
	return warm, "warm"
}

// lighter returns the replica with less to compute, the first index on a tie.
func (d *dualMap) lighter(a, b int) int {
	switch p, q := d.books.prefill[a], d.books.prefill[b]; {
	case p < q || p == q && a < b:
		return a
	}
	return b
}

// key notes a request and returns the hash of its shortest prefix that is not
// hot, or of its longest; false where it is too short for any.
func (d *dualMap) key(id int32, v *View) (uint64, bool) {
	f := &v.Work.Forest
	levels, distinct := 0, 0
	var at [dualMapLevels]int32
	for ; levels < dualMapLevels && d.keys[levels].tokens <= v.Work.Prompt[id]; levels++ {
		n := d.keys[levels].node(id)
		at[levels] = n
		if n != workload.None && (distinct == 0 || d.nodes[distinct-1] != n) {
			d.nodes[distinct] = n
			distinct++
		}
	}
	if levels == 0 {
		return 0, false
	}
	d.window.add(d.nodes[:distinct], nil)
	level := 0
	for ; level < levels-1; level++ {
		count := int64(1) // a prefix that reaches into the private rest
		if n := at[level]; n != workload.None {
			count = int64(d.window.count[n])
		}
		if count*int64(len(v.Up)) <= 2*int64(d.window.len) {
			break
		}
	}
	if n := at[level]; n != workload.None {
		return rng.Mix(f.Hash[n] + uint64(level)), true
	}
	return ownKey(id) + uint64(level), true
}
