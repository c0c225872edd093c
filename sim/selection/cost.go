package selection

import (
	"fmt"
	"slices"
)

// Point is an allocation with what it brings and what it costs.
type Point struct {
	Assignment []int32
	Accuracy   float64
	Cost       float64 // dollars a question
}

// Points evaluates all allocations of a world in the order of Space, if they
// are no more than the limit.
func Points(w World, limit int) ([]Point, error) {
	c, err := NewCache(w)
	if err != nil {
		return nil, fmt.Errorf("points: %w", err)
	}
	if !c.space.AtMost(uint64(limit)) {
		return nil, fmt.Errorf("points: the world has more than %d allocations: raise the limit, or take those that a run evaluated", limit)
	}
	points := make([]Point, 0, c.space.total)
	alloc := make([]int32, c.modules)
	for more := true; more; more = c.space.Next(alloc) {
		slot, err := c.find(alloc)
		if err != nil {
			return nil, fmt.Errorf("points: %w", err)
		}
		points = append(points, c.point(slot))
	}
	return points, nil
}

// Seen returns the allocations that the cache holds, in the order in which they
// were first evaluated: what runs on it have paid for.
func (c *Cache) Seen() []Point {
	points := make([]Point, len(c.accuracy))
	for slot := range points {
		points[slot] = c.point(int32(slot))
	}
	return points
}

func (c *Cache) point(slot int32) Point {
	return Point{Assignment: slices.Clone(c.allocAt(slot)), Accuracy: c.accuracy[slot], Cost: c.cost[slot]}
}

// ByPenalty returns the place of the point with the highest accuracy -
// lambda*cost; of equal ones the cheaper, then the first. Lambda is the
// accuracy that a dollar a question must bring.
func ByPenalty(points []Point, lambda float64) int {
	value := func(p Point) float64 { return p.Accuracy - float64(lambda*p.Cost) }
	return best(points, func(Point) bool { return true }, func(p, q Point) bool {
		return value(p) > value(q) || value(p) == value(q) && p.Cost < q.Cost
	})
}

// ByPrice returns the place of the best point for one who pays up to so many
// dollars a question for a percentage point of accuracy: ByPenalty at lambda
// 1/(100 price). At price 0 it is the cheapest point.
func ByPrice(points []Point, price float64) int {
	if price <= 0 {
		return best(points, func(Point) bool { return true }, cheaper)
	}
	return ByPenalty(points, 1/(100*price))
}

// PerPoint is what a percentage point of accuracy costs, in dollars a question,
// for one who moves from one point to another that is more accurate.
func PerPoint(from, to Point) float64 {
	return (to.Cost - from.Cost) / (100 * (to.Accuracy - from.Accuracy))
}

// CheapestWithin returns the place of the cheapest point whose accuracy is at
// most the tolerance below the highest; of equal ones the more accurate.
func CheapestWithin(points []Point, tolerance float64) int {
	top := 0.0
	for _, p := range points {
		top = max(top, p.Accuracy)
	}
	return best(points, func(p Point) bool { return p.Accuracy >= top-tolerance }, cheaper)
}

// ByBudget returns the place of the most accurate point that costs at most so
// many dollars a question, of equal ones the cheaper; -1 if none does.
func ByBudget(points []Point, dollars float64) int {
	return best(points, func(p Point) bool { return p.Cost <= dollars }, func(p, q Point) bool {
		return p.Accuracy > q.Accuracy || p.Accuracy == q.Accuracy && p.Cost < q.Cost
	})
}

func cheaper(p, q Point) bool {
	return p.Cost < q.Cost || p.Cost == q.Cost && p.Accuracy > q.Accuracy
}

// best returns the place of the first point that is fit and that no fit point
// is better than, or -1.
func best(points []Point, fit func(Point) bool, better func(p, q Point) bool) int {
	at := -1
	for i, p := range points {
		if fit(p) && (at < 0 || better(p, points[at])) {
			at = i
		}
	}
	return at
}

// Cheapen goes down in cost from where another run converged: again and again
// it makes the single change that saves most among those that keep accuracy at
// most the tolerance below the start's; of equal savings the most accurate, then
// the first. It is charged for the start and for every cheaper neighbour. The
// problem's Start is that run's assignment.
func Cheapen(p Problem, tolerance float64) (Outcome, error) {
	const name = "cheapen"
	if p.Start == nil {
		return Outcome{}, fmt.Errorf("%s: give the assignment to start from", name)
	}
	l, err := open(name, p, false)
	if err != nil {
		return Outcome{}, err
	}
	if err := l.begin(name); err != nil {
		return Outcome{}, err
	}
	start := slices.Clone(l.current)
	stop, err := l.cheapen(tolerance)
	l.out.CodeBudget = l.evaluations()
	o, err := l.finish(name, stop, err)
	o.FirstHit = l.firstHit(start)
	return o, err
}

func (l *ledger) cheapen(tolerance float64) (Stop, error) {
	here, err := l.eval(l.current)
	if err != nil {
		return "", err
	}
	least := l.accuracy[here] - tolerance
	for {
		module, next, err := l.saving(here, least)
		if err != nil {
			return "", err
		}
		if module < 0 {
			return StopConverged, nil
		}
		r := Round{Module: module, Incumbent: l.current[module], Values: []float64{l.accuracy[here], l.accuracy[next]}}
		here = next
		copy(l.current, l.allocAt(here))
		r.Winner, r.Tied = l.current[module], 1
		l.record(r)
	}
}

// saving returns the module and the entry of the single change that saves most
// at an accuracy of at least so much, or module -1.
func (l *ledger) saving(here int32, least float64) (module int, next int32, err error) {
	module, next = -1, here
	alloc := slices.Clone(l.current)
	for m, k := range l.space.sizes {
		for i := range k {
			alloc[m] = i
			cost, err := l.world.Cost(alloc)
			if err != nil {
				return 0, 0, err
			}
			if cost >= l.cost[here] {
				continue
			}
			if l.evaluations() >= l.Budget {
				return 0, 0, ErrBudget
			}
			slot, err := l.eval(alloc)
			if err != nil {
				return 0, 0, err
			}
			gains := cost < l.cost[next] || cost == l.cost[next] && l.accuracy[slot] > l.accuracy[next]
			if l.accuracy[slot] >= least && gains {
				module, next = m, slot
			}
		}
		alloc[m] = l.current[m]
	}
	return module, next, nil
}
