package engine

// known returns up to when a request must have joined the queue to be admitted
// to the step that begins now, and whether the engine was idle until now. Under
// asynchronous scheduling the step was formed when the one before it began;
// where nothing was there to form one of, it is formed on the spot.
//
// Only admissions are early here. What a step that ends now gives back, blocks
// and sequences, counts as free, though the scheduler has not seen it yet; that
// is of consequence only where these are short.
func (rp *vllm) known(now int64) (until int64, idle bool) {
	until = now
	if rp.params.AsyncScheduling {
		until = rp.began
	}
	if rp.ended == now && (rp.running > 0 || len(rp.preempted) > 0 || rp.head < len(rp.queue) && rp.queue[rp.head].join <= until) {
		return until, false
	}
	return now, true
}

// admit starts waiting requests that are known of as long as sequences, budget
// and blocks last; the first that does not fit blocks those behind it.
func (rp *vllm) admit(batch *Batch, left, now, known int64) {
	for rp.running < rp.params.MaxSeqs && left > 0 {
		i := rp.front(known)
		if i == 0 || !rp.enter(i, batch, left, now) {
			return
		}
		left -= int64(rp.slots[i].chunk)
		if n := len(rp.preempted); n > 0 {
			rp.preempted = rp.preempted[:n-1]
		} else {
			rp.candidate = 0
			rp.head++
		}
	}
}

// front returns the slot of the request at the front of the queue, 0 where it
// is empty.
func (rp *vllm) front(known int64) int32 {
	if n := len(rp.preempted); n > 0 {
		return rp.preempted[n-1]
	}
	if rp.candidate != 0 || rp.head == len(rp.queue) || rp.queue[rp.head].join > known {
		return rp.candidate
	}
	id := rp.queue[rp.head].id
	i := rp.open(id)
	for int(i) >= len(rp.pool.loose) {
		rp.pool.loose = append(rp.pool.loose, 0)
	}
	rp.candidate = i
	q := &rp.slots[i]
	q.target = rp.work.Prompt[id]
	if !rp.params.PrefixCaching {
		return i
	}
	leaf := rp.work.Leaf[id]
	if o := rp.work.OutputNode; o != nil && o[id] != none {
		leaf, q.output = o[id], true
	}
	for n := leaf; n != none; n = rp.work.Forest.Parent[n] {
		q.path = append(q.path, n)
	}
	for a, b := 0, len(q.path)-1; a < b; a, b = a+1, b-1 {
		q.path[a], q.path[b] = q.path[b], q.path[a]
	}
	return i
}

// enter admits a waiting request to the step, or changes nothing where blocks
// do not suffice.
func (rp *vllm) enter(i int32, batch *Batch, left, now int64) bool {
	q, p := &rp.slots[i], &rp.pool
	most := (q.target - 1) / rp.size // the last token is always computed
	var ever int32
	hit := int32(0)
	if n := len(q.path); n > 0 {
		hit, ever = p.deepest(q.path[n-1])
		hit = min(hit, most)
	}
	free := p.find(q.path, hit)
	shared := hit
	if run := p.loose[i]; run != 0 {
		r := &p.runs[run]
		hit = r.to
		free += r.to - r.from
	}
	cached := hit * rp.size
	n := rp.chunk(q.target-cached, left)
	need := rp.whole(cached+n) - hit
	if need+free > p.free {
		return false
	}
	q.holds, q.full, q.at = p.hold(q.holds), shared, 0
	if run := p.loose[i]; run != 0 {
		p.pull(run)
		p.spare = append(p.spare, run)
		p.loose[i] = 0
	}
	p.take(need)
	rp.enlist(i)
	rp.admitted++
	q.seq, q.done, q.chunk = rp.admitted, cached, n
	rp.prefills = append(rp.prefills, i)
	rp.compute(q, batch)
	if l, w := rp.log, rp.work; l.StartNs[q.id] < 0 {
		l.StartNs[q.id], l.Cached[q.id], l.Unlimited[q.id] = now, cached, min(ever, most)*rp.size
		rp.stats.PromptTokens += int64(w.Prompt[q.id])
		rp.stats.CachedTokens += int64(cached)
	}
	return true
}
