package router

import "switchyard/sim/rng"

var aibrixLeastRequestPolicy = Policy{
	Name:      "aibrix-least-request",
	Summary:   "the replica with the fewest requests in flight, as AIBrix's gateway counts them",
	Formula:   "argmin requests in flight",
	Needs:     "its own dispatches in flight",
	Belief:    "none",
	Staleness: "none with one gateway",
	TieBreak:  "random",
	Source:    "AIBrix e3e10f9e, pkg/plugins/gateway/algorithms/least_request.go",
	New:       func() Params { return new(LeastRequests) },
}

var aibrixLeastKVCachePolicy = Policy{
	Name:      "aibrix-least-kv-cache",
	Summary:   "the replica whose running requests hold the least of its KV cache",
	Formula:   "argmin share of the KV cache that is held",
	Needs:     "replicas' metrics",
	Belief:    "none",
	Staleness: "metrics of the last 50 ms, not corrected",
	TieBreak:  "the last index",
	Source:    "AIBrix e3e10f9e, pkg/plugins/gateway/algorithms/least_kv_cache.go",
	New:       func() Params { return new(AIBrixLeastKVCache) },
}

// AIBrixLeastKVCache takes the replica that holds the least.
type AIBrixLeastKVCache struct {
	PollMs float64 `yaml:"poll_ms" default:"50" min:"0" max:"3600000" unit:"ms" doc:"time between polls of the metrics; 0 = at each decision"`
}

// Reads implements Reader.
func (p *AIBrixLeastKVCache) Reads() Reading {
	return Reading{On: true, PeriodNs: int64(p.PollMs * 1e6)}
}

// Build implements Params.
func (*AIBrixLeastKVCache) Build(Env) Router { return aibrixLeastKVCache{} }

type aibrixLeastKVCache struct{}

// Route implements Router.
func (aibrixLeastKVCache) Route(_ int32, v *View) int {
	best := v.Up[0]
	for _, i := range v.Up[1:] {
		if gauge(v, i).KVTokens <= gauge(v, best).KVTokens {
			best = i
		}
	}
	v.Believed = -1
	if d := v.Decide("least"); d != nil {
		for _, i := range v.Up {
			d.Score[i] = kvUse(v, i)
		}
	}
	return int(best)
}

var aibrixVTCPolicy = Policy{
	Name:    "aibrix-vtc-basic",
	Summary: "a replica by how many tokens the user has had: users with more get replicas of a greater index, loads count little",
	Formula: "argmin |i - min(t/bucket, n - 1)| + min(running/100, 1) + U[0, 0.1), bucket = max(1000, (least + most t of users)/2), " +
		"t = prompt + 2 output tokens of the user in 5 minutes, outputs taken as 1.5 prompts",
	Needs:     "the session, which stands for the user, and replicas' metrics",
	Belief:    "none",
	Staleness: "metrics of the last 50 ms, not corrected",
	Terms:     []string{"fairness", "utilization", "random"},
	TieBreak:  "random by its last term; all random for a request without a session",
	Source:    "AIBrix e3e10f9e, pkg/plugins/gateway/algorithms/vtc/vtc_basic.go, token_tracker.go, token_estimator.go",
	New:       func() Params { return new(AIBrixVTC) },
}

// AIBrixVTC spreads users over replicas by their tokens.
type AIBrixVTC struct {
	Fairness    float64 `yaml:"fairness" default:"1" min:"0" unit:"weight" doc:"of the distance between a replica's index and the user's"`
	Utilization float64 `yaml:"utilization" default:"1" min:"0" unit:"weight" doc:"of running requests over 100, at most 1"`
	WindowMin   int64   `yaml:"window_min" default:"5" min:"1" max:"100000" unit:"min" doc:"in which a user's tokens count, in buckets of a minute"`
	PollMs      float64 `yaml:"poll_ms" default:"50" min:"0" max:"3600000" unit:"ms" doc:"time between polls of the metrics; 0 = at each decision"`
}

// Reads implements Reader.
func (p *AIBrixVTC) Reads() Reading { return Reading{On: true, PeriodNs: int64(p.PollMs * 1e6)} }

// Build implements Params.
func (p *AIBrixVTC) Build(e Env) Router {
	return &aibrixVTC{p: *p, stream: e.Random, users: newUserWindow(e.Work, p.WindowMin)}
}

type aibrixVTC struct {
	p      AIBrixVTC
	stream *rng.Stream
	users  *userWindow
}

// The scales of the score.
const (
	vtcBucket  = 1000 // least tokens of a user that make up one index
	vtcRunning = 100  // requests at which a replica counts as full
	vtcNoise   = .1
)

// Route implements Router.
func (r *aibrixVTC) Route(id int32, v *View) int {
	v.Believed = -1
	u := r.users.of[id]
	if u == none {
		v.candidates("no user", v.Up...)
		return int(v.Up[r.stream.IntN(len(v.Up))])
	}
	r.users.expire(v.NowNs)
	at := min(float64(r.users.tokens[u])/r.bucket(), float64(len(v.Up)-1))
	d := v.Decide("score")
	best, least := int32(none), 0.
	for k, i := range v.Up {
		fair := max(float64(k)-at, at-float64(k))
		use := min(float64(gauge(v, i).Running)/vtcRunning, 1)
		noise := vtcNoise * r.stream.Float64()
		score := float64(r.p.Fairness*fair) + float64(r.p.Utilization*use) + noise
		if d != nil {
			d.Score[i], d.Terms[0][i], d.Terms[1][i], d.Terms[2][i] = score, fair, use, noise
		}
		if best == none || score < least {
			best, least = i, score
		}
	}
	prompt := int64(v.Work.Prompt[id])
	r.users.add(u, prompt+2*((3*prompt+1)/2), v.NowNs)
	return int(best)
}

// bucket returns the tokens of a user that make up one index.
func (r *aibrixVTC) bucket() float64 {
	low, high := r.users.extremes()
	return max(vtcBucket, float64(low+high)/2)
}
