package cascade

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"switchyard/sim/param"
	"switchyard/sim/rng"
)

// Bounds of a table: more is a mistake in the file, or does not fit in memory.
const (
	MaxModels    = 1 << 12
	MaxQuestions = 1 << 26
)

// Part says to which part of a published split a question belongs.
type Part uint8

// Parts.
const (
	NoPart Part = iota
	Train
	Test
)

// Table is what is recorded of models on questions. Arrays over questions and
// models are flat: entry q*len(Models)+m.
type Table struct {
	Models []string
	ID     []string  // of each question, or nil
	Score  []float32 // in [0, 1]
	Cost   []float32 // dollars a call, at least 0; nil where not recorded
	Answer []float32 // length of the answer, in the file's unit; nil where not recorded

	Features []string  // names of numbers known before the call
	Value    []float32 // entry q*len(Features)+f
	Groups   []Grouping
	Part     []Part // nil where the file has no split
}

// Grouping is a label that is known before the call: dataset, subject, cluster.
type Grouping struct {
	Name   string
	Labels []string
	Of     []int32 // of each question an index into Labels, -1 where it has none
}

// Questions returns the number of questions.
func (t *Table) Questions() int {
	if len(t.Models) == 0 {
		return 0
	}
	return len(t.Score) / len(t.Models)
}

// Validate checks lengths and values; readers have done so already.
func (t *Table) Validate() error {
	n, m := t.Questions(), len(t.Models)
	switch {
	case m == 0 || n == 0:
		return fmt.Errorf("table is empty: give at least one model and one question")
	case m > MaxModels || n > MaxQuestions:
		return fmt.Errorf("table has %d models and %d questions: at most %d and %d", m, n, MaxModels, MaxQuestions)
	case len(t.Score) != n*m,
		t.Cost != nil && len(t.Cost) != n*m,
		t.Answer != nil && len(t.Answer) != n*m,
		len(t.Value) != n*len(t.Features),
		t.ID != nil && len(t.ID) != n,
		t.Part != nil && len(t.Part) != n:
		return fmt.Errorf("table is uneven: every array needs an entry for each of %d questions (and %d models)", n, m)
	}
	for i, s := range t.Score {
		if !(s >= 0 && s <= 1) {
			return fmt.Errorf("score of %s on question %d is %v: expected 0 to 1", t.Models[i%m], i/m, s)
		}
	}
	for i, c := range t.Cost {
		if !(c >= 0) || math.IsInf(float64(c), 0) {
			return fmt.Errorf("cost of %s on question %d is %v: expected at least 0 dollars", t.Models[i%m], i/m, c)
		}
	}
	for _, g := range t.Groups {
		if len(g.Of) != n {
			return fmt.Errorf("group %s has %d entries: expected one for each of %d questions", g.Name, len(g.Of), n)
		}
		for _, l := range g.Of {
			if l < -1 || int(l) >= len(g.Labels) {
				return fmt.Errorf("group %s has label %d of %d", g.Name, l, len(g.Labels))
			}
		}
	}
	return nil
}

// Model returns the index of the model of that name.
func (t *Table) Model(name string) (int, error) {
	for i, m := range t.Models {
		if m == name {
			return i, nil
		}
	}
	return 0, unknown("model", name, t.Models)
}

// SetPrices makes the cost of a call a constant of its model, for tables
// without recorded costs. Prices 0 and 1 of a weak and a strong model make
// cost the share of calls to the strong one, RouteLLM's axis.
func (t *Table) SetPrices(dollars []float64) error {
	if len(dollars) != len(t.Models) {
		return fmt.Errorf("%d prices for %d models: give one a model", len(dollars), len(t.Models))
	}
	for i, d := range dollars {
		if !(d >= 0) || math.IsInf(d, 0) {
			return fmt.Errorf("price of %s is %v: expected at least 0 dollars a call", t.Models[i], d)
		}
	}
	t.Cost = make([]float32, len(t.Score))
	for i := range t.Cost {
		t.Cost[i] = float32(dollars[i%len(dollars)])
	}
	return nil
}

// Match says why a router that was fitted on train cannot be applied to t:
// models are known by their number. A feature or group that t lacks is taken to
// be as in training on average.
func (t *Table) Match(train *Table) error {
	if !slices.Equal(t.Models, train.Models) {
		return fmt.Errorf("tables have other models, or another order: %q in training, then %q", train.Models, t.Models)
	}
	return nil
}

func (t *Table) groupNames() (names []string) {
	for _, g := range t.Groups {
		names = append(names, g.Name)
	}
	return names
}

// Means returns the mean score and cost of each model.
func (t *Table) Means() (score, cost []float64) {
	m := len(t.Models)
	score, cost = make([]float64, m), make([]float64, m)
	for i, s := range t.Score {
		score[i%m] += float64(s)
	}
	for i, c := range t.Cost {
		cost[i%m] += float64(c)
	}
	n := float64(t.Questions())
	for i := range score {
		score[i] /= n
		cost[i] /= n
	}
	return score, cost
}

// Select returns a table of the questions listed.
func (t *Table) Select(questions []int32) *Table {
	m, f := len(t.Models), len(t.Features)
	s := &Table{Models: t.Models, Features: t.Features,
		Score: rows(t.Score, m, questions), Cost: rows(t.Cost, m, questions), Answer: rows(t.Answer, m, questions),
		Value: rows(t.Value, f, questions), ID: rows(t.ID, 1, questions), Part: rows(t.Part, 1, questions)}
	for _, g := range t.Groups {
		s.Groups = append(s.Groups, Grouping{Name: g.Name, Labels: g.Labels, Of: rows(g.Of, 1, questions)})
	}
	return s
}

func rows[T any](from []T, width int, list []int32) []T {
	if from == nil {
		return nil
	}
	to := make([]T, 0, len(list)*width)
	for _, q := range list {
		to = append(to, from[int(q)*width:int(q+1)*width]...)
	}
	return to
}

// Split returns the published parts where the table has them; else a share of
// the questions, drawn without replacement and kept in order, and the rest.
// Both parts get at least one question where there are two.
func (t *Table) Split(share float64, s *rng.Stream) (train, test *Table) {
	n := t.Questions()
	if t.Part != nil {
		return t.Select(t.of(Train)), t.Select(t.of(Test))
	}
	want := min(max(1, int(math.Round(share*float64(n)))), n-1)
	var lists [2][]int32
	for q, left := 0, want; q < n; q++ { // selection sampling: Knuth, volume 2, algorithm 3.4.2 S
		if s.Float64()*float64(n-q) < float64(left) {
			lists[0] = append(lists[0], int32(q))
			left--
		} else {
			lists[1] = append(lists[1], int32(q))
		}
	}
	return t.Select(lists[0]), t.Select(lists[1])
}

// Where returns the table of the questions with that label, for example
// Where("dataset", "mmlu").
func (t *Table) Where(group, label string) (*Table, error) {
	var names []string
	for _, g := range t.Groups {
		names = append(names, g.Name)
		if g.Name != group {
			continue
		}
		for i, l := range g.Labels {
			if l == label {
				return t.Select(indexes(g.Of, int32(i))), nil
			}
		}
		return nil, unknown("label of "+group, label, g.Labels)
	}
	return nil, unknown("group", group, names)
}

func (t *Table) of(p Part) []int32 { return indexes(t.Part, p) }

func indexes[T comparable](of []T, x T) (list []int32) {
	for q, y := range of {
		if y == x {
			list = append(list, int32(q))
		}
	}
	return list
}

// unknown is the error about a name that is not in a list.
func unknown(field, name string, known []string) error {
	const most = 30 // that are listed
	var expected string
	switch n := len(known); {
	case n == 0:
		expected = "none: the table has no such column"
	case n > most:
		expected = fmt.Sprintf("one of %s and %d more", strings.Join(known[:most], ", "), n-most)
	default:
		expected = "one of " + strings.Join(known, ", ")
	}
	if near := param.Nearest(name, known); near != "" {
		expected += "; did you mean " + near + "?"
	}
	return &param.Error{Field: field, Value: name, Expected: expected}
}
