package cluster

import (
	"fmt"

	"switchyard/sim/engine"
	"switchyard/sim/heap"
	"switchyard/sim/rng"
	"switchyard/sim/router"
	"switchyard/sim/workload"
)

// front is what stands before the replicas: one or more routers that do not see
// each other, each with a view of its own, and what keeps the views as fresh as
// they are meant to be.
type front struct {
	sight   router.Sight
	reading router.Reading // of gauges
	loads   string         // where View.Requests and View.Tokens come from
	track   bool           // the policy looks at prefixes on their way
	observe bool           // it is told of first tokens and departures
	gauged  bool           // some metrics are read

	routers  []*instance
	of       []int32 // by request: its router; empty where there is one
	up       []int32 // replicas that take requests, of all pools
	requests []int32 // by replica: dispatched by all routers and not left
	tokens   []int64 // of those: prompt tokens, and output tokens as far as known
	prefill  []int64 // uncached prompt tokens of those without a first token
	uncached []int32 // by request: its part of prefill
	polled   []router.Gauge
	pollNs   int64 // time of the next poll, engine.Never without
	decide   heap.Heap
	follow   follow
	rotate   []int // by pool: whose turn it is among its routers
}

// instance is one router.
type instance struct {
	router   router.Router
	observer router.Observer
	follower router.Follower
	evictee  router.Evictee
	queuer   router.Queuer
	view     router.View

	requests []int32 // by replica: its own, dispatched and not left
	tokens   []int64
	started  []int32 // of requests: those with a first token
	prefill  []int64
	freeNs   int64 // when it has decided on all that it has
}

// reset builds the routers for a run.
func (f *front) reset(c Config, w *workload.Workload, cache *engine.Cache, policy string, p router.Params, seed uint64, replication int) {
	f.sight = c.Sight
	if f.sight.Instances < 1 {
		f.sight.Instances = 1
	}
	each := f.sight.Instances // routers of a pool
	n := each * c.pools()
	f.reads(p)
	prefixed, _ := p.(router.Prefixed)
	f.track = prefixed != nil && prefixed.WantsPrefixes()
	f.up = f.up[:0]
	f.requests, f.tokens = zeroed(f.requests, c.Replicas), zeroed(f.tokens, c.Replicas)
	f.prefill, f.polled = zeroed(f.prefill, c.Replicas), zeroed(f.polled, c.Replicas)
	f.uncached, f.of = f.uncached[:0], f.of[:0]
	if f.gauged || c.Decisions != nil {
		f.uncached = zeroed(f.uncached, w.Len())
	}
	if n > 1 {
		f.of = zeroed(f.of, w.Len())
	}
	f.rotate, f.decide = zeroed(f.rotate, c.pools()), f.decide[:0]
	for len(f.routers) < n {
		f.routers = append(f.routers, new(instance))
	}
	f.routers = f.routers[:n]
	known := router.NewOutputs(w, f.sight.Knowledge, rng.New(seed, replication, "outputs").Uint64())
	subscriber, _ := p.(router.Subscriber)
	f.follow.reset(f, c.Replicas, subscriber != nil && subscriber.WantsEvents(), rng.New(seed, replication, "events").Uint64())
	f.observe = false
	for i, in := range f.routers {
		pool := c.pool(i / each)
		lo, hi := c.span(i / each)
		name := "router/" + policy
		if i > 0 {
			name = fmt.Sprint(name, "/", i)
		}
		in.reset(f, c, p.Build(router.Env{
			Replicas: c.Replicas, Random: rng.New(seed, replication, name), Work: w, Step: pool.Step, KVTokens: pool.KVTokens, Routers: each, Router: i % each, From: lo, To: hi,
		}))
		in.view = router.View{
			Replicas: c.Replicas, Requests: in.requests, Tokens: in.tokens, Gauges: in.view.Gauges,
			KVTokens: pool.KVTokens, Cache: cache, Work: w, Outputs: known, Settled: f.loads != "policy",
		}
		switch f.loads {
		case "live":
			in.view.Requests, in.view.Tokens = f.requests, f.tokens
		case "polled", "corrected":
			in.view.Requests, in.view.Tokens = make([]int32, c.Replicas), make([]int64, c.Replicas)
		}
		if f.reading.On {
			in.view.Gauges = zeroed(in.view.Gauges, c.Replicas)
		} else {
			in.view.Gauges = nil
		}
		if f.follow.index {
			in.view.Events = &f.follow.events
		}
		f.observe = f.observe || in.observer != nil || in.queuer != nil
		f.follow.notices = f.follow.notices || in.evictee != nil && f.sight.NoticeMs >= 0
	}
	f.follow.start(cache, w, c.Engine.Rules().Block)
}

// reads settles where loads and metrics come from.
func (f *front) reads(p router.Params) {
	f.reading = router.Reading{}
	if r, ok := p.(router.Reader); ok {
		f.reading = r.Reads()
	}
	period := int64(f.sight.PollMs * 1e6)
	if period == 0 {
		if period = f.reading.PeriodNs; period == 0 {
			period = 1e9
		}
	}
	f.loads = f.sight.Loads
	switch f.loads {
	case "live":
		f.reading.PeriodNs, f.reading.Corrected = 0, false
	case "polled", "corrected":
		f.reading.PeriodNs, f.reading.Corrected = period, f.loads == "corrected"
	case "local":
	default:
		f.loads = "policy"
		if f.sight.PollMs > 0 && f.reading.On {
			f.reading.PeriodNs = period
		}
	}
	f.gauged = f.reading.On || f.loads == "polled" || f.loads == "corrected"
	f.pollNs = engine.Never
	if f.gauged && f.reading.PeriodNs > 0 && f.loads != "local" {
		f.pollNs = 0
	}
}

func (in *instance) reset(f *front, c Config, r router.Router) {
	in.router = r
	in.observer, _ = r.(router.Observer)
	in.follower, _ = r.(router.Follower)
	in.evictee, _ = r.(router.Evictee)
	in.queuer, _ = r.(router.Queuer)
	in.freeNs = 0
	if len(f.routers) == 1 {
		in.requests, in.tokens, in.prefill = f.requests, f.tokens, f.prefill
	} else {
		in.requests, in.tokens, in.prefill = make([]int32, c.Replicas), make([]int64, c.Replicas), make([]int64, c.Replicas)
	}
	in.started = zeroed(in.started, c.Replicas)
}

// zeroed returns s with n zero elements, in its old memory where that suffices.
func zeroed[T any](s []T, n int) []T {
	s = resized(s, n)
	clear(s)
	return s
}

// take gives a request that arrives to the next router in turn.
func (f *front) take(id int32) {
	if len(f.of) == 0 {
		return
	}
	pool := 0
	if w := f.routers[0].view.Work; w.Pool != nil {
		pool = int(w.Pool[id])
	}
	turn := &f.rotate[pool]
	f.of[id] = int32(pool*f.sight.Instances + *turn)
	if *turn++; *turn == f.sight.Instances {
		*turn = 0
	}
}

// by returns the router of a request.
func (f *front) by(id int32) *instance {
	if len(f.of) > 0 {
		return f.routers[f.of[id]]
	}
	return f.routers[0]
}

// sent keeps the books of a request that goes to a replica, of whose prompt so
// much is not cached there.
func (f *front) sent(in *instance, id int32, replica int, uncached int32) {
	w := in.view.Work
	tokens := int64(w.Prompt[id]) + int64(in.view.Outputs.Of(id))
	in.requests[replica]++
	in.tokens[replica] += tokens
	if len(f.routers) > 1 {
		f.requests[replica]++
		f.tokens[replica] += tokens
	}
	if len(f.uncached) == 0 {
		return
	}
	f.uncached[id] = uncached
	f.prefill[replica] += int64(uncached)
	if len(f.routers) > 1 {
		in.prefill[replica] += int64(uncached)
	}
	if !f.reading.Corrected {
		return
	}
	if in.view.Gauges != nil {
		g := &in.view.Gauges[replica]
		g.Waiting++
		g.Requests++
		g.Tokens += tokens
		g.Prefill += int64(uncached)
	}
	if f.loads == "corrected" {
		in.view.Requests[replica]++
		in.view.Tokens[replica] += tokens
	}
}

// first keeps the books of a request that has its first token.
func (f *front) first(in *instance, id int32, replica int) {
	in.started[replica]++
	f.filled(in, id, replica)
}

// filled takes what a request had to prefill off the books.
func (f *front) filled(in *instance, id int32, replica int) {
	if len(f.uncached) == 0 {
		return
	}
	f.prefill[replica] -= int64(f.uncached[id])
	if len(f.routers) > 1 {
		in.prefill[replica] -= int64(f.uncached[id])
	}
	f.uncached[id] = 0
}

// left keeps the books of a request that has left its replica.
func (f *front) left(in *instance, id int32, replica int, started bool) {
	w := in.view.Work
	tokens := int64(w.Prompt[id]) + int64(in.view.Outputs.Of(id))
	in.requests[replica]--
	in.tokens[replica] -= tokens
	if len(f.routers) > 1 {
		f.requests[replica]--
		f.tokens[replica] -= tokens
	}
	if started {
		in.started[replica]--
	} else {
		f.filled(in, id, replica)
	}
}
