package engine

import (
	"cmp"
	"slices"
	"sort"

	"switchyard/sim/workload"
)

// vllm is a replica under the scheduler vllm-v1.
type vllm struct {
	vllmSlots
	index  int
	params VLLM
	step   StepModel
	blocks int32
	pool   blockPool
	work   *workload.Workload
	log    *Log
	stats  Stats

	queue     []vllmArrival // in order of arrival, from head on
	head      int
	preempted []int32 // slots of preempted requests, the last is the front of the queue
	candidate int32   // slot that was opened for the request at head, 0 without
	prefills  []int32 // slots of running prefills in order of admission
	admitted  int64   // admissions so far

	busy    bool
	formed  int64 // time at which the current step or stretch began
	end     int64 // time at which it ends, or at which an idle replica wakes
	plan    []vllmStep
	stretch int   // steps of plan up to end
	began   int64 // time at which the last step that ended began
	ended   int64 // time at which it ended
	ahead   int   // most steps that are planned at once
	changed int64
	chunks  []Chunk
	leaving []int32 // slots
	left    []int32
	started []int32 // requests whose first token came out in the step that ended last
	shown   Gauges
}

// vllmArrival is a request that waits for its first admission.
type vllmArrival struct {
	join int64 // when it enters the queue
	id   int32
}

// vllmStep is one step of a stretch.
type vllmStep struct {
	end   int64
	kv    int64 // integral of used blocks over time from the start of the stretch
	taken int32 // blocks taken since its first step was formed
}

func (rp *vllm) Reset(s Setup) {
	p := *s.Params.(*VLLM)
	rp.index, rp.params, rp.step, rp.work, rp.log = s.Index, p, s.Step, s.Work, s.Log
	rp.blocks = int32(min(s.KVTokens/int64(p.BlockSize), 1<<31-1))
	rp.stats, rp.changed, rp.admitted, rp.shown = Stats{}, 0, 0, Gauges{}
	rp.left, rp.started = rp.left[:0], rp.started[:0]
	rp.queue, rp.head, rp.candidate = rp.queue[:0], 0, 0
	rp.preempted, rp.prefills = rp.preempted[:0], rp.prefills[:0]
	rp.began, rp.ended = -1, -1
	rp.busy, rp.end, rp.stretch, rp.ahead = false, Never, 0, 4096
	rp.vllmSlots.reset(int32(p.BlockSize))
	rp.pool.reset(s, int32(p.BlockSize), rp.blocks)
}

func (rp *vllm) EndNs() int64 { return rp.end }

func (rp *vllm) Fits(id int32) bool {
	size := int64(rp.size)
	return (int64(rp.work.Prompt[id])+int64(rp.work.Output[id])+size-1)/size <= int64(rp.blocks)
}

// account brings the integrals of requests up to now.
func (rp *vllm) account(now int64) {
	if d := float64(now - rp.changed); d > 0 {
		waiting := float64(len(rp.queue) - rp.head + len(rp.preempted))
		rp.stats.QueueTimeNs += float64(d * waiting)
		rp.stats.SystemTimeNs += float64(d * (waiting + float64(rp.running)))
		rp.changed = now
	}
}

func (rp *vllm) Stats(now int64) Stats {
	rp.account(now)
	s := rp.stats
	if rp.busy {
		s.BusyNs += now - rp.formed
		var last vllmStep
		last.end = rp.formed
		n := rp.boundary(now + 1) // steps that have ended
		if n > 0 {
			last = rp.plan[n-1]
		}
		s.Steps += int64(n)
		kv := last.kv
		if n < rp.stretch {
			used := rp.blocks - rp.pool.free + rp.plan[n].taken
			kv += int64(used) * (now - last.end)
		}
		s.KVTimeNs += float64(kv) * float64(rp.size)
	}
	s.Evicted = rp.pool.evicted * int64(rp.size)
	return s
}

// boundary returns the first step of the stretch that ends at time or later.
func (rp *vllm) boundary(time int64) int {
	return sort.Search(rp.stretch, func(i int) bool { return rp.plan[i].end >= time })
}

func (rp *vllm) Enqueue(id int32, now int64) (form bool) {
	rp.account(now)
	rp.stats.Requests++
	rp.shown.Waiting++
	join := now + rp.params.AdmissionDelayUs*1000
	if rp.head == len(rp.queue) {
		rp.queue, rp.head = rp.queue[:0], 0
	} else if rp.head >= 1024 && rp.head > len(rp.queue)/2 {
		rp.queue = rp.queue[:copy(rp.queue, rp.queue[rp.head:])]
		rp.head = 0
	}
	rp.queue = append(rp.queue, vllmArrival{join, id})
	if !rp.busy {
		rp.end = min(rp.end, join)
		return join == now
	}
	if rp.stretch > 1 && rp.head == len(rp.queue)-1 && len(rp.preempted) == 0 && rp.room() {
		if n := rp.boundary(join); n < rp.stretch {
			rp.stretch, rp.end = n+1, rp.plan[n].end
		}
	}
	return false
}

// room reports whether a decode step leaves a sequence and budget to admit a
// request.
func (rp *vllm) room() bool {
	return rp.running < rp.params.MaxSeqs && rp.decoding < int64(rp.params.TokenBudget)
}

// End completes the step or the stretch; on an idle replica, which has a request
// that enters its queue now, there is nothing to complete.
func (rp *vllm) End() []int32 {
	now := rp.end
	rp.end = Never
	rp.left, rp.started = rp.left[:0], rp.started[:0]
	if !rp.busy {
		return rp.left
	}
	rp.account(now)
	rp.busy = false
	steps, last := int64(rp.stretch), rp.plan[rp.stretch-1]
	rp.began, rp.ended = rp.formed, now
	if steps > 1 {
		rp.began = rp.plan[steps-2].end
	}
	rp.pool.take(last.taken)
	rp.stats.BusyNs += now - rp.formed
	rp.stats.Steps += steps
	rp.stats.KVTimeNs += float64(last.kv) * float64(rp.size)
	rp.stats.PeakKV = max(rp.stats.PeakKV, int64(rp.blocks-rp.pool.free)*int64(rp.size))
	rp.passed += steps
	rp.phase = int32((int64(rp.phase) + steps) % int64(rp.size))
	rp.context += steps * rp.decoding
	rp.leaving = rp.leaving[:0]
	for i := rp.ring[rp.passed%ringSize]; i != 0; {
		next := rp.slots[i].peer
		if rp.slots[i].key == rp.passed {
			rp.stop(i)
			rp.leaving = append(rp.leaving, i)
		}
		i = next
	}
	rp.endPrefills(now)
	rp.release(now)
	rp.pool.show()
	rp.show()
	return rp.left
}

// endPrefills moves prefills on; those that are complete emit a token.
func (rp *vllm) endPrefills(now int64) {
	kept := 0
	for _, i := range rp.prefills {
		q := &rp.slots[i]
		q.done += q.chunk
		if q.done < q.target {
			rp.prefills[kept] = i
			kept++
			continue
		}
		if rp.log.FirstNs[q.id] < 0 {
			rp.log.FirstNs[q.id] = now
			rp.started = append(rp.started, q.id)
		}
		q.generated++
		if outputs := rp.work.Output[q.id]; q.generated < outputs {
			rp.start(i, outputs)
		} else {
			rp.leaving = append(rp.leaving, i)
		}
	}
	rp.prefills = rp.prefills[:kept]
}

// release lets those leave that have all their tokens, in order of admission.
func (rp *vllm) release(now int64) {
	if len(rp.leaving) > 1 {
		slices.SortFunc(rp.leaving, func(a, b int32) int { return cmp.Compare(rp.slots[a].seq, rp.slots[b].seq) })
	}
	for _, i := range rp.leaving {
		q := &rp.slots[i]
		outputs := rp.work.Output[q.id]
		held := rp.whole(rp.work.Prompt[q.id] + outputs - 1)
		rp.pool.pushGarbage(held - q.full)
		rp.pool.release(q.holds)
		rp.delist(i)
		rp.vllmSlots.spare = append(rp.vllmSlots.spare, i)
		rp.stats.OutputTokens += int64(outputs)
		rp.log.FinishNs[q.id] = now
		rp.left = append(rp.left, q.id)
	}
}

// whole returns the blocks that hold so many tokens.
func (rp *vllm) whole(tokens int32) int32 { return (tokens + rp.size - 1) / rp.size }
