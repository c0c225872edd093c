package endpoint

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"switchyard/sim/selection"

	"golang.org/x/sync/errgroup"
)

var (
	_ selection.World   = (*World)(nil)
	_ selection.Partial = (*World)(nil)
)

// World is a system of live models on a set of questions. Its questions are
// asked in parallel; the world itself belongs to one goroutine. Worlds of one
// Live share its client, its answers and its budget.
type World struct {
	*system
	ctx       context.Context
	client    *Client
	questions []Question
	parallel  int
	runs      map[string][]Trace // by allocation and question; no Outputs where it is not run
}

// Modules implements selection.World.
func (w *World) Modules() int { return len(w.candidates) }

// Candidates implements selection.World.
func (w *World) Candidates(module int) int { return len(w.candidates[module]) }

// Questions implements selection.World.
func (w *World) Questions() int { return len(w.questions) }

// Singles returns one allocation for each model and place of a prompt that all
// modules have.
func (w *World) Singles() (singles [][]int32) {
	for m := range w.models {
		for p := 0; ; p++ {
			alloc := make([]int32, len(w.candidates))
			some, every := false, true
			for d, list := range w.candidates {
				prompts := len(w.prompts[w.graph.Decisions()[d]])
				at := -1
				for k, c := range list {
					if c == (candidate{m, min(p, prompts-1)}) {
						at = k
					}
				}
				alloc[d] = int32(at)
				every = every && at >= 0
				some = some || p < prompts
			}
			if !some {
				break
			}
			if every {
				singles = append(singles, alloc)
			}
		}
	}
	return singles
}

// Idle returns how many modules without a model end the system.
func (w *World) Idle() int {
	n := w.graph.Len()
	for n > 0 && !w.graph.Module(n-1).Rule.LLM() {
		n--
	}
	return w.graph.Len() - n
}

// Scores implements selection.World.
func (w *World) Scores(alloc []int32, dst []float32) error {
	traces, err := w.answer(alloc, nil)
	if err != nil {
		return err
	}
	for q := range traces {
		dst[q] = traces[q].Score
	}
	return nil
}

// ScoresOf implements selection.Partial: no other questions are asked.
func (w *World) ScoresOf(alloc, questions []int32, dst []float32) error {
	traces, err := w.answer(alloc, questions)
	if err != nil {
		return err
	}
	for i, q := range questions {
		dst[i] = traces[q].Score
	}
	return nil
}

// Cost implements selection.World. Where some questions alone have been
// answered it is their mean.
func (w *World) Cost(alloc []int32) (float64, error) {
	return w.mean(alloc, func(t *Trace) float64 { return t.Dollars })
}

// Latency returns the mean seconds of a question, on the slowest path through
// the system, with what each answer took when it was asked.
func (w *World) Latency(alloc []int32) (float64, error) {
	return w.mean(alloc, func(t *Trace) float64 { return float64(t.LatencyUs) / 1e6 })
}

func (w *World) mean(alloc []int32, of func(*Trace) float64) (float64, error) {
	traces := w.runs[name(alloc)]
	if traces == nil {
		var err error
		if traces, err = w.answer(alloc, nil); err != nil {
			return 0, err
		}
	}
	sum, n := 0.0, 0
	for q := range traces {
		if traces[q].Outputs != nil {
			sum += of(&traces[q])
			n++
		}
	}
	if n == 0 {
		return math.NaN(), nil
	}
	return sum / float64(n), nil
}

// Traces answers all questions under an allocation.
func (w *World) Traces(alloc []int32) ([]Trace, error) { return w.answer(alloc, nil) }

// name is an allocation as the key of a map.
func name(alloc []int32) string { return fmt.Sprint(alloc) }

// answer has questions answered, all where none are named. The error is that of
// the first question that could not be, in their order.
func (w *World) answer(alloc, questions []int32) ([]Trace, error) {
	if err := w.check(alloc); err != nil {
		return nil, err
	}
	known := w.runs[name(alloc)]
	if known == nil {
		known = make([]Trace, len(w.questions))
	}
	if questions == nil {
		questions = make([]int32, len(w.questions))
		for q := range questions {
			questions[q] = int32(q)
		}
	}
	errs := make([]error, len(questions))
	var stop atomic.Bool
	var group errgroup.Group
	group.SetLimit(w.parallel)
	for i, q := range questions {
		if known[q].Outputs != nil {
			continue
		}
		group.Go(func() error {
			if stop.Load() {
				return nil
			}
			t, err := w.run(w.ctx, w.client, alloc, &w.questions[q])
			if err == nil {
				known[q] = t
				return nil
			}
			errs[i] = fmt.Errorf("question %d: %w", q+1, err)
			// What is in flight is paid for and comes to its end. An offline run
			// goes on, to tell how much is missing.
			if !errors.Is(err, ErrMissing) {
				stop.Store(true)
			}
			return nil
		})
	}
	_ = group.Wait()
	w.runs[name(alloc)] = known
	return known, first(errs)
}

// first is the first of some errors, with how many answers are missing.
func first(errs []error) error {
	var found error
	missing := 0
	for _, err := range errs {
		if errors.Is(err, ErrMissing) {
			missing++
		}
		if found == nil {
			found = err
		}
	}
	if missing > 1 {
		return fmt.Errorf("%d of %d questions lack an answer, the first of them: %w", missing, len(errs), found)
	}
	return found
}

// check refuses an allocation that is none of this world.
func (w *World) check(alloc []int32) error {
	if len(alloc) != len(w.candidates) {
		return fmt.Errorf("an allocation of %d modules for a system with %d", len(alloc), len(w.candidates))
	}
	for d, k := range alloc {
		if k < 0 || int(k) >= len(w.candidates[d]) {
			return fmt.Errorf("candidate %d of module %s: it has %d", k, w.graph.Module(w.graph.Decisions()[d]).Name, len(w.candidates[d]))
		}
	}
	return nil
}
