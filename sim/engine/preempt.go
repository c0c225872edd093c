package engine

// made returns the output tokens that a decode has made since it was admitted.
func (rp *base) madeOf(i int) int64 {
	e := rp.finish[i]
	return int64(rp.toMake(e.ID)) - (e.Key - rp.passed)
}

// preemptDecode takes the i-th decode of the heap off the running ones. What
// it has made stays made, and is computed again with its prompt when it is
// admitted again.
func (rp *base) preemptDecode(i int) (id int32) {
	id = rp.finish[i].ID
	made := rp.madeOf(i)
	rp.finish.Remove(i)
	rp.context -= int64(rp.prompt(id)) + made - 1
	rp.ahead.remove(id, rp.log)
	hold := rp.holding(id, made)
	if rp.rules.late {
		hold += rp.uncached(id)
	}
	rp.release(id, hold)
	rp.log.made[id] += int32(made)
	return id
}

// preemptPrefill takes the last prefill off the running ones. What was
// computed of it is lost.
func (rp *base) preemptPrefill() (id int32) {
	last := len(rp.prefills) - 1
	id = rp.prefills[last]
	rp.prefills, rp.done = rp.prefills[:last], rp.done[:last]
	hold := rp.holding(id, 0)
	if rp.rules.grows {
		hold++
	}
	if !rp.rules.early {
		hold += rp.uncached(id)
	}
	rp.release(id, hold)
	return id
}

// uncached returns the tokens of a running request's segments that were not
// cached at its admission.
func (rp *base) uncached(id int32) int64 {
	leaf := rp.work.Leaf[id]
	if leaf == none {
		return 0
	}
	return int64(rp.work.Forest.End[leaf] - rp.log.match[id])
}

// release gives back what a preempted request holds.
func (rp *base) release(id int32, hold int64) {
	rp.reserved -= hold
	leaf := rp.work.Leaf[id]
	if rp.rules.late {
		leaf = rp.log.pinned[id]
	}
	rp.cache.unpin(rp.index, leaf)
	rp.log.Preemptions[id]++
}

// latest returns the index of the decode that was admitted last.
func (rp *base) latest() int {
	best := 0
	for i, e := range rp.finish {
		if rp.log.turn[e.ID] > rp.log.turn[rp.finish[best].ID] {
			best = i
		}
	}
	return best
}
