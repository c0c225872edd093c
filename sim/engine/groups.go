package engine

import "math"

// grouping sorts requests into priority groups by the cached share of their
// prompts. Both ways are Preble's (2025): its paper's, floor(P × share) and at
// least 1, so that of ten groups 63 % cached is group 6 and less than 20 % is
// group 1; and its code's, ceil(P × share) - 1 and at least 0. The zero value
// has no groups.
type grouping struct {
	count int  // numbers of groups are 0 to count
	code  bool // as the code has it: 0 to count - 1
}

// of returns the group of a prompt of which match tokens are cached.
func (p grouping) of(match, prompt int32) int {
	scaled := int64(match) * int64(p.count)
	if p.code {
		return int(max(0, (scaled+int64(prompt)-1)/int64(prompt)-1))
	}
	return int(max(1, scaled/int64(prompt)))
}

// prompts returns the range of prompt lengths that, with match tokens cached,
// are of group g; low > high where there are none.
func (p grouping) prompts(g int, match int32) (low, high int64) {
	return p.least(g, match), p.least(g-1, match) - 1
}

// least returns the least prompt length whose group is at most g.
func (p grouping) least(g int, match int32) int64 {
	scaled := int64(match) * int64(p.count)
	switch {
	case g < 0 || g < 1 && !p.code:
		return math.MaxInt64
	case p.code:
		return (scaled + int64(g)) / int64(g+1)
	case g >= p.count:
		return 0
	default:
		return scaled/int64(g+1) + 1
	}
}

// groups are waiting requests in priority groups, whether these follow the
// cache or stay as they were when a request was first looked at.
type groups interface {
	add(id int32)
	drop(id int32)
	firstOf(g int) int32
}

// rounds takes from groups in proportion to their priority: in a round group g
// sends g requests, the highest group first; a round ends when no group with
// requests has credit left (Preble, 2025, section 3.3: of 55 slots 10 go to
// group 10, 9 to group 9, ... 1 to group 1).
type rounds struct {
	groups
	credit []int // by group: requests that it may still send
	chosen int   // group of the request that first returned
}

func (q *rounds) reset(of groups, count int) {
	q.groups, q.credit = of, cleared(q.credit, count+1)
}

func (q *rounds) begin() {}

func (q *rounds) first() int32 {
	for range 2 {
		for g := len(q.credit) - 1; g > 0; g-- {
			if q.credit[g] == 0 {
				continue
			}
			if id := q.firstOf(g); id != none {
				q.chosen = g
				return id
			}
		}
		for g := range q.credit {
			q.credit[g] = g
		}
	}
	return none
}

func (q *rounds) take(id int32) {
	q.credit[q.chosen]--
	q.drop(id)
}

// cursor takes from one group an iteration: of P groups first from P-1, then
// from the next lower one that has requests, round and round, and from group g
// at most 10 (g + 1) requests (the order fcfs-mpq of Preble's code).
type cursor struct {
	groups
	count int
	at    int // group of this iteration
	left  int // requests that it may still send
}

func (q *cursor) reset(of groups, count int) { *q = cursor{groups: of, count: count} }

func (q *cursor) begin() {
	q.left = 0
	for i := range q.count {
		g := (q.at - 1 - i + 2*q.count) % q.count
		if q.firstOf(g) != none {
			q.at, q.left = g, 10*(g+1)
			return
		}
	}
}

func (q *cursor) first() int32 {
	if q.left == 0 {
		return none
	}
	return q.firstOf(q.at)
}

func (q *cursor) take(id int32) {
	q.left--
	q.drop(id)
}

// fixed are groups whose requests stay where they were put when they were
// first looked at.
type fixed struct {
	index  *index // for what it knows, it holds nothing
	fresh  []int32
	queues []fifo
}

func (f *fixed) reset(x *index, p grouping) {
	f.index, f.fresh = x, f.fresh[:0]
	for len(f.queues) <= p.count {
		f.queues = append(f.queues, fifo{})
	}
	f.queues = f.queues[:p.count+1]
	for g := range f.queues {
		f.queues[g].reset(x.places)
	}
}

func (f *fixed) add(id int32) { f.fresh = append(f.fresh, id) }

func (f *fixed) firstOf(g int) int32 {
	x := f.index
	for _, id := range f.fresh {
		if x.places[id].seq != dead {
			f.queues[x.groups.of(x.cache.Match(x.r, x.work.Leaf[id]), x.work.Prompt[id])].add(id)
		}
	}
	f.fresh = f.fresh[:0]
	return f.queues[g].first()
}

func (f *fixed) drop(id int32) {
	for g := range f.queues {
		if f.queues[g].first() == id {
			f.queues[g].pop()
			return
		}
	}
	f.index.places[id].seq = dead
}
