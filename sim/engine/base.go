package engine

import (
	"switchyard/sim/heap"
	"switchyard/sim/workload"
)

// base is what the schedulers over the token-granular cache have in common:
// all but how a step is formed. Its running requests are prefills, in order of
// admission, and decodes, by the decode step in which they end, so that a step
// touches only those that change.
type base struct {
	index    int
	step     StepModel
	capacity int64
	cache    *Cache
	work     *workload.Workload
	log      *Log
	stats    Stats
	random   uint64
	rules    baseRules

	waiting  queue
	prefills []int32   // running prefills in order of admission
	chunks   []int32   // tokens that the current step computes of each
	parts    []Chunk   // the same with their context, for the step model
	done     []int32   // prompt tokens computed or found, of each
	finish   heap.Heap // decoding requests by the decode step in which they end
	ahead    horizon   // of the decodes, where requests are preemptible
	context  int64     // tokens of context of all decodes
	passed   int64     // decode steps so far
	reserved int64     // tokens that running requests hold, beside cached ones
	turns    int32     // admissions so far
	loading  int64     // tokens that the step being formed copies from host memory

	running bool
	formed  int64 // time at which the current step or stretch began
	end     int64 // time at which it ends, Never when idle
	decoded int64 // decode steps in it; more than one only where nothing else happens in them
	pause   bool  // it is no step, but time between two
	changed int64 // time of the last change of what the integrals sum
	left    []int32
	started []int32 // requests whose first token came out in the step that ended last
	shown   Gauges
}

// baseRules are the rules in which the schedulers differ beside Form.
type baseRules struct {
	know        Knowledge
	host        HostTier
	preemptible bool // requests may be preempted
	grows       bool // a decode takes memory token by token, instead of all at admission
	unbounded   bool // memory has no end
	early       bool // a prompt's segments are reusable from its admission on
	late        bool // a prompt's segments are reusable once its request has finished
}

func (rp *base) reset(s Setup, rules baseRules, wait waitingRules) {
	keep := *rp
	*rp = base{
		index: s.Index, step: s.Step, capacity: s.KVTokens, cache: s.Cache, work: s.Work, log: s.Log, random: s.Random, rules: rules,
		waiting: keep.waiting, prefills: keep.prefills[:0], chunks: keep.chunks[:0], parts: keep.parts[:0], done: keep.done[:0],
		finish: keep.finish[:0], ahead: keep.ahead, left: keep.left[:0], started: keep.started[:0], end: Never,
	}
	rp.ahead.reset()
	if rules.preemptible {
		s.Log.preemptible(s.Work.Len())
	}
	rp.waiting.reset(wait, &s)
}

// EndNs implements Replica.
func (rp *base) EndNs() int64 { return rp.end }

// Fits implements Replica.
func (rp *base) Fits(id int32) bool {
	need := int64(rp.work.Prompt[id]) + int64(rp.work.Output[id])
	if rp.rules.grows {
		need++ // admission asks for less than there is
	}
	return need <= rp.capacity && !rp.waiting.full()
}

// admitted returns the number of running requests.
func (rp *base) admitted() int { return len(rp.prefills) + len(rp.finish) }

// memory returns the tokens that are cached or held.
func (rp *base) memory() int64 { return rp.cache.cached[rp.index] + rp.reserved }

// prompt returns the tokens that id's prefill has to have: its prompt and, of
// one that was preempted, what it had made before.
func (rp *base) prompt(id int32) int32 {
	if rp.rules.preemptible {
		return rp.work.Prompt[id] + rp.log.made[id]
	}
	return rp.work.Prompt[id]
}

// toMake returns the output tokens that id still had to make when it was
// admitted, or has to now if it waits.
func (rp *base) toMake(id int32) int32 {
	if rp.rules.preemptible {
		return rp.work.Output[id] - rp.log.made[id]
	}
	return rp.work.Output[id]
}

// expected returns the output tokens that a waiting request is expected to
// make, at least one and at most what fits beside its prompt.
func (rp *base) expected(id int32) int64 {
	if !rp.rules.preemptible || rp.rules.know.exact() {
		return int64(rp.toMake(id))
	}
	room := rp.capacity - int64(rp.prompt(id))
	if rp.rules.grows {
		room--
	}
	return min(max(1, rp.rules.know.Expect(id, rp.work.Output[id], rp.random)-int64(rp.log.made[id])), room)
}

// account brings the integrals up to now.
func (rp *base) account(now int64) {
	if d := float64(now - rp.changed); d > 0 {
		waiting := float64(rp.waiting.len())
		rp.stats.KVTimeNs += float64(d * float64(rp.memory()))
		rp.stats.QueueTimeNs += float64(d * waiting)
		rp.stats.SystemTimeNs += float64(d * (waiting + float64(rp.admitted())))
		rp.changed = now
	}
}

// Stats implements Replica.
func (rp *base) Stats(now int64) Stats {
	rp.account(now)
	s := rp.stats
	if rp.running && !rp.pause {
		s.BusyNs += now - rp.formed
		if rp.decoded > 1 {
			steps, end := rp.advance(now, rp.decoded)
			if end > now {
				steps--
			}
			s.Steps += steps
		}
	}
	s.Evicted = rp.cache.evicted[rp.index]
	return s
}

// Enqueue implements Replica.
func (rp *base) Enqueue(id int32, now int64) (form bool) {
	rp.account(now)
	rp.stats.Requests++
	rp.shown.Waiting++
	rp.waiting.push(id, now)
	if !rp.running {
		return true
	}
	if rp.decoded > 1 {
		// The stretch ends at its first step boundary from now on.
		rp.decoded, rp.end = rp.advance(now, rp.decoded)
	}
	return false
}

// advance goes through decode-only steps from the start of the current stretch,
// at least one and at most limit, up to the first boundary that is not before
// until, and returns their number and that boundary.
func (rp *base) advance(until, limit int64) (steps, end int64) {
	context, d := rp.context, int64(len(rp.finish))
	for end = rp.formed; steps == 0 || end < until && steps < limit; steps++ {
		end += rp.step.StepNs(decodes(d, context))
		context += d
	}
	return steps, end
}

// batch returns a batch of so many decodes, for prefills to be added.
func (rp *base) batch(decoding int, context int64) Batch {
	batch := decodes(int64(decoding), context)
	rp.parts = rp.parts[:0]
	batch.Chunks = &rp.parts
	return batch
}

// begin starts the step that batch describes.
func (rp *base) begin(now int64, batch *Batch) {
	rp.stats.PeakKV = max(rp.stats.PeakKV, rp.memory())
	rp.running, rp.formed, rp.decoded = true, now, 0
	if batch.Tokens > batch.Prefill {
		rp.decoded = 1
	}
	rp.end = now + rp.step.StepNs(*batch)
	if rp.loading > 0 {
		rp.end += int64(float64(rp.loading) / rp.rules.host.HostTokensPerS * 1e9)
		rp.loading = 0
	}
}

// End implements Replica.
func (rp *base) End() []int32 {
	now := rp.end
	rp.account(now)
	rp.running, rp.end, rp.left, rp.started = false, Never, rp.left[:0], rp.started[:0]
	if rp.pause {
		rp.pause = false
	} else {
		rp.complete(now)
	}
	rp.left = rp.waiting.expire(now, rp.log, rp.left)
	rp.show()
	return rp.left
}

// complete gives each request what the step made of it.
func (rp *base) complete(now int64) {
	rp.stats.BusyNs += now - rp.formed
	rp.stats.Steps += max(1, rp.decoded)
	rp.passed += rp.decoded
	rp.context += rp.decoded * int64(len(rp.finish))
	for len(rp.finish) > 0 && rp.finish[0].Key == rp.passed {
		rp.leave(rp.finish.Pop().ID, now)
	}
	if rp.rules.preemptible {
		rp.ahead.pass(rp.passed, rp.log)
	}
	kept := 0
	for i, id := range rp.prefills {
		if i < len(rp.chunks) {
			rp.done[i] += rp.chunks[i]
		}
		if rp.done[i] < rp.prompt(id) {
			rp.prefills[kept], rp.done[kept] = id, rp.done[i]
			kept++
			continue
		}
		rp.filled(id, now)
	}
	rp.prefills, rp.done = rp.prefills[:kept], rp.done[:kept]
	rp.chunks = rp.chunks[:0]
}

// filled ends the prefill of a request: its segments become reusable where
// they do not wait for its end, tokens that another request has cached
// meanwhile are given back, and an output token is out.
func (rp *base) filled(id int32, now int64) {
	if !rp.rules.early && !rp.rules.late {
		rp.keep(id)
	}
	if rp.log.FirstNs[id] < 0 {
		rp.log.FirstNs[id] = now
		rp.started = append(rp.started, id)
	}
	rest := int64(rp.toMake(id)) - 1
	if rest == 0 {
		rp.depart(id, now)
		return
	}
	rp.context += int64(rp.prompt(id))
	rp.finish.Push(heap.Item{Key: rp.passed + rest, ID: id})
	if rp.rules.preemptible {
		rp.ahead.add(id, rp.passed+int64(rp.log.hoped[id])-1, rp.passed, rp.log)
	}
}

// keep moves a request's shared tokens from what it holds into the cache.
func (rp *base) keep(id int32) {
	leaf := rp.work.Leaf[id]
	if leaf == none {
		return
	}
	rp.reserved -= rp.uncached(id)
	rp.cache.insert(rp.index, leaf)
}

// leave ends a decoding request.
func (rp *base) leave(id int32, now int64) {
	rp.context -= int64(rp.work.Prompt[id]) + int64(rp.work.Output[id]) - 1
	if rp.rules.preemptible {
		rp.ahead.remove(id, rp.log)
	}
	rp.depart(id, now)
}

// holding returns the tokens that a request holds beside its segments once its
// prefill has ended, with made output tokens since its admission.
func (rp *base) holding(id int32, made int64) int64 {
	n := int64(rp.prompt(id)) + made
	if rp.rules.grows {
		n-- // the last one has no place before it is an input
	} else if rp.rules.preemptible {
		n += max(0, int64(rp.log.hoped[id])-made)
	}
	if leaf := rp.work.Leaf[id]; leaf != none {
		n -= int64(rp.work.Forest.End[leaf])
	}
	return n
}

// depart releases what a finished request holds; an output that a later turn
// reads stays in the cache.
func (rp *base) depart(id int32, now int64) {
	w := rp.work
	if rp.rules.late && w.Leaf[id] != none {
		rp.cache.pin(rp.index, w.Leaf[id])
		rp.keep(id)
	}
	rp.reserved -= rp.holding(id, int64(rp.toMake(id)))
	if w.OutputNode != nil && w.OutputNode[id] != none {
		rp.retain(w.OutputNode[id])
	}
	if leaf := w.Leaf[id]; leaf != none {
		rp.cache.unpin(rp.index, leaf)
	}
	if rp.rules.late {
		rp.cache.unpin(rp.index, rp.log.pinned[id])
	}
	rp.stats.OutputTokens += int64(w.Output[id])
	rp.log.FinishNs[id] = now
	rp.left = append(rp.left, id)
}

// retain caches an output, unless its last token has no place: that one was
// never an input, so that nothing was held for it.
func (rp *base) retain(node int32) {
	c, r := rp.cache, rp.index
	c.pin(r, node)
	if rp.rules.grows {
		more := int64(rp.work.Forest.Tokens[node] - c.tokens(r, node))
		if short := rp.memory() + more - rp.capacity; short > c.loose[r] {
			c.unpin(r, node)
			return
		} else if !rp.rules.unbounded {
			c.free(r, short)
		}
	}
	c.insert(r, node)
	c.unpin(r, node)
}

// onHost returns the prompt tokens that a request finds in host memory, behind
// the match ones that it finds in the cache, and marks them as used.
func (rp *base) onHost(id, match int32) int32 {
	if rp.rules.host.HostTokens == 0 {
		return 0
	}
	last := rp.prompt(id) - 1
	return min(match+rp.cache.host.load(rp.index, rp.work.Leaf[id], match), last) - min(match, last)
}

// admit makes a waiting request a running prefill, that holds so many tokens
// beside the cached ones, of which match are its own, and copies so many from
// host memory.
func (rp *base) admit(id int32, now int64, match, host int32, hold int64) {
	w, leaf := rp.work, rp.work.Leaf[id]
	rp.reserved += hold
	hit := min(match, rp.prompt(id)-1)
	rp.loading += int64(host)
	rp.log.match[id] = match
	if rp.log.StartNs[id] < 0 {
		rp.log.StartNs[id] = now
		rp.log.Cached[id], rp.log.Host[id] = hit, host
		rp.log.Unlimited[id] = rp.cache.unlimited(rp.index, leaf)
		rp.stats.PromptTokens += int64(w.Prompt[id])
		rp.stats.CachedTokens += int64(hit)
		rp.stats.HostTokens += int64(host)
	}
	if rp.rules.preemptible {
		rp.turns++
		rp.log.turn[id] = rp.turns
	}
	rp.prefills = append(rp.prefills, id)
	rp.done = append(rp.done, hit+host)
	if rp.rules.early {
		rp.keep(id)
	}
}
