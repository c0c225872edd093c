package router

var vllmDPPolicy = Policy{
	Name:      "vllm-dp",
	Summary:   "vLLM's balancer over data-parallel engines: fewest requests, those that wait counted four times",
	Formula:   "argmin 4*waiting + running",
	Needs:     "waiting and running requests of every engine",
	Belief:    "none",
	Staleness: "statistics every 100 ms overwrite the local numbers; in between each pick adds the number of clients to waiting",
	Terms:     []string{"waiting", "running"},
	TieBreak:  "first from the client's own start index on",
	Source:    "vLLM, vllm/v1/engine/core_client.py (DPLBAsyncMPClient), read in 2026",
	New:       func() Params { return new(VLLMDP) },
}

// VLLMDP is the load balancer inside vLLM. It does not look at caches.
//
// Several clients (API servers) do not see each other's picks; each starts its
// scan at its own engine and, for want of news, supposes that the others pick
// as it does: after a pick it adds the number of clients to waiting, of which
// one is the correction that any view may have.
type VLLMDP struct {
	PollMs        float64 `yaml:"poll_ms" default:"100" min:"0" max:"3600000" unit:"ms" doc:"time between statistics"`
	WaitingWeight int64   `yaml:"waiting_weight" default:"4" min:"0" max:"1000" unit:"requests" doc:"running requests that one waiting request counts for"`
}

// Reads implements Reader.
func (p *VLLMDP) Reads() Reading {
	return Reading{On: true, PeriodNs: int64(p.PollMs * 1e6), Corrected: true}
}

// Build implements Params.
func (p *VLLMDP) Build(e Env) Router {
	clients := max(1, e.Routers)
	from, to := e.span()
	return &vllmDP{weight: p.WaitingWeight, others: int64(clients - 1),
		start: int32(from + (to-from)*e.Router/clients), supposed: newCorrections(e.Replicas)}
}

type vllmDP struct {
	weight, others int64
	start          int32
	supposed       corrections // of waiting: picks of the other clients
}

func (r *vllmDP) Route(_ int32, v *View) int {
	v.Believed = -1
	r.supposed.refresh(v)
	d := v.Decide("least")
	// From the start index on, then around: a tie stays with the first.
	best, least, after := int32(-1), int64(0), false
	for _, i := range v.Up {
		g := v.gauge(i)
		score := r.weight*(int64(g.Waiting)+r.supposed.added[i]) + int64(g.Running)
		if d != nil {
			d.Score[i] = float64(score)
			d.Terms[0][i] = float64(int64(g.Waiting) + r.supposed.added[i])
			d.Terms[1][i] = float64(g.Running)
		}
		if best < 0 || score < least || score == least && !after && i >= r.start {
			best, least, after = i, score, i >= r.start
		}
	}
	r.supposed.add(best, r.others, v)
	return int(best)
}

// gauge returns a replica's metrics, zero before any were read.
func (v *View) gauge(i int32) Gauge {
	if v.Gauges == nil {
		return Gauge{}
	}
	return v.Gauges[i]
}

// corrections are what a router has added to metrics since they were read.
type corrections struct {
	reads int64
	added []int64
}

func newCorrections(replicas int) corrections {
	return corrections{reads: -1, added: make([]int64, replicas)}
}

// refresh forgets the corrections where the metrics have been read anew.
func (c *corrections) refresh(v *View) {
	if v.Reads != c.reads {
		c.reads = v.Reads
		clear(c.added)
	}
}

// add notes a correction, unless the view settles those.
func (c *corrections) add(replica int32, n int64, v *View) {
	if !v.Settled {
		c.added[replica] += n
	}
}
