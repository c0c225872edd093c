package compound

import (
	"errors"
	"fmt"
	"math"
)

// ErrNoScores says that a world holds each allocation's accuracy and no
// question's score.
var ErrNoScores = errors.New("the table has accuracies and no question's score")

// Averages is a world of published means: accuracy, dollars and seconds of
// whole allocations. Readers fill it with Add; then it only reads, so that
// goroutines may share it.
type Averages struct {
	Names
	questions int
	space     space
	rows      map[int64]means
}

type means struct{ accuracy, cost, latency float64 }

// NewAverages returns an empty table of means over so many questions.
func NewAverages(names Names, questions int) (*Averages, error) {
	if err := names.check(); err != nil {
		return nil, err
	}
	if questions < 1 {
		return nil, errors.New("means need the number of questions that they are taken over")
	}
	return &Averages{Names: names, questions: questions, space: names.space(), rows: map[int64]means{}}, nil
}

// Add records an allocation's accuracy, from 0 to 1, and the dollars and
// seconds of a question.
func (a *Averages) Add(alloc []int32, accuracy, cost, latency float64) error {
	n, err := a.space.number(alloc)
	switch {
	case err != nil:
		return err
	case !(accuracy >= 0 && accuracy <= 1):
		return fmt.Errorf("accuracy %v: accuracies are 0 to 1", accuracy)
	case !(cost >= 0) || !(latency >= 0) || math.IsInf(cost+latency, 1):
		return fmt.Errorf("cost %v and latency %v: both are numbers of at least 0", cost, latency)
	}
	if _, twice := a.rows[n]; twice {
		return fmt.Errorf("%s is recorded twice", a.describe(alloc))
	}
	a.rows[n] = means{accuracy, cost, latency}
	return nil
}

// Missing returns how many allocations are not recorded.
func (a *Averages) Missing() int64 { return a.space.allocations() - int64(len(a.rows)) }

// Modules returns the number of decisions.
func (a *Averages) Modules() int { return len(a.Names.Modules) }

// Candidates returns how many candidates a module has.
func (a *Averages) Candidates(module int) int { return a.space.sizes[module] }

// Questions returns the number of questions that the means are taken over.
func (a *Averages) Questions() int { return a.questions }

// Scores returns ErrNoScores.
func (a *Averages) Scores([]int32, []float32) error { return ErrNoScores }

// Accuracy returns an allocation's share of right answers.
func (a *Averages) Accuracy(alloc []int32) (float64, error) {
	m, err := a.row(alloc)
	return m.accuracy, err
}

// Cost returns the dollars of a question.
func (a *Averages) Cost(alloc []int32) (float64, error) {
	m, err := a.row(alloc)
	return m.cost, err
}

// Latency returns the seconds of a question.
func (a *Averages) Latency(alloc []int32) (float64, error) {
	m, err := a.row(alloc)
	return m.latency, err
}

func (a *Averages) row(alloc []int32) (means, error) {
	n, err := a.space.number(alloc)
	if err != nil {
		return means{}, err
	}
	m, ok := a.rows[n]
	if !ok {
		return means{}, fmt.Errorf("the table has no %s: leave a candidate out or record it", a.describe(alloc))
	}
	return m, nil
}
