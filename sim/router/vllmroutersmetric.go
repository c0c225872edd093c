package router

import (
	"math"
	"slices"
)

var vllmRouterSMetricPolicy = Policy{
	Name:      "vllm-router-smetric",
	Summary:   "vLLM's router by prefill work: a session's next turn goes where most of it is known, if that replica answers in time; all else where least work is in the way",
	Formula:   "w = c_lin n + c_att n (L - n / 2), n = L - match, in characters; q = pending w + w; if next turn and match > 0.5 history and (q / rate <= slo or nobody meets it): argmax match; else argmin q * l",
	Needs:     "its own dispatches in flight and their first tokens, the prompt's text, the session",
	Belief:    "approximate tree as sglang-cache-aware's, cut every 30 s",
	Staleness: "loads are exact, of this router alone; the rate of prefill is learnt from its own requests' times to first token",
	Terms:     []string{"queued_work", "load"},
	TieBreak:  "the first from a start that moves on by one each request",
	Source:    "vllm-project/router src/policies/smetric.rs at 8bef7312, perhaps never merged, and so not verified against code that was released; the weights, the time allowed and the tree's size have no defaults there, those here are this program's",
	New:       func() Params { return new(VLLMRouterSMetric) },
}

// VLLMRouterSMetric weighs prefill work.
type VLLMRouterSMetric struct {
	Linear       float64 `yaml:"c_lin" default:"1" min:"0" max:"1000000" unit:"work/char" doc:"work of a new character"`
	Attention    float64 `yaml:"c_att" default:"0" min:"0" max:"1000000" unit:"work/char2" doc:"work of a new character for each one before it"`
	HitRatio     float64 `yaml:"hit_ratio" default:"0.5" min:"0" max:"1" unit:"share" doc:"a replica holds a session while it knows more than this share of the prompt of its last turn"`
	SLOBaseS     float64 `yaml:"ttft_slo_base_s" default:"1" min:"0" max:"1000000" unit:"s" doc:"time to first token that is allowed ..."`
	SLOPerChar   float64 `yaml:"ttft_slo_per_char_s" default:"0.0001" min:"0" max:"1000" unit:"s/char" doc:"... and for each character of the prompt"`
	Slack        float64 `yaml:"slack" default:"1" min:"0" max:"1000" unit:"ratio" doc:"factor on both"`
	Rate         float64 `yaml:"prefill_rate" default:"0" min:"0" unit:"work/s" doc:"rate of prefill; 0 = learnt, the 90th percentile of a replica's last 64 requests once there are 8"`
	Colocated    bool    `yaml:"colocated" default:"true" doc:"whether replicas decode as well, so that requests in flight count"`
	MaxTreeChars int64   `yaml:"max_tree_size" default:"67108864" min:"0" unit:"chars" doc:"what eviction leaves of each replica's text in the tree, at 4 characters a token"`
	EvictionS    float64 `yaml:"eviction_s" default:"30" min:"0" max:"1000000" unit:"s" doc:"time between evictions; 0 = never"`
}

// Build implements Params.
func (p *VLLMRouterSMetric) Build(e Env) Router {
	r := &vllmRouterSMetric{VLLMRouterSMetric: *p, tree: newTree(e.Work, e.Replicas, 1), limits: newTreeLimits(p.EvictionS, p.MaxTreeChars),
		session: newStickySessions(e.Work, 0, 0, 0).of, known: make([]int32, e.Replicas), pending: make([]int64, e.Replicas),
		rates: make([]rateWindow, e.Replicas), work: make([]int64, e.Work.Len()), sentNs: make([]int64, e.Work.Len())}
	sessions := int32(0)
	for _, s := range r.session {
		sessions = max(sessions, s+1)
	}
	r.history = make([]int32, sessions)
	return r
}

type vllmRouterSMetric struct {
	VLLMRouterSMetric
	tree    *tree
	limits  treeLimits
	turn    int // requests so far
	session []int32
	history []int32 // by session: prompt tokens of its last request, 0 before
	known   []int32
	pending []int64 // by replica: work without a first token
	rates   []rateWindow
	work    []int64 // by request, 0 once it is no longer pending
	sentNs  []int64
}

func (r *vllmRouterSMetric) Route(id int32, v *View) int {
	r.limits.apply(r.tree, v.NowNs)
	k := r.tree.match(id)
	r.tree.each(k, r.known)
	d := v.Decide("work")
	holder, cheapest, inTime, anyInTime := none, none, false, false
	var least float64
	for step := range v.Up {
		i := int(v.Up[(r.turn+step)%len(v.Up)])
		queued := r.pending[i] + r.cost(v.Work.Prompt[id], r.known[i])
		meets := r.meets(queued, i, v.Work.Prompt[id])
		anyInTime = anyInTime || meets
		score := float64(queued)
		if r.Colocated {
			score *= float64(v.Requests[i])
		}
		if cheapest == none || score < least {
			cheapest, least = i, score
		}
		if holder == none || r.known[i] > r.known[holder] {
			holder, inTime = i, meets
		}
		if d != nil {
			d.Score[i], d.Terms[0][i], d.Terms[1][i], d.Cached[i] = score, float64(queued), float64(v.Requests[i]), r.known[i]
		}
	}
	r.turn++
	chosen := cheapest
	if s := r.session[id]; s != none {
		if h := r.history[s]; h > 0 && float64(r.known[holder]) > r.HitRatio*float64(h) && (inTime || !anyInTime) {
			chosen = holder
			if d != nil {
				d.Rule = "session"
			}
		}
		r.history[s] = v.Work.Prompt[id]
	}
	v.Believed = r.known[chosen]
	r.work[id], r.sentNs[id] = r.cost(v.Work.Prompt[id], r.known[chosen]), v.NowNs
	r.pending[chosen] += r.work[id]
	r.tree.insert(id, k, chosen)
	return chosen
}

// cost returns the work of a prompt of which so much is known.
func (r *vllmRouterSMetric) cost(prompt, known int32) int64 {
	l, n := float64(charsPerToken*prompt), float64(charsPerToken*(prompt-known))
	return int64(math.Ceil(float64(r.Linear*n) + float64(r.Attention*n*(l-n/2))))
}

// meets reports whether so much work is done within the time that a prompt allows.
func (r *vllmRouterSMetric) meets(queued int64, replica int, prompt int32) bool {
	rate := r.Rate
	if rate == 0 {
		rate = r.rates[replica].rate()
	}
	return rate == 0 || float64(queued)/rate <= r.Slack*(r.SLOBaseS+float64(r.SLOPerChar*float64(charsPerToken*prompt)))
}

// FirstToken implements Observer.
func (r *vllmRouterSMetric) FirstToken(id int32, replica int, v *View) {
	if ns := v.NowNs - r.sentNs[id]; ns > 0 && r.work[id] > 0 {
		r.rates[replica].add(float64(r.work[id]) * 1e9 / float64(ns))
	}
	r.Left(id, replica, v)
}

// Left implements Observer.
func (r *vllmRouterSMetric) Left(id int32, replica int, _ *View) {
	r.pending[replica] -= r.work[id]
	r.work[id] = 0
}

// rateWindow holds the last rates, in order of arrival and of size.
type rateWindow struct {
	recent, sorted [64]float64
	n, next        int
}

func (w *rateWindow) add(x float64) {
	if w.n == len(w.recent) {
		at, _ := slices.BinarySearch(w.sorted[:], w.recent[w.next])
		copy(w.sorted[at:], w.sorted[at+1:])
		w.n--
	}
	w.recent[w.next] = x
	w.next = (w.next + 1) % len(w.recent)
	at, _ := slices.BinarySearch(w.sorted[:w.n], x)
	copy(w.sorted[at+1:w.n+1], w.sorted[at:w.n])
	w.sorted[at] = x
	w.n++
}

// rate returns the 90th percentile, by the nearest rank; 0 below 8 rates.
func (w *rateWindow) rate() float64 {
	if w.n < 8 {
		return 0
	}
	return w.sorted[int(math.Round(.9*float64(w.n-1)))]
}
