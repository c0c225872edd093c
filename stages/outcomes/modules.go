package outcomes

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"switchyard/sim/compound"
	"switchyard/stages/trace"
)

// Bounds of a module-level table.
const (
	maxModules     = 64
	maxAllocations = 1 << 40
	maxAnswers     = 1 << 28
)

// moduleTable is the format for one's own module-level outcomes.
var moduleTable = Format{
	Name:    "modules",
	Summary: "a row a question and allocation: the model at each module, whether the answer was right, cost and latency; CSV or Parquet",
	Source:  "this program's own names",
	Columns: "question, a column a module with the model's name (those that begin with module, else all that are not named here; or the field modules), " +
		"correct or score (0..1), optional cost (dollars a question), latency (s)",
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
	choice               []int32 // candidates in order of appearance
	question, line       int32
	score, cost, latency float32
}

func readModules(r rows, s Source, o *Outcomes) error {
	modules := s.Modules
	if err := namedColumns(r, o.File, "modules", modules); err != nil {
		return err
	}
	if len(modules) == 0 {
		modules = moduleColumns(r.names())
	}
	a, err := newArranger(r, modules, o.File)
	if err != nil {
		return err
	}
	question := slices.Index(r.names(), "question")
	correct := slices.Index(r.names(), "correct")
	if correct == none {
		correct = slices.Index(r.names(), "score")
	}
	if question == none {
		return at(r, o.File, missing("question", r.names()))
	}
	if correct == none {
		return at(r, o.File, missing("correct", r.names()))
	}
	cost, latency := slices.Index(r.names(), "cost"), slices.Index(r.names(), "latency")
	for {
		if err := r.next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if err := a.row(r, question, correct, cost, latency); err != nil {
			return at(r, o.File, err)
		}
	}
	if cost == none {
		o.note("no column cost: calls cost nothing")
	}
	return a.arrange(o)
}

// arranger collects rows of a module-level table in any order.
type arranger struct {
	columns  []int // of the modules
	names    compound.Names
	number   []map[string]int32 // of each module's candidates
	ids      []string           // of questions
	question map[string]int32
	answers  []answer
}

func newArranger(r rows, modules []string, file string) (*arranger, error) {
	a := &arranger{question: map[string]int32{}}
	a.names = compound.Names{Modules: modules, Candidates: make([][]string, len(modules))}
	for _, name := range modules {
		if !has(r.names(), name) {
			return nil, at(r, file, missing(name, r.names()))
		}
		a.columns = append(a.columns, slices.Index(r.names(), name))
		a.number = append(a.number, map[string]int32{})
	}
	if n := len(modules); n == 0 || n > maxModules {
		return nil, at(r, file, &trace.Error{Problem: fmt.Sprintf("header has %d modules", n), Expected: fmt.Sprintf("1 to %d", maxModules)})
	}
	return a, nil
}

// choices reads the allocation of a row.
func (a *arranger) choices(r rows) ([]int32, *trace.Error) {
	to := make([]int32, len(a.columns))
	for i, column := range a.columns {
		name := r.cell(column).string()
		if name == "" {
			return nil, bad(a.names.Modules[i], "missing", "the name of the module's model")
		}
		n, known := a.number[i][name]
		if !known {
			n = int32(len(a.names.Candidates[i]))
			a.number[i][name] = n
			a.names.Candidates[i] = append(a.names.Candidates[i], name)
		}
		to[i] = n
	}
	return to, nil
}

func (a *arranger) row(r rows, question, correct, cost, latency int) *trace.Error {
	var x answer
	line, _ := r.place()
	x.line = int32(line)
	var err *trace.Error
	if x.choice, err = a.choices(r); err != nil {
		return err
	}
	id := r.cell(question).string()
	if id == "" {
		return bad("question", "missing", "an id")
	}
	n, known := a.question[id]
	if !known {
		n = int32(len(a.ids))
		a.question[id] = n
		a.ids = append(a.ids, id)
	}
	x.question = n
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
	for _, c := range a.names.Candidates {
		for _, name := range c {
			if !slices.Contains(order, name) {
				order = append(order, name)
			}
		}
	}
	for i, c := range a.names.Candidates {
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
		a.names.Candidates[i] = sorted
		renumber = append(renumber, to)
	}
	return renumber
}

// allocations returns how many there are.
func (a *arranger) allocations(file string) (int64, error) {
	n := int64(1)
	for _, c := range a.names.Candidates {
		if n *= int64(len(c)); n > maxAllocations {
			return 0, &trace.Error{File: file, Problem: "file has too many allocations", Expected: fmt.Sprintf("at most %d", maxAllocations)}
		}
	}
	if n == 0 {
		return 0, &trace.Error{File: file, Problem: "file has no rows", Expected: "one an allocation"}
	}
	return n, nil
}

// renumbered brings a row's choice into the order of unify.
func renumbered(choice []int32, renumber [][]int32) []int32 {
	for i := range choice {
		choice[i] = renumber[i][choice[i]]
	}
	return choice
}

func (a *arranger) arrange(o *Outcomes) error {
	n, err := a.allocations(o.File)
	if err != nil {
		return err
	}
	if rows := min(n, int64(len(a.answers))); rows*int64(len(a.ids)) > maxAnswers {
		return &trace.Error{File: o.File, Problem: fmt.Sprintf("%d questions by up to %d allocations are too many", len(a.ids), rows),
			Expected: fmt.Sprintf("at most %d answers", maxAnswers)}
	}
	renumber := a.unify()
	table, err := compound.NewOutcomes(a.names, a.ids)
	if err != nil {
		return fmt.Errorf("%s: %w", o.File, err)
	}
	for i := range a.answers {
		x := &a.answers[i]
		if err := table.Add(renumbered(x.choice, renumber), int(x.question), float64(x.score), float64(x.cost), float64(x.latency)); err != nil {
			return &trace.Error{File: o.File, Line: int(x.line), Problem: err.Error(), Expected: "one row a question and allocation"}
		}
	}
	if missing := table.Missing(); missing > 0 {
		o.note("%d of %d answers (%d questions by %d allocations) are missing", missing, n*int64(len(a.ids)), len(a.ids), n)
	}
	o.Modules = table
	return nil
}
