package compound

import (
	"errors"
	"fmt"
	"math"
)

// Names are the modules of a recorded system, the decisions alone, and the
// names of each one's candidates.
type Names struct {
	Modules    []string
	Candidates [][]string // by module
}

// check refuses names that cannot be told apart, and too many of them.
func (n Names) check() error {
	if len(n.Modules) == 0 || len(n.Modules) != len(n.Candidates) {
		return fmt.Errorf("%d modules and candidates for %d: a table needs a list of candidates for each of one or more modules", len(n.Modules), len(n.Candidates))
	}
	for m, list := range n.Candidates {
		if len(list) == 0 {
			return fmt.Errorf("module %s has no candidate", n.Modules[m])
		}
		seen := map[string]bool{}
		for _, name := range list {
			if seen[name] {
				return fmt.Errorf("module %s: two candidates are called %s", n.Modules[m], name)
			}
			seen[name] = true
		}
	}
	allocations := int64(1)
	for _, list := range n.Candidates {
		if allocations > math.MaxInt64/int64(len(list)) {
			return errors.New("more allocations than can be numbered: record fewer modules or candidates")
		}
		allocations *= int64(len(list))
	}
	return nil
}

// Allocation returns the candidates of these names, one a module.
func (n Names) Allocation(names []string) ([]int32, error) {
	if len(names) != len(n.Modules) {
		return nil, fmt.Errorf("%d names for %d modules", len(names), len(n.Modules))
	}
	alloc := make([]int32, len(names))
	for m, name := range names {
		at := -1
		for c, each := range n.Candidates[m] {
			if each == name {
				at = c
			}
		}
		if at < 0 {
			return nil, fmt.Errorf("module %s has no candidate %q%s", n.Modules[m], name, oneOf(name, n.Candidates[m]))
		}
		alloc[m] = int32(at)
	}
	return alloc, nil
}

// space numbers allocations as World does, the last module fastest.
type space struct{ sizes []int }

func (n Names) space() space {
	var s space
	for _, list := range n.Candidates {
		s.sizes = append(s.sizes, len(list))
	}
	return s
}

func (s space) number(alloc []int32) (int64, error) {
	if len(alloc) != len(s.sizes) {
		return 0, fmt.Errorf("an allocation of %d modules for a system with %d", len(alloc), len(s.sizes))
	}
	var n int64
	for m, c := range alloc {
		if c < 0 || int(c) >= s.sizes[m] {
			return 0, fmt.Errorf("candidate %d of module %d: it has %d", c, m, s.sizes[m])
		}
		n = n*int64(s.sizes[m]) + int64(c)
	}
	return n, nil
}

func (s space) allocations() int64 {
	n := int64(1)
	for _, size := range s.sizes {
		n *= int64(size)
	}
	return n
}

// Singles returns an allocation for each candidate whose name all modules have.
func (n Names) Singles() (singles [][]int32) {
	for _, name := range n.Candidates[0] {
		everywhere := make([]string, len(n.Modules))
		for m := range everywhere {
			everywhere[m] = name
		}
		if alloc, err := n.Allocation(everywhere); err == nil {
			singles = append(singles, alloc)
		}
	}
	return singles
}

// Outcomes is a module-level table: what allocations scored on questions.
// Readers fill it with Add; World makes worlds of it.
type Outcomes struct {
	Names
	Questions []string // names, for people
	space     space
	rows      map[int64]int32 // allocation's number -> row
	scores    []float32       // by row and question, NaN where there is none
	costs     []float64       // dollars
	latencies []float64       // seconds
}

// NewOutcomes returns an empty table.
func NewOutcomes(names Names, questions []string) (*Outcomes, error) {
	if err := names.check(); err != nil {
		return nil, err
	}
	if len(questions) == 0 {
		return nil, errors.New("a table of outcomes needs questions")
	}
	return &Outcomes{Names: names, Questions: questions, space: names.space(), rows: map[int64]int32{}}, nil
}

// Add records the score, from 0 to 1, of an allocation on a question, with its
// dollars and seconds, 0 where they are not known. A pair is recorded once.
func (o *Outcomes) Add(alloc []int32, question int, score, cost, latency float64) error {
	n, err := o.space.number(alloc)
	switch {
	case err != nil:
		return err
	case question < 0 || question >= len(o.Questions):
		return fmt.Errorf("question %d: there are %d", question, len(o.Questions))
	case !(score >= 0 && score <= 1):
		return fmt.Errorf("score %v: scores are 0 to 1", score)
	case !(cost >= 0) || !(latency >= 0) || math.IsInf(cost+latency, 1):
		return fmt.Errorf("cost %v and latency %v: both are numbers of at least 0", cost, latency)
	}
	row, ok := o.rows[n]
	if !ok {
		row = int32(len(o.rows))
		o.rows[n] = row
		for range o.Questions {
			o.scores = append(o.scores, float32(math.NaN()))
		}
		o.costs = append(o.costs, make([]float64, len(o.Questions))...)
		o.latencies = append(o.latencies, make([]float64, len(o.Questions))...)
	}
	at := int(row)*len(o.Questions) + question
	if o.scores[at] == o.scores[at] {
		return fmt.Errorf("question %s is recorded twice for %s", o.Questions[question], o.describe(alloc))
	}
	o.scores[at], o.costs[at], o.latencies[at] = float32(score), cost, latency
	return nil
}

// describe prints an allocation by names.
func (n Names) describe(alloc []int32) string {
	text := ""
	for m, c := range alloc {
		if m > 0 {
			text += ", "
		}
		text += n.Modules[m] + "=" + n.Candidates[m][c]
	}
	return text
}

// Missing returns how many pairs of allocation and question are not recorded.
func (o *Outcomes) Missing() int64 {
	missing := o.space.allocations() * int64(len(o.Questions))
	for _, score := range o.scores {
		if score == score {
			missing--
		}
	}
	return missing
}

// World returns the world of some of the questions, by index.
func (o *Outcomes) World(questions []int) (*Recorded, error) {
	if len(questions) == 0 {
		return nil, errors.New("a world needs questions")
	}
	for _, q := range questions {
		if q < 0 || q >= len(o.Questions) {
			return nil, fmt.Errorf("question %d: there are %d", q, len(o.Questions))
		}
	}
	return &Recorded{Outcomes: o, asked: questions}, nil
}

// Recorded is a world that answers from a table. It only reads, so that
// goroutines may share it.
type Recorded struct {
	*Outcomes
	asked []int
}

// Modules returns the number of decisions.
func (r *Recorded) Modules() int { return len(r.Names.Modules) }

// Candidates returns how many candidates a module has.
func (r *Recorded) Candidates(module int) int { return r.space.sizes[module] }

// Questions returns the number of questions.
func (r *Recorded) Questions() int { return len(r.asked) }

// row returns the place of an allocation's first outcome.
func (r *Recorded) row(alloc []int32) (int, error) {
	n, err := r.space.number(alloc)
	if err != nil {
		return 0, err
	}
	row, ok := r.rows[n]
	if !ok {
		return 0, fmt.Errorf("the table has no outcome of %s: leave a candidate out or record it", r.describe(alloc))
	}
	return int(row) * len(r.Outcomes.Questions), nil
}

// Scores writes the score of each question.
func (r *Recorded) Scores(alloc []int32, dst []float32) error {
	row, err := r.row(alloc)
	if err != nil {
		return err
	}
	for i, q := range r.asked {
		if dst[i] = r.scores[row+q]; dst[i] != dst[i] {
			return fmt.Errorf("the table has no outcome of question %s for %s: record it or leave the question out", r.Outcomes.Questions[q], r.describe(alloc))
		}
	}
	return nil
}

// Cost returns the mean dollars of a question.
func (r *Recorded) Cost(alloc []int32) (float64, error) { return r.mean(alloc, r.costs) }

// Latency returns the mean seconds of a question.
func (r *Recorded) Latency(alloc []int32) (float64, error) { return r.mean(alloc, r.latencies) }

func (r *Recorded) mean(alloc []int32, of []float64) (float64, error) {
	row, err := r.row(alloc)
	if err != nil {
		return 0, err
	}
	var sum float64
	for _, q := range r.asked {
		sum += of[row+q]
	}
	return sum / float64(len(r.asked)), nil
}
