package router

var ramjetPolicy = Policy{
	Name:      "ramjet",
	Summary:   "Ramjet: cached prompt up to a cap, minus weighted load",
	Formula:   "argmax affinity - 4*(requests in flight + active prefill tokens/8192)",
	Needs:     "prefixes cached on every replica, from events or its own decisions, and its own dispatches in flight",
	Belief:    "cache events; or its own decisions for 120 s",
	Staleness: "books of its own requests are exact; several routers do not see each other's",
	Terms:     []string{"affinity", "load"},
	TieBreak:  "the most cached, then in turn",
	Source:    "Helix's Ramjet as Dynamo's plugin ramjet at 6dcfceb3 has it",
	New:       func() Params { return new(Ramjet) },
}

// Ramjet are the parameters of Ramjet's score.
type Ramjet struct {
	KVBelief
	Alpha          float64 `yaml:"alpha" default:"4" min:"0" max:"1000000" unit:"blocks" doc:"blocks of affinity that a unit of load costs"`
	AffinityTokens int32   `yaml:"affinity_tokens" default:"512" min:"1" unit:"tokens" doc:"cached tokens that are one block of affinity"`
	MaxAffinity    int64   `yaml:"max_affinity" default:"32" min:"1" unit:"blocks" doc:"most affinity that counts"`
	LoadTokens     int64   `yaml:"load_tokens" default:"8192" min:"1" unit:"tokens" doc:"active prefill tokens that are one unit of load, as a request in flight is"`
	Basis          string  `yaml:"basis" default:"relative" enum:"absolute|marginal|relative" doc:"what counts as affinity: what is cached; what is cached beyond the coldest replica; or what the warmest has, less what one has less than it, each capped"`
}

// Build implements Params.
func (p *Ramjet) Build(e Env) Router {
	return &ramjet{kvBooks: newKVBooks(e, &p.KVBelief), p: *p, score: make([]float64, e.Replicas)}
}

type ramjet struct {
	kvBooks
	p     Ramjet
	score []float64
	turn  int
}

func (r *ramjet) Route(id int32, v *View) int {
	r.belief.match(id, v)
	coldest, warmest := r.overlap(v.Up[0]), int64(0)
	for _, i := range v.Up {
		coldest, warmest = min(coldest, r.overlap(i)), max(warmest, r.overlap(i))
	}
	d := v.Decide("score")
	best, ties := v.Up[0], 0
	for _, i := range v.Up {
		load := float64(v.Requests[i]) + float64(r.books.prefill[i])/float64(r.p.LoadTokens)
		affinity := float64(r.affinity(r.overlap(i), coldest, warmest))
		r.score[i] = affinity - float64(r.p.Alpha*load)
		switch {
		case r.score[i] > r.score[best] || r.score[i] == r.score[best] && r.overlap(i) > r.overlap(best):
			best, ties = i, 1
		case r.tied(i, best):
			ties++
		}
		if d != nil {
			d.Score[i], d.Cached[i] = r.score[i], r.belief.cached[i]*r.belief.block
			d.Terms[0][i], d.Terms[1][i] = affinity, load
		}
	}
	chosen := nth(r.turn%ties, v.Up, func(i int32) bool { return r.tied(i, best) })
	r.turn++
	r.send(id, chosen, v)
	return chosen
}

func (r *ramjet) tied(i, best int32) bool {
	return r.score[i] == r.score[best] && r.overlap(i) == r.overlap(best)
}

// overlap returns the whole blocks of affinity that a replica has cached.
func (r *ramjet) overlap(i int32) int64 {
	return int64(r.belief.cached[i]*r.belief.block) / int64(r.p.AffinityTokens)
}

func (r *ramjet) affinity(overlap, coldest, warmest int64) int64 {
	most := r.p.MaxAffinity
	switch r.p.Basis {
	case "absolute":
		return min(overlap, most)
	case "marginal":
		return min(overlap-coldest, most)
	}
	return max(0, min(warmest, most)-min(warmest-overlap, most))
}
