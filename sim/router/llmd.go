package router

import (
	"math"

	"switchyard/sim/engine"
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

var llmDPolicy = Policy{
	Name:      "llm-d",
	Summary:   "the replica with the greatest weighted sum of scores, each from 0 to 1, of queue, KV use, cached prefix and more",
	Formula:   "argmax Σ weight min(1, max(0, score)); by default 2 queue + 2 (1 - KV use) + 3 matched blocks / blocks",
	Needs:     "the prompt, replicas' metrics, and its own dispatches in flight; cache events with prefix_belief: precise",
	Belief:    "approximate: the last lru_capacity blocks sent to each replica, inserted at dispatch, heads forgotten first, counted across gaps; precise: events, without gaps",
	Staleness: "metrics of the last 50 ms, not corrected; own books at once",
	Terms:     []string{"queue", "kv utilization", "prefix"},
	TieBreak:  "random",
	Source: "llm-d-inference-scheduler 520af478, pkg/epp/config/loader/defaults.go and pkg/epp/framework/plugins/scheduling; " +
		"latency and saturation not verified against code",
	New: func() Params { return new(LLMD) },
}

// LLMD scores replicas as the endpoint picker of llm-d does. A scorer with
// weight 0 is not asked.
type LLMD struct {
	Queue         float64 `yaml:"queue" default:"2" min:"0" unit:"weight" doc:"of (most - q)/(most - least) over waiting requests q, 1 where all are equal"`
	KVUtilization float64 `yaml:"kv_utilization" default:"2" min:"0" unit:"weight" doc:"of 1 - the share of the KV cache that running requests hold"`
	Prefix        float64 `yaml:"prefix" default:"3" min:"0" unit:"weight" doc:"of the prompt's blocks that are cached over all its blocks"`
	Running       float64 `yaml:"running" default:"0" min:"0" unit:"weight" doc:"of (most - b)/(most - least) over running requests b"`
	LoadAware     float64 `yaml:"load_aware" default:"0" min:"0" unit:"weight" doc:"of (1 - waiting/128)/2, at least 0"`
	ActiveRequest float64 `yaml:"active_request" default:"0" min:"0" unit:"weight" doc:"of (most - c)/most over requests c in flight"`
	TokenLoad     float64 `yaml:"token_load" default:"0" min:"0" unit:"weight" doc:"of 1 - tokens in flight/4194304, at least 0"`
	Session       float64 `yaml:"session_affinity" default:"0" min:"0" unit:"weight" doc:"of 1 for the replica that served the session last"`
	NoHitLRU      float64 `yaml:"no_hit_lru" default:"0" min:"0" unit:"weight" doc:"of the rank by the last request without a hit, longest ago or never first; 1/2 for all where some replica has a hit"`
	Latency       float64 `yaml:"latency" default:"0" min:"0" unit:"weight" doc:"of .8 (worst - t)/(worst - best) over predicted times t to the first token, and .2 of the same over times per output token; idle replicas first"`

	Belief        string  `yaml:"prefix_belief" default:"approximate" enum:"approximate|precise" doc:"whether blocks count as cached where they were sent, or where events tell of them"`
	BlockTokens   int32   `yaml:"block_tokens" default:"16" min:"1" max:"4096" unit:"tokens" doc:"of a block; 16 are 64 characters"`
	MaxBlocks     int32   `yaml:"max_blocks" default:"256" min:"0" unit:"blocks" doc:"of a prompt that the approximate belief looks at; 0 = all"`
	Capacity      int64   `yaml:"lru_capacity" default:"31250" min:"0" unit:"blocks" doc:"that the approximate belief remembers of each replica; 0 = as many as its KV cache has"`
	Insert        string  `yaml:"insert" default:"dispatch" enum:"dispatch|first-token|finish" doc:"when the approximate belief takes a prompt up: when it is sent, as in the system, when its first token is out, or when its request has finished"`
	SpeculativeMs float64 `yaml:"speculative_ms" default:"0" min:"0" max:"3600000" unit:"ms" doc:"for which the precise belief counts a prompt as cached where it was sent, 2000 in the system; 0 = not"`
	PollMs        float64 `yaml:"poll_ms" default:"50" min:"0" max:"3600000" unit:"ms" doc:"time between polls of the metrics; 0 = at each decision"`

	Picker            string  `yaml:"picker" default:"max-score" enum:"max-score|random|weighted-random" doc:"the greatest sum, any, or one with a chance in proportion to its sum"`
	AffinityThreshold float64 `yaml:"affinity_threshold" default:"0" min:"0" max:"1" unit:"share" doc:"keep replicas with so much of the prompt where there are any, .8 in the system's filter; 0 = no filter"`
	AffinityExplore   float64 `yaml:"affinity_explore" default:"0.01" min:"0" max:"1" unit:"share" doc:"of requests that pass the filter by"`
	AffinityTTFTMs    float64 `yaml:"affinity_ttft_ms" default:"5000" min:"0" unit:"ms" doc:"by which the best of the kept may be slower to the first token than the best of the others before the filter keeps all; 0 = any"`
	Saturation        string  `yaml:"saturation" default:"off" enum:"off|utilization|concurrency" doc:"leave out replicas that are saturated, unless all are: more than 5 waiting or .8 of the KV cache held; 100 requests or 1000000 tokens in flight"`
}

// Build implements Params.
func (p *LLMD) Build(e Env) Router {
	r := &llmD{p: *p, stream: e.Random, step: e.Step, predicts: e.Step != nil && (p.Latency > 0 || p.AffinityThreshold > 0 && p.AffinityTTFTMs > 0)}
	r.matched = make([]int32, e.Replicas)
	r.score, r.cost = make([]float64, e.Replicas), make([]float64, e.Replicas)
	r.ttft, r.tpot = make([]float64, e.Replicas), make([]float64, e.Replicas)
	r.down = make([]int64, e.Replicas)
	r.scorers = []llmDScorer{
		{p.Queue, 0, (*llmD).queue}, {p.KVUtilization, 1, (*llmD).kvUtilization}, {p.Prefix, 2, (*llmD).prefix},
		{p.Running, hidden, (*llmD).running}, {p.LoadAware, hidden, (*llmD).loadAware},
		{p.ActiveRequest, hidden, (*llmD).activeRequest}, {p.TokenLoad, hidden, (*llmD).tokenLoad},
		{p.Session, hidden, (*llmD).session}, {p.NoHitLRU, hidden, (*llmD).noHitLRU}, {p.Latency, hidden, (*llmD).latency},
	}
	if p.Session > 0 {
		r.served = map[int64]int32{}
	}
	if p.Insert == "finish" {
		r.started = make([]bool, e.Work.Len())
	}
	rules := blockRules{tokens: p.BlockTokens, prompt: p.MaxBlocks, capacity: p.Capacity}
	if p.Capacity == 0 {
		rules.capacity = max(1, e.KVTokens/int64(p.BlockTokens))
	}
	if p.Belief == "precise" {
		rules = blockRules{tokens: p.BlockTokens, scope: allEntries, ttlNs: int64(p.SpeculativeMs * 1e6)}
	}
	r.index = newBlockIndex(e.Work, e.Replicas, rules)
	return r
}

// Reads implements Reader.
func (p *LLMD) Reads() Reading { return Reading{On: true, PeriodNs: int64(p.PollMs * 1e6)} }

// WantsEvents implements Subscriber.
func (p *LLMD) WantsEvents() bool { return p.Belief == "precise" }

// llmDScorer is one scorer of the profile and the column of the decision that
// shows it.
type llmDScorer struct {
	weight float64
	term   int
	score  func(r *llmD, id int32, v *View)
}

const hidden = -1 // a scorer whose terms are not shown

type llmD struct {
	p        LLMD
	stream   *rng.Stream
	step     engine.StepModel
	predicts bool // whether times are predicted
	scorers  []llmDScorer
	index    *blockIndex
	served   map[int64]int32 // by session
	cold     []int32         // replicas by their last request without a hit, longest ago first
	down     []int64         // when a replica went
	started  []bool          // by request, with insert: finish: whether it has had its first token

	// Of the current request.
	up         []int32   // candidates
	blocks     int32     // of the prompt
	matched    []int32   // of them, by replica
	hit        bool      // whether some candidate has any
	ttft, tpot []float64 // predicted, ms
	score      []float64 // of one scorer
	cost       []float64 // less the weighted sum
}

// Route implements Router.
func (r *llmD) Route(id int32, v *View) int {
	if r.started != nil {
		r.started[id] = false // it may have been on a replica that failed
	}
	r.believe(id, v)
	if r.predicts {
		r.predict(id, v)
	}
	r.filter(v)
	d := v.Decide("score")
	for _, i := range r.up {
		r.cost[i] = 0
	}
	for _, s := range r.scorers {
		if s.weight == 0 {
			continue
		}
		s.score(r, id, v)
		for _, i := range r.up {
			r.cost[i] -= float64(s.weight * min(max(r.score[i], 0), 1))
			if d != nil && s.term != hidden {
				d.Terms[s.term][i] = r.score[i]
			}
		}
	}
	if d != nil {
		for _, i := range r.up {
			d.Score[i], d.Cached[i] = -r.cost[i], r.matched[i]*r.p.BlockTokens
		}
	}
	chosen := r.pick()
	v.Believed = r.matched[chosen] * r.p.BlockTokens
	r.remember(id, chosen, v)
	return chosen
}

// believe counts the prompt's blocks that each replica is believed to have.
func (r *llmD) believe(id int32, v *View) {
	r.blocks = r.index.blocks(id)
	switch {
	case r.p.Belief == "approximate":
		r.index.count(id, r.matched)
	case v.Events != nil:
		v.Events.Match(v.Work.Leaf[id], r.matched)
		for i := range r.matched {
			r.matched[i] /= r.p.BlockTokens
		}
	default:
		clear(r.matched)
	}
	if r.p.Belief == "precise" && r.p.SpeculativeMs > 0 {
		// What was sent and what events tell of count apart, the longer of both.
		r.index.expire(v.NowNs)
		r.index.most(id, r.matched)
	}
	r.hit = false
	for _, i := range v.Up {
		r.hit = r.hit || r.matched[i] > 0
	}
}

// remember keeps what later decisions go by.
func (r *llmD) remember(id int32, chosen int, v *View) {
	if r.p.Belief == "approximate" && r.p.Insert == "dispatch" || r.p.Belief == "precise" && r.p.SpeculativeMs > 0 {
		r.index.insert(id, chosen, v.NowNs)
	}
	if r.p.NoHitLRU > 0 && !r.hit {
		for k, i := range r.cold {
			if int(i) == chosen {
				r.cold = append(r.cold[:k], r.cold[k+1:]...)
				break
			}
		}
		r.cold = append(r.cold, int32(chosen))
	}
	if s := sessionOf(v.Work, id); r.served != nil && s != workload.None {
		r.served[s] = int32(chosen)
	}
}

// pick returns one of the candidates by their sums.
func (r *llmD) pick() int {
	switch r.p.Picker {
	case "random":
		return int(r.up[r.stream.IntN(len(r.up))])
	case "weighted-random":
		best, most := int32(none), 0.
		for _, i := range r.up {
			if r.cost[i] >= 0 {
				continue
			}
			// U^(1/w) is greatest where ln(U)/w is; Exp is -ln(1-U).
			if key := r.stream.Exp() / -r.cost[i]; best == none || key < most {
				best, most = i, key
			}
		}
		if best != none {
			return int(best)
		}
		return int(r.up[r.stream.IntN(len(r.up))])
	}
	return argmin(r.up, r.cost, r.stream)
}

// FirstToken implements Observer.
func (r *llmD) FirstToken(id int32, replica int, v *View) {
	switch {
	case r.p.Belief == "precise":
	case r.p.Insert == "first-token":
		r.index.insert(id, replica, v.NowNs)
	case r.p.Insert == "finish":
		r.started[id] = true
	}
}

// Left implements Observer. What never began, or was lost with its replica, is
// not taken up.
func (r *llmD) Left(id int32, replica int, v *View) {
	if r.p.Belief == "approximate" && r.p.Insert == "finish" && r.started[id] && v.IsUp(replica) {
		r.index.insert(id, replica, v.NowNs)
	}
}

// llmDSweepNs is the time between looks for replicas that have gone.
const llmDSweepNs = 120e9

// Down implements Follower.
func (r *llmD) Down(replica int, v *View) { r.down[replica] = v.NowNs }

// Came implements Follower. What was sent to a replica that was away for no
// look is still believed.
func (r *llmD) Came(replica int, v *View) {
	if v.NowNs/llmDSweepNs != r.down[replica]/llmDSweepNs {
		r.index.drop(replica)
	}
}

// sessionOf returns the session of a request, None where it has none.
func sessionOf(w *workload.Workload, id int32) int64 {
	if w.Session == nil {
		return workload.None
	}
	return w.Session[id]
}

// span returns the least and the greatest of what f says of replicas.
func span[T int32 | int64 | float64](up []int32, f func(i int32) T) (low, high T) {
	low, high = f(up[0]), f(up[0])
	for _, i := range up[1:] {
		low, high = min(low, f(i)), max(high, f(i))
	}
	return low, high
}

// predict sets the times that a step model expects: to the first token, after
// the prompts that wait and this one without its cached blocks; and of a step
// with one decode more.
func (r *llmD) predict(id int32, v *View) {
	for _, i := range v.Up {
		g := gauge(v, i)
		cached := int64(min(r.matched[i]*r.p.BlockTokens, v.Work.Prompt[id]-1))
		own := int64(v.Work.Prompt[id]) - cached
		before := int64(max(1, g.Waiting))
		r.ttft[i] = float64(r.step.StepNs(engine.Batch{Tokens: own, Prefill: own, Requests: 1, Context: cached,
			Attention2: own * (2*cached + own)})) / 1e6
		if g.Prefill > 0 {
			r.ttft[i] += float64(r.step.StepNs(engine.Batch{Tokens: g.Prefill, Prefill: g.Prefill, Requests: before,
				Attention2: int64(math.Round(float64(g.Prefill) * float64(g.Prefill) / float64(before)))})) / 1e6
		}
		n := int64(g.Running) + 1
		r.tpot[i] = float64(r.step.StepNs(engine.Batch{Tokens: n, Requests: n, Context: g.KVTokens,
			DecodeContext: g.KVTokens, Attention2: 2*g.KVTokens + n})) / 1e6
	}
}

// gauge returns the metrics of a replica, zero where none were read.
func gauge(v *View, replica int32) Gauge {
	if v.Gauges == nil {
		return Gauge{}
	}
	return v.Gauges[replica]
}
