package outcomes

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"switchyard/stages/trace"
)

// Bounds of a module-level table.
const (
	maxModules     = 64
	maxAllocations = 1 << 24
	maxAnswers     = 1 << 28 // questions times allocations
)

// Modules holds the outcomes of every allocation of candidates to modules.
type Modules struct {
	Names      []string   // of the modules
	Candidates [][]string // by module; the same order in each where the names are the same
	Questions  []string   // ids; nil where only accuracies are recorded
	Sample     int        // questions that an accuracy is the mean over; 0 where not known

	// By allocation, numbered with the last module's candidate fastest.
	Accuracy []float64 // mean score, 0 to 1
	Cost     []float64 // dollars a question; nil where not recorded
	LatencyS []float64 // mean seconds a question; nil where not recorded
	Score    []float32 // [allocation*len(Questions)+q]; nil where only accuracies are recorded
}

// Index returns the number of an allocation.
func (m *Modules) Index(alloc []int32) int {
	at := 0
	for i, c := range alloc {
		at = at*len(m.Candidates[i]) + int(c)
	}
	return at
}

// Allocation writes the allocation of a number.
func (m *Modules) Allocation(at int, alloc []int32) {
	for i := len(m.Candidates) - 1; i >= 0; i-- {
		alloc[i] = int32(at % len(m.Candidates[i]))
		at /= len(m.Candidates[i])
	}
}

// moduleTable is the format for one's own module-level outcomes.
var moduleTable = Format{
	Name:    "modules",
	Summary: "a row a question and allocation: the model at each module, whether the answer was right, cost and latency; CSV or Parquet",
	Source:  "this program's own names",
	Columns: "question, a column a module with the model's name (those that begin with module, else all that are not named here; or the field modules), " +
		"correct or score (0..1), optional cost (dollars a question), latency (s). Every allocation answers every question",
	Level: "module",
	matches: func(names []string) bool {
		return has(names, "question") && (has(names, "correct") || has(names, "score")) && len(moduleColumns(names)) > 0
	},
	table: readModules,
}

// moduleColumns finds the modules by their names.
func moduleColumns(names []string) []string {
	var marked, rest []string
	for _, n := range names {
		switch {
		case strings.HasPrefix(n, "module"):
			marked = append(marked, n)
		case n != "" && !slices.Contains([]string{"question", "correct", "score", "cost", "latency"}, n):
			rest = append(rest, n)
		}
	}
	if marked != nil {
		return marked
	}
	return rest
}

// answer is a row of a module-level table.
type answer struct {
	choice        [maxModules]int32 // candidates in order of appearance
	question      int32
	score         float32
	cost, latency float32
}

func readModules(r rows, s Source, o *Outcomes) error {
	modules := s.Modules
	if len(modules) == 0 {
		modules = moduleColumns(r.names())
	}
	a, err := newArranger(r, modules)
	if err != nil {
		return err
	}
	question := slices.Index(r.names(), "question")
	correct := slices.Index(r.names(), "correct")
	if correct == none {
		correct = slices.Index(r.names(), "score")
	}
	if question == none {
		return r.at(missing("question", r.names()))
	}
	if correct == none {
		return r.at(missing("correct", r.names()))
	}
	cost, latency := slices.Index(r.names(), "cost"), slices.Index(r.names(), "latency")
	for {
		if err := r.next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if err := a.row(r, question, correct, cost, latency); err != nil {
			return r.at(err)
		}
	}
	o.Modules, err = a.arrange(o.File, cost != none, latency != none)
	return err
}

// arranger collects rows of a module-level table in any order.
type arranger struct {
	columns    []int
	m          *Modules
	candidates []map[string]int32
	questions  map[string]int32
	answers    []answer
}

func newArranger(r rows, modules []string) (*arranger, error) {
	a := &arranger{m: &Modules{Names: modules}, questions: map[string]int32{}}
	for _, name := range modules {
		if !has(r.names(), name) {
			return nil, r.at(missing(name, r.names()))
		}
		a.columns = append(a.columns, slices.Index(r.names(), name))
		a.candidates = append(a.candidates, map[string]int32{})
	}
	a.m.Candidates = make([][]string, len(modules))
	if n := len(modules); n == 0 || n > maxModules {
		return nil, r.at(&trace.Error{Problem: fmt.Sprintf("header has %d modules", n), Expected: fmt.Sprintf("1 to %d", maxModules)})
	}
	return a, nil
}

// choices reads the allocation of a row.
func (a *arranger) choices(r rows, to *[maxModules]int32) *trace.Error {
	for i, column := range a.columns {
		name := r.cell(column).string()
		if name == "" {
			return bad(a.m.Names[i], "missing", "the name of the module's model")
		}
		n, known := a.candidates[i][name]
		if !known {
			n = int32(len(a.m.Candidates[i]))
			a.candidates[i][name] = n
			a.m.Candidates[i] = append(a.m.Candidates[i], name)
		}
		to[i] = n
	}
	return nil
}

func (a *arranger) row(r rows, question, correct, cost, latency int) *trace.Error {
	var x answer
	if err := a.choices(r, &x.choice); err != nil {
		return err
	}
	id := r.cell(question).string()
	if id == "" {
		return bad("question", "missing", "an id")
	}
	n, known := a.questions[id]
	if !known {
		n = int32(len(a.m.Questions))
		a.questions[id] = n
		a.m.Questions = append(a.m.Questions, id)
	}
	x.question = n
	var err *trace.Error
	if x.score, err = r.cell(correct).score(r.names()[correct]); err != nil {
		return err
	}
	if x.score != x.score {
		return bad(r.names()[correct], "missing", "a score from 0 to 1")
	}
	if cost != none {
		if x.cost, err = r.cell(cost).cost("cost"); err != nil {
			return err
		}
		if x.cost != x.cost {
			return bad("cost", "missing", "dollars: leave the column out where they are not known")
		}
	}
	if latency != none {
		s, err := r.cell(latency).number("latency")
		if err != nil {
			return err
		}
		if !(s >= 0 && s < math.MaxFloat32) {
			return bad("latency", fmt.Sprint(s), "seconds of at least 0")
		}
		x.latency = float32(s)
	}
	if len(a.answers) >= maxAnswers {
		return &trace.Error{Problem: "file has too many rows", Expected: fmt.Sprintf("at most %d", maxAnswers)}
	}
	a.answers = append(a.answers, x)
	return nil
}

// unify brings the candidates of all modules into the order of the first one
// that has them, so that one model has one number wherever modules share all.
func (a *arranger) unify() (renumber [][]int32) {
	var order []string
	for _, c := range a.m.Candidates {
		for _, name := range c {
			if !slices.Contains(order, name) {
				order = append(order, name)
			}
		}
	}
	for i, c := range a.m.Candidates {
		var sorted []string
		for _, name := range order {
			if slices.Contains(c, name) {
				sorted = append(sorted, name)
			}
		}
		to := make([]int32, len(c))
		for j, name := range c {
			to[j] = int32(slices.Index(sorted, name))
		}
		a.m.Candidates[i] = sorted
		renumber = append(renumber, to)
	}
	return renumber
}

// size returns the number of allocations.
func (a *arranger) size(file string, questions int) (int, error) {
	n := 1
	for _, c := range a.m.Candidates {
		n *= len(c)
		if n > maxAllocations || n*questions > maxAnswers {
			return 0, &trace.Error{File: file, Problem: "file has too many allocations", Expected: fmt.Sprintf("at most %d, and %d answers", maxAllocations, maxAnswers)}
		}
	}
	if n == 0 {
		return 0, &trace.Error{File: file, Problem: "file has no rows", Expected: "one an allocation"}
	}
	return n, nil
}

// number returns the allocation's number after unify.
func (a *arranger) number(choice *[maxModules]int32, renumber [][]int32) int {
	at := 0
	for i := range a.columns {
		at = at*len(a.m.Candidates[i]) + int(renumber[i][choice[i]])
	}
	return at
}

func (a *arranger) arrange(file string, cost, latency bool) (*Modules, error) {
	m, q := a.m, len(a.m.Questions)
	n, err := a.size(file, max(1, q))
	if err != nil {
		return nil, err
	}
	// No rows of an allocation for some question are as many as are left when
	// there is one of each.
	if len(a.answers) < n*q {
		// Found below, without the memory for what the file does not hold.
		return nil, a.gap(file, n)
	}
	renumber := a.unify()
	m.Score, m.Accuracy, m.Sample = make([]float32, n*q), make([]float64, n), q
	m.Cost, m.LatencyS = make([]float64, n), make([]float64, n)
	seen := make([]bool, n*q)
	for i := range a.answers {
		x := &a.answers[i]
		at := a.number(&x.choice, renumber)
		cell := at*q + int(x.question)
		if seen[cell] {
			return nil, &trace.Error{File: file, Problem: fmt.Sprintf("question %s is answered twice by %s", m.Questions[x.question], a.describe(&x.choice, renumber)),
				Expected: "one row a question and allocation"}
		}
		seen[cell] = true
		m.Score[cell] = x.score
		m.Accuracy[at] += float64(x.score) / float64(q)
		m.Cost[at] += float64(x.cost) / float64(q)
		m.LatencyS[at] += float64(x.latency) / float64(q)
	}
	if !cost {
		m.Cost = nil
	}
	if !latency {
		m.LatencyS = nil
	}
	return m, nil
}

// gap describes a table that lacks answers.
func (a *arranger) gap(file string, allocations int) error {
	return &trace.Error{File: file, Problem: fmt.Sprintf("file has %d rows", len(a.answers)),
		Expected: fmt.Sprintf("one for each of %d questions and %d allocations (%s)", len(a.m.Questions), allocations, a.counts())}
}

func (a *arranger) counts() string {
	var parts []string
	for i, c := range a.m.Candidates {
		parts = append(parts, fmt.Sprintf("%s has %d models", a.m.Names[i], len(c)))
	}
	return list(parts)
}

func (a *arranger) describe(choice *[maxModules]int32, renumber [][]int32) string {
	var parts []string
	for i := range a.columns {
		parts = append(parts, a.m.Candidates[i][renumber[i][choice[i]]])
	}
	return list(parts)
}
