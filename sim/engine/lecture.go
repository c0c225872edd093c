package engine

import (
	"switchyard/sim/heap"
	"switchyard/sim/workload"
)

var lectureScheduler = Scheduler{
	Name:    "lecture",
	Summary: "decodes, then running prefills, then admissions while the chunk budget lasts; output reserved at admission, no preemption",
	Source:  "chunked prefill as in Sarathi-Serve (Agrawal et al., OSDI 2024), admission by reserved memory, radix cache with leaf-first LRU eviction as in SGLang (Zheng et al., 2024)",
	New:     func() Params { return new(Lecture) },
}

// Lecture are the parameters of the scheduler lecture. The last three are for
// ablation: they switch one rule of the engine off.
type Lecture struct {
	ChunkTokens int    `yaml:"chunk_tokens" default:"1024" min:"1" unit:"tokens" doc:"new tokens a step may compute, decodes included"`
	MaxRunning  int    `yaml:"max_running" default:"256" min:"1" unit:"requests" doc:"requests that may run at once"`
	Order       string `yaml:"order" default:"fcfs" enum:"fcfs|longest-prefix|priority-groups" doc:"order of the waiting queue: first come first served, longest cached prefix first, or groups by cached share served in proportion to their priority"`
	Groups      int    `yaml:"groups" default:"10" min:"1" max:"100" unit:"groups" doc:"number of priority groups (Preble, 2025, section 3.3)"`
	Evict       string `yaml:"evict" default:"segment" enum:"segment|token|none" doc:"what leaves a full cache: the least recently used leaf as a whole (as in SGLang), as much of its tail as is needed, or nothing, as if memory were unlimited"`

	Admit        string `yaml:"admit" default:"budget" enum:"budget|memory" doc:"ablation: admit while budget is left, or everything that memory holds"`
	Ready        string `yaml:"ready" default:"prefill-end" enum:"prefill-end|admission" doc:"ablation: when a prompt's segments become reusable"`
	CachePrivate bool   `yaml:"cache_private" default:"false" doc:"ablation: keep the private rest of a prompt in the cache, where nothing can hit it"`
}

// NewReplica implements Params.
func (*Lecture) NewReplica() Replica { return new(lecture) }

// Rules implements Params.
func (p *Lecture) Rules() Rules { return Rules{Evict: p.Evict, Private: p.CachePrivate} }

// lecture is a replica under the scheduler lecture.
type lecture struct {
	index    int
	params   Lecture
	step     StepModel
	capacity int64
	cache    *Cache
	work     *workload.Workload
	log      *Log
	stats    Stats

	waiting  queue
	prefills []int32   // running prefills in order of admission
	chunks   []int32   // tokens that the current step computes of each
	parts    []Chunk   // the same with their context, for the step model
	done     []int32   // prompt tokens computed or found, of each
	finish   heap.Heap // decoding requests by the decode step in which they end
	context  int64     // tokens of context of all decodes
	passed   int64     // decode steps so far
	reserved int64     // tokens that running requests have or will need, beside cached ones

	running bool
	formed  int64 // time at which the current step or stretch began
	end     int64 // time at which it ends, Never when idle
	stretch int64 // decode-only steps in the current stretch, 0 for any other step
	changed int64 // time of the last change of what the integrals sum
	left    []int32
}

func (rp *lecture) Reset(s Setup) {
	keep := *rp
	*rp = lecture{
		index: s.Index, params: *s.Params.(*Lecture), step: s.Step, capacity: s.KVTokens, cache: s.Cache, work: s.Work, log: s.Log,
		waiting: keep.waiting, prefills: keep.prefills[:0], chunks: keep.chunks[:0], parts: keep.parts[:0], done: keep.done[:0],
		finish: keep.finish[:0], left: keep.left[:0], end: Never,
	}
	rp.waiting.reset(rp.params)
}

func (rp *lecture) EndNs() int64 { return rp.end }

func (rp *lecture) Fits(id int32) bool {
	return int64(rp.work.Prompt[id])+int64(rp.work.Output[id]) <= rp.capacity
}

// admitted returns the number of running requests.
func (rp *lecture) admitted() int { return len(rp.prefills) + len(rp.finish) }

// memory returns the tokens that are cached or reserved.
func (rp *lecture) memory() int64 { return rp.cache.cached[rp.index] + rp.reserved }

// hit returns the prompt tokens of id that are cached now.
func (rp *lecture) hit(id int32) int32 { return rp.cache.Match(rp.index, rp.work.Leaf[id]) }

// account brings the integrals up to now.
func (rp *lecture) account(now int64) {
	if d := float64(now - rp.changed); d > 0 {
		waiting := float64(rp.waiting.len())
		rp.stats.KVTimeNs += float64(d * float64(rp.memory()))
		rp.stats.QueueTimeNs += float64(d * waiting)
		rp.stats.SystemTimeNs += float64(d * (waiting + float64(rp.admitted())))
		rp.changed = now
	}
}

func (rp *lecture) Stats(now int64) Stats {
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

func (rp *lecture) Enqueue(id int32, now int64) (form bool) {
	rp.account(now)
	rp.stats.Requests++
	rp.waiting.push(id)
	if !rp.running {
		return true
	}
	if rp.stretch > 1 {
		// The stretch ends at its first step boundary from now on.
		rp.stretch, rp.end = rp.advance(now, rp.stretch)
	}
	return false
}

// advance goes through decode-only steps from the start of the current stretch,
// at least one and at most limit, up to the first boundary that is not before
// until, and returns their number and that boundary.
func (rp *lecture) advance(until, limit int64) (steps, end int64) {
	context, d := rp.context, int64(len(rp.finish))
	for end = rp.formed; steps == 0 || end < until && steps < limit; steps++ {
		end += rp.step.StepNs(decodes(d, context))
		context += d
	}
	return steps, end
}

func (rp *lecture) End() []int32 {
	now := rp.end
	rp.account(now)
	rp.running, rp.end = false, Never
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
func (rp *lecture) complete(id int32, now int64) {
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
func (rp *lecture) keep(id int32) {
	leaf := rp.work.Leaf[id]
	if leaf == none {
		return
	}
	rp.reserved -= int64(rp.work.Forest.End[leaf] - rp.log.match[id])
	rp.cache.insert(rp.index, leaf)
}

// leave ends a decoding request.
func (rp *lecture) leave(id int32, now int64) {
	w := rp.work
	rp.context -= int64(w.Prompt[id]) + int64(w.Output[id]) - 1
	rp.depart(id, now)
}

// depart releases what a finished request holds; an output that a later turn
// reads stays in the cache.
func (rp *lecture) depart(id int32, now int64) {
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

func (rp *lecture) Form(now int64) {
	if rp.running {
		return
	}
	rp.account(now)
	decoding := int64(len(rp.finish))
	batch := decodes(decoding, rp.context)
	rp.parts = rp.parts[:0]
	batch.Chunks = &rp.parts
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
	for rp.waiting.len() > 0 && (budget > 0 || rp.params.Admit == "memory") && rp.admitted() < rp.params.MaxRunning {
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
	rp.stats.PeakKV = max(rp.stats.PeakKV, rp.memory())
	rp.running, rp.formed, rp.stretch = true, now, 1
	if batch.Prefill == 0 {
		// Nothing can change before the next decode ends or a request comes.
		rp.stretch, rp.end = rp.advance(Never, rp.finish[0].Key-rp.passed)
		return
	}
	rp.end = now + rp.step.StepNs(batch)
}

// chunk returns how many prompt tokens of the i-th running prefill a step with
// this budget left computes.
func (rp *lecture) chunk(id int32, i int, budget int64) int64 {
	return min(int64(rp.work.Prompt[id]-rp.done[i]), budget)
}

// admit reserves memory for a waiting request and makes it a running prefill.
// It changes nothing where memory does not suffice.
func (rp *lecture) admit(id int32, now int64) bool {
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
