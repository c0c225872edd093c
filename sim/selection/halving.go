package selection

import (
	"math"
	"slices"
)

var halvingEntry = Entry{
	Name:        "halving",
	Summary:     "random allocations answer few questions; the better half answers twice as many, until two have answered all",
	Ties:        "the one drawn first",
	Stop:        "after the last rung; fewer allocations begin where the budget buys no more",
	Source:      "successive halving (Jamieson and Talwalkar, AISTATS 2016), with rungs that share their questions",
	NeedsScores: true,
	Draws:       true,
	New:         func() Optimiser { return new(Halving) },
}

// Halving is successive halving over n random allocations. With
//
//	R = ceil(log_eta n)
//
// rungs i = 1..R, rung i keeps ceil(n/eta^(i-1)) allocations and has them answer
// the first N/eta^(R-i) of the N questions in a random order, so that an
// allocation answers no question twice and the last rung hears all questions.
// It does not use the start.
type Halving struct {
	Arms int `yaml:"arms" default:"64" min:"0" unit:"allocations" doc:"allocations that begin; 0 means as many as the budget buys"`
	Eta  int `yaml:"eta" default:"2" min:"2" doc:"one in so many goes on to the next rung"`
}

// arm is an allocation in the race.
type arm struct {
	alloc []int32
	sum   float64 // of scores
	fee   float64 // for its cost
	drawn int
}

// Run implements Optimiser.
func (h *Halving) Run(p Problem) (Outcome, error) {
	const name = "halving"
	l, err := open(name, p, true)
	if err != nil {
		return Outcome{}, err
	}
	if err := l.needStream(name); err != nil {
		return Outcome{}, err
	}
	c := &climb{ledger: l}
	n, stop := h.arms(l), StopComplete
	if n < h.Arms && !l.space.AtMost(uint64(n)) {
		stop = StopBudget
	}
	arms := drawArms(l, n)
	order, set := l.permutation(), make([]uint64, l.words)
	asked := 0
	for i := 1; i <= h.rungs(n) && err == nil; i++ {
		upTo := h.questions(l.questions, n, i)
		err = answerArms(l, arms, order[asked:upTo], set)
		if asked = upTo; err == nil && asked < l.questions {
			rank(arms, asked)
			arms = arms[:h.survivors(n, i)]
		}
	}
	if err != nil {
		if asked > 0 { // the leader of the last rung that was finished
			c.current = arms[0].alloc
		}
		return c.finish(name, stop, err)
	}
	rank(arms, l.questions)
	c.current, c.hit = arms[0].alloc, l.evaluations()
	o, err := c.finish(name, stop, nil)
	if err != nil {
		return o, err
	}
	o.Accuracy = arms[0].sum / float64(l.questions)
	o.Cost, err = l.world.Cost(o.Assignment)
	return o, err
}

// rungs is ceil(log_eta n), and one for a single allocation.
func (h *Halving) rungs(n int) int {
	rungs := 1
	for reach := h.eta(); reach < n; reach *= h.eta() {
		rungs++
	}
	return rungs
}

func (h *Halving) eta() int { return max(2, h.Eta) }

// survivors is how many of n go on after rung i.
func (h *Halving) survivors(n, i int) int {
	for range i {
		n = (n + h.eta() - 1) / h.eta()
	}
	return n
}

// questions is how many of all have been asked after rung i.
func (h *Halving) questions(all, n, i int) int {
	for range h.rungs(n) - i {
		all /= h.eta()
	}
	return max(1, all)
}

// price is the number of (allocation, question) pairs of a race of n.
func (h *Halving) price(all, n int) int64 {
	var sum int64
	asked, alive := 0, n
	for i := 1; i <= h.rungs(n); i++ {
		upTo := h.questions(all, n, i)
		sum += int64(alive) * int64(upTo-asked)
		if asked = upTo; asked < all {
			alive = h.survivors(n, i)
		}
	}
	return sum
}

// arms is the number that begin: as asked for, within space and budget. The
// price rises with n except at new rungs, so the search goes down from the top.
func (h *Halving) arms(l *ledger) int {
	most := math.MaxInt32
	if h.Arms > 0 {
		most = h.Arms
	}
	if l.space.AtMost(uint64(most)) {
		most = int(l.space.total)
	}
	budget := int64(l.Budget) * int64(l.questions)
	// n allocations answer at least one question each.
	most = int(min(int64(most), budget))
	for most > 1 && h.price(l.questions, most) > budget {
		if h.price(l.questions, most/2) > budget {
			most /= 2
		} else {
			most--
		}
	}
	return most
}

func drawArms(l *ledger, n int) []arm {
	arms := make([]arm, 0, n)
	draws := newSample(l, uint64(n))
	for alloc := make([]int32, l.modules); draws.next(alloc); {
		arms = append(arms, arm{alloc: slices.Clone(alloc), drawn: len(arms)})
	}
	return arms
}

func answerArms(l *ledger, arms []arm, list []int32, set []uint64) error {
	members(set, list)
	for i := range arms {
		a := &arms[i]
		scores, err := l.scoresOf(a.alloc, list, set)
		if err != nil {
			return err
		}
		for _, s := range scores {
			a.sum += float64(s)
		}
		if l.priced() {
			cost, err := l.world.Cost(a.alloc)
			if err != nil {
				return err
			}
			a.fee = l.fee(cost)
		}
	}
	return nil
}

// rank sorts by value after n questions, the first drawn first among equals.
func rank(arms []arm, n int) {
	value := func(a arm) float64 { return a.sum/float64(n) - a.fee }
	slices.SortFunc(arms, func(a, b arm) int {
		switch x, y := value(a), value(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return a.drawn - b.drawn
	})
}
