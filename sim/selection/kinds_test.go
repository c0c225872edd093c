package selection

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"switchyard/sim/param"
	"switchyard/sim/rng"
)

// Optimisers that need no question's score agree on accuracies alone with
// themselves on the full world; the others refuse.
func TestAggregate(t *testing.T) {
	s := rng.New(9, 0, "aggregate")
	for range 20 {
		w := randomTable(s, 2, 3, 50, 4, false)
		for _, e := range Optimisers() {
			seed := s.Uint64()
			at := func(world World) (Outcome, error) {
				o := e.New()
				param.Defaults(o)
				return o.Run(Problem{World: world, Diagnoser: w, Budget: 40, Stream: rng.New(seed, 0, "run")})
			}
			full, err := at(w)
			if err != nil {
				t.Fatal(err)
			}
			alone, err := at(sums{w})
			if e.NeedsScores {
				if !errors.Is(err, ErrNoScores) || !strings.Contains(err.Error(), e.Name) {
					t.Errorf("%s on accuracies alone: %v", e.Name, err)
				}
			} else if err != nil || !reflect.DeepEqual(full, alone) {
				t.Errorf("%s: %+v with scores, %+v (%v) on accuracies alone", e.Name, full, alone, err)
			}
		}
	}
}

// poor is a live world: it answers parts, pays by answer, and runs dry.
type poor struct {
	*tabled
	answers, limit int
	broken         error
}

func (w *poor) pay(n int) error {
	if w.broken != nil {
		return w.broken
	}
	if w.answers+n > w.limit {
		return ErrBudget
	}
	w.answers += n
	return nil
}

func (w *poor) Scores(a []int32, dst []float32) error {
	if err := w.pay(w.n); err != nil {
		return err
	}
	return w.tabled.Scores(a, dst)
}

func (w *poor) ScoresOf(a, list []int32, dst []float32) error {
	if err := w.pay(len(list)); err != nil {
		return err
	}
	for i, q := range list {
		dst[i] = w.scores[w.space.Index(a)][q]
	}
	return nil
}

func TestWorldRunsDry(t *testing.T) {
	s := rng.New(10, 0, "dry")
	for _, e := range Optimisers() {
		w := &poor{tabled: randomTable(s, 2, 4, 50, 4, false), limit: 1e9}
		at := func() (Outcome, error) {
			o := e.New()
			param.Defaults(o)
			return o.Run(Problem{World: w, Diagnoser: w, Stream: rng.New(3, 0, "run")})
		}
		free, err := at()
		if err != nil {
			t.Fatal(err)
		}
		if int64(w.answers) > free.QuestionRuns {
			t.Errorf("%s says %d answers were asked for; the world gave %d", e.Name, free.QuestionRuns, w.answers)
		}
		w.answers, w.limit = 0, w.answers-50
		dry, err := at()
		if err != nil || dry.Stop != StopBudget || dry.Converged || dry.Evaluations >= free.Evaluations || len(dry.Assignment) != 2 {
			t.Errorf("%s on a world that runs dry: %+v, %v", e.Name, dry, err)
		}
		w.broken = errBroken
		if _, err := at(); !errors.Is(err, errBroken) || !strings.Contains(err.Error(), e.Name) {
			t.Errorf("%s on a world that breaks: %v", e.Name, err)
		}
	}
}
