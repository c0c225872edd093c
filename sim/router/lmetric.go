package router

import "switchyard/sim/workload"

var lmetricPolicy = Policy{
	Name:      "lmetric",
	Summary:   "LMetric: prompt tokens to be computed times batch size",
	Formula:   "argmin max(1, uncached tokens, queued ones included) * (requests in flight + 1)",
	Needs:     "prefixes cached on every replica, from events or its own decisions, and its own dispatches in flight",
	Belief:    "cache events; or its own decisions for 120 s",
	Staleness: "books of its own requests are exact; several routers do not see each other's",
	Terms:     []string{"prefill tokens", "batch size"},
	TieBreak:  "fewest requests, then fewest tokens to compute, then first index",
	Source:    "Simple is Better: Multiplication May Be All You Need for LLM Request Scheduling (arXiv 2603.15202); the order of ties of an SGLang pull request (acaa759a), not verified against code; the detector of hot spots of Dynamo's plugin lmetric at 6dcfceb3, which leaves queued tokens out (queued: false)",
	New:       func() Params { return new(LMetric) },
}

// LMetric are the parameters of LMetric. Neither factor needs a weight: it would
// scale all scores alike.
type LMetric struct {
	KVBelief
	Queued      bool  `yaml:"queued" default:"true" doc:"whether the prompt tokens that a replica has still to compute count beside those of the request"`
	HotSpots    bool  `yaml:"hot_spots" default:"false" doc:"whether holders of a prefix are passed over once it is hot: its share x of requests has x/(1-x) above holders/others, and twice as many requests in a row as there are holders would go to them"`
	ClassTokens int32 `yaml:"class_tokens" default:"64" min:"1" unit:"tokens" doc:"with hot_spots: leading tokens that make requests one class (4 blocks of 16)"`
	Window      int   `yaml:"window" default:"1000" min:"1" max:"1000000" unit:"requests" doc:"with hot_spots: last requests over which shares are taken"`
}

// Build implements Params.
func (p *LMetric) Build(e Env) Router {
	l := &lmetric{kvBooks: newKVBooks(e, &p.KVBelief), queued: p.Queued}
	if p.HotSpots {
		l.spots = &hotSpots{keys: newPrefixKeys(e.Work, p.ClassTokens),
			window: newArrivalWindow(e.Work, p.Window, 1), streak: make([]int32, e.Work.Forest.Nodes())}
		l.spots.forget = func(n int32) { l.spots.streak[n] = 0 }
	}
	return l
}

type lmetric struct {
	kvBooks
	queued bool
	spots  *hotSpots // nil without
}

// hotSpots are the classes of the last requests.
type hotSpots struct {
	keys   prefixKeys
	window arrivalWindow
	streak []int32 // by node: requests in a row that would have gone to a holder while their class was hot
	forget func(node int32)
	class  [1]int32
}

func (l *lmetric) Route(id int32, v *View) int {
	l.belief.match(id, v)
	best := l.least(id, v, func(int32) bool { return true })
	rule := "product"
	if l.spots != nil && l.hot(id, best, v) {
		best = l.least(id, v, func(i int32) bool { return !l.holds(i) })
		rule = "hot-spot"
	}
	if d := v.Decide(rule); d != nil {
		for _, i := range v.Up {
			tokens, size := l.factors(id, i, v)
			d.Score[i] = float64(tokens * size)
			d.Terms[0][i], d.Terms[1][i] = float64(tokens), float64(size)
			d.Cached[i] = l.belief.cached[i] * l.belief.block
		}
	}
	l.send(id, int(best), v)
	return int(best)
}

func (l *lmetric) factors(id, i int32, v *View) (tokens, size int64) {
	return max(1, l.tokens(id, i, v)), int64(v.Requests[i]) + 1
}

// tokens returns the prompt tokens that a replica would have to compute.
func (l *lmetric) tokens(id, i int32, v *View) int64 {
	n := int64(l.uncached(id, i, v))
	if l.queued {
		n += l.books.prefill[i]
	}
	return n
}

// least returns the allowed replica with the least product.
func (l *lmetric) least(id int32, v *View, allowed func(int32) bool) int32 {
	best, score := int32(-1), int64(0)
	for _, i := range v.Up {
		if !allowed(i) {
			continue
		}
		tokens, size := l.factors(id, i, v)
		s := tokens * size
		switch {
		case best < 0 || s < score:
		case s > score || v.Requests[i] > v.Requests[best]:
			continue
		case v.Requests[i] == v.Requests[best] && l.tokens(id, i, v) >= l.tokens(id, best, v): // apart only where one has none
			continue
		}
		best, score = i, s
	}
	return best
}

// holds reports whether a replica has the leading tokens of the class cached.
func (l *lmetric) holds(i int32) bool {
	return l.belief.cached[i]*l.belief.block >= l.spots.keys.tokens
}

// hot notes a request and reports whether its class is so hot that the holders,
// one of which is best, are to be passed over.
func (l *lmetric) hot(id, best int32, v *View) bool {
	s := l.spots
	if v.Work.Prompt[id] < s.keys.tokens {
		return false
	}
	class := s.keys.node(id)
	if class == workload.None {
		s.window.add(nil, s.forget)
		return false
	}
	s.class[0] = class
	s.window.add(s.class[:], s.forget)
	holders := int64(0)
	for _, i := range v.Up {
		if l.holds(i) {
			holders++
		}
	}
	others := int64(len(v.Up)) - holders
	in := int64(s.window.count[class])
	alarm := holders > 0 && others > 0 && in*others > (int64(s.window.len)-in)*holders
	if !alarm || !l.holds(best) {
		s.streak[class] = 0
		return false
	}
	s.streak[class]++
	return int64(s.streak[class]) >= 2*holders
}
