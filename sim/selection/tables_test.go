package selection

import (
	"errors"

	"switchyard/sim/rng"
)

// tabled is a world of arbitrary answers and verdicts, by allocation.
type tabled struct {
	space  Space
	n      int
	idle   int
	scores [][]float32   // by allocation, question
	blames [][][]float32 // by allocation, module, question
}

func (w *tabled) Modules() int                    { return len(w.space.sizes) }
func (w *tabled) Candidates(m int) int            { return int(w.space.sizes[m]) }
func (w *tabled) Questions() int                  { return w.n }
func (w *tabled) Idle() int                       { return w.idle }
func (w *tabled) Cost(a []int32) (float64, error) { return float64(w.space.Index(a)), nil }

func (w *tabled) Scores(a []int32, dst []float32) error {
	copy(dst, w.scores[w.space.Index(a)])
	return nil
}

func (w *tabled) Blame(a []int32, module int, dst []float32) error {
	copy(dst, w.blames[w.space.Index(a)][module])
	return nil
}

// sets is a tabled world that is binary, with verdicts that are yes or no.
type sets struct{ *tabled }

func (w sets) Right(a []int32, dst []uint64) error {
	pack(w.scores[w.space.Index(a)], dst)
	return nil
}

func (w sets) blameSet(a []int32, module int, dst []uint64) error {
	pack(w.blames[w.space.Index(a)][module], dst)
	return nil
}

func pack(from []float32, dst []uint64) {
	clear(dst)
	for q, s := range from {
		if s == 1 {
			dst[q/64] |= 1 << (q % 64)
		}
	}
}

// sums is a tabled world that tells accuracies alone.
type sums struct{ *tabled }

func (w sums) Scores([]int32, []float32) error { return ErrNoScores }

func (w sums) Accuracy(a []int32) (float64, error) {
	var sum float64
	for _, s := range w.scores[w.space.Index(a)] {
		sum += float64(s)
	}
	return sum / float64(w.n), nil
}

// randomTable draws a world; grain 1 gives scores 0 and 1, grain g scores i/g.
// Verdicts come from the same grain, and blame right answers too if wild.
func randomTable(s *rng.Stream, modules, models, questions, grain int, wild bool) *tabled {
	w := &tabled{n: questions, idle: s.IntN(2)}
	total := 1
	for range modules {
		w.space.sizes = append(w.space.sizes, int32(models))
		total *= models
	}
	w.space.total = uint64(total)
	bias := s.Float64()
	draw := func() float32 {
		v := min(grain, s.IntN(grain+1))
		if grain == 1 && s.Float64() < bias {
			v = 0
		}
		return float32(v) / float32(grain)
	}
	for range total {
		scores, blames := make([]float32, questions), make([][]float32, modules)
		for q := range scores {
			scores[q] = draw()
		}
		for m := range blames {
			blames[m] = make([]float32, questions)
			for q := range scores {
				if wild || scores[q] < 1 {
					blames[m][q] = draw()
				}
			}
		}
		w.scores, w.blames = append(w.scores, scores), append(w.blames, blames)
	}
	return w
}

var errBroken = errors.New("the line is cut")
