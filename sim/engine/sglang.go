package engine

import "math"

var sglangScheduler = Scheduler{
	Name:    "sglang-0.1",
	Summary: "whole-prompt prefill batches before decodes, waiting by longest cached prefix; admission by an estimate of memory, retraction when decodes run out of it",
	Source:  "SGLang 0.1.12 (Zheng et al., 2024), the baseline of Preble's paper",
	New:     func() Params { return new(SGLang) },
}

// SGLang are the parameters of the scheduler sglang-0.1. It forms a step so:
//
//  1. Requests from the queue, as long as their uncached prompts together stay
//     below the limit of a prefill batch, a first one whatever its length, and
//     memory is estimated to suffice:
//
//     Σ (uncached prompt + expected output) of the batch
//     < free + evictable - ratio × Σ expected output still to come of the running
//
//     The first that does not fit blocks those behind it. If there are any, the
//     step computes all their prompts, and nothing else.
//
//  2. Otherwise it decodes a token of every running request. Each takes the
//     place of one token. Where there are too few, the cache is evicted, then
//     requests are retracted: those with the fewest output tokens first, of
//     them the longest prompt, of them the last admitted. A retracted request
//     goes to the end of the queue; what it has made is computed again with its
//     prompt when its turn comes. SGLang makes it again.
//
// The ratio falls by a little with every decode step and rises with one that
// retracts.
//
// Three rules of version 0.1 decide its throughput under load, and are what its
// code does rather than what its paper says (model_rpc.py and radix_cache.py at
// commit 00ebb01, and in Preble's fork at 02a3590):
//
//   - the radix tree takes up a prompt when its request has finished. Requests
//     that run at once compute, and hold, what they have in common each for
//     itself unless it was cached at their admission;
//   - the engine's loop means to wait 30 ms after a step in which a request
//     finished, for one that may follow from it, but asks whether a list is
//     empty and so waits after every step that sends something out: a first
//     token, an end, and with streams every eighth decode step;
//   - it looks for the cached prefix of every waiting request before every
//     admission, and the radix tree takes that for a use: what is waited for is
//     evicted last.
//
// Differences from SGLang: it evicts exactly what is missing, not as much as
// the batch takes; equal prefixes wait in order of arrival, not in the order
// that earlier sorts have left; the first that does not fit blocks those behind
// it, where SGLang 0.1 looks for one that fits; outputs stay in the cache only
// where a later prompt reads them; its Python takes no time beside the waits
// but what host_ms and host_request_ms say.
type SGLang struct {
	Order string `yaml:"order" default:"longest-prefix" enum:"longest-prefix|fcfs|shortest-prompt|priority" doc:"order of the waiting queue: longest cached prefix first (lpm), first come first served, shortest prompt first, or greatest priority first (of the request's tag priority=3)"`
	Radix
}

// Radix are the parameters that sglang-0.1 and preble have in common.
type Radix struct {
	MaxRunning    int     `yaml:"max_running" default:"0" min:"0" unit:"requests" doc:"requests that may run at once; 0 = half as many as the KV cache has tokens"`
	ContextTokens int     `yaml:"context_tokens" default:"4096" min:"1" unit:"tokens" doc:"context limit: a prefill batch computes fewer tokens than the greater of this and a sixth of the KV cache; longer prompts are computed alone"`
	Ratio         float64 `yaml:"reserve_ratio" default:"0.4" min:"0" max:"1" unit:"share" doc:"share of the running requests' expected output for which admission leaves memory, at the start"`
	RatioMin      float64 `yaml:"reserve_ratio_min" default:"0.2" min:"0" max:"1" unit:"share" doc:"least value to which the share falls"`
	RatioDecay    float64 `yaml:"reserve_ratio_decay" default:"0.0001" min:"0" max:"1" doc:"what the share loses with a decode step"`
	RatioRecovery float64 `yaml:"reserve_ratio_recovery" default:"0.05" min:"0" max:"1" doc:"what the share gains with a decode step that retracts, up to 1"`
	DecodeSteps   int     `yaml:"decode_steps" default:"10" min:"1" unit:"steps" doc:"decode steps in a row before the queue is looked at again; one that sends something out ends the row"`
	StepWaitMs    float64 `yaml:"step_wait_ms" default:"0.6" min:"0" unit:"ms" doc:"what the engine's loop waits between steps; 0.6 in SGLang 0.1"`
	FinishWaitMs  float64 `yaml:"finish_wait_ms" default:"30" min:"0" unit:"ms" doc:"what it waits after a step that sent something out; 30 in SGLang 0.1"`
	HostMs        float64 `yaml:"host_ms" default:"0" min:"0" unit:"ms" doc:"what the engine's own code adds to every step: in SGLang 0.1 and Preble Python, of unknown length"`
	HostRequestMs float64 `yaml:"host_request_ms" default:"0" min:"0" unit:"ms" doc:"what it adds for each request in the step, such as Preble's, which allocates KV request by request"`
	StreamSteps   int     `yaml:"stream_steps" default:"8" min:"0" unit:"steps" doc:"decode steps between two in which all that run send out their tokens, as first tokens and ends do at once; 0 = nothing is sent before a request ends"`
	Ready         string  `yaml:"ready" default:"finish" enum:"finish|prefill-end" doc:"when a prompt's segments become reusable: when its request has finished, as in SGLang 0.1, or when its prefill has, as in later versions"`
	Refresh       bool    `yaml:"waiting_refreshes" default:"true" doc:"whether to look for the cached prefixes of those that wait, before every admission, counts as a use of them, as in SGLang's radix tree"`
	Evict         string  `yaml:"evict" default:"segment" enum:"segment|token" doc:"what leaves a full cache: the least recently used leaf as a whole, or as much of its tail as is needed"`
	CachePrivate  bool    `yaml:"cache_private" default:"true" doc:"keep the private rest of a prompt in the cache until it is evicted, as SGLang does, though nothing can hit it; false gives it back when the request ends, and takes less memory to simulate"`

	Knowledge
	Limits
	HostTier
}

// NewReplica implements Params.
func (*SGLang) NewReplica() Replica { return new(sglang) }

// Rules implements Params.
func (p *Radix) Rules() Rules {
	return Rules{Evict: p.Evict, Private: p.CachePrivate, HostTokens: p.HostTokens}
}

// sglang is a replica under the scheduler sglang-0.1 or preble.
type sglang struct {
	base
	radix     Radix
	mix       *Preble // nil for sglang-0.1
	ratio     float64 // see Radix.Ratio
	batchMax  int64   // a prefill batch computes fewer tokens
	maxActive int     // requests that may run
	row       int     // decode steps since the queue was looked at
	wake      int64   // time until which the loop waits
	seekers   []seeker
}

// seeker is a request that waited when it was entered, before its next
// admission changed its turn.
type seeker struct{ id, turn int32 }

func (rp *sglang) Reset(s Setup) {
	order := waitingRules{}
	switch p := s.Params.(type) {
	case *SGLang:
		rp.radix, rp.mix = p.Radix, nil
		order.order = p.Order
	case *Preble:
		rp.radix, rp.mix = p.Radix, p
		order.order, order.groups, order.fixed = p.Order, p.Groups, !p.Reclassify
	}
	order.limits = rp.radix.Limits
	rp.reset(s, baseRules{know: rp.radix.Knowledge, host: rp.radix.HostTier, preemptible: true, grows: true, late: rp.radix.Ready == "finish"}, order)
	rp.ratio, rp.row, rp.wake, rp.seekers = rp.radix.Ratio, 0, 0, rp.seekers[:0]
	rp.batchMax = max(int64(rp.radix.ContextTokens), s.KVTokens/6)
	if rp.maxActive = rp.radix.MaxRunning; rp.maxActive == 0 {
		rp.maxActive = int(max(1, s.KVTokens/2))
	}
}

// End implements Replica.
func (rp *sglang) End() []int32 {
	now, stepped, decoded := rp.end, !rp.pause, rp.decoded > 0
	left := rp.base.End()
	if stepped {
		wait := rp.radix.StepWaitMs
		if rp.sent(left, decoded) {
			wait, rp.row = rp.radix.FinishWaitMs, 0
		}
		if rp.row == 0 || rp.row >= rp.radix.DecodeSteps {
			rp.row, rp.wake = 0, now+int64(wait*1e6)
		}
	}
	return left
}

// Enqueue implements Replica.
func (rp *sglang) Enqueue(id int32, now int64) (form bool) {
	rp.seek(id)
	return rp.base.Enqueue(id, now)
}

// back puts a retracted request at the end of the queue.
func (rp *sglang) back(id int32) {
	rp.seek(id)
	rp.waiting.back(id)
}

func (rp *sglang) seek(id int32) {
	if rp.radix.Refresh {
		rp.seekers = append(rp.seekers, seeker{id, rp.log.turn[id]})
	}
}

// refresh makes the cached prefixes of the waiting requests the newest, in the
// order of their coming.
func (rp *sglang) refresh() {
	kept := rp.seekers[:0]
	for _, s := range rp.seekers {
		if rp.log.turn[s.id] == s.turn && !rp.log.TimedOut[s.id] {
			kept = append(kept, s)
			rp.cache.use(rp.index, rp.work.Leaf[s.id])
		}
	}
	rp.seekers = kept
}

// sent reports whether the step that has ended sent something out.
func (rp *sglang) sent(left []int32, decoded bool) bool {
	if len(left) > 0 && !rp.log.TimedOut[left[0]] {
		return true
	}
	n := int64(rp.radix.StreamSteps)
	return n > 0 && (len(rp.started) > 0 || decoded && rp.passed%n == 0)
}

// Form implements Replica.
func (rp *sglang) Form(now int64) {
	if rp.running || rp.admitted() == 0 && rp.waiting.len() == 0 {
		return
	}
	rp.account(now)
	switch {
	case now < rp.wake:
		rp.running, rp.pause, rp.end = true, true, rp.wake
	case rp.mix != nil && rp.mix.chunks(rp.capacity-rp.memory(), rp.capacity):
		rp.formMixed(now)
	case rp.row > 0 && len(rp.finish) > 0:
		rp.formDecode(now)
	default:
		rp.formSeparate(now)
	}
}

// formSeparate starts a step of prefills if there are any, else of decodes.
func (rp *sglang) formSeparate(now int64) {
	batch := rp.batch(0, 0)
	for i := range rp.prefills {
		rp.compute(i, math.MaxInt64, &batch) // begun in chunks: the rest
	}
	rp.enter(now, &batch, rp.batchMax, true)
	if batch.Tokens > 0 {
		rp.start(now, &batch)
		return
	}
	rp.formDecode(now)
}

// formDecode starts a step of decodes.
func (rp *sglang) formDecode(now int64) {
	rp.room()
	batch := rp.batch(len(rp.finish), rp.context)
	rp.start(now, &batch)
	rp.row++
}

// start starts the step that batch describes.
func (rp *sglang) start(now int64, batch *Batch) {
	rp.begin(now, batch)
	rp.end += int64((rp.radix.HostMs + float64(rp.radix.HostRequestMs*float64(batch.Requests))) * 1e6)
}

// compute puts up to limit tokens of the i-th running prefill into a batch.
func (rp *sglang) compute(i int, limit int64, batch *Batch) {
	n := min(int64(rp.prompt(rp.prefills[i])-rp.done[i]), limit)
	batch.add(n, int64(rp.done[i]))
	rp.chunks = append(rp.chunks, int32(n))
}

// enter admits requests from the queue to a batch of prefills and takes memory
// for them: whole ones as long as they stay below the limit, or as many as
// begin within it.
func (rp *sglang) enter(now int64, batch *Batch, limit int64, whole bool) {
	c, r := rp.cache, rp.index
	available := rp.available()
	asked := int64(0)
	rp.refresh()
	rp.waiting.begin()
	for rp.admitted() < rp.maxActive && (whole || batch.Tokens < limit) {
		id := rp.waiting.peek()
		if id == none {
			break
		}
		leaf := rp.work.Leaf[id]
		match := c.Match(r, leaf)
		hold, output := int64(rp.prompt(id)-match), rp.expected(id)
		if new := max(1, hold); whole && batch.Tokens > 0 && batch.Tokens+new >= limit {
			break
		}
		pinned := c.looseOn(r, leaf)
		if float64(asked+hold+output) >= available-float64(pinned) {
			break
		}
		rp.waiting.take(id)
		if rp.rules.late { // nothing below has been taken up yet
			leaf = c.matched(r, leaf)
			rp.log.pinned[id] = leaf
		}
		c.pin(r, leaf)
		available -= float64(pinned)
		asked += hold + output
		rp.log.hoped[id] = int32(output)
		rp.admit(id, now, match, rp.onHost(id, match), hold)
		left := int64(rp.prompt(id))
		if !whole {
			left = limit - batch.Tokens
		}
		rp.compute(len(rp.prefills)-1, left, batch)
	}
	c.free(r, rp.memory()-rp.capacity)
}

// available returns the tokens that admission may give away: what is free or
// can be evicted, less a share of what running requests are expected to make.
func (rp *sglang) available() float64 {
	expected := rp.ahead.left(rp.passed)
	for _, id := range rp.prefills {
		expected += int64(rp.log.hoped[id])
	}
	free := rp.capacity - rp.memory() + rp.cache.loose[rp.index]
	return float64(free) - float64(rp.ratio*float64(expected))
}

// room takes memory for the next token of every decode. Where there is too
// little, it retracts requests and reports so.
func (rp *sglang) room() (retracted bool) {
	if len(rp.finish) == 0 {
		return false
	}
	c, r := rp.cache, rp.index
	for {
		short := rp.memory() + int64(len(rp.finish)) - rp.capacity
		if short <= 0 {
			break
		}
		if c.loose[r] > 0 {
			c.free(r, min(short, c.loose[r]))
			continue
		}
		retracted = true
		if len(rp.finish) == 1 {
			rp.back(rp.preemptPrefill())
		} else {
			rp.back(rp.preemptDecode(rp.cheapest()))
		}
	}
	rp.reserved += int64(len(rp.finish))
	if retracted {
		rp.ratio = min(1, rp.ratio+rp.radix.RatioRecovery)
	} else {
		rp.ratio = max(min(rp.ratio, rp.radix.RatioMin), rp.ratio-rp.radix.RatioDecay)
	}
	return retracted
}

// cheapest returns the index of the decode to retract.
func (rp *sglang) cheapest() int {
	best := 0
	for i := 1; i < len(rp.finish); i++ {
		if rp.cheaper(i, best) {
			best = i
		}
	}
	return best
}

// cheaper reports whether the i-th decode is retracted before the j-th.
func (rp *sglang) cheaper(i, j int) bool {
	a, b := rp.finish[i].ID, rp.finish[j].ID
	madeA, madeB := int64(rp.log.made[a])+rp.madeOf(i), int64(rp.log.made[b])+rp.madeOf(j)
	if madeA != madeB {
		return madeA < madeB
	}
	if p, q := rp.work.Prompt[a], rp.work.Prompt[b]; p != q {
		return p > q
	}
	return rp.log.turn[a] > rp.log.turn[b]
}
