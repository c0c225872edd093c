package selection

import (
	"errors"
	"fmt"
)

// climb keeps the best of the allocations that it is shown; the first of equal
// ones stays.
type climb struct {
	*ledger
	value float64
	any   bool
	hit   int
}

// try evaluates an allocation.
func (c *climb) try(alloc []int32) error {
	slot, err := c.eval(alloc)
	if err != nil {
		return err
	}
	if v := c.ledger.value(slot); !c.any || v > c.value {
		c.current = append(c.current[:0], alloc...)
		c.value, c.any, c.hit = v, true, c.evaluations()
	}
	return nil
}

// finish closes the run; without any evaluation there is nothing to return.
func (c *climb) finish(name string, stop Stop, err error) (Outcome, error) {
	if c.current == nil && (err == nil || errors.Is(err, ErrBudget)) {
		return Outcome{}, fmt.Errorf("%s: the budget buys no evaluation: raise it", name)
	}
	c.out.CodeBudget = c.evaluations()
	o, err := c.ledger.finish(name, stop, err)
	o.FirstHit = c.hit
	return o, err
}

var singleEntry = Entry{
	Name:    "single",
	Summary: "the best single model in all modules",
	Ties:    "the model with the lowest number",
	Stop:    "after the K models",
	Source:  "the baseline of Chen et al., arXiv:2502.14815, figure 1; OptimizerFullSearch over a pool of one in the released code",
	New:     func() Optimiser { return new(Single) },
}

// Single evaluates each model in all modules at once.
type Single struct{}

// Run implements Optimiser.
func (*Single) Run(p Problem) (Outcome, error) {
	const name = "single"
	l, err := open(name, p, false)
	if err != nil {
		return Outcome{}, err
	}
	all, err := l.space.singles(l.world)
	if err != nil {
		return Outcome{}, fmt.Errorf("%s: %w", name, err)
	}
	c := &climb{ledger: l}
	stop := StopComplete
	for _, alloc := range all {
		if l.evaluations() >= l.Budget {
			stop = StopBudget
			break
		}
		if err = c.try(alloc); err != nil {
			break
		}
	}
	return c.finish(name, stop, err)
}

var randomEntry = Entry{
	Name:    "random",
	Summary: "random allocations without replacement, as many as the budget allows; the best is kept",
	Ties:    "the one drawn first",
	Stop:    "the budget is out, or all allocations are drawn",
	Source:  "OptimizerFullSearch with max_budget in the released code of LLMSelector: a shuffled list, cut",
	Draws:   true,
	New:     func() Optimiser { return new(Random) },
}

// Random evaluates Problem.Budget allocations. For a comparison at equal budget
// the caller gives it what another optimiser spent.
type Random struct{}

// Run implements Optimiser.
func (*Random) Run(p Problem) (Outcome, error) {
	const name = "random"
	l, err := open(name, p, false)
	if err != nil {
		return Outcome{}, err
	}
	if err := l.needStream(name); err != nil {
		return Outcome{}, err
	}
	c := &climb{ledger: l}
	draws := newSample(l, uint64(l.Budget))
	alloc := make([]int32, l.modules)
	for draws.next(alloc) {
		if err = c.try(alloc); err != nil {
			break
		}
	}
	stop := StopBudget
	if l.space.AtMost(uint64(l.Budget)) {
		stop = StopComplete
	}
	return c.finish(name, stop, err)
}

// sample draws up to n different allocations.
type sample struct {
	l     *ledger
	order []uint64 // numbers still to come, where the sample is most of the space
	seen  map[uint64]struct{}
	left  uint64
}

// newSample shuffles the whole space when a quarter of it or more is wanted,
// and otherwise draws again what it has drawn before.
func newSample(l *ledger, n uint64) *sample {
	s := &sample{l: l, left: n}
	size, ok := l.space.Size()
	if ok && size <= 4*n {
		s.left = min(n, size)
		s.order = make([]uint64, size)
		for i := range s.order {
			s.order[i] = uint64(i)
		}
		return s
	}
	s.seen = make(map[uint64]struct{})
	return s
}

func (s *sample) next(alloc []int32) bool {
	if s.left == 0 {
		return false
	}
	s.left--
	if s.seen == nil {
		i := s.l.Stream.IntN(len(s.order))
		last := len(s.order) - 1
		s.l.space.At(s.order[i], alloc)
		s.order[i] = s.order[last]
		s.order = s.order[:last]
		return true
	}
	for {
		s.l.draw(alloc)
		index := s.l.space.Index(alloc)
		if _, again := s.seen[index]; !again {
			s.seen[index] = struct{}{}
			return true
		}
	}
}

var exhaustiveEntry = Entry{
	Name:    "exhaustive",
	Summary: "all allocations; the best on the training questions",
	Ties:    "the first in order, the last module advancing fastest",
	Stop:    "after all K^L; refuses a space larger than the budget",
	Source:  "OptimizerFullSearch in the released code of LLMSelector, which shuffles first",
	New:     func() Optimiser { return new(Exhaustive) },
}

// Exhaustive evaluates every allocation.
type Exhaustive struct{}

// Run implements Optimiser.
func (*Exhaustive) Run(p Problem) (Outcome, error) {
	const name = "exhaustive"
	l, err := open(name, p, false)
	if err != nil {
		return Outcome{}, err
	}
	size, ok := l.space.Size()
	if !ok || size > uint64(l.Budget) {
		return Outcome{}, fmt.Errorf("%s: the space is larger than the budget of %d evaluations: raise it, or take random", name, l.Budget)
	}
	if counter, ok := l.world.(Counter); ok && !l.priced() && l.Problem.Dollars == 0 {
		return countAll(l, counter, int(size))
	}
	c := &climb{ledger: l}
	alloc := make([]int32, l.modules)
	for more := true; more && err == nil; more = l.space.Next(alloc) {
		err = c.try(alloc)
	}
	return c.finish(name, StopComplete, err)
}

// countAll has the world count all right answers together.
func countAll(l *ledger, counter Counter, size int) (Outcome, error) {
	const name = "exhaustive"
	counts := make([]int32, size)
	if err := counter.Counts(counts); err != nil {
		return Outcome{}, fmt.Errorf("%s: %w", name, err)
	}
	best := 0
	for i, n := range counts {
		if n > counts[best] {
			best = i
		}
	}
	l.current = make([]int32, l.modules)
	l.space.At(uint64(best), l.current)
	if _, err := l.find(l.current); err != nil {
		return Outcome{}, fmt.Errorf("%s: %w", name, err)
	}
	if err := l.billAll(); err != nil {
		return Outcome{}, fmt.Errorf("%s: %w", name, err)
	}
	o, err := l.finish(name, StopComplete, nil)
	o.Evaluations, o.CodeBudget, o.Distinct, o.FirstHit = size, size, size, best+1
	return o, err
}

// billAll charges for all questions under all allocations.
func (l *ledger) billAll() error {
	alloc := make([]int32, l.modules)
	for more := true; more; more = l.space.Next(alloc) {
		cost, err := l.world.Cost(alloc)
		if err != nil {
			return err
		}
		l.bill(l.questions, l.questions, cost)
	}
	return nil
}
