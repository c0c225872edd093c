package cluster

import (
	"fmt"

	"switchyard/sim/engine"
	"switchyard/sim/heap"
	"switchyard/sim/router"
	"switchyard/sim/workload"
)

// Decided is a decision that a Decider is told of; slices have one entry a
// replica and are valid during the call.
type Decided struct {
	ID       int32
	Router   int // which of several routers
	NowNs    int64
	Chosen   int
	Up       []int32
	Prompt   int32 // tokens
	Believed int32 // see router.View
	Decision *router.Decision
	Cached   []int32        // prompt tokens that are cached there in truth
	Gauges   []router.Gauge // the replicas as they are
}

// Decider is told of decisions.
type Decider interface {
	// Wants reports whether it wants to know of the decision on a request.
	Wants(id int32) bool
	// Decided is called before the request goes out.
	Decided(*Decided)
}

// decideNs returns when the next decision under way is made.
func (f *front) decideNs() int64 {
	if len(f.decide) == 0 {
		return engine.Never
	}
	return f.decide[0].Key
}

// arrive hands a request to its router, which decides at once or in its turn,
// and reports whether it has left for good.
func (s *Sim) arrive(c Config, id int32, now int64) (gone bool, err error) {
	f := &s.front
	if f.sight.ServiceUs == 0 {
		return s.route(c, id, now)
	}
	in := f.by(id)
	in.freeNs = max(in.freeNs, now) + int64(f.sight.ServiceUs*1000)
	f.decide.Push(heap.Item{Key: in.freeNs, ID: id})
	return false, nil
}

// letGo routes the requests that are decided on at now, and those that routers
// keep back and now let go; it returns how many have left for good.
func (s *Sim) letGo(c Config, now int64) (left int, err error) {
	f := &s.front
	for f.decideNs() == now {
		gone, err := s.route(c, f.decide.Pop().ID, now)
		if err != nil {
			return left, err
		}
		if gone {
			left++
		}
	}
	if s.held == 0 {
		return left, nil
	}
	for _, in := range f.routers {
		for in.queuer != nil {
			s.prepare(in, now)
			id := in.queuer.Next(&in.view)
			if id < 0 {
				break
			}
			s.held--
			gone, err := s.route(c, id, now)
			if err != nil {
				return left, err
			}
			if gone {
				left++
			}
		}
	}
	return left, nil
}

// route routes a request, hands it to its replica, and reports whether it has
// left for good.
func (s *Sim) route(c Config, id int32, now int64) (gone bool, err error) {
	w, res, f := s.work, &s.result, &s.front
	leaf := w.Leaf[id]
	in := f.by(id)
	res.Believed[id] = -1
	if len(in.view.Up) == 0 {
		res.Best[id], res.Dispatched[id] = 0, 0 // neither the last run's, nor a replica's that has failed
		s.closeBooks(id, now, Rejected)
		return true, nil
	}
	s.prepare(in, now)
	v := &in.view
	v.Believed = -1
	asked := c.Decisions != nil && c.Decisions.Wants(id)
	if asked {
		v.Decision = &s.decision
		v.Decide("")
	}
	chosen := in.router.Route(id, v)
	v.Decision = nil
	if chosen == router.Hold && in.queuer != nil {
		s.held++
		return false, nil
	}
	if chosen < 0 || chosen >= c.Replicas || !v.IsUp(chosen) {
		return false, fmt.Errorf("router chose replica %d for request %d, expected one of %v", chosen, id, v.Up)
	}
	if asked {
		s.tell(c, in, id, chosen, now)
	}
	res.Best[id] = s.cache.Best(leaf)
	res.Believed[id] = v.Believed
	res.Replica[id] = int32(chosen)
	res.Dispatched[id] = s.cache.Send(chosen, leaf, f.track)
	if w.OutputNode != nil && w.OutputNode[id] != workload.None {
		s.cache.Send(chosen, w.OutputNode[id], false)
	}
	uncached := int32(0)
	if len(f.uncached) > 0 {
		uncached = max(1, w.Prompt[id]-s.cache.Match(chosen, leaf))
	}
	f.sent(in, id, chosen, uncached)
	rp := s.engine[chosen]
	if !rp.Fits(id) {
		s.gone(id, now, Rejected)
		return true, nil
	}
	if rp.Enqueue(id, now) {
		s.form(chosen)
	} else {
		s.ends.set(chosen, rp.EndNs())
	}
	return false, nil
}

// tell tells the decider of a decision and of what was so in truth.
func (s *Sim) tell(c Config, in *instance, id int32, chosen int, now int64) {
	d := &s.decided
	d.ID, d.NowNs, d.Chosen, d.Up, d.Decision = id, now, chosen, in.view.Up, &s.decision
	d.Believed, d.Router, d.Prompt = in.view.Believed, 0, s.work.Prompt[id]
	if len(s.front.of) > 0 {
		d.Router = int(s.front.of[id])
	}
	d.Cached = resized(d.Cached, c.Replicas)
	for i := range d.Cached {
		d.Cached[i] = s.cache.Match(i, s.work.Leaf[id])
	}
	d.Gauges = resized(d.Gauges, c.Replicas)
	s.readGauges(d.Gauges, now)
	c.Decisions.Decided(d)
}

// started notes the requests that have a first token.
func (s *Sim) started(replica int, now int64) {
	f := &s.front
	for _, id := range s.engine[replica].Started() {
		in := f.by(id)
		f.first(in, id, replica)
		if in.observer != nil {
			in.view.NowNs = now
			in.observer.FirstToken(id, replica, &in.view)
		}
	}
}

// leave notes a request that has left its replica.
func (s *Sim) leave(id int32, now int64) {
	status := Finished
	if s.result.TimedOut[id] {
		status = TimedOut
	}
	s.gone(id, now, status)
}

// gone takes a request off the routers' books and releases those that wait for it.
func (s *Sim) gone(id int32, now int64, status Status) {
	s.away(id, now)
	s.closeBooks(id, now, status)
}

// away takes a request off the books of its router: it is on its replica no more.
func (s *Sim) away(id int32, now int64) {
	f := &s.front
	replica := int(s.result.Replica[id])
	in := f.by(id)
	f.left(in, id, replica, s.result.FirstNs[id] >= 0 && (f.observe || len(f.uncached) > 0))
	if f.track {
		s.cache.Forget(replica, s.work.Leaf[id])
	}
	if in.observer != nil {
		in.view.NowNs = now
		in.observer.Left(id, replica, &in.view)
	}
}

// closeBooks notes how a request ended and releases those that wait for it.
func (s *Sim) closeBooks(id int32, now int64, status Status) {
	res := &s.result
	res.Status[id] = status
	res.FinishNs[id] = now
	res.EndNs = max(res.EndNs, now)
	s.closed.release(id, now)
}
