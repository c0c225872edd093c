package vllmref

import "slices"

// sequence is a request in a replica.
type sequence struct {
	index    int // in the slice given
	request  Request
	contents []contentID // of its full blocks, output included

	prompt    int // tokens of the prompt, and outputs that a preemption made part of it
	progress  int // tokens with KV at the start of the step, hits included
	generated int // tokens emitted
	blocks    []int
	admitted  bool // once at least
}

func newSequence(index int, r Request, contents []contentID) *sequence {
	return &sequence{index: index, request: r, contents: contents, prompt: r.PromptTokens}
}

// replica is a scheduler, its blocks and its clock.
type replica struct {
	config   Config
	number   int
	arrivals []*sequence // not queued yet, in order
	waiting  []*sequence
	running  []*sequence // in order of admission
	pool     *pool
	outcomes []Outcome // of all requests of the cluster
}

func newReplica(c Config, number int, outcomes []Outcome) *replica {
	return &replica{config: c, number: number, pool: newPool(c.Blocks), outcomes: outcomes}
}

// run serves all arrivals and shows each step after its end.
func (r *replica) run(see func(Step)) {
	now := int64(0)
	for {
		r.queue(now)
		if len(r.running)+len(r.waiting) == 0 {
			if len(r.arrivals) == 0 {
				return
			}
			now = r.queuedAt(r.arrivals[0])
			continue
		}
		step := r.form(now)
		now = step.EndUs
		r.end(step)
		see(step)
	}
}

func (r *replica) queuedAt(s *sequence) int64 {
	return s.request.ArrivalUs + r.config.AdmissionDelayUs
}

// queue moves the arrivals that are due to the queue.
func (r *replica) queue(now int64) {
	for len(r.arrivals) > 0 && r.queuedAt(r.arrivals[0]) <= now {
		r.waiting = append(r.waiting, r.arrivals[0])
		r.arrivals = r.arrivals[1:]
	}
}

// form makes the step that starts now.
func (r *replica) form(now int64) Step {
	step := Step{Replica: r.number, StartUs: now}
	budget := r.config.TokenBudget
	budget = r.continueRunning(&step, budget)
	if len(step.Preempted) == 0 {
		r.admitWaiting(&step, budget)
	}
	step.EndUs = now + r.duration(step.Work)
	return step
}

// continueRunning is the first part of a step; it returns the budget left.
func (r *replica) continueRunning(step *Step, budget int) int {
	for i := 0; i < len(r.running) && budget > 0; i++ {
		s := r.running[i]
		work := Work{Request: s.index, Context: s.progress, Tokens: 1}
		if remaining := s.prompt - s.progress; remaining > 0 {
			work.Prefill = true
			work.Tokens = r.chunk(remaining, budget)
		}
		for r.newBlocks(s, work.Tokens) > len(r.pool.free) {
			victim := r.preemptLast(step)
			if victim == s {
				return budget
			}
		}
		r.schedule(step, s, work)
		budget -= work.Tokens
	}
	return budget
}

// preemptLast sends the last running request back to the front of the queue.
func (r *replica) preemptLast(step *Step) *sequence {
	last := len(r.running) - 1
	s := r.running[last]
	r.running = r.running[:last]
	r.pool.release(s.blocks)
	s.blocks = nil
	s.progress = 0
	s.prompt = s.request.PromptTokens + s.generated
	r.waiting = slices.Insert(r.waiting, 0, s)
	r.outcomes[s.index].Preemptions++
	step.Preempted = append(step.Preempted, s.index)
	return s
}

// admitWaiting is the second part of a step.
func (r *replica) admitWaiting(step *Step, budget int) {
	for len(r.waiting) > 0 && len(r.running) < r.config.MaxSeqs && budget > 0 {
		s := r.waiting[0]
		most := (s.prompt - 1) / r.config.BlockSize // the last token is always computed
		hits := r.pool.lookup(s.contents[:most])
		cached := len(hits) * r.config.BlockSize
		n := r.chunk(s.prompt-cached, budget)
		fresh := blocksFor(cached+n, r.config.BlockSize) - len(hits)
		if fresh+r.pool.unused(hits) > len(r.pool.free) {
			return
		}
		r.waiting = r.waiting[1:]
		r.running = append(r.running, s)
		r.pool.use(hits)
		s.blocks = hits
		s.progress = cached
		if !s.admitted {
			s.admitted = true
			r.outcomes[s.index].CachedTokens = cached
		}
		r.schedule(step, s, Work{Request: s.index, Admitted: true, Cached: cached, Context: cached, Tokens: n, Prefill: true})
		budget -= n
	}
}

// chunk is how many of the remaining prompt tokens a step computes.
func (r *replica) chunk(remaining, budget int) int {
	n := min(remaining, budget)
	if r.config.LongPrefillThreshold > 0 {
		n = min(n, r.config.LongPrefillThreshold)
	}
	return n
}

// newBlocks is how many blocks a request lacks for n more tokens.
func (r *replica) newBlocks(s *sequence, n int) int {
	return blocksFor(s.progress+n, r.config.BlockSize) - len(s.blocks)
}

// schedule takes the blocks for a request's work, which are there, registers
// those that it fills and adds it to the step.
func (r *replica) schedule(step *Step, s *sequence, work Work) {
	for range r.newBlocks(s, work.Tokens) {
		s.blocks = append(s.blocks, r.pool.take())
	}
	fullBefore := s.progress / r.config.BlockSize
	fullAfter := (s.progress + work.Tokens) / r.config.BlockSize
	for k := fullBefore; k < fullAfter; k++ {
		r.pool.register(s.blocks[k], s.contents[k])
	}
	work.Blocks = slices.Clone(s.blocks)
	step.Work = append(step.Work, work)
}

// duration is the linear model, in whole microseconds. The conversions keep a
// compiler from fusing a product with the sum.
func (r *replica) duration(batch []Work) int64 {
	prefill, decodes := 0, 0 // P; C + D
	for _, w := range batch {
		if w.Prefill {
			prefill += w.Tokens
		} else {
			decodes += w.Context + 1
		}
	}
	c := r.config
	us := c.BaseUs +
		float64(c.PerRequestUs*float64(len(batch))) +
		float64(c.PerPrefillUs*float64(prefill)) +
		float64(c.PerContextUs*float64(decodes))
	return max(int64(us), 1)
}

// end moves progress at the end of a step, emits tokens and lets requests go.
func (r *replica) end(step Step) {
	var left []*sequence
	for _, s := range r.running {
		at := slices.IndexFunc(step.Work, func(w Work) bool { return w.Request == s.index })
		if at < 0 || !r.advance(s, step.Work[at], step.EndUs) {
			left = append(left, s)
		}
	}
	r.running = left
}

// advance moves one request and says whether it ended.
func (r *replica) advance(s *sequence, work Work, now int64) (ended bool) {
	s.progress += work.Tokens
	if s.progress < s.prompt {
		return false
	}
	s.generated++
	since := now - s.request.ArrivalUs + r.config.FrontEndUs
	if s.generated == 1 {
		r.outcomes[s.index].TTFTUs = since
	}
	if s.generated < s.request.OutputTokens {
		return false
	}
	r.outcomes[s.index].E2EUs = since
	r.pool.release(s.blocks)
	return true
}
