package choose

import (
	"math"
	"math/bits"

	"switchyard/sim/selection"
)

// judge scores assignments in one world, without an optimiser's accounts.
type judge struct {
	world     selection.World
	binary    selection.Binary
	aggregate selection.Aggregate
	right     []uint64
	scores    []float32
}

func newJudge(w selection.World) *judge {
	j := &judge{world: w}
	j.binary, _ = w.(selection.Binary)
	j.aggregate, _ = w.(selection.Aggregate)
	switch {
	case j.aggregate != nil:
	case j.binary != nil:
		j.right = make([]uint64, (w.Questions()+63)/64)
	default:
		j.scores = make([]float32, w.Questions())
	}
	return j
}

// accuracy is the mean score of an assignment; its scores stay in the judge.
func (j *judge) accuracy(alloc []int32) (float64, error) {
	switch {
	case j.aggregate != nil:
		return j.aggregate.Accuracy(alloc)
	case j.binary != nil:
		if err := j.binary.Right(alloc, j.right); err != nil {
			return 0, err
		}
		n := 0
		for _, w := range j.right {
			n += bits.OnesCount64(w)
		}
		return float64(n) / float64(j.world.Questions()), nil
	}
	if err := j.world.Scores(alloc, j.scores); err != nil {
		return 0, err
	}
	sum := 0.0
	for _, s := range j.scores {
		sum += float64(s)
	}
	return sum / float64(len(j.scores)), nil
}

// questions is the number of questions behind an accuracy, 0 where the world
// has only the accuracies.
func (j *judge) questions() int {
	if j == nil {
		return 0
	}
	return j.world.Questions()
}

// all writes the accuracy of every assignment, in the order of the space.
func (j *judge) all(space *selection.Space, dst []float64) error {
	if c, ok := j.world.(selection.Counter); ok {
		counts := make([]int32, len(dst))
		if err := c.Counts(counts); err != nil {
			return err
		}
		for i, n := range counts {
			dst[i] = float64(n) / float64(j.world.Questions())
		}
		return nil
	}
	alloc := make([]int32, j.world.Modules())
	for i := range dst {
		var err error
		if dst[i], err = j.accuracy(alloc); err != nil {
			return err
		}
		space.Next(alloc)
	}
	return nil
}

// bounds collects the best score of each question over assignments.
type bounds struct {
	*judge
	rights []uint64
	best   []float32
}

// include takes the assignment that the judge has scored last.
func (b *bounds) include() {
	if b.binary != nil {
		if b.rights == nil {
			b.rights = make([]uint64, len(b.right))
		}
		for i, w := range b.right {
			b.rights[i] |= w
		}
		return
	}
	if b.best == nil {
		b.best = make([]float32, len(b.scores))
	}
	for q, s := range b.scores {
		b.best[q] = max(b.best[q], s)
	}
}

// oracle is the mean of the best scores; NaN where there are none.
func (b *bounds) oracle() float64 {
	n := float64(b.world.Questions())
	sum := 0.0
	switch {
	case b.aggregate != nil:
		return math.NaN()
	case b.binary != nil:
		for _, w := range b.rights {
			sum += float64(bits.OnesCount64(w))
		}
	default:
		for _, s := range b.best {
			sum += float64(s)
		}
	}
	return sum / n
}
