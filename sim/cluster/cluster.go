// Package cluster joins a router and its replicas in one event loop over
// simulated time, in whole nanoseconds.
//
// At one instant steps end first, by replica; then replicas fail, leave or
// come; then metrics are polled; then requests that routers kept back or have
// decided on go out; then requests arrive, by number, each routed on the state
// that the one before it left; then replicas form their next steps, by replica.
// A request that waits for another (closed loops, conversations) arrives its
// think time after the other has left.
//
// The loop does not know what a router or a scheduler does: it keeps the
// routers' views as fresh as Config.Sight says, tells the caches what was
// dispatched, and writes down what happened.
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

// Pool is a number of equal replicas that serve the requests of that pool alone.
// Each pool has routers of its own.
type Pool struct {
	Replicas int
	Step     engine.StepModel
	KVTokens int64
}

// Config is a cluster of equal replicas, or of several pools of such.
type Config struct {
	Replicas int
	Step     engine.StepModel
	KVTokens int64 // KV capacity of a replica, at least 1
	Engine   engine.Params
	Pools    []Pool  // of replicas, one after the other; none: all are equal
	Cut      int     // first request of the window, see Result.Window
	Watch    Watcher // optional: is told of every step

	Sight     router.Sight // what routers see; the zero value is one router as its policy has it
	Events    []Event      // replicas that fail, leave, come or are slow
	Decisions Decider      // optional: is told of the decisions that it wants
}

// Sim runs clusters, one after another, and keeps its memory between runs. It
// is not safe for concurrent use; the zero value is ready.
type Sim struct {
	work   *workload.Workload
	cache  engine.Cache
	engine []engine.Replica
	random uint64 // base of what engines make up
	kind   string // scheduler of the replicas in engine, by the type of its parameters
	ends   timetable
	forms  []bool // by replica: to be formed at this instant
	due    []int  // those replicas
	front  front
	closed closedLoop
	limit  ceiling
	result Result
	dup    duplication
	watch  *watch // nil without a watcher

	actions  []action // on replicas, in order; next is the first that has not happened
	next     int
	kept     []engine.Stats // by replica: what it had done before it failed last
	decided  Decided        // the decision that a Decider is told of
	decision router.Decision
	held     int // requests that routers keep back

	plain, private *workload.Workload // the last one and what withPrivate made of it
}

// Run simulates the workload until every request has left. The router draws
// from its own stream, which is named by seed, replication and policy.
func (s *Sim) Run(c Config, w *workload.Workload, policy string, p router.Params, seed uint64, replication int) (*Result, error) {
	if c.Replicas < 1 || c.KVTokens < 1 {
		return nil, fmt.Errorf("cluster has %d replicas of %d tokens of KV cache, expected at least 1 of each", c.Replicas, c.KVTokens)
	}
	if err := c.checkPools(w); err != nil {
		return nil, err
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
	s.front.reset(c, s.work, &s.cache, policy, p, seed, replication)
	if err := s.plan(c); err != nil {
		return nil, err
	}
	if err := s.loop(c); err != nil {
		return nil, err
	}
	s.frontEnd(c.Engine.Rules().FrontEndNs)
	for i := range s.engine {
		s.result.Replicas = append(s.result.Replicas, s.stats(i, s.result.EndNs))
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
	res.Believed = resized(res.Believed, n)
	res.Status = resized(res.Status, n)
	clear(res.Status)
	for i := range res.Replica {
		res.Replica[i] = None
	}
	res.Replicas, res.Window = res.Replicas[:0], res.Window[:0]
	res.LastArrivalNs, res.EndNs = 0, 0
	s.dup = duplication{}
	s.watch = newWatch(c)
	s.replicas(c, random)
	s.ends.reset(c.Replicas)
	s.forms = resized(s.forms, c.Replicas)
	clear(s.forms)
	s.due = s.due[:0]
	s.held = 0
	s.closed.reset(w)
	s.limit.reset(w)
}

// replicas prepares the replicas, those of the last run where the scheduler is
// the same.
func (s *Sim) replicas(c Config, random uint64) {
	if kind := fmt.Sprintf("%T", c.Engine); kind != s.kind {
		s.engine, s.kind = nil, kind
	}
	for len(s.engine) < c.Replicas {
		s.engine = append(s.engine, c.Engine.NewReplica())
	}
	s.engine = s.engine[:c.Replicas]
	s.kept = zeroed(s.kept, c.Replicas)
	s.random = random
	for i, rp := range s.engine {
		rp.Reset(s.setup(c, i))
	}
}

// setup returns what a replica runs with.
func (s *Sim) setup(c Config, replica int) engine.Setup {
	pool := c.pool(c.poolOf(replica))
	step := pool.Step
	for _, e := range c.Events {
		if e.Kind == Slow && e.Replica == replica {
			step = slowed{step, e.Factor}
		}
	}
	if s.watch != nil {
		step = s.watch.over(replica, step)
	}
	return engine.Setup{
		Index: replica, Params: c.Engine, Step: step, KVTokens: pool.KVTokens,
		Cache: &s.cache, Work: s.work, Log: &s.result.Log, Random: s.random,
	}
}

// stats returns a replica's totals up to now.
func (s *Sim) stats(replica int, now int64) engine.Stats {
	return s.engine[replica].Stats(now).Plus(s.kept[replica])
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
func (s *Sim) loop(c Config) error {
	n, arrived, left := s.work.Len(), 0, 0
	open := 0 // next request with a time of its own
	arrivals := s.result.ArrivalNs
	f := &s.front
	for left < n {
		for open < n && s.work.ArrivalUs[open] == workload.None {
			open++
		}
		end, replica := s.ends.first()
		now := min(end, s.closed.next(), s.actNs(), f.decideNs())
		if open < n {
			now = min(now, arrivals[open])
		}
		if now == engine.Never {
			return fmt.Errorf("%d of %d requests never arrive or finish, of which routers keep %d back", n-left, n, s.held)
		}
		if now > maxNs || now < 0 {
			return fmt.Errorf("after %d of %d requests the simulated time passes a century: the cluster is too slow for its requests", left, n)
		}
		if f.pollNs < now {
			s.poll(now - 1)
		}
		s.cache.At(now)
		told := end == now && f.observe
		for end == now {
			if s.watch != nil {
				s.watch.end(replica, s.engine[replica], now)
			}
			ids := s.engine[replica].End()
			if f.observe || len(f.uncached) > 0 {
				s.started(replica, now)
			}
			for _, id := range ids {
				s.leave(id, now)
				left++
			}
			s.ends.set(replica, engine.Never)
			s.form(replica)
			end, replica = s.ends.first()
		}
		for s.actNs() == now {
			lost, err := s.act(c, now)
			if err != nil {
				return err
			}
			left += lost
			told = f.observe
		}
		if f.pollNs == now {
			s.poll(now)
		}
		for told || f.decideNs() == now {
			gone, err := s.letGo(c, now)
			if err != nil {
				return err
			}
			left += gone
			told = false
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
			s.limit.arrive(id)
			f.take(id)
			gone, err := s.arrive(c, id, now)
			if err != nil {
				return err
			}
			if gone {
				left++
			}
			arrived++
			s.observe(c, arrived, n, now)
		}
		s.formAll(now)
	}
	return nil
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
			s.watch.form(replica, rp, now, int64(s.front.requests[replica]))
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
			res.Window = append(res.Window, s.stats(i, now))
		}
	}
	if after := arrived - n/4; after > 0 && after%16 == 0 {
		s.dup.sample(&s.cache)
	}
	if arrived == n {
		res.LastArrivalNs = now
		for i := range res.Window {
			res.Window[i] = s.stats(i, now).Since(res.Window[i])
		}
	}
}
