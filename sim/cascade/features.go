package cascade

import (
	"math"
	"slices"
)

// Sources are the columns that a learned score may use.
type Sources struct {
	Features []string `yaml:"features" doc:"numbers known before the call; none: all of the table"`
	Groups   []string `yaml:"groups" doc:"labels known before the call, such as the dataset; none: all of the table"`
}

// encoder turns what is known of a question into numbers: features less their
// mean over their standard deviation in training, and a label by its number.
type encoder struct {
	features, groups []string
	mean, scale      []float64
	labels           []map[string]int32 // by group, label to its number
	offset           []int              // of each group's labels among all labels
	total            int                // of labels
	answer           int                // model whose answer's length is a feature too; -1 for none
}

// suit says why the columns cannot be used with a table.
func (s Sources) suit(t *Table) error {
	if _, err := columns("features", s.Features, t.Features); err != nil {
		return err
	}
	_, err := columns("groups", s.Groups, t.groupNames())
	return err
}

// newEncoder learns on a table.
func newEncoder(t *Table, s Sources, answer int) (*encoder, error) {
	e := &encoder{answer: answer}
	if t.Answer == nil {
		e.answer = -1
	}
	var err error
	if e.features, err = columns("features", s.Features, t.Features); err != nil {
		return nil, err
	}
	if e.groups, err = columns("groups", s.Groups, t.groupNames()); err != nil {
		return nil, err
	}
	at := e.columnsIn(t)
	for f := range e.width() {
		e.scaleOf(t, at, f)
	}
	for _, name := range e.groups {
		g := slices.Index(t.groupNames(), name)
		// Numbers are the training table's, by which the other table's labels
		// are looked up: two files need not list them in one order.
		numbers := map[string]int32{}
		for _, l := range t.Groups[g].Of {
			if l >= 0 {
				if label := t.Groups[g].Labels[l]; label != "" {
					if _, known := numbers[label]; !known {
						numbers[label] = int32(len(numbers))
					}
				}
			}
		}
		e.labels = append(e.labels, numbers)
		e.offset = append(e.offset, e.total)
		e.total += len(numbers)
	}
	return e, nil
}

func columns(field string, wanted, known []string) ([]string, error) {
	if len(wanted) == 0 {
		return known, nil
	}
	for _, w := range wanted {
		if !slices.Contains(known, w) {
			return nil, unknown(field, w, known)
		}
	}
	return wanted, nil
}

// columnsIn finds the numeric columns in a table, -1 where it lacks one.
func (e *encoder) columnsIn(t *Table) []int {
	at := make([]int, e.width())
	for f, name := range e.features {
		at[f] = slices.Index(t.Features, name)
	}
	if e.answer >= 0 && t.Answer == nil {
		at[len(e.features)] = -1
	}
	return at
}

// width is the number of numeric columns.
func (e *encoder) width() int {
	if e.answer >= 0 {
		return len(e.features) + 1
	}
	return len(e.features)
}

// raw is the f-th number of a question. Lengths have long tails, so that all
// numbers of at least 0 are taken by ln(1+x), others as they are. A column
// that the table lacks has its mean in training.
func (e *encoder) raw(t *Table, at []int, q, f int) float64 {
	var x float64
	if at[f] < 0 {
		return e.mean[f]
	}
	if f < len(e.features) {
		x = float64(t.Value[q*len(t.Features)+at[f]])
	} else {
		x = float64(t.Answer[q*len(t.Models)+e.answer])
	}
	if x > 0 {
		return math.Log1p(x)
	}
	return x
}

func (e *encoder) scaleOf(t *Table, at []int, f int) {
	n, sum, squares := float64(t.Questions()), 0.0, 0.0
	for q := range t.Questions() {
		sum += e.raw(t, at, q, f)
	}
	mean := sum / n
	for q := range t.Questions() {
		d := e.raw(t, at, q, f) - mean
		squares += float64(d * d)
	}
	scale := math.Sqrt(squares / n)
	if scale < 1e-12 {
		scale = 1 // a constant says nothing
	}
	e.mean, e.scale = append(e.mean, mean), append(e.scale, scale)
}

// coded are encoded questions.
type coded struct {
	n, width, groups int
	x                []float64 // [q*width+f]
	label            []int32   // [q*groups+g], number among all labels; -1 unknown
}

func (e *encoder) encode(t *Table) *coded {
	n := t.Questions()
	c := &coded{n: n, width: e.width(), groups: len(e.groups)}
	c.x, c.label = make([]float64, 0, n*c.width), make([]int32, 0, n*c.groups)
	numbers := make([][]int32, len(e.groups)) // by the table's own label
	groups := make([]int, len(e.groups))
	for i, name := range e.groups {
		if groups[i] = slices.Index(t.groupNames(), name); groups[i] < 0 {
			continue
		}
		for _, label := range t.Groups[groups[i]].Labels {
			number, known := e.labels[i][label]
			if number += int32(e.offset[i]); !known {
				number = -1
			}
			numbers[i] = append(numbers[i], number)
		}
	}
	at := e.columnsIn(t)
	for q := range n {
		for f := range c.width {
			c.x = append(c.x, (e.raw(t, at, q, f)-e.mean[f])/e.scale[f])
		}
		for i, g := range groups {
			label := int32(-1)
			if g >= 0 && t.Groups[g].Of[q] >= 0 {
				label = numbers[i][t.Groups[g].Of[q]]
			}
			c.label = append(c.label, label)
		}
	}
	return c
}
