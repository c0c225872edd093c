package selection

import (
	"errors"
	"math"
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

// poor is a live world: it answers parts, pays by answer, keeps what it has
// paid for, and runs dry.
type poor struct {
	*tabled
	answers, limit int
	kept           map[[2]uint64]bool
	broken         error
}

func (w *poor) pay(a, list []int32) error {
	if w.broken != nil {
		return w.broken
	}
	var fresh [][2]uint64
	for _, q := range list {
		if key := [2]uint64{w.space.Index(a), uint64(q)}; !w.kept[key] {
			fresh = append(fresh, key)
		}
	}
	if w.answers+len(fresh) > w.limit {
		return ErrBudget
	}
	if w.kept == nil {
		w.kept = map[[2]uint64]bool{}
	}
	for _, key := range fresh {
		w.kept[key] = true
	}
	w.answers += len(fresh)
	return nil
}

// all lists the questions.
func (w *poor) all() []int32 {
	list := make([]int32, w.n)
	for q := range list {
		list[q] = int32(q)
	}
	return list
}

func (w *poor) Scores(a []int32, dst []float32) error {
	if err := w.pay(a, w.all()); err != nil {
		return err
	}
	return w.tabled.Scores(a, dst)
}

func (w *poor) ScoresOf(a, list []int32, dst []float32) error {
	if err := w.pay(a, list); err != nil {
		return err
	}
	for i, q := range list {
		dst[i] = w.scores[w.space.Index(a)][q]
	}
	return nil
}

// Whether a world answers parts of the questions or all changes no account.
func TestPartsAreCountedOnce(t *testing.T) {
	s := rng.New(11, 0, "parts")
	for trial := range 20 {
		table := randomTable(s, 3, 3, 70, 2, false)
		for _, e := range Optimisers() {
			at := func(w World, d Diagnoser) Outcome {
				o := e.New()
				param.Defaults(o)
				out, err := o.Run(Problem{World: w, Diagnoser: d, Stream: rng.New(3, trial, "run")})
				if err != nil {
					t.Fatal(err)
				}
				if math.IsNaN(out.Accuracy) {
					out.Accuracy = -1
				}
				return out
			}
			whole, parts := at(table, table), at(&poor{tabled: table, limit: 1e9}, table)
			if parts.Distinct != whole.Distinct || parts.QuestionRuns != whole.QuestionRuns || math.Abs(parts.Dollars-whole.Dollars) > 1e-9 {
				t.Errorf("%s, trial %d: %d allocations, %d answers for $%v in parts; %d, %d for $%v as a whole", e.Name, trial,
					parts.Distinct, parts.QuestionRuns, parts.Dollars, whole.Distinct, whole.QuestionRuns, whole.Dollars)
			}
		}
	}
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
		if int64(w.answers) != free.QuestionRuns {
			t.Errorf("%s says %d answers were asked for; the world gave %d", e.Name, free.QuestionRuns, w.answers)
		}
		w.answers, w.limit, w.kept = 0, w.answers-50, nil
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
