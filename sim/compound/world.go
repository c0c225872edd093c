package compound

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// Candidate is a model with a prompt.
type Candidate struct{ Model, Prompt int32 }

// World is a system of modules, its candidates, and questions that they have
// answered. It belongs to one goroutine; Fork makes another for the same
// questions.
type World struct {
	graph     *Graph
	sample    *sample
	questions int
	words     int
	planes    int // bits of an answer: 0 is right, 1..W are the wrong ones
	lists     [][]int32
	costs     [][]float64  // by decision and candidate: dollars a question
	first     [][][]uint64 // by module that reads no other, and candidate: its output
	skills    []*talent    // by module
	authors   []int        // by critic: the decision whose answer it reads, else -1

	outs  [][]uint64 // by module: room for its output
	views [][]uint64 // by module: its output
	tally tally
	sweep *sweep
}

// sample is what the models of a pool do on a set of questions.
type sample struct {
	models     []string
	prompts    []string
	candidates []Candidate
	questions  int
	wrongs     int                  // wrong answers to a question
	wrong      [][]uint64           // by model: planes of the wrong answer that it gives
	talents    map[string]*talent   // by skill
	abilities  map[string][]float64 // by skill and candidate; nil where the questions are fixed
}

// talent is what the candidates of a pool do at one skill: sets of questions.
type talent struct {
	succeeds [][]uint64 // by candidate
	alone    [][]uint64 // by candidate, of critics: it finds its own model's error
	alarms   [][]uint64 // by model, of critics: it would flag a right answer
}

// planesOf returns how many bits an answer needs, with answer 0.
func planesOf(wrongs int) int { return bits.Len(uint(wrongs)) }

func wordsOf(questions int) int { return (questions + 63) / 64 }

// newWorld makes the world in which the sample's candidates serve a graph.
func newWorld(g *Graph, s *sample, prices []Price) (*World, error) {
	w := &World{graph: g, sample: s, questions: s.questions, words: wordsOf(s.questions), planes: planesOf(s.wrongs)}
	for _, i := range g.decisions {
		list, err := s.list(g.modules[i])
		if err != nil {
			return nil, err
		}
		w.lists = append(w.lists, list)
	}
	if err := w.price(prices); err != nil {
		return nil, err
	}
	w.skills = make([]*talent, g.Len())
	w.authors = make([]int, g.Len())
	for i, m := range g.modules {
		w.authors[i] = -1
		if m.Rule == Critic {
			w.authors[i] = g.decision[g.reads[i][0]]
		}
		if m.Rule.LLM() {
			w.skills[i] = s.talents[m.Skill]
		}
	}
	w.room()
	w.answerFirst()
	return w, nil
}

// list returns the candidates of a module.
func (s *sample) list(m Module) (list []int32, err error) {
	for _, name := range m.Models {
		if !slices.Contains(s.models, name) {
			return nil, wrong(m.Name, "models", "module %s: the world has no model %q%s", m.Name, name, oneOf(name, s.models))
		}
	}
	for c, each := range s.candidates {
		if len(m.Models) == 0 || slices.Contains(m.Models, s.models[each.Model]) {
			list = append(list, int32(c))
		}
	}
	return list, nil
}

// room makes the buffers that evaluation writes to.
func (w *World) room() {
	n := w.graph.Len()
	w.outs, w.views = make([][]uint64, n), make([][]uint64, n)
	for i := range w.outs {
		w.outs[i] = make([]uint64, w.planes*w.words)
	}
	w.tally.room(w.graph, w.words)
}

// answerFirst computes the outputs of modules that read the question alone:
// they depend on their own candidate only.
func (w *World) answerFirst() {
	w.first = make([][][]uint64, w.graph.Len())
	for i, m := range w.graph.modules {
		if !m.Rule.LLM() || len(w.graph.reads[i]) > 0 {
			continue
		}
		list := w.lists[w.graph.decision[i]]
		w.first[i] = make([][]uint64, len(list))
		for c := range list {
			w.first[i][c] = make([]uint64, w.planes*w.words)
			w.step(i, int32(c), nil, w.first[i][c])
		}
	}
}

// Fork returns the same world for another goroutine.
func (w *World) Fork() *World {
	f := *w
	f.sweep = nil
	f.tally = tally{}
	f.room()
	return &f
}

// Graph returns the system.
func (w *World) Graph() *Graph { return w.graph }

// Modules returns the number of decisions.
func (w *World) Modules() int { return len(w.lists) }

// Idle returns how many modules without an LLM end the system.
func (w *World) Idle() int {
	n := w.graph.Len()
	for n > 0 && !w.graph.modules[n-1].Rule.LLM() {
		n--
	}
	return w.graph.Len() - n
}

// Candidates returns how many candidates a decision has.
func (w *World) Candidates(module int) int { return len(w.lists[module]) }

// Candidate returns a candidate of a decision.
func (w *World) Candidate(module int, candidate int32) Candidate {
	return w.sample.candidates[w.lists[module][candidate]]
}

// Label names a candidate of a decision: its model, and its prompt where there
// are several.
func (w *World) Label(module int, candidate int32) string {
	c := w.Candidate(module, candidate)
	if len(w.sample.prompts) < 2 {
		return w.sample.models[c.Model]
	}
	return w.sample.models[c.Model] + "/" + w.sample.prompts[c.Prompt]
}

// Singles returns one allocation for each candidate that every module has: one
// model, and one prompt, everywhere.
func (w *World) Singles() (singles [][]int32) {
	for c := range w.sample.candidates {
		alloc := make([]int32, len(w.lists))
		everywhere := true
		for d, list := range w.lists {
			at := slices.Index(list, int32(c))
			alloc[d] = int32(at)
			everywhere = everywhere && at >= 0
		}
		if everywhere {
			singles = append(singles, alloc)
		}
	}
	return singles
}

// Questions returns the number of questions.
func (w *World) Questions() int { return w.questions }

// Right sets the bits of the questions that an allocation answers right and
// clears the others. dst has a word for each 64 questions.
func (w *World) Right(alloc []int32, dst []uint64) error {
	if err := w.check(alloc, len(dst), w.words); err != nil {
		return err
	}
	w.evaluate(alloc)
	w.rights(w.graph.output, dst)
	return nil
}

// Scores writes 1 for the questions that an allocation answers right, else 0.
func (w *World) Scores(alloc []int32, dst []float32) error {
	if err := w.check(alloc, len(dst), w.questions); err != nil {
		return err
	}
	w.evaluate(alloc)
	scratch := w.tally.right
	w.rights(w.graph.output, scratch)
	for q := range dst {
		dst[q] = float32(scratch[q>>6] >> (q & 63) & 1)
	}
	return nil
}

// Culprits sets the bits of the questions whose answer is wrong and where the
// module of a decision failed itself, and clears the others.
func (w *World) Culprits(alloc []int32, module int, dst []uint64) error {
	if err := w.Failures(alloc, module, dst); err != nil {
		return err
	}
	scratch := w.tally.right
	w.rights(w.graph.output, scratch)
	for k := range dst {
		dst[k] &^= scratch[k]
	}
	return nil
}

// Failures sets the bits of the questions where the module of a decision failed
// itself, whether or not the answer is right in the end, and clears the others.
func (w *World) Failures(alloc []int32, module int, dst []uint64) error {
	if err := w.check(alloc, len(dst), w.words); err != nil {
		return err
	}
	if module < 0 || module >= len(w.lists) {
		return fmt.Errorf("module %d: there are %d", module, len(w.lists))
	}
	w.evaluate(alloc)
	w.fail(w.graph.decisions[module], alloc, dst)
	w.mask(dst)
	return nil
}

// Cost returns the dollars of a question under an allocation.
func (w *World) Cost(alloc []int32) (float64, error) {
	if err := w.check(alloc, 0, 0); err != nil {
		return 0, err
	}
	var sum float64
	for d, c := range alloc {
		sum += w.costs[d][c]
	}
	return sum, nil
}

// check refuses an allocation that is none of this world.
func (w *World) check(alloc []int32, have, want int) error {
	if len(alloc) != len(w.lists) {
		return fmt.Errorf("an allocation of %d modules for a system with %d", len(alloc), len(w.lists))
	}
	for d, c := range alloc {
		if c < 0 || int(c) >= len(w.lists[d]) {
			return fmt.Errorf("candidate %d of module %s: it has %d", c, w.graph.modules[w.graph.decisions[d]].Name, len(w.lists[d]))
		}
	}
	if have != want {
		return errors.New("the room for results has the wrong length")
	}
	return nil
}

// checkRange refuses a range that goes beyond the last allocation.
func (w *World) checkRange(first int64, n int) error {
	all := w.Allocations()
	if all == 0 {
		return errors.New("more allocations than can be numbered: search instead of trying all")
	}
	if first < 0 || first > all || int64(n) > all-first {
		return fmt.Errorf("allocations %d to %d: there are %d", first, first+int64(n)-1, all)
	}
	return nil
}

// mask clears the bits beyond the last question.
func (w *World) mask(set []uint64) {
	if rest := w.questions & 63; rest != 0 {
		set[w.words-1] &= 1<<rest - 1
	}
}
