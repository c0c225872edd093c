package router

import (
	"math"

	"switchyard/sim/rng"
)

var dynamoPolicy = Policy{
	Name:      "dynamo-kv",
	Summary:   "NVIDIA Dynamo's KV router from 1.2 on: prompt blocks to be computed plus blocks in flight",
	Formula:   "argmin scale*max(0, (active prefill tokens + L)/B - credit*decay*overlap) + decode blocks + weight*active requests",
	Needs:     "prefixes cached on every replica, from events or its own decisions, and its own dispatches in flight",
	Belief:    "cache events; or its own decisions for 120 s",
	Staleness: "books of its own requests are exact; several routers do not see each other's",
	Terms:     []string{"prefill blocks", "decode blocks", "active requests"},
	TieBreak:  "uniform among the least, by reservoir; with a temperature drawn by softmax",
	Source:    "Dynamo, lib/kv-router/src/scheduling/selector/default.rs at a4bdb9bf and 07a6c9ce, config.rs at 0243c51b, policy.rs at 01690d42. Host, disk and shared tiers of caches are left out",
	New:       func() Params { return new(DynamoKV) },
}

var dynamo03Policy = Policy{
	Name:      "dynamo-kv-0.3",
	Summary:   "NVIDIA Dynamo's KV router of 0.3 to 1.1: as dynamo-kv, with one weight and no queue",
	Formula:   "argmin W*(active prefill tokens + L - overlap*B)/B + decode blocks",
	Needs:     "prefixes cached on every replica, from events or its own decisions, and its own dispatches in flight",
	Belief:    "cache events; or its own decisions for 120 s",
	Staleness: "books of its own requests are exact; several routers do not see each other's",
	Terms:     []string{"prefill blocks", "decode blocks", "active requests"},
	TieBreak:  "uniform among the least; with a temperature drawn by softmax",
	Source:    "Dynamo, config.rs at c2f2e1aa and lib/llm/src/kv_router/sequence.rs",
	New:       func() Params { return new(DynamoKV03) },
}

// DynamoKV are the parameters of the router of Dynamo 1.2 and later.
type DynamoKV struct {
	KVBelief
	OverlapCredit float64 `yaml:"overlap_credit" default:"1" min:"0" max:"1000" unit:"blocks" doc:"blocks of prefill that a cached block saves"`
	CreditDecay   float64 `yaml:"credit_decay" default:"0" min:"0" max:"1000" unit:"ratio" doc:"how fast the credit falls with prefill above the least loaded replica's, in units of the request's own: 1/(1 + decay*excess)"`
	PrefillScale  float64 `yaml:"prefill_scale" default:"1" min:"0" max:"1000" unit:"ratio" doc:"weight of prefill blocks against decode blocks"`
	ActiveWeight  float64 `yaml:"active_weight" default:"0" min:"0" max:"1000000" unit:"blocks" doc:"blocks that a request in flight counts for beside its prompt"`
	Temperature   float64 `yaml:"temperature" default:"0" min:"0" max:"1000" unit:"ratio" doc:"of a softmax over costs, in units of their range; 0 = the least"`
	DynamoQueue
}

// DynamoKV03 are the parameters of the router of Dynamo 0.3 to 1.1.
type DynamoKV03 struct {
	KVBelief
	OverlapWeight float64 `yaml:"overlap_weight" default:"1" min:"0" max:"1000" unit:"ratio" doc:"weight of prefill blocks against decode blocks"`
	Temperature   float64 `yaml:"temperature" default:"0" min:"0" max:"1000" unit:"ratio" doc:"of a softmax over costs, in units of their range; 0 = the least; earlier releases: 0.5"`
}

// Build implements Params.
func (p *DynamoKV) Build(e Env) Router {
	d := newDynamo(e, &p.KVBelief)
	d.credit, d.decay, d.scale, d.weight, d.temperature = p.OverlapCredit, p.CreditDecay, p.PrefillScale, p.ActiveWeight, p.Temperature
	if p.QueueThreshold == 0 {
		return d
	}
	return newDynamoQueued(d, &p.DynamoQueue)
}

// Build implements Params. A request's overlap never exceeds its prompt, so that
// the older formula is the newer one with a credit of 1.
func (p *DynamoKV03) Build(e Env) Router {
	d := newDynamo(e, &p.KVBelief)
	d.credit, d.scale, d.temperature = 1, p.OverlapWeight, p.Temperature
	return d
}

type dynamo struct {
	credit, decay, scale, weight, temperature float64

	kvBooks
	stream *rng.Stream
	blocks []int64   // by replica: in flight with the request that is routed
	cost   []float64 // by replica
	share  []float64 // by position among those up: of a softmax
}

func newDynamo(e Env, p *KVBelief) *dynamo {
	return &dynamo{stream: e.Random, kvBooks: newKVBooks(e, p),
		blocks: make([]int64, e.Replicas), cost: make([]float64, e.Replicas), share: make([]float64, e.Replicas)}
}

func (d *dynamo) Route(id int32, v *View) int {
	d.belief.match(id, v)
	d.price(id, v)
	var chosen int
	if d.temperature > 0 {
		chosen = d.sample(v.Up)
	} else {
		chosen = reservoir(v.Up, d.cost, d.stream)
	}
	d.send(id, chosen, v)
	return chosen
}

// price sets the cost of every replica.
func (d *dynamo) price(id int32, v *View) {
	prompt := int64(v.Work.Prompt[id])
	block := float64(d.belief.block)
	d.books.potential(id, d.blocks)
	least := int64(math.MaxInt64)
	for _, i := range v.Up {
		least = min(least, d.books.prefill[i])
	}
	own := float64((prompt + int64(d.belief.block) - 1) / int64(d.belief.block))
	explain := v.Decide("cost")
	for _, i := range v.Up {
		credit := d.credit
		if d.decay > 0 {
			excess := float64(d.books.prefill[i]-least) / block
			credit /= 1 + d.decay*excess/own
		}
		prefill := max(0, float64(d.books.prefill[i]+prompt)/block-float64(credit*float64(d.belief.cached[i])))
		d.cost[i] = float64(d.scale*prefill) + float64(d.blocks[i]) + float64(d.weight*float64(v.Requests[i]))
		if explain != nil {
			explain.Score[i] = d.cost[i]
			explain.Cached[i] = d.belief.cached[i] * d.belief.block
			explain.Terms[0][i], explain.Terms[1][i], explain.Terms[2][i] = prefill, float64(d.blocks[i]), float64(v.Requests[i])
		}
	}
}

// reservoir returns which of the replicas in up has the least cost, each of
// several with the same chance, with a draw for each tie that is met.
func reservoir(up []int32, cost []float64, stream *rng.Stream) int {
	best, ties := up[0], 1
	for _, i := range up[1:] {
		switch {
		case cost[i] < cost[best]:
			best, ties = i, 1
		case cost[i] == cost[best]:
			ties++
			if stream.IntN(ties) == 0 {
				best = i
			}
		}
	}
	return int(best)
}

// sample draws a replica with weights exp(-cost/((max-min)*temperature)), all
// the same where all costs are.
func (d *dynamo) sample(up []int32) int {
	low, high := d.cost[up[0]], d.cost[up[0]]
	for _, i := range up {
		low, high = min(low, d.cost[i]), max(high, d.cost[i])
	}
	total := 0.0
	for k, i := range up {
		d.share[k] = 1
		if low < high {
			d.share[k] = math.Exp(-(d.cost[i] - low) / (high - low) / d.temperature)
		}
		total += d.share[k]
	}
	u := d.stream.Float64() * total
	for k, i := range up {
		if u -= d.share[k]; u < 0 {
			return int(i)
		}
	}
	return int(up[len(up)-1])
}
