package selection

import (
	"slices"
)

var twoStageEntry = Entry{
	Name:        "two-stage",
	Summary:     "first a diagnoser's favourite for each module on a sample of the questions, then the best single change, then coordinate ascent",
	Ties:        "favourites: first remembered; single change: first in the order of modules and candidates; ascent: as llmselector",
	Stop:        "as llmselector under September 2025",
	Source:      "OptimizerLLMDiagnoser2Stage of the released code of LLMSelector, September 2025",
	NeedsScores: true,
	Starts:      true,
	Draws:       true,
	New:         func() Optimiser { return new(TwoStage) },
}

// TwoStage is September's variant.
//
//  1. On a sample, each question walks through the modules from the start: all
//     candidates that the diagnoser does not blame are remembered, and the
//     question goes on with the last of them. Each module takes the candidate
//     that was remembered most often.
//  2. On the sample, all single changes are evaluated and the most accurate
//     allocation stands, which may be the one that was there.
//  3. LLMSelector follows on all questions, at the code's alpha of 0.
//
// The code's second stage drops the budget; here the whole run keeps to it.
type TwoStage struct {
	Sample   float64 `yaml:"sample" default:"0.5" min:"0.001" max:"1" unit:"share" doc:"share of the questions that the first two stages ask"`
	Ties     string  `yaml:"ties" default:"inserted" enum:"inserted|listed|incumbent" doc:"of the ascent, as for llmselector"`
	Nominate string  `yaml:"nominate" default:"compat" enum:"compat|decisions|all" doc:"of the ascent, as for llmselector"`
	Rounds   int     `yaml:"rounds" default:"200" min:"0" unit:"rounds" doc:"cap on rounds of the ascent; 0 means none"`
}

// PartialDiagnoser is implemented by diagnosers that can judge some questions
// for less than all of them.
type PartialDiagnoser interface {
	// BlameOf writes the verdict on questions[i] to dst[i].
	BlameOf(alloc []int32, module int, questions []int32, dst []float32) error
}

// Run implements Optimiser.
func (s *TwoStage) Run(p Problem) (Outcome, error) {
	const name = "two-stage"
	l, err := open(name, p, true)
	if err != nil {
		return Outcome{}, err
	}
	if err := l.needStream(name); err != nil {
		return Outcome{}, err
	}
	if err := l.begin(name); err != nil {
		return Outcome{}, err
	}
	if l.Diagnoser == nil {
		return l.finish(name, "", ErrNoDiagnoser)
	}
	take := min(l.questions, max(1, int(s.Sample*float64(l.questions)+0.5)))
	w := &walk{ledger: l, list: l.permutation()[:take], blame: make([]float32, l.questions), set: make([]uint64, l.words)}
	slices.Sort(w.list)
	if err = w.favourites(); err == nil {
		err = w.bestOnSample()
	}
	l.out.CodeBudget = l.evaluations()
	if err != nil {
		return l.finish(name, "", err)
	}
	ascent := &LLMSelector{Compat: "sept2025", Gamma: 1, Ties: s.Ties, Nominate: s.Nominate, Rounds: s.Rounds, Keep: "last"}
	l.Start = l.current // the ascent's idle modules start at the head of the list
	before := l.evaluations()
	if l.Budget -= before; l.Budget < 1 {
		return l.finish(name, StopBudget, nil)
	}
	o, err := ascent.ascend(l, name)
	o.FirstHit = max(o.FirstHit, before)
	return o, err
}

// Asks implements Asker.
func (*TwoStage) Asks() bool { return true }

// walk is the state of the first two stages.
type walk struct {
	*ledger
	list  []int32 // the sample, in order
	set   []uint64
	blame []float32
}

// group is the questions that stand at one allocation.
type group struct {
	alloc []int32
	list  []int32
}

// favourites replaces the incumbent by each module's most remembered candidate.
func (w *walk) favourites() error {
	chosen := slices.Clone(w.current)
	groups := []group{{alloc: slices.Clone(w.current), list: w.list}}
	for module := range w.modules {
		tally := newTally(int(w.space.sizes[module]))
		var next []group
		for _, g := range groups {
			parts, err := w.step(g, module, tally)
			if err != nil {
				return err
			}
			next = append(next, parts...)
		}
		if best := tally.best(); best >= 0 {
			chosen[module] = best
		}
		groups = next
	}
	copy(w.current, chosen)
	return nil
}

// step judges all candidates of a module for a group, and parts the group by
// the candidate that each question goes on with.
func (w *walk) step(g group, module int, tally *tally) ([]group, error) {
	alloc := slices.Clone(g.alloc)
	members(w.set, g.list)
	last := make([]int32, len(g.list)) // the standing candidate, if all are blamed
	for i := range last {
		last[i] = g.alloc[module]
	}
	for k := range w.space.sizes[module] {
		alloc[module] = k
		if err := w.afford(len(g.list)); err != nil {
			return nil, err
		}
		if _, err := w.scoresOf(alloc, g.list, w.set); err != nil {
			return nil, err
		}
		if err := w.judge(alloc, module, g.list); err != nil {
			return nil, err
		}
		for i, q := range g.list {
			if w.blame[i] == 0 {
				last[i] = k
				tally.add(k, q)
			}
		}
	}
	var parts []group
	for k := range w.space.sizes[module] {
		part := group{}
		for i, q := range g.list {
			if last[i] == k {
				part.list = append(part.list, q)
			}
		}
		if part.list != nil {
			part.alloc = slices.Clone(g.alloc)
			part.alloc[module] = k
			parts = append(parts, part)
		}
	}
	return parts, nil
}

// afford returns ErrBudget if so many answers would exceed the budget.
func (w *walk) afford(answers int) error {
	if w.asks+int64(answers) > int64(w.Budget)*int64(w.questions) {
		return ErrBudget
	}
	return nil
}

// judge writes the verdicts on a list of questions to the head of w.blame.
func (w *walk) judge(alloc []int32, module int, list []int32) error {
	w.out.DiagnoserCalls += int64(len(list))
	if partial, ok := w.Diagnoser.(PartialDiagnoser); ok {
		return partial.BlameOf(alloc, module, list, w.blame[:len(list)])
	}
	if err := w.Diagnoser.Blame(alloc, module, w.blame); err != nil {
		return err
	}
	for i, q := range list { // the list ascends, so that q >= i
		w.blame[i] = w.blame[q]
	}
	return nil
}

// tally counts how often each candidate was remembered; ties go to the one
// remembered for the earliest question, then to the lowest number.
type tally struct{ count, first []int32 }

func newTally(k int) *tally { return &tally{count: make([]int32, k), first: make([]int32, k)} }

func (t *tally) add(k, question int32) {
	if t.count[k] == 0 || question < t.first[k] {
		t.first[k] = question
	}
	t.count[k]++
}

func (t *tally) best() int32 {
	best := int32(-1)
	for k, n := range t.count {
		if n == 0 {
			continue
		}
		if best < 0 || n > t.count[best] || n == t.count[best] && t.first[k] < t.first[best] {
			best = int32(k)
		}
	}
	return best
}

// bestOnSample moves to the most accurate of all single changes, each module's
// standing candidate included.
func (w *walk) bestOnSample() error {
	members(w.set, w.list)
	best, alloc := slices.Clone(w.current), slices.Clone(w.current)
	most, any := 0.0, false
	for module, k := range w.space.sizes {
		for i := range k {
			alloc[module] = i
			if err := w.afford(len(w.list)); err != nil {
				return err
			}
			scores, err := w.scoresOf(alloc, w.list, w.set)
			if err != nil {
				return err
			}
			var sum float64
			for _, s := range scores {
				sum += float64(s)
			}
			cost, err := w.world.Cost(alloc)
			if err != nil {
				return err
			}
			if v := sum/float64(len(w.list)) - w.fee(cost); !any || v > most {
				most, any = v, true
				copy(best, alloc)
			}
		}
		alloc[module] = w.current[module]
	}
	copy(w.current, best)
	return nil
}
