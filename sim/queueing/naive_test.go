package queueing

import (
	"math"
	"slices"

	"switchyard/sim/rng"
)

// naive is a second implementation of dispatch, as plain as can be: it keeps
// every request for ever and answers every question by looking at all of them.
type naive struct {
	c         *Config
	stream    *rng.Stream
	jobs      []naiveJob
	turn      map[int]int // by dispatcher: where ties rotate on
	robin     map[int]int
	perm      map[int][]int // by dispatcher: requests sent to each server
	updates   []naiveUpdate
	updating  *rng.Stream
	ages      *rng.Stream
	totalLoad float64
}

type naiveJob struct {
	arrival, need, guess, service, start, done int64
	from, server                               int
}

type naiveUpdate struct {
	time   int64
	server int
}

func newNaive(c *Config, seed uint64, replication int) *naive {
	return &naive{
		c: c, stream: rng.New(seed, replication, "dispatch/policy/"+PolicyOf(c.Policy).Name),
		turn: map[int]int{}, robin: map[int]int{}, perm: map[int][]int{},
		updating: rng.New(seed, replication, "dispatch/updates"), ages: rng.New(seed, replication, "dispatch/ages"),
	}
}

func (n *naive) servers() int { return n.c.System.Servers }

func (n *naive) service(i int, size int64) int64 {
	if n.c.System.speed(i) == 1 {
		return size
	}
	return max(1, int64(float64(size)*(1/n.c.System.speed(i))+0.5))
}

// add lets a request arrive, chooses its server, and works out anew when all
// requests of that server start and end.
func (n *naive) add(t, need, guess int64, from int) {
	i := n.choose(t, need, guess, from)
	n.jobs = append(n.jobs, naiveJob{
		arrival: t, need: need, service: n.service(i, need), guess: n.service(i, guess), from: from, server: i,
	})
	var mine []*naiveJob
	for k := range n.jobs {
		if n.jobs[k].server == i {
			mine = append(mine, &n.jobs[k])
		}
	}
	if n.c.System.Discipline == "ps" {
		naiveShare(mine, math.MaxInt64)
		return
	}
	var free int64
	for _, j := range mine {
		j.start = max(j.arrival, free)
		j.done = j.start + j.service
		free = j.done
	}
}

// naiveShare works out when the requests of a processor sharing server end, and
// returns what each lacks at time upto.
func naiveShare(jobs []*naiveJob, upto int64) []float64 {
	left := make([]float64, len(jobs))
	var inside []int
	now, next := int64(0), 0
	step := func(t int64) {
		for _, k := range inside {
			left[k] -= float64(t-now) / float64(len(inside))
		}
		now = t
	}
	for next < len(jobs) || len(inside) > 0 {
		leaves, end := -1, int64(math.MaxInt64)
		for _, k := range inside {
			if leaves < 0 || left[k] < left[leaves] {
				leaves = k
			}
		}
		if leaves >= 0 {
			end = now + int64(math.Ceil(max(0, left[leaves])*float64(len(inside))))
		}
		arrives := next < len(jobs) && jobs[next].arrival < end
		t := end
		if arrives {
			t = jobs[next].arrival
		}
		if t > upto {
			step(upto)
			return left
		}
		step(t)
		if arrives {
			left[next] = float64(jobs[next].service)
			inside = append(inside, next)
			next++
			continue
		}
		inside = slices.DeleteFunc(inside, func(k int) bool {
			if gone := k == leaves || left[k] <= 0; gone {
				left[k] = 0
				jobs[k].done = now
				return true
			}
			return false
		})
	}
	return left
}

// requests returns how many requests are at server i at time s, of one
// dispatcher or, with from of -1, of all. The state has in it what arrived
// before s, or before now where s is now.
func (n *naive) requests(i int, s int64, now bool, from int) (count int64) {
	for _, j := range n.jobs {
		if j.server == i && (now || j.arrival < s) && j.done > s && (from < 0 || j.from == from) {
			count++
		}
	}
	return count
}

// work returns the time that server i needs at time s for all that it was sent.
func (n *naive) work(i int, s int64, now bool) int64 {
	var free int64
	for _, j := range n.jobs {
		if j.server == i && (now || j.arrival < s) {
			free = max(free, j.arrival) + j.service
		}
	}
	return max(0, free-s)
}

// expected returns the work left at server i by predictions.
func (n *naive) expected(i int, t int64, progress bool) (sum int64) {
	var mine []*naiveJob
	for _, j := range n.jobs {
		if j.server == i {
			copied := j
			mine = append(mine, &copied)
		}
	}
	var left []float64
	if n.c.System.Discipline == "ps" && progress {
		left = naiveShare(mine, t)
	}
	for k, j := range mine {
		switch {
		case j.done <= t:
		case !progress:
			sum += j.guess
		case left != nil:
			sum += max(0, j.guess-int64(float64(j.service)-left[k]))
		default:
			sum += max(0, j.guess-max(0, t-j.start))
		}
	}
	return sum
}

// state is what a policy of that sight finds at server i at time s.
func (n *naive) state(i int, s int64, now bool) int64 {
	switch p := n.c.Policy.(type) {
	case *LWL, *CentralQueue:
		return n.work(i, s, now)
	case *ExpectedWork:
		return n.expected(i, s, p.Progress)
	}
	return n.requests(i, s, now, -1)
}

// seen returns what dispatcher from sees of all servers at time t.
func (n *naive) seen(t int64, from int) []int64 {
	loads := make([]int64, n.servers())
	info := n.c.Information
	age := ticksOf(info.Age)
	var asOf int64
	switch {
	case info.Model == "own":
		for i := range loads {
			loads[i] = n.requests(i, t, true, from)
		}
		return loads
	case info.Live():
		for i := range loads {
			loads[i] = n.state(i, t, true)
		}
		return loads
	case info.Model == "periodic":
		asOf = t / age * age
	case info.Model == "continuous":
		asOf = t - age
	case info.Model == "continuous-exponential":
		asOf = t - int64(n.ages.Exp()*float64(age))
	}
	for i := range loads {
		s := asOf
		if info.Model == "individual" {
			s = n.lastUpdate(i, t)
		}
		loads[i] = n.state(i, s, false)
		if !info.Corrections {
			continue
		}
		for _, j := range n.jobs {
			if j.server == i && j.from == from && j.arrival >= s {
				if _, ok := n.c.Policy.(*LWL); ok {
					loads[i] += j.service
				} else {
					loads[i]++
				}
			}
		}
	}
	return loads
}

// lastUpdate returns when server i last wrote its state, up to time t; before
// all arrivals where it never did.
func (n *naive) lastUpdate(i int, t int64) int64 {
	gap := func() int64 {
		return int64(n.updating.Exp()*float64(ticksOf(n.c.Information.Age))/float64(n.servers())) + 1
	}
	if len(n.updates) == 0 {
		n.updates = []naiveUpdate{{gap(), -1}}
	}
	for last := &n.updates[len(n.updates)-1]; last.time <= t; last = &n.updates[len(n.updates)-1] {
		last.server = n.updating.IntN(n.servers())
		n.updates = append(n.updates, naiveUpdate{last.time + gap(), -1})
	}
	for k := len(n.updates) - 1; k >= 0; k-- {
		if n.updates[k].server == i {
			return n.updates[k].time
		}
	}
	return 0
}

// tied breaks a tie.
func (n *naive) tied(candidates []int, rule string, from int) int {
	slices.Sort(candidates)
	chosen := candidates[0]
	switch rule {
	case "random":
		chosen = candidates[n.stream.IntN(len(candidates))]
	case "rotating":
		for i := range n.servers() {
			if k := (n.turn[from] + i) % n.servers(); slices.Contains(candidates, k) {
				chosen = k
				break
			}
		}
	}
	n.turn[from] = (chosen + 1) % n.servers()
	return chosen
}

// minimal returns the indices of the least numbers.
func minimal[N int64 | float64](xs []N) (out []int) {
	for i, x := range xs {
		if x == slices.Min(xs) {
			out = append(out, i)
		}
	}
	return out
}

// delays returns what the numbers of requests would be with one more, in time.
func (n *naive) delays(requests []int64) (out []float64) {
	for i, r := range requests {
		out = append(out, float64(r+1)/n.c.System.speed(i))
	}
	return out
}

func (n *naive) choose(t, need, guess int64, from int) int {
	all := make([]float64, n.servers())
	for i := range all {
		all[i] = n.c.System.speed(i)
	}
	unequal := slices.Min(all) != slices.Max(all) || all[0] != 1
	plus := func(loads []int64, size int64) []int64 {
		for i := range loads {
			loads[i] += n.service(i, size)
		}
		return loads
	}
	switch p := n.c.Policy.(type) {
	case *Random:
		if p.Weights == "speeds" && unequal {
			return naiveDiscrete(n.stream, all)
		}
		return n.stream.IntN(n.servers())
	case *RoundRobin:
		n.robin[from]++
		return (from + n.robin[from] - 1) % n.servers()
	case *WeightedRoundRobin:
		return n.weighted(p, all, from)
	case *JSQ:
		loads := n.seen(t, from)
		if p.IncludeSelf && unequal {
			return n.tied(minimal(n.delays(loads)), p.Rule, from)
		}
		return n.tied(minimal(loads), p.Rule, from)
	case *JSQOf:
		return n.sampled(p, n.seen(t, from), unequal, from)
	case *JIQ:
		var idle []int
		for i, load := range n.seen(t, from) {
			if load == 0 {
				idle = append(idle, i)
			}
		}
		if idle == nil {
			return n.stream.IntN(n.servers())
		}
		return n.tied(idle, p.Rule, from)
	case *LWL:
		loads := n.seen(t, from)
		if p.IncludeSelf && unequal {
			loads = plus(loads, need)
		}
		return n.tied(minimal(loads), p.Rule, from)
	case *CentralQueue:
		return n.tied(minimal(n.seen(t, from)), p.Rule, from)
	case *ExpectedWork:
		loads := n.seen(t, from)
		if p.IncludeSelf && unequal {
			loads = plus(loads, guess)
		}
		return n.tied(minimal(loads), p.Rule, from)
	case *SITA:
		return n.interval(need, all)
	}
	panic("no such policy")
}

func (n *naive) weighted(p *WeightedRoundRobin, speeds []float64, from int) int {
	if n.perm[from] == nil {
		n.perm[from] = make([]int, n.servers())
	}
	keys := make([]float64, n.servers())
	for i := range keys {
		w := speeds[i]
		if len(p.Weights) > 0 {
			w = p.Weights[i%len(p.Weights)]
		}
		keys[i] = (float64(n.perm[from][i]) + 0.5) / w
	}
	i := minimal(keys)[0]
	n.perm[from][i]++
	return i
}

func (n *naive) sampled(p *JSQOf, loads []int64, unequal bool, from int) int {
	var rest, drawn []int
	for i := range n.servers() {
		rest = append(rest, i)
	}
	for range p.Choices {
		r := n.stream.IntN(len(rest))
		drawn = append(drawn, rest[r])
		if !p.Replacement {
			rest = slices.Delete(rest, r, r+1)
		}
	}
	keys := make([]float64, len(loads))
	for i, load := range loads {
		if keys[i] = float64(load); p.IncludeSelf && unequal {
			keys[i] = n.delays(loads)[i]
		}
	}
	best := math.Inf(1)
	for _, i := range drawn {
		best = min(best, keys[i])
	}
	drawn = slices.DeleteFunc(drawn, func(i int) bool { return keys[i] != best })
	if p.Rule == "random" {
		return drawn[0]
	}
	return n.tied(drawn, p.Rule, from)
}

// interval finds the place of a size in the order of sizes by load.
func (n *naive) interval(need int64, speeds []float64) int {
	law := n.c.Sizes.Law()
	x := float64(need) / ticksPerMean * law.Mean()
	below, upTo := law.Partial(1, x), law.Partial(1, x)
	var values []float64
	switch s := n.c.Sizes.(type) {
	case *EmpiricalSizes:
		values = s.scaled()
	case *DeterministicSizes:
		values = []float64{s.Mean}
	}
	if values != nil {
		below, upTo = 0, 0
		for _, v := range values {
			ticks := toTicks(v * (ticksPerMean / law.Mean()))
			if ticks < need {
				below += v / float64(len(values))
			}
			if ticks <= need {
				upTo += v / float64(len(values))
			}
		}
	}
	var total, sum float64
	for _, v := range speeds {
		total += v
	}
	place := func(load float64) int {
		sum = 0
		for i, v := range speeds {
			if sum += v; load < sum/total*law.Mean() || i == len(speeds)-1 {
				return i
			}
		}
		return 0
	}
	first, last := place(below), place(upTo)
	if first == last || values == nil {
		return first
	}
	return place(below + n.stream.Float64()*(upTo-below))
}

// naiveDiscrete draws an index in proportion to its weight.
func naiveDiscrete(s *rng.Stream, weights []float64) int {
	var total, sum float64
	for _, w := range weights {
		total += w
	}
	u := s.Float64()
	for i, w := range weights {
		if sum += w; sum/total > u {
			return i
		}
	}
	return len(weights) - 1
}
