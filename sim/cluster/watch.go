package cluster

import "switchyard/sim/engine"

// Step is one step of a replica, as a Watcher is told of it.
type Step struct {
	Replica        int
	StartNs, EndNs int64
	Requests       int64 // in the batch
	Decodes        int64 // of those, that decode
	Prefill        int64 // new prompt tokens
	Context        int64 // tokens of context of all requests in the batch, before the step
	Waiting        int64 // requests on the replica that are not in the batch
	KVTokens       int64 // in use once the step is formed, see engine.Holder
	Chunks         []engine.Chunk
}

// Watcher is told of every step when it ends, replica by replica in order of
// time. Chunks are valid during the call. Nothing is kept track of without one.
type Watcher interface{ Step(Step) }

// watch finds out about steps. An engine goes through decode steps in stretches
// and does not say which steps those were. But the first batch that it asks the
// time of while it forms one is that of the first step, and the others follow
// from it.
type watch struct {
	to       Watcher
	replicas []watched
	forming  *watched // takes the next batch; nil outside of Form
}

// watched is the step or stretch that a replica is in.
type watched struct {
	step     engine.StepModel // the replica's own
	busy     bool
	startNs  int64
	batch    engine.Batch
	chunks   []engine.Chunk
	inSystem int64
}

// newWatch returns a watch over a cluster, nil without a watcher.
func newWatch(c Config) *watch {
	if c.Watch == nil {
		return nil
	}
	return &watch{to: c.Watch, replicas: make([]watched, c.Replicas)}
}

// over returns a replica's step model, watched.
func (w *watch) over(replica int, step engine.StepModel) engine.StepModel {
	w.replicas[replica] = watched{step: step}
	return overlooked{w, step}
}

// overlooked is the step model of a replica whose steps are watched.
type overlooked struct {
	*watch
	step engine.StepModel
}

// StepNs implements engine.StepModel.
func (o overlooked) StepNs(b engine.Batch) int64 {
	w := o.watch
	if r := w.forming; r != nil {
		w.forming = nil
		r.busy, r.batch, r.chunks = true, b, r.chunks[:0]
		if b.Chunks != nil {
			r.chunks = append(r.chunks, *b.Chunks...)
		}
	}
	return o.step.StepNs(b)
}

// form forms a replica's next step and notes it.
func (w *watch) form(replica int, rp engine.Replica, now, inSystem int64) {
	r := &w.replicas[replica]
	if r.busy {
		rp.Form(now) // which does nothing
		return
	}
	w.forming = r
	rp.Form(now)
	w.forming = nil
	if r.busy {
		r.startNs, r.inSystem = now, inSystem
	}
}

// end tells of the step or stretch of a replica that ends now, before the
// replica completes it.
func (w *watch) end(replica int, rp engine.Replica, now int64) {
	r := &w.replicas[replica]
	if !r.busy {
		return // it was no step
	}
	r.busy = false
	s := Step{
		Replica: replica, StartNs: r.startNs, EndNs: now, Requests: r.batch.Requests, Decodes: r.batch.Decodes(), Prefill: r.batch.Prefill,
		Context: r.batch.Context, Waiting: r.inSystem - r.batch.Requests, Chunks: r.chunks,
	}
	held, _ := rp.(engine.Holder)
	if held != nil {
		s.KVTokens = held.KVTokens(0)
	}
	if s.Prefill > 0 {
		w.to.Step(s)
		return
	}
	b := r.batch
	for n := 1; s.StartNs < now; n++ {
		s.EndNs = s.StartNs + r.step.StepNs(b)
		if s.EndNs > now {
			s.EndNs = now
		}
		w.to.Step(s)
		s.StartNs = s.EndNs
		s.Context += s.Decodes
		if held != nil {
			s.KVTokens = held.KVTokens(n)
		}
		b.Context, b.DecodeContext = b.Context+s.Decodes, b.DecodeContext+s.Decodes
		b.Attention2 += 2 * s.Decodes
	}
}
