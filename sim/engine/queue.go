package engine

// queue is the waiting line of a replica. Requests are kept in order of
// arrival; the waiting orders other than FCFS classify them again whenever the
// cache has changed, and pick by a scan.
type queue struct {
	order  string
	groups int

	ids  []int32 // in order of arrival, from start on
	at   int     // first request still waiting
	rank []int32 // by position: cached tokens, or priority group; empty for FCFS

	ranked  int   // positions that have a rank of the version below
	version int64 // of the cache when they were ranked
	credit  []int // by group: requests that it may still send in this round
	best    int   // position that peek found, -1 without
}

func (q *queue) reset(p Lecture) {
	q.order, q.groups = p.Order, p.Groups
	q.ids, q.rank, q.at, q.ranked, q.version, q.best = q.ids[:0], q.rank[:0], 0, 0, -1, -1
	q.credit = cleared(q.credit, p.Groups+1)
}

func (q *queue) len() int { return len(q.ids) - q.at }

func (q *queue) push(id int32) { q.ids = append(q.ids, id) }

// peek returns the request that is next, of a queue that is not empty.
func (q *queue) peek(rp *lecture) int32 {
	switch q.order {
	case "longest-prefix":
		q.classify(rp)
		q.best = q.longest()
	case "priority-groups":
		q.classify(rp)
		q.best = q.nextOfGroups()
	default:
		q.best = q.at
	}
	return q.ids[q.best]
}

// take removes the request that peek returned.
func (q *queue) take() {
	if q.order == "fcfs" {
		q.at++
		if q.at == len(q.ids) {
			q.ids, q.at = q.ids[:0], 0
		} else if q.at >= 1024 && q.at > len(q.ids)/2 {
			q.ids = q.ids[:copy(q.ids, q.ids[q.at:])]
			q.at = 0
		}
		return
	}
	if q.order == "priority-groups" {
		q.credit[q.rank[q.best]]--
	}
	q.ids = append(q.ids[:q.best], q.ids[q.best+1:]...)
	q.rank = append(q.rank[:q.best], q.rank[q.best+1:]...)
	q.ranked--
}

// classify ranks the requests that came since the last call, and all of them
// when the cache has changed since.
func (q *queue) classify(rp *lecture) {
	if v := rp.cache.version[rp.index]; v != q.version {
		q.version, q.ranked, q.rank = v, 0, q.rank[:0]
	}
	for ; q.ranked < len(q.ids); q.ranked++ {
		id := q.ids[q.ranked]
		hit := rp.hit(id)
		if q.order == "priority-groups" {
			hit = max(1, int32(int64(hit)*int64(q.groups)/int64(rp.work.Prompt[id])))
		}
		q.rank = append(q.rank, hit)
	}
}

// longest returns the first position of those with most cached tokens.
func (q *queue) longest() int {
	best := 0
	for i, hit := range q.rank {
		if hit > q.rank[best] {
			best = i
		}
	}
	return best
}

// nextOfGroups returns the first request of the highest group that has credit.
// In a round group g sends g requests, the highest group first; a round ends
// when no group with requests has credit left (Preble, 2025, section 3.3: of
// 55 slots 10 go to group 10, 9 to group 9, ... 1 to group 1).
func (q *queue) nextOfGroups() int {
	for range 2 {
		best := -1
		for i, g := range q.rank {
			if q.credit[g] > 0 && (best < 0 || g > q.rank[best]) {
				best = i
				if int(g) == q.groups {
					break
				}
			}
		}
		if best >= 0 {
			return best
		}
		for g := range q.credit {
			q.credit[g] = g
		}
	}
	panic("engine: a queue with requests has no group")
}
