package engine

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"switchyard/sim/workload"
)

// plain is the schedulers sglang-0.1 and preble without any cleverness: what
// runs is a list, caches are maps, orders are sorts, and every question is
// answered by looking through everything.
type plain struct {
	w        *workload.Workload
	p        Radix
	order    string
	mix      *Preble
	capacity int64
	random   uint64
	host     plainHost
	copied   int64 // tokens, in the step being formed

	cached  map[int32]int32 // node -> tokens
	used    map[int32]int   // node -> serial number of its last release
	serial  int
	waiting []*job2
	running []*job2
	ratio   float64
	credit  map[int]int
	cursor  int // group of the last iteration
	row     int
	steps   int // of decodes
	log     Log
}

type job2 struct {
	id       int32
	came     int // order of coming to the queue
	turn     int // order of admission
	at       int64
	made     int32 // output tokens
	before   int32 // of these, before the last admission
	match    int32
	pinned   int32 // node that it keeps from eviction
	done     int32
	expected int64 // at admission
	filled   bool
	seen     bool
	group    int
}

func (v *plain) groupOf(c *job2) int {
	if v.mix != nil && !v.mix.Reclassify && c.seen {
		return c.group
	}
	share := float64(v.match(c.id)) * float64(v.mix.Groups) / float64(v.w.Prompt[c.id])
	c.seen = true
	if v.order == "fcfs-mpq" {
		c.group = max(0, int(math.Ceil(share))-1)
	} else {
		c.group = max(1, int(math.Floor(share)))
	}
	return c.group
}

// next returns the waiting request that is next, nil where none may be.
func (v *plain) next(taken map[int]int) *job2 {
	key := func(c *job2) (a int64) {
		switch v.order {
		case "longest-prefix":
			return -int64(v.match(c.id))
		case "shortest-prompt":
			return int64(v.w.Prompt[c.id])
		case "priority":
			if v.w.Priority != nil {
				return -int64(v.w.Priority[c.id])
			}
		case "priority-groups", "fcfs-mpq":
			return -int64(v.groupOf(c))
		}
		return 0
	}
	if len(v.waiting) == 0 {
		return nil
	}
	sorted := slices.Clone(v.waiting)
	slices.SortFunc(sorted, func(a, b *job2) int {
		if x, y := key(a), key(b); x != y {
			return int(x - y)
		}
		return a.came - b.came
	})
	for range 2 {
		for _, c := range sorted {
			switch v.order {
			case "fcfs-mpq":
				if g := v.groupOf(c); g != v.cursor || taken[g] >= 10*(g+1) {
					continue
				}
			case "priority-groups":
				if v.credit[v.groupOf(c)] == 0 {
					continue
				}
			}
			return c
		}
		if v.order != "priority-groups" {
			return nil
		}
		for g := 1; g <= v.mix.Groups; g++ {
			v.credit[g] = g
		}
	}
	return nil
}

// turn moves the cursor to the next lower group with requests.
func (v *plain) turn() {
	if v.order != "fcfs-mpq" || len(v.waiting) == 0 {
		return
	}
	for _, c := range v.waiting {
		v.groupOf(c)
	}
	for range v.mix.Groups {
		if v.cursor--; v.cursor < 0 {
			v.cursor = v.mix.Groups - 1
		}
		for _, c := range v.waiting {
			if v.groupOf(c) == v.cursor {
				return
			}
		}
	}
}

func (v *plain) expected(c *job2) int64 {
	if v.p.Knowledge.Output == "exact" {
		return int64(v.w.Output[c.id] - c.made)
	}
	e := v.p.Knowledge.Expect(c.id, v.w.Output[c.id], v.random) - int64(c.made)
	return min(max(e, 1), v.capacity-int64(v.w.Prompt[c.id]+c.made)-1)
}

// admit takes requests from the queue and returns the tokens of prefill that
// the step then has.
func (v *plain) admit(now, tokens, limit int64, whole bool, chunk map[*job2]int64) {
	most := v.p.MaxRunning
	if most == 0 {
		most = int(max(1, v.capacity/2))
	}
	expected := int64(0)
	for _, c := range v.running {
		expected += max(0, c.expected-int64(c.made-c.before))
	}
	ratio := float64(v.ratio * float64(expected))
	asked := int64(0)
	taken := map[int]int{}
	free := v.capacity - v.memory()
	if v.p.Refresh {
		for _, c := range slices.SortedFunc(slices.Values(v.waiting), func(a, b *job2) int { return a.came - b.came }) {
			v.release(v.w.Leaf[c.id])
		}
	}
	v.turn()
	for len(v.running) < most && (whole || tokens < limit) {
		c := v.next(taken)
		if c == nil {
			break
		}
		match := v.match(c.id)
		prompt := v.w.Prompt[c.id] + c.made
		compute := int64(prompt - min(match, prompt-1))
		if whole && tokens > 0 && tokens+compute >= limit {
			break
		}
		c.pinned = v.pins(c.id)
		v.running = append(v.running, c) // pins its path
		need := int64(prompt-match) + v.expected(c)
		if float64(asked+need) >= float64(free+v.loose())-ratio {
			v.running = v.running[:len(v.running)-1]
			break
		}
		asked += need
		if v.order == "fcfs-mpq" || v.order == "priority-groups" {
			g := v.groupOf(c)
			taken[g]++
			v.credit[g]--
		}
		c.match, c.done, c.expected, c.filled = match, min(match, prompt-1), v.expected(c), false
		v.serial++
		c.turn = v.serial
		v.waiting = slices.DeleteFunc(v.waiting, func(o *job2) bool { return o == c })
		host := min(match+v.host.load(v.w, v.path(v.w.Leaf[c.id]), match), prompt-1) - c.done
		v.copied += int64(host)
		if v.log.StartNs[c.id] < 0 {
			v.log.StartNs[c.id], v.log.Cached[c.id], v.log.Host[c.id] = now, c.done, host
		}
		c.done += host
		n := compute - int64(host)
		if !whole {
			n = min(n, limit-tokens)
		}
		chunk[c] = n
		tokens += n
	}
	for v.memory() > v.capacity {
		v.evict(v.memory() - v.capacity)
	}
}

func (v *plain) decoding() (calls []*job2) {
	for _, c := range v.running {
		if c.filled {
			calls = append(calls, c)
		}
	}
	return calls
}

// room makes room for a token of each decode.
func (v *plain) room() (retracted bool) {
	if len(v.decoding()) == 0 {
		return false
	}
	for {
		d := v.decoding()
		short := v.memory() + int64(len(d)) - v.capacity
		if short <= 0 {
			break
		}
		if v.loose() > 0 {
			v.evict(short)
			continue
		}
		victims := d
		if len(d) == 1 {
			victims = slices.DeleteFunc(slices.Clone(v.running), func(c *job2) bool { return c.filled })
		}
		slices.SortFunc(victims, func(a, b *job2) int {
			if len(d) > 1 && a.made != b.made {
				return int(a.made - b.made)
			}
			if len(d) > 1 && v.w.Prompt[a.id] != v.w.Prompt[b.id] {
				return int(v.w.Prompt[b.id] - v.w.Prompt[a.id])
			}
			return b.turn - a.turn
		})
		v.retract(victims[0])
		retracted = true
	}
	if retracted {
		v.ratio = min(1, v.ratio+v.p.RatioRecovery)
	} else if v.ratio > v.p.RatioMin {
		v.ratio = max(v.p.RatioMin, v.ratio-v.p.RatioDecay)
	}
	return retracted
}

// step forms and completes a step, and returns its end and that of the wait
// behind it.
func (v *plain) step(now int64, model StepModel) (end, wake int64, busy bool) {
	chunk := map[*job2]int64{}
	var decodes []*job2
	tokens := int64(0)
	if v.mix != nil && float64(v.capacity-v.memory()) < float64(v.mix.WholeFree*float64(v.capacity)) {
		v.row = 0
		retracted := v.room()
		decodes = v.decoding()
		limit := int64(v.mix.ChunkTokens)
		tokens = int64(len(decodes))
		// Where the step's decodes have their place.
		for _, c := range decodes {
			c.made++
		}
		for _, c := range v.running {
			if n := min(limit-tokens, int64(v.w.Prompt[c.id]+c.before-c.done)); !c.filled && n > 0 {
				chunk[c] = n
				tokens += n
			}
		}
		if !retracted {
			// What is expected does not count the token under way.
			for _, c := range decodes {
				c.expected++
			}
			v.admit(now, tokens, limit, false, chunk)
			for _, c := range decodes {
				c.expected--
			}
		}
	} else {
		if v.row == 0 || len(v.decoding()) == 0 {
			for _, c := range v.running {
				if !c.filled {
					chunk[c] = int64(v.w.Prompt[c.id] + c.before - c.done)
					tokens += chunk[c]
				}
			}
			limit := max(int64(v.p.ContextTokens), v.capacity/6)
			v.admit(now, tokens, limit, true, chunk)
		}
		if len(chunk) == 0 {
			v.room()
			decodes = v.decoding()
			for _, c := range decodes {
				c.made++
			}
			if len(decodes) > 0 {
				v.row++
			}
		}
	}
	if len(chunk)+len(decodes) == 0 {
		return now, now, false
	}
	var batch Batch
	for _, c := range decodes {
		batch.decode(1, int64(v.w.Prompt[c.id]+c.made-2))
	}
	for c, n := range chunk {
		batch.add(n, int64(c.done))
	}
	end = now + model.StepNs(batch) + v.host.copyNs(v.copied)
	end += int64((v.p.HostMs + v.p.HostRequestMs*float64(len(decodes)+len(chunk))) * 1e6)
	v.copied = 0
	wait := v.p.StepWaitMs
	if v.finish(decodes, chunk, end) {
		wait, v.row = v.p.FinishWaitMs, 0
	}
	wake = end
	if v.row == 0 || v.row >= v.p.DecodeSteps {
		v.row, wake = 0, end+int64(wait*1e6)
	}
	return end, wake, true
}

// finish reports whether something was sent out.
func (v *plain) finish(decodes []*job2, chunk map[*job2]int64, end int64) (finished bool) {
	if len(decodes) > 0 {
		v.steps++
		finished = v.p.StreamSteps > 0 && v.steps%v.p.StreamSteps == 0
	}
	slices.SortFunc(decodes, func(a, b *job2) int { return int(a.id - b.id) })
	for _, c := range decodes {
		finished = v.depart(c, end) || finished
	}
	for _, c := range slices.Clone(v.running) {
		if c.filled {
			continue
		}
		if c.done += int32(chunk[c]); c.done < v.w.Prompt[c.id]+c.before {
			continue
		}
		if v.p.Ready == "prefill-end" {
			v.keep(c)
		}
		c.filled = true
		c.made++
		if v.log.FirstNs[c.id] < 0 {
			v.log.FirstNs[c.id] = end
			finished = finished || v.p.StreamSteps > 0
		}
		finished = v.depart(c, end) || finished
	}
	return finished
}

// depart takes a request off that has all its tokens.
func (v *plain) depart(c *job2, end int64) bool {
	if c.made < v.w.Output[c.id] {
		return false
	}
	if v.p.Ready == "finish" {
		v.keep(c)
	}
	v.running = slices.DeleteFunc(v.running, func(o *job2) bool { return o == c })
	v.log.FinishNs[c.id] = end
	if v.w.OutputNode != nil && v.w.OutputNode[c.id] != none {
		v.output(c)
	}
	v.release(v.w.Leaf[c.id])
	return true
}

// output caches an output where it has a place.
func (v *plain) output(c *job2) {
	node := v.w.OutputNode[c.id]
	pin := &job2{id: c.id, made: 1, filled: true, pinned: v.w.Leaf[c.id]}
	if leaf := v.w.Leaf[c.id]; leaf != none {
		pin.match = v.w.Forest.End[leaf]
	}
	v.running = append(v.running, pin) // holds nothing beside the prompt
	have := v.cached[node]
	need := int64(v.w.Forest.Tokens[node] - have)
	hold := v.held(pin)
	loose := v.loose()
	if have > 0 && !v.pinned(node) {
		loose -= int64(have)
	}
	if over := v.memory() - hold + need - v.capacity; over <= loose {
		for over > 0 {
			before := v.cachedTokens()
			delete(v.cached, node) // not to be evicted
			v.evict(over)
			if have > 0 {
				v.cached[node] = have
			}
			over -= before - v.cachedTokens()
		}
		v.cached[node] = v.w.Forest.Tokens[node]
	}
	v.running = v.running[:len(v.running)-1]
	if v.cached[node] > 0 {
		v.serial++
		v.used[node] = v.serial
	}
}

func (v *plain) play(t *testing.T, model StepModel, outcome []string) {
	next, now := 0, int64(0)
	for {
		for next < v.w.Len() && v.w.ArrivalUs[next]*1000 <= now {
			c := &job2{id: int32(next), at: v.w.ArrivalUs[next] * 1000}
			v.serial++
			c.came = v.serial
			switch {
			case int64(v.w.Prompt[next]+v.w.Output[next]) >= v.capacity, v.p.QueueLimit > 0 && len(v.waiting) >= v.p.QueueLimit:
				outcome[next] = "rejected"
			default:
				v.waiting = append(v.waiting, c)
			}
			next++
		}
		end, wake, busy := v.step(now, model)
		switch {
		case busy:
			// Arrivals during the step and the wait queue up before what follows;
			// those that wait too long leave at either's end.
			for _, at := range []int64{end, wake} {
				if at == wake && wake > end && len(v.waiting)+len(v.running) == 0 && (next == v.w.Len() || v.w.ArrivalUs[next]*1000 >= wake) {
					continue
				}
				for next < v.w.Len() && v.w.ArrivalUs[next]*1000 < at {
					c := &job2{id: int32(next), at: v.w.ArrivalUs[next] * 1000}
					v.serial++
					c.came = v.serial
					switch {
					case int64(v.w.Prompt[next]+v.w.Output[next]) >= v.capacity, v.p.QueueLimit > 0 && len(v.waiting) >= v.p.QueueLimit:
						outcome[next] = "rejected"
					default:
						v.waiting = append(v.waiting, c)
					}
					next++
				}
				v.expire(at, outcome)
			}
			now = wake
		case next < v.w.Len():
			now = v.w.ArrivalUs[next] * 1000
		default:
			return
		}
		if len(v.waiting)+len(v.running) > 2*v.w.Len() {
			t.Fatal("the plain engine multiplies requests")
		}
	}
}

func (v *plain) expire(now int64, outcome []string) {
	if v.p.QueueTimeoutS == 0 {
		return
	}
	v.waiting = slices.DeleteFunc(v.waiting, func(c *job2) bool {
		if v.log.StartNs[c.id] >= 0 || now < c.at+int64(v.p.QueueTimeoutS*1e9) {
			return false
		}
		outcome[c.id] = fmt.Sprint("timed out at ", now)
		return true
	})
}
