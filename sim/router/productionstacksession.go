package router

import "switchyard/sim/workload"

var productionStackSessionPolicy = Policy{
	Name:      "production-stack-session",
	Summary:   "vLLM production stack's session routing: a hash ring of sessions; a request without one goes where the fewest requests arrive",
	Formula:   "ring(session); without: the first replica that was sent nothing yet, else argmin arrivals in the last 60 s",
	Needs:     "the session; its own dispatches of the last minute",
	Belief:    "none",
	Staleness: "none; arrivals in a window are a rate, not a load",
	TieBreak:  "ring order; the first index",
	Source:    "production-stack src/vllm_router/routers/routing_logic.py at a6c01db0; points of a replica on the ring as in uhashring, not verified against code",
	New:       func() Params { return new(ProductionStackSession) },
}

var productionStackKVPolicy = Policy{
	Name:      "production-stack-kvaware",
	Summary:   "vLLM production stack's KV-aware routing: the first replica that LMCache names for the longest prefix if nearly all of the prompt is there; else by session",
	Formula:   "if match >= prompt - 2000 tokens: the first replica with the longest prefix; else as production-stack-session",
	Needs:     "cache events, in the place of a look-up at LMCache's controller; the session; its own dispatches of the last minute",
	Belief:    "the engines' caches as events tell of them",
	Staleness: "events as section view delays them",
	TieBreak:  "the first index",
	Source:    "production-stack src/vllm_router/routers/routing_logic.py at a6c01db0",
	New:       func() Params { return new(ProductionStackKV) },
}

// ProductionStackSession hashes sessions.
type ProductionStackSession struct {
	VNodes  int     `yaml:"vnodes" default:"160" min:"1" max:"65536" unit:"points" doc:"points of each replica on the ring"`
	WindowS float64 `yaml:"window_s" default:"60" min:"0.001" max:"1000000" unit:"s" doc:"window in which arrivals are counted"`
}

// ProductionStackKV follows nearly whole prompts. Of prompts shorter than the
// threshold any cached token will do, so that a system prompt that all requests
// share sends nearly all of them to one replica.
type ProductionStackKV struct {
	Threshold int32 `yaml:"kv_aware_threshold" default:"2000" min:"0" unit:"tokens" doc:"most tokens of a prompt that may be missing where it is cached"`
	ProductionStackSession
}

// WantsEvents implements Subscriber.
func (*ProductionStackKV) WantsEvents() bool { return true }

// Build implements Params.
func (p *ProductionStackSession) Build(e Env) Router {
	s := p.build(e)
	return &s
}

func (p *ProductionStackSession) build(e Env) productionStackSession {
	return productionStackSession{ring: ringOf(&e, p.VNodes), windowNs: int64(p.WindowS * 1e9),
		recent: make([]int32, e.Replicas), seen: make([]bool, e.Replicas)}
}

// Build implements Params.
func (p *ProductionStackKV) Build(e Env) Router {
	return &productionStackKV{p.build(e), p.Threshold, make([]int32, e.Replicas)}
}

type productionStackSession struct {
	ring     ring
	windowNs int64
	recent   []int32 // by replica: requests sent within the window
	seen     []bool  // by replica: was ever sent one
	sent     []sending
	head     int // of sent: the oldest within the window
}

// sending is a request that was sent at a time.
type sending struct {
	ns      int64
	replica int32
}

func (s *productionStackSession) Route(id int32, v *View) int {
	chosen, rule := s.choose(id, v)
	if d := v.Decide(rule); d != nil {
		for _, i := range v.Up {
			d.Score[i] = float64(s.recent[i])
		}
	}
	v.Believed = none
	s.note(chosen, v.NowNs)
	return chosen
}

func (s *productionStackSession) choose(id int32, v *View) (int, string) {
	s.expire(v.NowNs)
	if v.Work.Session != nil && v.Work.Session[id] != workload.None {
		return s.ring.owner(sessionKey(id, v.Work), v), "session"
	}
	for _, i := range v.Up {
		if !s.seen[i] {
			return int(i), "unseen"
		}
	}
	return firstLeast(v.Up, s.recent), "rate"
}

// expire takes those off the counts that have left the window.
func (s *productionStackSession) expire(now int64) {
	for s.head < len(s.sent) && s.sent[s.head].ns < now-s.windowNs {
		s.recent[s.sent[s.head].replica]--
		s.head++
	}
	if s.head > 1024 && s.head > len(s.sent)/2 {
		s.sent = s.sent[:copy(s.sent, s.sent[s.head:])]
		s.head = 0
	}
}

func (s *productionStackSession) note(replica int, now int64) {
	s.seen[replica] = true
	s.recent[replica]++
	s.sent = append(s.sent, sending{now, int32(replica)})
}

type productionStackKV struct {
	productionStackSession
	threshold int32
	tokens    []int32
}

func (r *productionStackKV) Route(id int32, v *View) int {
	v.Events.Match(v.Work.Leaf[id], r.tokens)
	best := v.Up[0]
	for _, i := range v.Up[1:] {
		if r.tokens[i] > r.tokens[best] {
			best = i
		}
	}
	chosen, rule := int(best), "affinity"
	if most := r.tokens[best]; most == 0 || most < v.Work.Prompt[id]-r.threshold {
		chosen, rule = r.choose(id, v)
	}
	if d := v.Decide(rule); d != nil {
		for _, i := range v.Up {
			d.Score[i], d.Cached[i] = float64(r.tokens[i]), r.tokens[i]
			if rule != "affinity" {
				d.Score[i] = float64(r.recent[i])
			}
		}
	}
	v.Believed = r.tokens[chosen]
	r.note(chosen, v.NowNs)
	return chosen
}
