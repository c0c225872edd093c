package engine

func (rp *vllm) Form(now int64) {
	if rp.busy {
		return
	}
	rp.account(now)
	rp.chunks = rp.chunks[:0]
	known, idle := rp.known(now)
	batch, left, quick := rp.serve(int64(rp.params.TokenBudget))
	preempted := false
	if !quick {
		batch, left, preempted = rp.serveInOrder(int64(rp.params.TokenBudget))
	}
	if !preempted {
		rp.admit(&batch, left, now, known)
	}
	if batch.Tokens == 0 {
		rp.end = Never
		if rp.head < len(rp.queue) {
			rp.end = rp.queue[rp.head].join
		}
		return
	}
	rp.busy, rp.formed, rp.stretch = true, now, 1
	step := rp.step.StepNs(batch)
	if idle {
		step += rp.params.IdleStepUs * 1000
	}
	rp.end = now + step
	rp.plan = append(rp.plan[:0], vllmStep{end: rp.end, kv: int64(rp.blocks-rp.pool.free) * step})
	if batch.Prefill == 0 && !preempted && len(rp.pool.dirty) == 0 {
		rp.lookAhead(known)
	}
}

// serve schedules all running requests at once, which it may where there are
// blocks for all. It returns the step so far and the budget that is left.
//
// The budget lets it: only the last of the running list can get less than it
// asks for. Nobody asks for more than in the step before but one that got less
// than it asked for then, for want of budget; nothing of the budget was left
// behind it, so nobody was admitted behind it. In particular no decode is ever
// passed over.
func (rp *vllm) serve(budget int64) (batch Batch, left int64, ok bool) {
	left = budget - rp.decoding
	need := rp.needing[rp.phase]
	if len(rp.prefills) > 0 {
		if rp.writing[rp.phase] != 0 {
			return batch, 0, false // who registers a content first may matter
		}
		for _, i := range rp.prefills {
			q := &rp.slots[i]
			q.chunk = rp.chunk(q.target-q.done, left)
			need += rp.whole(q.done+q.chunk) - rp.whole(q.done)
			left -= int64(q.chunk)
		}
	}
	if need > rp.pool.free {
		return batch, 0, false
	}
	rp.pool.take(need)
	batch = decodes(rp.decoding, rp.context)
	batch.Chunks = &rp.chunks
	for _, i := range rp.prefills {
		if q := &rp.slots[i]; q.chunk > 0 {
			rp.compute(q, &batch)
		}
	}
	for i := rp.writing[rp.phase]; i != 0; i = rp.slots[i].fellow {
		q := &rp.slots[i]
		rp.write(q, rp.contextOf(q)+1)
	}
	return batch, left, true
}

// serveInOrder schedules running requests one by one. Where blocks are
// missing it preempts from the end of the running list, which it reports.
func (rp *vllm) serveInOrder(left int64) (batch Batch, rest int64, preempted bool) {
	batch.Chunks = &rp.chunks
	for _, i := range rp.prefills {
		rp.slots[i].chunk = 0
	}
	for i := rp.slots[0].next; i != 0 && left > 0; i = rp.slots[i].next {
		q := &rp.slots[i]
		n, need := int32(1), int32(0)
		if !q.decoding {
			n = rp.chunk(q.target-q.done, left)
			need = rp.whole(q.done+n) - rp.whole(q.done)
		} else if q.phase == rp.phase {
			need = 1
		}
		for need > rp.pool.free {
			preempted = true
			victim := rp.slots[0].prev
			rp.preempt(victim)
			if victim == i { // the last one, so all others are served
				batch.decode(rp.decoding, rp.context)
				return batch, left, true
			}
		}
		rp.pool.take(need)
		left -= int64(n)
		if !q.decoding {
			q.chunk = n
			rp.compute(q, &batch)
		} else if q.output {
			rp.write(q, rp.contextOf(q)+1)
		}
	}
	batch.decode(rp.decoding, rp.context)
	return batch, left, preempted
}

// chunk returns how many of the remaining tokens of a prefill a step with this
// budget left computes.
func (rp *vllm) chunk(remaining int32, left int64) int32 {
	n := min(int64(remaining), left)
	if rp.params.LongPrefill > 0 {
		n = min(n, int64(rp.params.LongPrefill))
	}
	return int32(n)
}

// compute puts the chunk of a prefill, which has its blocks, into the step.
func (rp *vllm) compute(q *vllmSlot, batch *Batch) {
	batch.add(int64(q.chunk), int64(q.done))
	rp.write(q, q.done+q.chunk)
}

// write registers the blocks of nodes that are full once a request has so many
// tokens.
func (rp *vllm) write(q *vllmSlot, tokens int32) {
	to := tokens / rp.size
	for q.full < to && int(q.at) < len(q.path) {
		node := q.path[q.at]
		_, end := rp.pool.span(node)
		if q.full >= end {
			q.at++
			continue
		}
		upTo := min(end, to)
		q.holds = rp.pool.fill(q.holds, node, q.full, upTo)
		q.full = upTo
	}
}

// preempt takes the last running request off the batch: it will compute its
// prompt and what it has generated anew.
func (rp *vllm) preempt(i int32) {
	q := &rp.slots[i]
	tokens := q.done
	if q.decoding {
		tokens = rp.contextOf(q)
		rp.stop(i)
	} else {
		rp.prefills = rp.prefills[:len(rp.prefills)-1]
	}
	rp.delist(i)
	full := tokens / rp.size
	rp.pool.pushGarbage(rp.whole(tokens) - full)
	if full > q.full && rp.params.PrefixCaching {
		run := rp.pool.add(blockRun{owner: privateOf(i), from: q.full, to: full})
		rp.pool.push(run)
		rp.pool.loose[i] = run
	} else {
		rp.pool.pushGarbage(full - q.full)
	}
	rp.pool.release(q.holds)
	q.holds, q.full, q.done = q.holds[:0], 0, 0
	q.target = rp.work.Prompt[q.id] + q.generated
	rp.preempted = append(rp.preempted, i)
	if n := &rp.log.Preemptions[q.id]; *n < 1<<15-1 {
		*n++
	}
}

// lookAhead plans the decode steps that follow the one that was just formed, as
// long as nobody can join or leave, no content becomes valid or invalid, and
// blocks come from what nothing can hit. A request that waits because memory
// does not suffice goes on waiting meanwhile, for free blocks only get fewer.
func (rp *vllm) lookAhead(known int64) {
	until := Never
	if len(rp.preempted) == 0 && rp.head < len(rp.queue) && rp.room() && rp.queue[rp.head].join > known {
		until = rp.queue[rp.head].join
	}
	spare := int32(0)
	if r := &rp.pool.runs[rp.pool.runs[0].next]; r.owner == garbage {
		spare = r.to - r.from
	}
	last, phase, context := rp.plan[0], rp.phase, rp.context
	used := rp.blocks - rp.pool.free
	for step := rp.passed + 1; last.end < until && !rp.finishes(step) && len(rp.plan) < rp.ahead; step++ {
		if phase++; phase == rp.size {
			phase = 0
		}
		need := rp.needing[phase]
		if last.taken += need; last.taken > spare || rp.writing[phase] != 0 {
			break
		}
		context += rp.decoding
		time := rp.step.StepNs(decodes(rp.decoding, context))
		last.end += time
		last.kv += int64(used+last.taken) * time
		rp.plan = append(rp.plan, last)
	}
	rp.stretch = len(rp.plan)
	rp.end = rp.plan[rp.stretch-1].end
}
