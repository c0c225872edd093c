package outcomes

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"switchyard/sim/cascade"
	"switchyard/stages/trace"
)

// none is the column that a file does not have.
const none = -1

// layout says which columns of a table are what.
type layout struct {
	id       int
	models   []modelColumns
	features []feature
	groups   []named
	part     int // train or test
}

type modelColumns struct {
	name                string
	score, cost, answer int
}

type named struct {
	name   string
	column int
}

// feature is a number, or the length of a text in characters.
type feature struct {
	named
	length bool
}

// evenAnswers passes over answers that not every model has.
func (l *layout) evenAnswers() {
	if slices.ContainsFunc(l.models, func(m modelColumns) bool { return m.answer == none }) {
		for i := range l.models {
			l.models[i].answer = none
		}
	}
}

// read fills o with a question-level table.
func (l *layout) read(r rows, o *Outcomes) error {
	if len(l.models) == 0 {
		return at(r, o.File, &trace.Error{Problem: "header has no model's column", Expected: "one a model with its scores; the file has " + list(r.names())})
	}
	if len(l.models) > cascade.MaxModels {
		return at(r, o.File, &trace.Error{Problem: fmt.Sprintf("header has %d models", len(l.models)), Expected: fmt.Sprintf("at most %d", cascade.MaxModels)})
	}
	b := newBuilder(l)
	count, left := 0, 0
	for {
		err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		count++
		ok, bad := b.row(l, r)
		if bad != nil {
			return at(r, o.File, bad)
		}
		if !ok {
			left++
		}
		if b.t.Questions() > cascade.MaxQuestions {
			return at(r, o.File, &trace.Error{Problem: "file has too many questions", Expected: fmt.Sprintf("at most %d", cascade.MaxQuestions)})
		}
	}
	if count == left {
		return &trace.Error{File: o.File, Problem: fmt.Sprintf("none of %d questions has the scores and costs of all models", count), Expected: "at least one"}
	}
	if left > 0 {
		o.note("%d of %d questions left out: a score or a cost of some model is missing", left, count)
	}
	o.Questions = b.finish(o)
	return nil
}

// builder collects a table.
type builder struct {
	t       *cascade.Table
	numbers []map[string]int32 // of each group's labels
}

func newBuilder(l *layout) *builder {
	b := &builder{t: &cascade.Table{}}
	for _, m := range l.models {
		b.t.Models = append(b.t.Models, m.name)
	}
	for _, f := range l.features {
		b.t.Features = append(b.t.Features, f.name)
	}
	for _, g := range l.groups {
		b.t.Groups = append(b.t.Groups, cascade.Grouping{Name: g.name})
		b.numbers = append(b.numbers, map[string]int32{})
	}
	return b
}

// row adds a question; ok is false where it lacks something.
func (b *builder) row(l *layout, r rows) (ok bool, err *trace.Error) {
	score, cost, answer := len(b.t.Score), len(b.t.Cost), len(b.t.Answer)
	complete := true
	for _, m := range l.models {
		s, err := r.cell(m.score).score(r.names()[m.score])
		if err != nil {
			return false, err
		}
		complete = complete && s == s
		b.t.Score = append(b.t.Score, s)
		if m.cost != none {
			c, err := r.cell(m.cost).cost(r.names()[m.cost])
			if err != nil {
				return false, err
			}
			complete = complete && c == c
			b.t.Cost = append(b.t.Cost, c)
		}
		if m.answer != none {
			b.t.Answer = append(b.t.Answer, characters(r.cell(m.answer)))
		}
	}
	if !complete {
		b.t.Score, b.t.Cost, b.t.Answer = b.t.Score[:score], b.t.Cost[:cost], b.t.Answer[:answer]
		return false, nil
	}
	if err := b.known(l, r); err != nil {
		return false, err
	}
	if l.id != none {
		b.t.ID = append(b.t.ID, r.cell(l.id).string())
	}
	return true, nil
}

// known adds what is known of the question before the call.
func (b *builder) known(l *layout, r rows) *trace.Error {
	for _, f := range l.features {
		c := r.cell(f.column)
		if f.length {
			b.t.Value = append(b.t.Value, characters(c))
			continue
		}
		x, err := c.number(f.name)
		if err != nil {
			return err
		}
		if math.IsNaN(x) || math.Abs(x) > math.MaxFloat32 {
			return bad(f.name, "missing", "a number: every question needs its features")
		}
		b.t.Value = append(b.t.Value, float32(x))
	}
	for i, g := range l.groups {
		b.label(i, r.cell(g.column).string())
	}
	if l.part == none {
		return nil
	}
	part, err := partOf(r.cell(l.part).string())
	b.t.Part = append(b.t.Part, part)
	return err
}

func partOf(name string) (cascade.Part, *trace.Error) {
	switch strings.ToLower(name) {
	case "train", "training":
		return cascade.Train, nil
	case "test", "testing":
		return cascade.Test, nil
	case "", "val", "valid", "validation", "dev":
		return cascade.NoPart, nil
	}
	return 0, bad("split", quote(name), "train, test, validation or nothing")
}

// label adds a question's label in the i-th group; none is "".
func (b *builder) label(i int, name string) {
	g := &b.t.Groups[i]
	if name == "" {
		g.Of = append(g.Of, -1)
		return
	}
	n, known := b.numbers[i][name]
	if !known {
		n = int32(len(g.Labels))
		b.numbers[i][name] = n
		g.Labels = append(g.Labels, name)
	}
	g.Of = append(g.Of, n)
}

// characters is the length of a text.
func characters(c cell) float32 {
	if c.kind == isText {
		return float32(utf8.RuneCountInString(c.text))
	}
	return 0
}

// finish drops what the file leaves open.
func (b *builder) finish(o *Outcomes) *cascade.Table {
	b.t.Groups = slices.DeleteFunc(b.t.Groups, func(g cascade.Grouping) bool {
		if len(g.Labels) == 0 {
			o.note("column %s is empty: not used", g.Name)
		}
		return len(g.Labels) == 0
	})
	if b.t.Part != nil && (!slices.Contains(b.t.Part, cascade.Train) || !slices.Contains(b.t.Part, cascade.Test)) {
		o.note("column split does not name both parts: not used")
		b.t.Part = nil
	}
	return b.t
}

// join puts tables with the same models and features one behind the other; the
// names of their files become a group, and groups that all have stay.
func join(parts []*Outcomes) (*cascade.Table, error) {
	first := parts[0].Questions
	if first == nil {
		return nil, &trace.Error{File: parts[0].File, Problem: "file is module-level", Expected: "one such file by itself, not a folder"}
	}
	l := &layout{groups: []named{{"file", none}}}
	for _, g := range first.Groups {
		if !slices.ContainsFunc(parts, func(p *Outcomes) bool { return groupOf(p.Questions, g.Name) == nil }) {
			l.groups = append(l.groups, named{g.Name, none})
		}
	}
	b := newBuilder(l)
	all := b.t
	all.Models, all.Features = first.Models, first.Features
	answers := true // of every file
	for _, p := range parts {
		t := p.Questions
		if !slices.Equal(t.Models, first.Models) || !slices.Equal(t.Features, first.Features) || (t.Cost == nil) != (first.Cost == nil) {
			return nil, &trace.Error{File: p.File, Problem: "file has other models or columns (" + list(t.Models) + ")",
				Expected: "those of " + parts[0].File + ": " + list(first.Models)}
		}
		all.Score, all.Cost = append(all.Score, t.Score...), append(all.Cost, t.Cost...)
		all.Answer, all.Value = append(all.Answer, t.Answer...), append(all.Value, t.Value...)
		answers = answers && t.Answer != nil
		name, _, _ := strings.Cut(filepath.Base(p.File), ".")
		for q := range t.Questions() {
			b.label(0, name)
			for i, g := range l.groups[1:] {
				label := ""
				if from := groupOf(t, g.name); from.Of[q] >= 0 {
					label = from.Labels[from.Of[q]]
				}
				b.label(i+1, label)
			}
		}
	}
	if !answers {
		all.Answer = nil
	}
	return all, nil
}

// groupOf finds a grouping by its name, nil where the table has none.
func groupOf(t *cascade.Table, name string) *cascade.Grouping {
	if t != nil {
		for i := range t.Groups {
			if t.Groups[i].Name == name {
				return &t.Groups[i]
			}
		}
	}
	return nil
}
