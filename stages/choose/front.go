package choose

import (
	"cmp"
	"slices"
)

// front writes the assignments that are best for their cost, found on the
// training questions; of exhaustive search alone, which has seen them all, and
// where something has a price.
func (b *batch) front(p *pool, known *survey, at sample) error {
	if b.run.Config.optimiser.rule.Name != "exhaustive" || !p.priced || known.optimum == nil {
		return nil
	}
	order, err := frontier(p, known)
	if err != nil {
		return err
	}
	alloc := make([]int32, len(p.modules))
	test := newJudge(p.last())
	first := len(b.pareto)
	for _, i := range order {
		known.space.At(uint64(i), alloc)
		cost, err := p.train.Cost(alloc)
		if err != nil {
			return err
		}
		row := ParetoRow{
			Where: b.where(at), Kind: "assignment", Point: int32(len(b.pareto) - first), Label: p.text(alloc),
			CostTrain: cost, AccuracyTrain: known.trainRate[i],
		}
		if row.AccuracyTest, err = test.accuracy(alloc); err != nil {
			return err
		}
		if row.CostTest, err = test.world.Cost(alloc); err != nil {
			return err
		}
		row.Lo, row.Hi = interval(row.AccuracyTest, test.questions())
		b.pareto = append(b.pareto, row)
	}
	markFront(b.pareto[first:])
	return nil
}

// frontier lists the numbers of the assignments that no other beats by cost and
// accuracy on the training questions, the cheapest first.
func frontier(p *pool, known *survey) ([]int32, error) {
	costs := make([]float64, known.size)
	order := make([]int32, known.size)
	alloc := make([]int32, len(p.modules))
	for i := range costs {
		var err error
		if costs[i], err = p.train.Cost(alloc); err != nil {
			return nil, err
		}
		order[i] = int32(i)
		known.space.Next(alloc)
	}
	slices.SortFunc(order, func(i, j int32) int {
		return cmp.Or(cmp.Compare(costs[i], costs[j]), cmp.Compare(known.trainRate[j], known.trainRate[i]), cmp.Compare(i, j))
	})
	best := -1.0
	return slices.DeleteFunc(order, func(i int32) bool {
		if known.trainRate[i] <= best {
			return true
		}
		best = known.trainRate[i]
		return false
	}), nil
}

// markFront marks the points that no other beats on the test questions.
func markFront(points []ParetoRow) {
	for i := range points {
		p := &points[i]
		p.Front = !slices.ContainsFunc(points, func(q ParetoRow) bool {
			return q.CostTest <= p.CostTest && q.AccuracyTest >= p.AccuracyTest && (q.CostTest < p.CostTest || q.AccuracyTest > p.AccuracyTest)
		})
	}
}
