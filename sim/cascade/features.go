package cascade

import (
	"fmt"
	"math"
)

// Sources are the columns that a learned score may use.
type Sources struct {
	Features []string `yaml:"features" doc:"numbers known before the call; none: all of the table"`
	Groups   []string `yaml:"groups" doc:"labels known before the call, such as the dataset; none: all of the table"`
}

// encoder turns what is known of a question into numbers: features less their
// mean over their standard deviation in training, and a label by its number.
type encoder struct {
	features, groups []int // columns of the table
	mean, scale      []float64
	labels           []map[string]int32 // by group, label to its number
	offset           []int              // of each group's labels among all labels
	total            int                // of labels
	answer           int                // model whose answer's length is a feature too; -1 for none
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
	var names []string
	for _, g := range t.Groups {
		names = append(names, g.Name)
	}
	if e.groups, err = columns("groups", s.Groups, names); err != nil {
		return nil, err
	}
	for f := range e.width() {
		e.scaleOf(t, f)
	}
	for _, g := range e.groups {
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

func columns(field string, wanted, known []string) ([]int, error) {
	var list []int
	for i, k := range known {
		if len(wanted) == 0 || contains(wanted, k) {
			list = append(list, i)
		}
	}
	for _, w := range wanted {
		if !contains(known, w) {
			return nil, fmt.Errorf("%s: %w", field, unknown("column", w, known))
		}
	}
	return list, nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// width is the number of numeric columns.
func (e *encoder) width() int {
	if e.answer >= 0 {
		return len(e.features) + 1
	}
	return len(e.features)
}

// raw is the f-th number of a question. Lengths have long tails, so that all
// numbers of at least 0 are taken by ln(1+x), others as they are.
func (e *encoder) raw(t *Table, q, f int) float64 {
	var x float64
	if f < len(e.features) {
		x = float64(t.Value[q*len(t.Features)+e.features[f]])
	} else {
		x = float64(t.Answer[q*len(t.Models)+e.answer])
	}
	if x > 0 {
		return math.Log1p(x)
	}
	return x
}

func (e *encoder) scaleOf(t *Table, f int) {
	n, sum, squares := float64(t.Questions()), 0.0, 0.0
	for q := range t.Questions() {
		sum += e.raw(t, q, f)
	}
	mean := sum / n
	for q := range t.Questions() {
		d := e.raw(t, q, f) - mean
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
	for i, g := range e.groups {
		for _, label := range t.Groups[g].Labels {
			number, known := e.labels[i][label]
			if number += int32(e.offset[i]); !known {
				number = -1
			}
			numbers[i] = append(numbers[i], number)
		}
	}
	for q := range n {
		for f := range c.width {
			c.x = append(c.x, (e.raw(t, q, f)-e.mean[f])/e.scale[f])
		}
		for i, g := range e.groups {
			label := int32(-1)
			if l := t.Groups[g].Of[q]; l >= 0 {
				label = numbers[i][l]
			}
			c.label = append(c.label, label)
		}
	}
	return c
}
