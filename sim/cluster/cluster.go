// Package cluster joins a router and its replicas in one event loop over
// simulated time, in whole nanoseconds.
//
// At one instant steps end first, by replica; then requests arrive, by number,
// each routed on the state that the one before it left; then replicas form
// their next steps, by replica. A request that waits for another (closed
// loops, conversations) arrives its think time after the other has left.
//
// The loop does not know what a router or a scheduler does: it keeps the
// router's count of requests in flight, tells the caches what was dispatched,
// and writes down what happened.
//
//	sim := new(cluster.Sim)
//	result, err := sim.Run(config, requests, policy, seed, replication)
package cluster

import (
	"fmt"

	"switchyard/sim/engine"
	"switchyard/sim/rng"
	"switchyard/sim/router"
	"switchyard/sim/workload"
)

// maxNs is the longest time that is simulated, about 146 years: half of what an
// int64 holds, so that no single step can run over.
const maxNs = int64(1) << 62

// Config is a cluster of equal replicas.
type Config struct {
	Replicas int
	Step     engine.StepModel
	KVTokens int64 // KV capacity of a replica, at least 1
	Engine   engine.Params
	Cut      int     // first request of the window, see Result.Window
	Watch    Watcher // optional: is told of every step
}

// Sim runs clusters, one after another, and keeps its memory between runs. It
// is not safe for concurrent use; the zero value is ready.
type Sim struct {
	work   *workload.Workload
	cache  engine.Cache
	engine []engine.Replica
	kind   string // scheduler of the replicas in engine, by the type of its parameters
	ends   timetable
	forms  []bool // by replica: to be formed at this instant
	due    []int  // those replicas
	view   router.View
	track  bool // the router looks at prefixes on their way
	closed closedLoop
	limit  ceiling
	result Result
	dup    duplication
	watch  *watch // nil without a watcher

	plain, private *workload.Workload // the last one and what withPrivate made of it
}

// Run simulates the workload until every request has left. The router draws
// from its own stream, which is named by seed, replication and policy.
func (s *Sim) Run(c Config, w *workload.Workload, policy string, p router.Params, seed uint64, replication int) (*Result, error) {
	if c.Replicas < 1 || c.KVTokens < 1 {
		return nil, fmt.Errorf("cluster has %d replicas of %d tokens of KV cache, expected at least 1 of each", c.Replicas, c.KVTokens)
	}
	if checked, ok := p.(router.Checked); ok {
		if err := checked.Check(w, c.Replicas); err != nil {
			return nil, err
		}
	}
	if c.Engine.Rules().Private {
		w = s.withPrivate(w)
	} else {
		s.plain, s.private = nil, nil
	}
	s.reset(c, w, rng.New(seed, replication, "engine").Uint64())
	if prefixed, ok := p.(router.Prefixed); ok {
		s.track = prefixed.WantsPrefixes()
	} else {
		s.track = false
	}
	r := p.Build(router.Env{
		Replicas: c.Replicas, Random: rng.New(seed, replication, "router/"+policy),
		Work: s.work, Step: c.Step, KVTokens: c.KVTokens, Routers: 1,
	})
	if err := s.loop(c, r); err != nil {
		return nil, err
	}
	s.frontEnd(c.Engine.Rules().FrontEndNs)
	for i := range s.engine {
		s.result.Replicas = append(s.result.Replicas, s.engine[i].Stats(s.result.EndNs))
	}
	for i, ready := range s.result.Unlimited {
		// What others computed while the request waited counts as well.
		s.result.Dispatched[i] = max(s.result.Dispatched[i], ready)
	}
	s.result.Ceiling = s.limit.values()
	s.result.Duplication = s.dup.mean()
	return &s.result, nil
}

// withPrivate returns w with private rests as nodes, from the last run where
// that had the same workload.
func (s *Sim) withPrivate(w *workload.Workload) *workload.Workload {
	if s.plain != w {
		s.plain, s.private = w, w.WithPrivate()
	}
	return s.private
}

func (s *Sim) reset(c Config, w *workload.Workload, random uint64) {
	n := w.Len()
	s.work = w
	s.cache.Reset(&w.Forest, c.Replicas, c.Engine.Rules())
	res := &s.result
	res.Log.Reset(n)
	res.ArrivalNs = append(res.ArrivalNs[:0], w.ArrivalUs...)
	for i, us := range res.ArrivalNs {
		if us != workload.None {
			res.ArrivalNs[i] = us * 1000
		}
	}
	res.Replica = resized(res.Replica, n)
	res.Best = resized(res.Best, n)
	res.Dispatched = resized(res.Dispatched, n)
	res.Status = resized(res.Status, n)
	clear(res.Status)
	res.Replicas, res.Window = res.Replicas[:0], res.Window[:0]
	res.LastArrivalNs, res.EndNs = 0, 0
	s.dup = duplication{}
	if s.watch = newWatch(c); s.watch != nil {
		c.Step = s.watch
	}
	s.replicas(c, w, random)
	s.ends.reset(c.Replicas)
	s.forms = resized(s.forms, c.Replicas)
	clear(s.forms)
	s.due = s.due[:0]
	s.view = router.View{
		Replicas: c.Replicas, Requests: resized(s.view.Requests, c.Replicas), Tokens: resized(s.view.Tokens, c.Replicas),
		Up: s.view.Up[:0], KVTokens: c.KVTokens, Cache: &s.cache, Work: w,
		Outputs: router.NewOutputs(w, engine.Knowledge{}, random),
	}
	for i := range c.Replicas {
		s.view.Up = append(s.view.Up, int32(i))
	}
	clear(s.view.Requests)
	clear(s.view.Tokens)
	s.closed.reset(w)
	s.limit.reset(w)
}

// replicas prepares the replicas, those of the last run where the scheduler is
// the same.
func (s *Sim) replicas(c Config, w *workload.Workload, random uint64) {
	if kind := fmt.Sprintf("%T", c.Engine); kind != s.kind {
		s.engine, s.kind = nil, kind
	}
	for len(s.engine) < c.Replicas {
		s.engine = append(s.engine, c.Engine.NewReplica())
	}
	s.engine = s.engine[:c.Replicas]
	for i, rp := range s.engine {
		rp.Reset(engine.Setup{
			Index: i, Params: c.Engine, Step: c.Step, KVTokens: c.KVTokens,
			Cache: &s.cache, Work: w, Log: &s.result.Log, Random: random,
		})
	}
}

// resized returns s with n elements of any value, in its old memory where that
// suffices.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// loop runs until all requests have left.
func (s *Sim) loop(c Config, r router.Router) error {
	n, arrived, left := s.work.Len(), 0, 0
	open := 0 // next request with a time of its own
	arrivals := s.result.ArrivalNs
	for left < n {
		for open < n && s.work.ArrivalUs[open] == workload.None {
			open++
		}
		end, replica := s.ends.first()
		now := min(end, s.closed.next())
		if open < n {
			now = min(now, arrivals[open])
		}
		if now == engine.Never {
			return fmt.Errorf("%d of %d requests never arrive or finish", n-left, n)
		}
		if now > maxNs || now < 0 {
			return fmt.Errorf("after %d of %d requests the simulated time passes a century: the cluster is too slow for its requests", left, n)
		}
		for end == now {
			if s.watch != nil {
				s.watch.end(replica, s.engine[replica], now)
			}
			for _, id := range s.engine[replica].End() {
				s.leave(id, now)
				left++
			}
			s.ends.set(replica, engine.Never)
			s.form(replica)
			end, replica = s.ends.first()
		}
		for {
			id := int32(n)
			if open < n && arrivals[open] == now {
				id = int32(open)
			}
			if s.closed.next() == now && s.closed.id() < id {
				id = s.closed.take()
				arrivals[id] = now
			} else if id < int32(n) {
				for open++; open < n && s.work.ArrivalUs[open] == workload.None; open++ {
				}
			} else {
				break
			}
			if err := s.arrive(c, r, id, now); err != nil {
				return err
			}
			if s.result.Status[id] == Rejected {
				left++
			}
			arrived++
			s.observe(c, arrived, n, now)
		}
		s.formAll(now)
	}
	return nil
}

// arrive routes a request and hands it to its replica.
func (s *Sim) arrive(c Config, r router.Router, id int32, now int64) error {
	w, res := s.work, &s.result
	leaf := w.Leaf[id]
	s.limit.arrive(id)
	res.Best[id] = s.cache.Best(leaf)
	chosen := r.Route(id, &s.view)
	if chosen < 0 || chosen >= c.Replicas {
		return fmt.Errorf("router chose replica %d of %d for request %d", chosen, c.Replicas, id)
	}
	res.Replica[id] = int32(chosen)
	res.Dispatched[id] = s.cache.Send(chosen, leaf, s.track)
	if w.OutputNode != nil && w.OutputNode[id] != workload.None {
		s.cache.Send(chosen, w.OutputNode[id], false)
	}
	rp := s.engine[chosen]
	s.view.Requests[chosen]++
	s.view.Tokens[chosen] += int64(w.Prompt[id]) + int64(w.Output[id])
	if !rp.Fits(id) {
		s.gone(id, now, Rejected)
		return nil
	}
	if rp.Enqueue(id, now) {
		s.form(chosen)
	} else {
		s.ends.set(chosen, rp.EndNs())
	}
	return nil
}

// leave notes a request that has left its replica.
func (s *Sim) leave(id int32, now int64) {
	status := Finished
	if s.result.TimedOut[id] {
		status = TimedOut
	}
	s.gone(id, now, status)
}

// gone takes a request off the router's books and releases those that wait for it.
func (s *Sim) gone(id int32, now int64, status Status) {
	w, res := s.work, &s.result
	chosen := res.Replica[id]
	res.Status[id] = status
	res.FinishNs[id] = now
	res.EndNs = max(res.EndNs, now)
	s.view.Requests[chosen]--
	s.view.Tokens[chosen] -= int64(w.Prompt[id]) + int64(w.Output[id])
	if s.track {
		s.cache.Forget(int(chosen), w.Leaf[id])
	}
	s.closed.release(id, now)
}

// frontEnd adds what happens outside the engines to the times of tokens.
func (s *Sim) frontEnd(ns int64) {
	if ns == 0 {
		return
	}
	res := &s.result
	for i, status := range res.Status {
		if status == Finished {
			res.FirstNs[i] += ns
			res.FinishNs[i] += ns
		}
	}
}

// form marks a replica for the end of this instant.
func (s *Sim) form(replica int) {
	if !s.forms[replica] {
		s.forms[replica] = true
		s.due = append(s.due, replica)
	}
}

// formAll forms the marked replicas; they do not see each other, so their order
// is of no consequence.
func (s *Sim) formAll(now int64) {
	for _, replica := range s.due {
		s.forms[replica] = false
		rp := s.engine[replica]
		if s.watch != nil {
			s.watch.form(replica, rp, now, int64(s.view.Requests[replica]))
		} else {
			rp.Form(now)
		}
		s.ends.set(replica, rp.EndNs())
	}
	s.due = s.due[:0]
}

// observe takes the samples that are due after the arrived-th arrival of n.
func (s *Sim) observe(c Config, arrived, n int, now int64) {
	res := &s.result
	if arrived == c.Cut+1 {
		res.WindowStartNs = now
		for i := range s.engine {
			res.Window = append(res.Window, s.engine[i].Stats(now))
		}
	}
	if after := arrived - n/4; after > 0 && after%16 == 0 {
		s.dup.sample(&s.cache)
	}
	if arrived == n {
		res.LastArrivalNs = now
		for i := range res.Window {
			res.Window[i] = s.engine[i].Stats(now).Since(res.Window[i])
		}
	}
}
