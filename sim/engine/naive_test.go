package engine

import (
	"fmt"
	"slices"
	"testing"

	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// naive is the scheduler lecture without any cleverness: one step at a time,
// caches as maps from node to tokens, LRU by looking through everything.
type naive struct {
	w        *workload.Workload
	p        Lecture
	capacity int64
	cached   map[int32]int32 // node -> tokens
	used     map[int32]int   // node -> serial number of its last release
	serial   int
	held     map[int32]int64 // running request -> tokens reserved
	random   uint64
	host     plainHost
	copied   int64           // tokens, in the step being formed
	last     int32           // node of which this eviction has taken tokens
	made     map[int32]int32 // of a request that was preempted: output tokens by then
	outcome  []string
	credit   map[int32]int

	waiting []int32
	running []job // in order of admission
	log     Log
}

type job struct {
	id        int32
	done, out int32 // prompt tokens, output tokens since the admission
	match     int32
	expected  int32 // output tokens
}

// prompt is what a request has to compute before it decodes.
func (v *naive) prompt(id int32) int32 { return v.w.Prompt[id] + v.made[id] }

func (v *naive) path(leaf int32) (nodes []int32) {
	for n := leaf; n != none; n = v.w.Forest.Parent[n] {
		nodes = append(nodes, n)
	}
	slices.Reverse(nodes)
	return nodes
}

func (v *naive) match(id int32) (tokens int32) {
	for _, n := range v.path(v.w.Leaf[id]) {
		tokens += v.cached[n]
		if v.cached[n] < v.w.Forest.Tokens[n] {
			break
		}
	}
	return tokens
}

func (v *naive) pinned(n int32) bool {
	for _, j := range v.running {
		if slices.Contains(v.path(v.w.Leaf[j.id]), n) {
			return true
		}
	}
	return false
}

func (v *naive) memory() (sum int64) {
	for _, t := range v.cached {
		sum += int64(t)
	}
	for _, t := range v.held {
		sum += t
	}
	return sum
}

// evict frees one token (or one segment) of the least recently used leaf, or
// reports that there is none.
func (v *naive) evict(keep []int32) bool {
	best := int32(none)
	for n := range v.cached {
		leaf := !v.pinned(n) && !slices.Contains(keep, n)
		for m := range v.cached {
			if v.w.Forest.Parent[m] == n {
				leaf = false
			}
		}
		if leaf && (best == none || v.used[n] < v.used[best]) {
			best = n
		}
	}
	if best == none {
		return false
	}
	if best != v.last { // at the first of its tokens
		v.host.store(best, v.cached[best])
		v.last = best
	}
	if v.cached[best]--; v.cached[best] == 0 || v.p.Evict == "segment" {
		delete(v.cached, best)
	}
	return true
}

func (v *naive) pick() int {
	if v.p.Order == "fcfs" {
		return 0
	}
	rank := func(i int) int32 {
		id := v.waiting[i]
		hit := v.match(id)
		switch v.p.Order {
		case "longest-prefix":
			return hit
		case "shortest-prompt":
			return -v.w.Prompt[id]
		case "priority":
			if v.w.Priority == nil {
				return 0
			}
			return v.w.Priority[id]
		}
		return max(1, hit*int32(v.p.Groups)/v.w.Prompt[id])
	}
	for {
		best := -1
		for i := range v.waiting {
			if v.p.Order == "priority-groups" && v.credit[rank(i)] == 0 {
				continue
			}
			if best < 0 || rank(i) > rank(best) {
				best = i
			}
		}
		if best >= 0 {
			return best
		}
		for g := 1; g <= v.p.Groups; g++ {
			v.credit[int32(g)] = g
		}
	}
}

func (v *naive) admit(id int32, now int64) bool {
	match := v.match(id)
	expected := v.w.Output[id] - v.made[id]
	if v.p.Knowledge.Output != "exact" {
		expected = int32(min(max(1, v.p.Expect(id, v.w.Output[id], v.random)-int64(v.made[id])), v.capacity-int64(v.prompt(id))))
	}
	need := int64(v.prompt(id)-match) + int64(expected)
	before, path := v.memory(), v.path(v.w.Leaf[id])
	host := v.host.clone()
	done := min(match, v.prompt(id)-1)
	copied := min(match+v.host.load(v.w, path, match), v.prompt(id)-1) - done
	v.last = none
	if before+need > v.capacity {
		// Try on a copy of the cache.
		cached := make(map[int32]int32)
		for n, t := range v.cached {
			cached[n] = t
		}
		for v.memory()+need > v.capacity {
			if !v.evict(path) {
				v.cached, v.host = cached, host
				return false
			}
		}
	}
	v.held[id] = need
	v.copied += int64(copied)
	v.running = append(v.running, job{id: id, done: done + copied, match: match, expected: expected})
	if v.log.StartNs[id] < 0 {
		v.log.StartNs[id], v.log.Cached[id], v.log.Host[id] = now, done, copied
	}
	return true
}

func (v *naive) release(leaf int32) {
	path := v.path(leaf)
	slices.Reverse(path)
	for _, n := range path {
		if v.cached[n] > 0 && !v.pinned(n) {
			v.serial++
			v.used[n] = v.serial
		}
	}
}

// outlive makes room for a token of each decode that has made all that was
// expected of it.
func (v *naive) outlive() (preempted bool) {
	v.last = none
	for {
		var over []int32
		for _, j := range v.running {
			if j.out >= j.expected && j.out > 0 {
				over = append(over, j.id)
			}
		}
		if v.memory()+int64(len(over)) <= v.capacity {
			for _, id := range over {
				v.held[id]++
			}
			return preempted
		}
		if v.evict(nil) {
			continue
		}
		v.last = none
		last := v.running[len(v.running)-1]
		v.running = v.running[:len(v.running)-1]
		delete(v.held, last.id)
		v.release(v.w.Leaf[last.id])
		v.made[last.id] += last.out
		v.waiting = append([]int32{last.id}, v.waiting...)
		v.log.Preemptions[last.id]++
		preempted = true
	}
}

// step forms and completes one step from now on, and returns its end.
func (v *naive) step(now int64, model StepModel) (int64, bool) {
	preempted := v.outlive()
	budget := int32(v.p.ChunkTokens)
	var batch Batch
	chunk := map[int32]int32{}
	decodes := func() {
		for _, j := range v.running {
			if j.out > 0 {
				context := int64(v.prompt(j.id) + j.out - 1)
				batch.Tokens, batch.Requests = batch.Tokens+1, batch.Requests+1
				batch.Context += context
				batch.Attention2 += 2*context + 1
				budget--
			}
		}
	}
	mixed := v.p.Batch == "mixed"
	if mixed {
		decodes()
	}
	prefill := func(j job) {
		if n := min(budget, v.prompt(j.id)-j.done); n > 0 {
			chunk[j.id] = n
			batch.add(int64(n), int64(j.done))
			budget -= n
		}
	}
	for _, j := range v.running {
		if j.out == 0 {
			prefill(j)
		}
	}
	for !preempted && len(v.waiting) > 0 && budget > 0 && len(v.running) < v.p.MaxRunning {
		i := v.pick()
		id := v.waiting[i]
		if !v.admit(id, now) {
			break
		}
		if v.p.Order == "priority-groups" {
			// The rank is that before the admission evicted anything.
			v.credit[v.lastRank(id)]--
		}
		v.waiting = slices.Delete(v.waiting, i, i+1)
		prefill(v.running[len(v.running)-1])
	}
	if !mixed && len(chunk) == 0 {
		mixed = true
		decodes()
	}
	if batch.Tokens == 0 {
		return now, false
	}
	end := now + model.StepNs(batch) + v.host.copyNs(v.copied)
	v.copied = 0
	v.finish(chunk, mixed, end)
	return end, true
}

// lastRank is the group of a request at its admission.
func (v *naive) lastRank(id int32) int32 {
	for _, j := range v.running {
		if j.id == id {
			return max(1, j.match*int32(v.p.Groups)/v.w.Prompt[id])
		}
	}
	panic("not running")
}

func (v *naive) finish(chunk map[int32]int32, decoded bool, end int64) {
	var gone []int32
	// Decodes that end are taken before prefills that complete, as the serial
	// numbers of their release depend on it.
	for i := range v.running {
		if j := &v.running[i]; decoded && j.out > 0 {
			if j.out++; j.out == v.w.Output[j.id]-v.made[j.id] {
				gone = append(gone, j.id)
			}
		}
	}
	slices.Sort(gone)
	for _, id := range gone {
		v.depart(id, end)
	}
	for _, id := range v.prefilling() {
		i := slices.IndexFunc(v.running, func(j job) bool { return j.id == id })
		j := &v.running[i]
		j.done += chunk[id]
		if j.done < v.prompt(id) {
			continue
		}
		for _, n := range v.path(v.w.Leaf[id]) {
			v.cached[n] = v.w.Forest.Tokens[n]
		}
		if leaf := v.w.Leaf[id]; leaf != none {
			v.held[id] -= int64(v.w.Forest.End[leaf] - j.match)
		}
		if v.log.FirstNs[id] < 0 {
			v.log.FirstNs[id] = end
		}
		if j.out = 1; v.w.Output[id]-v.made[id] == 1 {
			v.depart(id, end)
		}
	}
}

func (v *naive) prefilling() (ids []int32) {
	for _, j := range v.running {
		if j.out == 0 {
			ids = append(ids, j.id)
		}
	}
	return ids
}

func (v *naive) depart(id int32, end int64) {
	v.running = slices.DeleteFunc(v.running, func(j job) bool { return j.id == id })
	delete(v.held, id)
	v.log.FinishNs[id] = end
	if v.w.OutputNode != nil && v.w.OutputNode[id] != none {
		v.cached[v.w.OutputNode[id]] = v.w.Output[id]
		v.release(v.w.OutputNode[id])
		return
	}
	v.release(v.w.Leaf[id])
}

// arrive queues those that arrive until a time, that time included or not.
func (v *naive) arrive(next int, until int64) int {
	for ; next < v.w.Len() && v.w.ArrivalUs[next]*1000 <= until; next++ {
		if v.p.QueueLimit > 0 && len(v.waiting) >= v.p.QueueLimit {
			v.outcome[next] = "rejected"
		} else {
			v.waiting = append(v.waiting, int32(next))
		}
	}
	return next
}

// expire lets those go that have waited too long.
func (v *naive) expire(now int64) {
	v.waiting = slices.DeleteFunc(v.waiting, func(id int32) bool {
		if v.p.QueueTimeoutS == 0 || v.log.StartNs[id] >= 0 || now < v.w.ArrivalUs[id]*1000+int64(v.p.QueueTimeoutS*1e9) {
			return false
		}
		v.outcome[id] = fmt.Sprint("timed out at ", now)
		return true
	})
}

func (v *naive) play(model StepModel) {
	next, now := 0, int64(0)
	for {
		next = v.arrive(next, now)
		end, busy := v.step(now, model)
		switch {
		case busy:
			now = end
			next = v.arrive(next, now-1)
			v.expire(now)
		case next < v.w.Len():
			now = v.w.ArrivalUs[next] * 1000
		default:
			return
		}
	}
}

// random makes a workload over a small forest three levels deep.
func random(t testing.TB, s *rng.Stream, n int) *workload.Workload {
	t.Helper()
	var calls []call
	at := int64(0)
	for range n {
		at += int64(s.IntN(12))
		var path []workload.Segment
		sum := int32(0)
		id := int64(0)
		for level := range s.IntN(4) {
			id = id*4 + int64(s.IntN(3)) + 1
			tokens := int32(20 + 37*(id%7)%61)
			path = append(path, workload.Segment{ID: id + int64(level)*1000, Tokens: tokens})
			sum += tokens
		}
		calls = append(calls, call{at, max(1, sum+int32(s.IntN(30))), int32(1 + s.IntN(25)), path})
	}
	return build(t, calls)
}

// Start, first token, finish, cached tokens and preemptions of every request,
// how it ended, and the memory in use at the end, are those of the naive
// engine.
func TestAgainstNaive(t *testing.T) {
	var preemptions, timeouts, rejections int
	for trial := range trials(400) {
		s := rng.New(uint64(trial), 1, "naive")
		w := random(t, s, 60)
		if trial%4 == 0 {
			w = talks(t, s, 60)
		}
		p := defaults(func(p *Lecture) {
			p.ChunkTokens = 8 + s.IntN(120)
			p.MaxRunning = 1 + s.IntN(12)
			p.Order = []string{"fcfs", "longest-prefix", "priority-groups", "shortest-prompt", "priority"}[s.IntN(5)]
			p.Groups = 2 + s.IntN(12)
			p.Evict = []string{"token", "segment"}[s.IntN(2)]
			uncertain(s, &p.Knowledge)
			bounded(s, &p.Limits)
			tiered(s, &p.HostTier)
			if p.Knowledge.Output == "exact" && s.IntN(3) == 0 {
				p.Batch = "prefill-first"
			}
		})
		v := &naive{
			w: w, p: p, capacity: int64(260 + s.IntN(600)), random: 99, cached: map[int32]int32{}, used: map[int32]int{}, held: map[int32]int64{},
			credit: map[int32]int{}, made: map[int32]int32{}, outcome: make([]string, w.Len()),
		}
		v.host.HostTier = p.HostTier
		fast, rp, outcome := drive(t, w, &p, linear{}, v.capacity)
		v.log.Reset(w.Len())
		v.play(linear{})
		for i := range w.Len() {
			got := fmt.Sprint(fast.StartNs[i], fast.FirstNs[i], fast.FinishNs[i], fast.Cached[i], fast.Host[i], fast.Preemptions[i], outcome[i])
			if want := fmt.Sprint(v.log.StartNs[i], v.log.FirstNs[i], v.log.FinishNs[i], v.log.Cached[i], v.log.Host[i], v.log.Preemptions[i], v.outcome[i]); got != want {
				t.Fatalf("trial %d (%+v, capacity %d), request %d: start, first, finish, cached, host, preemptions, outcome are %v, naive %v", trial, p, v.capacity, i, got, want)
			}
			preemptions += int(fast.Preemptions[i])
			switch {
			case outcome[i] == "rejected":
				rejections++
			case outcome[i] != "":
				timeouts++
			}
		}
		if got := rp.(*lecture).memory(); got != v.memory() {
			t.Fatalf("trial %d: %d tokens in memory, naive %d", trial, got, v.memory())
		}
	}
	t.Logf("%d preemptions, %d time-outs, %d rejections", preemptions, timeouts, rejections)
	if preemptions < 100 || timeouts < 100 || rejections < 100 {
		t.Errorf("%d preemptions, %d time-outs and %d rejections: the trials do not reach them", preemptions, timeouts, rejections)
	}
}
