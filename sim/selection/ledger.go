package selection

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// ledger is the account of one run: it evaluates allocations through the cache
// and counts what that would have cost.
type ledger struct {
	Problem
	*Cache
	out     Outcome
	current []int32 // the incumbent
	asks    int64   // questions answered, each time that they were asked for
	part    []float32
	parts   map[uint64][]uint64 // allocations of which a Partial world answered parts alone: which questions
}

// open begins a run. The start is the problem's, or drawn.
func open(name string, p Problem, needsScores bool) (*ledger, error) {
	c, err := NewCache(p.World)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if c.questions < 1 {
		return nil, fmt.Errorf("%s: the world has no questions: give it at least one", name)
	}
	if needsScores && c.aggregate != nil {
		return nil, fmt.Errorf("%s: %w", name, ErrNoScores)
	}
	if p.Budget < 0 || p.Dollars < 0 || !(p.Lambda >= 0) || !(p.Cap >= 0) {
		return nil, fmt.Errorf("%s: budget %d, dollars %g, lambda %g and cap %g must be at least 0", name, p.Budget, p.Dollars, p.Lambda, p.Cap)
	}
	if p.Budget == 0 {
		p.Budget = DefaultBudget
	}
	if c.run == math.MaxUint32 {
		clear(c.stamp)
		c.run = 0
	}
	c.run++
	return &ledger{Problem: p, Cache: c}, nil
}

// begin places the incumbent at the start.
func (l *ledger) begin(name string) error {
	if l.Start != nil {
		if err := l.space.check(l.Start); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		l.current = slices.Clone(l.Start)
		return nil
	}
	if err := l.needStream(name); err != nil {
		return err
	}
	l.current = make([]int32, l.modules)
	l.draw(l.current)
	return nil
}

func (l *ledger) needStream(name string) error {
	if l.Stream == nil {
		return fmt.Errorf("%s: draws at random: give the problem a stream of sim/rng", name)
	}
	return nil
}

// draw writes a random allocation.
func (l *ledger) draw(alloc []int32) {
	for m, n := range l.space.sizes {
		alloc[m] = int32(l.Stream.IntN(int(n)))
	}
}

// eval answers all questions under an allocation and charges for it.
func (l *ledger) eval(alloc []int32) (int32, error) {
	if err := l.spent(); err != nil {
		return 0, err
	}
	slot, err := l.find(alloc)
	if err == nil {
		l.charge(slot, alloc, l.every)
	}
	return slot, err
}

// charge counts the questions of a set as asked under an entry's allocation.
func (l *ledger) charge(slot int32, alloc []int32, set []uint64) {
	asked := l.askedAt(slot)
	if l.stamp[slot] != l.run {
		l.stamp[slot] = l.run
		clear(asked)
		l.out.Distinct++
		if len(l.parts) > 0 { // what was answered before is no news
			index := l.space.Index(alloc)
			copy(asked, l.parts[index])
			delete(l.parts, index)
		}
	}
	l.ask(asked, set, l.cost[slot])
}

// ask adds a set of questions to those that were asked, and bills them.
func (l *ledger) ask(asked, set []uint64, cost float64) {
	var all, fresh int
	for i, w := range set {
		all += bits.OnesCount64(w)
		fresh += bits.OnesCount64(w &^ asked[i])
		asked[i] |= w
	}
	l.bill(all, fresh, cost)
}

func (l *ledger) bill(all, fresh int, cost float64) {
	l.asks += int64(all)
	l.out.QuestionRuns += int64(fresh)
	l.out.Dollars += float64(float64(fresh) * cost)
	l.out.DollarsNoCache += float64(float64(all) * cost)
}

// scoresOf answers a part of the questions: the list, which is also the set.
// A world that can answers no more than these.
func (l *ledger) scoresOf(alloc, list []int32, set []uint64) ([]float32, error) {
	if err := l.spent(); err != nil {
		return nil, err
	}
	if len(l.part) < l.questions {
		l.part = make([]float32, l.questions)
	}
	dst := l.part[:len(list)]
	slot, ok := l.has(alloc)
	if partial, can := l.world.(Partial); can && !ok {
		if err := partial.ScoresOf(alloc, list, dst); err != nil {
			return nil, err
		}
		cost, err := l.world.Cost(alloc)
		if err != nil {
			return nil, err
		}
		if l.parts == nil {
			l.parts = make(map[uint64][]uint64)
		}
		index := l.space.Index(alloc)
		if l.parts[index] == nil {
			l.parts[index] = make([]uint64, len(set))
		}
		l.ask(l.parts[index], set, cost)
		return dst, nil
	}
	slot, err := l.find(alloc)
	if err != nil {
		return nil, err
	}
	l.charge(slot, alloc, set)
	if l.binary == nil {
		whole := l.scores[int(slot)*l.questions:]
		for i, q := range list {
			dst[i] = whole[q]
		}
		return dst, nil
	}
	right := l.rightAt(slot)
	for i, q := range list {
		dst[i] = float32(right[q/64] >> (q % 64) & 1)
	}
	return dst, nil
}

// spent returns ErrBudget once the run's dollars are gone.
func (l *ledger) spent() error {
	if l.Dollars > 0 && l.out.Dollars >= l.Dollars {
		return ErrBudget
	}
	return nil
}

// value is what the optimisers climb: accuracy less the penalty for cost.
func (l *ledger) value(slot int32) float64 {
	return l.accuracy[slot] - l.fee(l.cost[slot])
}

// fee is the penalty for cost. Beyond the cap it exceeds whatever accuracy can
// bring, and rises, so that a climb that begins there goes down in cost first.
func (l *ledger) fee(cost float64) float64 {
	fee := float64(l.Lambda * cost)
	if l.Cap > 0 && cost > l.Cap {
		fee += 2 + cost
	}
	return fee
}

// priced says whether costs matter at all.
func (l *ledger) priced() bool { return l.Lambda > 0 || l.Cap > 0 }

// evaluations counts parts of questions as parts, rounded up.
func (l *ledger) evaluations() int {
	n := int64(max(1, l.questions))
	return int((l.asks + n - 1) / n)
}

// record appends a round, whose assignment is the incumbent's copy.
func (l *ledger) record(r Round) {
	r.Evaluations = l.evaluations()
	r.Assignment = slices.Clone(l.current)
	l.out.Rounds = append(l.out.Rounds, r)
}

// finish closes the account. An error that means that the budget is spent is an
// ordinary end; the assignment is then the incumbent.
func (l *ledger) finish(name string, stop Stop, err error) (Outcome, error) {
	if err != nil && !errors.Is(err, ErrBudget) {
		return Outcome{}, fmt.Errorf("%s: %w", name, err)
	}
	if err != nil {
		stop = StopBudget
	}
	o := &l.out
	o.Stop, o.Converged = stop, stop == StopConverged || stop == StopComplete
	o.Assignment = slices.Clone(l.current)
	o.Evaluations = l.evaluations()
	o.Distinct += len(l.parts)
	o.Accuracy = math.NaN()
	if slot, ok := l.has(l.current); ok {
		o.Accuracy, o.Cost = l.accuracy[slot], l.cost[slot]
	}
	return *o, nil
}

// firstHit is how many evaluations it took until the assignment first stood.
func (l *ledger) firstHit(start []int32) int {
	if slices.Equal(start, l.current) {
		return 0
	}
	for _, r := range l.out.Rounds {
		if slices.Equal(r.Assignment, l.current) {
			return r.Evaluations
		}
	}
	return l.evaluations()
}
