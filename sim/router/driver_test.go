package router

import (
	"math"
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// bench drives a router with no engines behind it: a request has its first
// token when 4 requests a replica have arrived after it, and leaves after 16.
// Its prompt is in its replica's cache from the first token on, for good.
type bench struct {
	view     View
	cache    engine.Cache
	events   Index
	params   Params
	router   Router
	observer Observer
	queuer   Queuer
	ring     []int32 // of requests in flight, by arrival modulo its length
	at       []int32 // by request: its replica
	held     int
}

// newBench makes a router of a policy at its defaults; false where the policy
// does not go with the workload.
func newBench(p Policy, w *workload.Workload, replicas int) (*bench, bool) {
	d := &bench{params: p.New(), ring: make([]int32, 16*replicas), at: make([]int32, w.Len())}
	param.Defaults(d.params)
	if c, ok := d.params.(Checked); ok && c.Check(w, replicas) != nil {
		return nil, false
	}
	d.view = View{Replicas: replicas, Up: all(replicas), Work: w, Outputs: NewOutputs(w, engine.Knowledge{}, 0), KVTokens: 200_000}
	d.reset(p.Name)
	return d, true
}

// reset starts anew.
func (d *bench) reset(name string) {
	v := &d.view
	v.Requests, v.Tokens = make([]int32, v.Replicas), make([]int64, v.Replicas)
	if r, ok := d.params.(Reader); ok && r.Reads().On {
		v.Gauges = make([]Gauge, v.Replicas)
		for i := range v.Gauges {
			v.Gauges[i].Read = true
		}
	}
	if s, ok := d.params.(Subscriber); ok && s.WantsEvents() {
		d.events.Reset(&v.Work.Forest, v.Replicas, 1)
		v.Events = &d.events
	}
	if d.tracks() {
		d.cache.Reset(&v.Work.Forest, v.Replicas, engine.Rules{Evict: "token"})
		v.Cache = &d.cache
	}
	d.router = d.params.Build(Env{Replicas: v.Replicas, Random: rng.New(1, 1, name), Work: v.Work, Step: slope{}, KVTokens: v.KVTokens, Routers: 1})
	d.observer, _ = d.router.(Observer)
	d.queuer, _ = d.router.(Queuer)
	for i := range d.ring {
		d.ring[i] = none
	}
}

func (d *bench) tracks() bool {
	p, ok := d.params.(Prefixed)
	return ok && p.WantsPrefixes()
}

// run sends all requests.
func (d *bench) run() {
	w := d.view.Work
	early := len(d.ring) / 4
	for id := range int32(w.Len()) {
		if us := w.ArrivalUs[id]; us != workload.None {
			d.view.NowNs = us * 1000
		}
		slot := int(id) % len(d.ring)
		if old := d.ring[slot]; old != none {
			d.leave(old)
		}
		if first := d.ring[(slot+len(d.ring)-early)%len(d.ring)]; first != none {
			d.first(first)
		}
		d.ring[slot] = none
		if to := d.router.Route(id, &d.view); to >= 0 {
			d.ring[slot] = id
			d.send(id, to)
		} else {
			d.held++
		}
		if d.queuer != nil {
			for next := d.queuer.Next(&d.view); next >= 0; next = d.queuer.Next(&d.view) {
				d.router.Route(next, &d.view)
			}
		}
	}
}

func (d *bench) send(id int32, to int) {
	v := &d.view
	d.at[id] = int32(to)
	v.Requests[to]++
	tokens := int64(v.Work.Prompt[id] + v.Work.Output[id])
	v.Tokens[to] += tokens
	if v.Gauges != nil {
		g := &v.Gauges[to]
		g.Waiting++
		g.Requests++
		g.Tokens += tokens
		g.Prefill += int64(v.Work.Prompt[id])
	}
	if v.Cache != nil {
		d.cache.Send(to, v.Work.Leaf[id], true)
	}
}

func (d *bench) first(id int32) {
	v, to := &d.view, int(d.at[id])
	if v.Gauges != nil {
		g := &v.Gauges[to]
		g.Waiting--
		g.Running++
		g.Prefill -= int64(v.Work.Prompt[id])
		g.KVTokens += int64(v.Work.Prompt[id])
	}
	if v.Events != nil {
		f := &v.Work.Forest
		for n := v.Work.Leaf[id]; n != workload.None && d.events.tokens[int(n)*v.Replicas+to] == 0; n = f.Parent[n] {
			d.events.Set(to, n, f.Tokens[n])
		}
	}
	if d.observer != nil {
		d.observer.FirstToken(id, to, v)
	}
}

func (d *bench) leave(id int32) {
	v, to := &d.view, int(d.at[id])
	v.Requests[to]--
	tokens := int64(v.Work.Prompt[id] + v.Work.Output[id])
	v.Tokens[to] -= tokens
	if v.Gauges != nil {
		g := &v.Gauges[to]
		g.Running--
		g.Requests--
		g.Tokens -= tokens
		g.KVTokens -= int64(v.Work.Prompt[id])
	}
	if v.Cache != nil {
		d.cache.Forget(to, v.Work.Leaf[id])
	}
	if d.observer != nil {
		d.observer.Left(id, to, v)
	}
}

// Every policy survives the benchmark's driver on a small workload and sends
// requests to replicas that are up, with and without a decision to fill.
func TestEveryPolicyRoutes(t *testing.T) {
	stream := rng.New(4, 1, "routes")
	w := branching(t, 600, stream)
	for i := range w.ArrivalUs {
		w.ArrivalUs[i] = int64(i) * 100_000
	}
	for _, p := range Policies() {
		for _, explained := range []bool{false, true} {
			d, ok := newBench(p, w, 5)
			if !ok {
				continue
			}
			d.router = &within{t: t, name: p.Name, explained: explained, Router: d.router, v: &d.view}
			d.view.Up = []int32{0, 1, 3, 4}
			d.run()
		}
	}
}

// within checks what a router does.
type within struct {
	t         *testing.T
	name      string
	explained bool
	Router
	v *View
}

func (r *within) Route(id int32, v *View) int {
	if r.explained {
		v.Decision = new(Decision)
	}
	to := r.Router.Route(id, v)
	if to != Hold && (to < 0 || to >= v.Replicas || !v.IsUp(to)) {
		r.t.Fatalf("%s sends request %d to replica %d of %v", r.name, id, to, v.Up)
	}
	if to != Hold && (v.Believed < none || v.Believed > v.Work.Prompt[id]) {
		r.t.Fatalf("%s believes %d tokens of %d", r.name, v.Believed, v.Work.Prompt[id])
	}
	if r.explained && to != Hold {
		if v.Decision.Rule == "" {
			r.t.Fatalf("%s names no rule for request %d", r.name, id)
		}
		scored := 0
		for i, s := range v.Decision.Score {
			switch {
			case math.IsNaN(s):
			case !v.IsUp(i):
				r.t.Fatalf("%s scores replica %d, which is down", r.name, i)
			default:
				scored++
			}
		}
		// The released Preble may choose beside its candidates.
		if scored == 0 || math.IsNaN(v.Decision.Score[to]) && r.name != "preble-code" {
			r.t.Fatalf("%s, rule %s: of scores %v the chosen replica %d has none", r.name, v.Decision.Rule, v.Decision.Score, to)
		}
	}
	v.Decision = nil
	return to
}
