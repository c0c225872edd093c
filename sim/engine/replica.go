package engine

import (
	"math"

	"switchyard/sim/heap"
	"switchyard/sim/workload"
)

// Never is a time that does not come.
const Never = int64(math.MaxInt64)

// Log is where replicas write what happened to each request, one entry a
// request in every slice; times are nanoseconds, -1 where they never came.
type Log struct {
	StartNs, FirstNs, FinishNs []int64
	Cached                     []int32 // prompt tokens found in the cache at admission, at most all but the last
	Unlimited                  []int32 // tokens found there, had nothing ever been evicted

	match []int32 // tokens found in the cache
}

// Reset prepares the log for n requests.
func (l *Log) Reset(n int) {
	l.StartNs = filled(l.StartNs, n, -1)
	l.FirstNs = filled(l.FirstNs, n, -1)
	l.FinishNs = filled(l.FinishNs, n, -1)
	l.Cached = cleared(l.Cached, n)
	l.Unlimited = cleared(l.Unlimited, n)
	l.match = cleared(l.match, n)
}

func filled(s []int64, n int, v int64) []int64 {
	s = cleared(s, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// Stats are the running totals of a replica.
type Stats struct {
	Requests     int64 // that entered
	PromptTokens int64 // of admitted requests
	CachedTokens int64 // of those, found in the cache
	OutputTokens int64 // of finished requests
	Steps        int64
	BusyNs       int64   // time in steps
	PeakKV       int64   // most tokens in memory
	KVTimeNs     float64 // integral of tokens in memory over time
	QueueTimeNs  float64 // integral of waiting requests over time
	SystemTimeNs float64 // integral of waiting and running requests over time
	Evicted      int64   // tokens
}

// Since returns what came to the totals after before; PeakKV is that of s.
func (s Stats) Since(before Stats) Stats {
	s.Requests -= before.Requests
	s.PromptTokens -= before.PromptTokens
	s.CachedTokens -= before.CachedTokens
	s.OutputTokens -= before.OutputTokens
	s.Steps -= before.Steps
	s.BusyNs -= before.BusyNs
	s.KVTimeNs -= before.KVTimeNs
	s.QueueTimeNs -= before.QueueTimeNs
	s.SystemTimeNs -= before.SystemTimeNs
	s.Evicted -= before.Evicted
	return s
}

// Replica is one replica of a cluster. Its driver calls Enqueue when a request
// arrives, End when the step's time has come, and Form after all that happens
// at one instant. Nothing in it allocates once its slices have grown.
type Replica struct {
	index    int
	params   Params
	step     StepModel
	capacity int64
	cache    *Cache
	work     *workload.Workload
	log      *Log
	stats    Stats

	waiting  queue
	prefills []int32   // running prefills in order of admission
	chunks   []int32   // tokens that the current step computes of each
	done     []int32   // prompt tokens computed or found, of each
	finish   heap.Heap // decoding requests by the decode step in which they end
	context  int64     // tokens of context of all decodes
	passed   int64     // decode steps so far
	reserved int64     // tokens that running requests have or will need, beside cached ones

	running bool
	formed  int64 // time at which the current step or stretch began
	EndNs   int64 // time at which it ends, Never when idle
	stretch int64 // decode-only steps in the current stretch, 0 for any other step
	changed int64 // time of the last change of what the integrals sum
	left    []int32
}

// Reset prepares a replica for a run.
func (rp *Replica) Reset(index int, p Params, step StepModel, capacity int64, cache *Cache, w *workload.Workload, log *Log) {
	keep := *rp
	*rp = Replica{
		index: index, params: p, step: step, capacity: capacity, cache: cache, work: w, log: log,
		waiting: keep.waiting, prefills: keep.prefills[:0], chunks: keep.chunks[:0], done: keep.done[:0],
		finish: keep.finish[:0], left: keep.left[:0], EndNs: Never,
	}
	rp.waiting.reset(p)
}

// Fits reports whether request id could ever be served.
func (rp *Replica) Fits(id int32) bool {
	return int64(rp.work.Prompt[id])+int64(rp.work.Output[id]) <= rp.capacity
}

// Waiting returns the number of requests in the queue.
func (rp *Replica) Waiting() int { return rp.waiting.len() }

// Running returns the number of admitted requests.
func (rp *Replica) Running() int { return len(rp.prefills) + len(rp.finish) }

// InMemory returns the tokens that are cached or reserved.
func (rp *Replica) InMemory() int64 { return rp.cache.cached[rp.index] + rp.reserved }

// hit returns the prompt tokens of id that are cached now.
func (rp *Replica) hit(id int32) int32 { return rp.cache.Match(rp.index, rp.work.Leaf[id]) }

// account brings the integrals up to now.
func (rp *Replica) account(now int64) {
	if d := float64(now - rp.changed); d > 0 {
		waiting := float64(rp.waiting.len())
		rp.stats.KVTimeNs += float64(d * float64(rp.InMemory()))
		rp.stats.QueueTimeNs += float64(d * waiting)
		rp.stats.SystemTimeNs += float64(d * (waiting + float64(rp.Running())))
		rp.changed = now
	}
}

// Stats returns the totals up to now, which is not before the last call of
// any method.
func (rp *Replica) Stats(now int64) Stats {
	rp.account(now)
	s := rp.stats
	if rp.running {
		s.BusyNs += now - rp.formed
		if steps, end := rp.advance(now, rp.stretch); rp.stretch > 1 && end <= now {
			s.Steps += steps
		} else if rp.stretch > 1 {
			s.Steps += steps - 1
		}
	}
	s.Evicted = rp.cache.evicted[rp.index]
	return s
}

// Enqueue takes a request that arrives now. A request that Fits refuses must
// not come here. It reports whether the replica must be formed.
func (rp *Replica) Enqueue(id int32, now int64) (form bool) {
	rp.account(now)
	rp.stats.Requests++
	rp.waiting.push(id)
	if !rp.running {
		return true
	}
	if rp.stretch > 1 {
		// The stretch ends at its first step boundary from now on.
		rp.stretch, rp.EndNs = rp.advance(now, rp.stretch)
	}
	return false
}

// advance goes through decode-only steps from the start of the current stretch,
// at least one and at most limit, up to the first boundary that is not before
// until, and returns their number and that boundary.
func (rp *Replica) advance(until, limit int64) (steps, end int64) {
	context, d := rp.context, int64(len(rp.finish))
	for end = rp.formed; steps == 0 || end < until && steps < limit; steps++ {
		end += rp.step.StepNs(decodes(d, context))
		context += d
	}
	return steps, end
}

// End completes the step whose time has come and returns the requests that
// finished in it; the slice is valid until the next call.
func (rp *Replica) End() []int32 {
	now := rp.EndNs
	rp.account(now)
	rp.running, rp.EndNs = false, Never
	rp.stats.BusyNs += now - rp.formed
	steps := max(1, rp.stretch)
	rp.stats.Steps += steps
	rp.left = rp.left[:0]
	rp.passed += steps
	rp.context += steps * int64(len(rp.finish))
	for len(rp.finish) > 0 && rp.finish[0].Key == rp.passed {
		rp.leave(rp.finish.Pop().ID, now)
	}
	kept := 0
	for i, id := range rp.prefills {
		if i < len(rp.chunks) {
			rp.done[i] += rp.chunks[i]
		}
		if rp.done[i] < rp.work.Prompt[id] {
			rp.prefills[kept], rp.done[kept] = id, rp.done[i]
			kept++
			continue
		}
		rp.complete(id, now)
	}
	rp.prefills, rp.done = rp.prefills[:kept], rp.done[:kept]
	rp.chunks = rp.chunks[:0]
	return rp.left
}

// complete ends the prefill of a request: its segments become reusable, tokens
// that another request has cached meanwhile are given back, and the first
// output token is out.
func (rp *Replica) complete(id int32, now int64) {
	w := rp.work
	if rp.params.Ready == "prefill-end" {
		rp.keep(id)
	}
	rp.log.FirstNs[id] = now
	if w.Output[id] == 1 {
		rp.depart(id, now)
		return
	}
	rp.context += int64(w.Prompt[id])
	rp.finish.Push(heap.Item{Key: rp.passed + int64(w.Output[id]) - 1, ID: id})
}

// keep moves a request's shared tokens from its reservation into the cache.
func (rp *Replica) keep(id int32) {
	leaf := rp.work.Leaf[id]
	if leaf == none {
		return
	}
	rp.reserved -= int64(rp.work.Forest.End[leaf] - rp.log.match[id])
	rp.cache.insert(rp.index, leaf)
}

// leave ends a decoding request.
func (rp *Replica) leave(id int32, now int64) {
	w := rp.work
	rp.context -= int64(w.Prompt[id]) + int64(w.Output[id]) - 1
	rp.depart(id, now)
}

// depart releases what a finished request holds; an output that a later turn
// reads stays in the cache.
func (rp *Replica) depart(id int32, now int64) {
	w := rp.work
	leaf := w.Leaf[id]
	if w.OutputNode != nil && w.OutputNode[id] != none {
		node := w.OutputNode[id]
		rp.cache.pin(rp.index, node)
		rp.cache.insert(rp.index, node)
		rp.cache.unpin(rp.index, node)
	}
	rest := int64(w.Prompt[id]) + int64(w.Output[id])
	if leaf != none {
		rest -= int64(w.Forest.End[leaf])
		rp.cache.unpin(rp.index, leaf)
	}
	rp.reserved -= rest
	rp.stats.OutputTokens += int64(w.Output[id])
	rp.log.FinishNs[id] = now
	rp.left = append(rp.left, id)
}

// Form starts a step at now, or leaves the replica idle.
func (rp *Replica) Form(now int64) {
	if rp.running {
		return
	}
	rp.account(now)
	decoding := int64(len(rp.finish))
	batch := decodes(decoding, rp.context)
	budget := int64(rp.params.ChunkTokens) - decoding
	for i, id := range rp.prefills {
		n := rp.chunk(id, i, budget)
		if n <= 0 {
			break
		}
		batch.add(n, int64(rp.done[i]))
		rp.chunks = append(rp.chunks, int32(n))
		budget -= n
	}
	for rp.waiting.len() > 0 && (budget > 0 || rp.params.Admit == "memory") && rp.Running() < rp.params.MaxRunning {
		id := rp.waiting.peek(rp)
		if !rp.admit(id, now) {
			break
		}
		rp.waiting.take()
		i := len(rp.prefills) - 1
		if n := rp.chunk(id, i, budget); n > 0 {
			batch.add(n, int64(rp.done[i]))
			rp.chunks = append(rp.chunks, int32(n))
			budget -= n
		}
	}
	if batch.Tokens == 0 {
		return
	}
	rp.stats.PeakKV = max(rp.stats.PeakKV, rp.InMemory())
	rp.running, rp.formed, rp.stretch = true, now, 1
	if batch.Prefill == 0 {
		// Nothing can change before the next decode ends or a request comes.
		rp.stretch, rp.EndNs = rp.advance(Never, rp.finish[0].Key-rp.passed)
		return
	}
	rp.EndNs = now + rp.step.StepNs(batch)
}

// chunk returns how many prompt tokens of the i-th running prefill a step with
// this budget left computes.
func (rp *Replica) chunk(id int32, i int, budget int64) int64 {
	return min(int64(rp.work.Prompt[id]-rp.done[i]), budget)
}

// admit reserves memory for a waiting request and makes it a running prefill.
// It changes nothing where memory does not suffice.
func (rp *Replica) admit(id int32, now int64) bool {
	w, c, r := rp.work, rp.cache, rp.index
	leaf := w.Leaf[id]
	match := c.Match(r, leaf)
	need := int64(w.Prompt[id]-match) + int64(w.Output[id])
	short := rp.reserved + need - rp.capacity
	if rp.params.Evict != "none" {
		short += c.cached[r]
		if short > 0 && short > c.loose[r]-c.looseOn(r, leaf) {
			return false
		}
	} else if short > 0 {
		return false
	}
	if leaf != none {
		c.pin(r, leaf)
	}
	c.free(r, short)
	rp.reserved += need
	hit := min(match, w.Prompt[id]-1)
	rp.log.StartNs[id] = now
	rp.log.match[id] = match
	rp.log.Cached[id] = hit
	rp.log.Unlimited[id] = c.unlimited(r, leaf)
	rp.stats.PromptTokens += int64(w.Prompt[id])
	rp.stats.CachedTokens += int64(hit)
	rp.prefills = append(rp.prefills, id)
	rp.done = append(rp.done, hit)
	if rp.params.Ready == "admission" {
		rp.keep(id)
	}
	return true
}
