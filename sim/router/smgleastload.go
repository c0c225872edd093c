package router

var smgLeastLoadPolicy = Policy{
	Name:      "smg-least-load",
	Summary:   "SMG's least load: the replica whose queued work takes the least time, with a barrier against full KV memory",
	Formula:   "argmin (queued uncached tokens + tokens dispatched since the poll) / throughput + 0.15 s * k / (1 - k), k = KV use up to .999; l * 1024 / throughput without metrics of a replica; argmin l without any",
	Needs:     "the replicas' metrics: uncached tokens of waiting requests and KV use; its own dispatches in flight",
	Belief:    "none",
	Staleness: "polled every 10 s; the tokens of own dispatches since are added",
	Terms:     []string{"drain_s", "kv_s"},
	TieBreak:  "the first index",
	Source:    "smg model_gateway/src/policies/least_load.rs at 73da68ca and 3bb34d02; a replica's own generation rate is not among its metrics here, so that the nominal throughput stands for it",
	New:       func() Params { return new(SMGLeastLoad) },
}

// SMGLeastLoad takes the replica that will be through with its work first.
type SMGLeastLoad struct {
	KVWeight    float64 `yaml:"kv_pressure_weight_s" default:"0.15" min:"0" max:"1000" unit:"s" doc:"weight of the barrier against full KV memory"`
	Throughput  float64 `yaml:"throughput_tps" default:"2000" min:"0.001" unit:"tokens/s" doc:"rate at which a replica is taken to get through its work"`
	MeanPrefill float64 `yaml:"mean_prefill_tokens" default:"1024" min:"0" unit:"tokens" doc:"work of a request in flight where a replica's metrics have not been read"`
	PollMs      float64 `yaml:"poll_ms" default:"10000" min:"0" max:"3600000" unit:"ms" doc:"time between readings of the replicas' metrics"`
}

// Reads implements Reader.
func (p *SMGLeastLoad) Reads() Reading {
	return Reading{On: true, PeriodNs: int64(p.PollMs * 1e6)}
}

// Build implements Params.
func (p *SMGLeastLoad) Build(e Env) Router {
	return &smgLeastLoad{SMGLeastLoad: *p, since: newCorrections(e.Replicas)}
}

type smgLeastLoad struct {
	SMGLeastLoad
	since corrections // prompt tokens dispatched since metrics were read
}

func (r *smgLeastLoad) Route(id int32, v *View) int {
	v.Believed = none
	r.since.refresh(v)
	any := false
	for _, i := range v.Up {
		any = any || v.Gauges[i].Read
	}
	d := v.Decide("score")
	if d != nil && !any {
		d.Rule = "requests"
	}
	best, least := v.Up[0], 0.0
	for k, i := range v.Up {
		drain, kv := r.seconds(int(i), v, any)
		score := drain + kv
		if k == 0 || score < least {
			best, least = i, score
		}
		if d != nil {
			d.Score[i], d.Terms[0][i], d.Terms[1][i] = score, drain, kv
		}
	}
	r.since.add(best, int64(v.Work.Prompt[id]), v)
	return int(best)
}

// seconds returns both terms of a replica's score; its requests in flight where
// nobody's metrics are known.
func (r *smgLeastLoad) seconds(i int, v *View, any bool) (drain, kv float64) {
	g := &v.Gauges[i]
	switch {
	case g.Read:
		k := min(float64(g.KVTokens)/float64(v.KVTokens), .999)
		return float64(g.Prefill+r.since.added[i]) / r.Throughput, r.KVWeight * k / (1 - k)
	case any:
		return float64(v.Requests[i]) * r.MeanPrefill / r.Throughput, 0
	}
	return float64(v.Requests[i]), 0
}
