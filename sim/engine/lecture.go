package engine

import "switchyard/sim/param"

var lectureScheduler = Scheduler{
	Name:    "lecture",
	Summary: "decodes, then running prefills, then admissions while the chunk budget lasts; expected output reserved at admission",
	Source:  "chunked prefill as in Sarathi-Serve (Agrawal et al., OSDI 2024), admission by reserved memory, radix cache with leaf-first LRU eviction as in SGLang (Zheng et al., 2024)",
	New:     func() Params { return new(Lecture) },
}

// Lecture are the parameters of the scheduler lecture. The last four are for
// ablation: they switch one rule of the engine off.
type Lecture struct {
	ChunkTokens int    `yaml:"chunk_tokens" default:"1024" min:"1" unit:"tokens" doc:"new tokens a step may compute, decodes included"`
	MaxRunning  int    `yaml:"max_running" default:"256" min:"1" unit:"requests" doc:"requests that may run at once"`
	Order       string `yaml:"order" default:"fcfs" enum:"fcfs|longest-prefix|priority-groups|shortest-prompt|priority" doc:"order of the waiting queue: first come first served, longest cached prefix first, groups by cached share served in proportion to their priority, shortest prompt first, or greatest priority first (of the request's tag priority=3)"`
	Groups      int    `yaml:"groups" default:"10" min:"1" max:"100" unit:"groups" doc:"number of priority groups (Preble, 2025, section 3.3)"`
	Evict       string `yaml:"evict" default:"segment" enum:"segment|token|random|none" doc:"what leaves a full cache: the least recently used leaf as a whole (as in SGLang), as much of its tail as is needed, a leaf drawn at random, or nothing, as if memory were unlimited"`

	Knowledge
	Limits
	HostTier

	Admit        string `yaml:"admit" default:"budget" enum:"budget|memory" doc:"ablation: admit while budget is left, or everything that memory holds"`
	Ready        string `yaml:"ready" default:"prefill-end" enum:"prefill-end|admission" doc:"ablation: when a prompt's segments become reusable"`
	Batch        string `yaml:"batch" default:"mixed" enum:"mixed|prefill-first" doc:"ablation: steps have decodes and prefills together, or decodes wait while there is a prefill"`
	CachePrivate bool   `yaml:"cache_private" default:"false" doc:"ablation: keep the private rest of a prompt in the cache, where nothing can hit it"`
}

// NewReplica implements Params.
func (*Lecture) NewReplica() Replica { return new(lecture) }

// Check reports parameters that do not go together.
func (p *Lecture) Check() error {
	if p.Batch == "prefill-first" && !p.Knowledge.exact() {
		return &param.Error{Field: "batch", Value: p.Batch, Expected: "mixed, where outputs are not known exactly"}
	}
	return nil
}

// Rules implements Params.
func (p *Lecture) Rules() Rules {
	return Rules{Evict: p.Evict, Private: p.CachePrivate, HostTokens: p.HostTokens}
}

// lecture is a replica under the scheduler lecture.
type lecture struct {
	base
	params Lecture
}

func (rp *lecture) Reset(s Setup) {
	p := s.Params.(*Lecture)
	rp.params = *p
	rp.reset(s,
		baseRules{know: p.Knowledge, host: p.HostTier, preemptible: !p.Knowledge.exact(), unbounded: p.Evict == "none", early: p.Ready == "admission"},
		waitingRules{order: p.Order, groups: p.Groups, limits: p.Limits})
}

func (rp *lecture) Form(now int64) {
	if rp.running {
		return
	}
	rp.account(now)
	preempted := rp.rules.preemptible && rp.outlive()
	batch := rp.batch(len(rp.finish), rp.context)
	if rp.params.Batch == "prefill-first" && len(rp.prefills)+rp.waiting.len() > 0 {
		batch = rp.batch(0, 0)
	}
	budget := int64(rp.params.ChunkTokens) - batch.Tokens
	for i, id := range rp.prefills {
		n := rp.chunk(id, i, budget)
		if n <= 0 {
			break
		}
		batch.add(n, int64(rp.done[i]))
		rp.chunks = append(rp.chunks, int32(n))
		budget -= n
	}
	rp.waiting.begin()
	for !preempted && rp.waiting.len() > 0 && (budget > 0 || rp.params.Admit == "memory") && rp.admitted() < rp.params.MaxRunning {
		id := rp.waiting.peek()
		if !rp.enter(id, now) {
			break
		}
		i := len(rp.prefills) - 1
		if n := rp.chunk(id, i, budget); n > 0 {
			batch.add(n, int64(rp.done[i]))
			rp.chunks = append(rp.chunks, int32(n))
			budget -= n
		}
	}
	if batch.Tokens == 0 { // no prefill after all
		batch = rp.batch(len(rp.finish), rp.context)
	}
	if batch.Tokens == 0 {
		return
	}
	loading := rp.loading > 0
	rp.begin(now, &batch)
	if batch.Prefill == 0 && !loading && !preempted {
		rp.stretch()
	}
}

// stretch makes the decode step that has begun one of several in which nothing
// can change: before the next decode ends, outlives what was expected of it or
// takes memory, a request comes, or one has waited too long.
func (rp *lecture) stretch() {
	limit := rp.finish[0].Key - rp.passed
	if rp.rules.preemptible {
		if rp.ahead.n < int64(len(rp.finish)) {
			return
		}
		limit = min(limit, rp.ahead.ends[0].Key-rp.passed)
	}
	rp.decoded, rp.end = rp.advance(rp.waiting.deadline(rp.log), limit)
}

// chunk returns how many prompt tokens of the i-th running prefill a step with
// this budget left computes.
func (rp *lecture) chunk(id int32, i int, budget int64) int64 {
	return min(int64(rp.prompt(id)-rp.done[i]), budget)
}

// enter reserves memory for the request that is next and makes it a running
// prefill. It changes nothing where memory does not suffice.
func (rp *lecture) enter(id int32, now int64) bool {
	c, r := rp.cache, rp.index
	leaf := rp.work.Leaf[id]
	match := c.Match(r, leaf)
	output := rp.expected(id)
	need := int64(rp.prompt(id)-match) + output
	short := rp.reserved + need - rp.capacity
	if !rp.rules.unbounded {
		short += c.cached[r]
		if short > 0 && short > c.loose[r]-c.looseOn(r, leaf) {
			return false
		}
	} else if short > 0 {
		return false
	}
	rp.waiting.take(id)
	if leaf != none {
		c.pin(r, leaf)
	}
	host := rp.onHost(id, match) // before it is crowded out
	c.free(r, short)
	if rp.rules.preemptible {
		rp.log.hoped[id] = int32(output)
	}
	rp.admit(id, now, match, host, need)
	return true
}

// outlive takes memory for the next token of each decode that has outlived
// what was expected of it. Where there is none, requests are preempted, the
// one admitted last first, and go to the front of the queue; it reports
// whether some were.
func (rp *lecture) outlive() (preempted bool) {
	for {
		over := int64(len(rp.finish)) - rp.ahead.n
		short := rp.reserved + over - rp.capacity
		loose := int64(0)
		if !rp.rules.unbounded {
			short += rp.cache.cached[rp.index]
			loose = rp.cache.loose[rp.index]
		}
		switch {
		case short <= 0:
			rp.reserved += over
			return preempted
		case loose > 0:
			rp.cache.free(rp.index, min(short, loose))
			continue
		case len(rp.prefills) > 0:
			rp.waiting.front(rp.preemptPrefill())
		default:
			rp.waiting.front(rp.preemptDecode(rp.latest()))
		}
		preempted = true
	}
}
