package expect

import (
	"math"
	"strings"
	"testing"

	"switchyard/stages/query"
)

func ptr(x float64) *float64 { return &x }

// The verdicts of the package documentation, each by hand.
func TestPlace(t *testing.T) {
	inf := math.Inf(1)
	band := Relation{Lo: 1, Hi: 2}
	above := Relation{Lo: 1, Hi: inf, Strict: true}
	below := Relation{Lo: -inf, Hi: 1, Strict: true}
	for _, c := range []struct {
		r       Relation
		x       float64
		in      []float64
		verdict Verdict
		note    string
	}{
		{band, 1.5, nil, Agrees, ""},
		{band, 1, nil, Agrees, ""},
		{band, 2, nil, Agrees, ""},
		{band, 2.01, nil, Differs, ""},
		{band, math.NaN(), nil, Differs, ""},
		{band, 1.5, []float64{1, 2}, Agrees, ""},
		{band, 1.9, []float64{1.5, 2.3}, Agrees, ""},
		{band, 1.5, []float64{0.9, 2.1}, Unclear, "wider than the tolerance"},
		{band, 2.1, []float64{1.9, 2.3}, Unclear, "its interval reaches in"},
		{band, 2.1, []float64{2, 2.2}, Unclear, "its interval reaches in"},
		{band, 2.1, []float64{2.01, 2.2}, Differs, ""},
		{band, 0.5, []float64{0.4, 0.9}, Differs, ""},
		{above, 1, nil, Differs, ""},
		{above, 1.1, nil, Agrees, ""},
		{above, 1.1, []float64{1.05, 1.2}, Agrees, ""},
		{above, 1.1, []float64{1, 1.2}, Unclear, "crosses the bound"},
		{above, 0.9, []float64{0.8, 1.1}, Unclear, "its interval reaches in"},
		{above, 0.9, []float64{0.8, 1}, Differs, ""},
		{below, 0.9, []float64{0.8, 0.99}, Agrees, ""},
		{below, 0.9, []float64{0.7, 1.1}, Unclear, "crosses the bound"},
		{below, 1.1, []float64{1, 1.2}, Differs, ""},
	} {
		var lo, hi *float64
		if c.in != nil {
			lo, hi = &c.in[0], &c.in[1]
		}
		verdict, note := c.r.place(c.x, lo, hi)
		if verdict != c.verdict || !strings.Contains(note, c.note) || (note == "") != (c.note == "") {
			t.Errorf("%v in %v of %v to %v: %s %q, expected %s %q", c.x, c.in, c.r.Lo, c.r.Hi, verdict, note, c.verdict, c.note)
		}
	}
}

func TestJudgeRows(t *testing.T) {
	values := []string{"value", "lo", "hi"}
	for _, c := range []struct {
		columns []string
		rows    [][]any
		verdict Verdict
		says    string // in note, or in the error
	}{
		{values, [][]any{{1.5, 1.4, 1.6}}, Agrees, ""},
		{values, [][]any{{1.5, nil, math.NaN()}}, Agrees, ""},
		{values, [][]any{{3.0, nil, nil}}, Differs, ""},
		{values, nil, Unclear, "0 rows, expected one"},
		{values, [][]any{{1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}}, Unclear, "2 rows, expected one"},
		{values, [][]any{{nil, nil, nil}}, Unclear, "NULL"},
		{[]string{"value"}, [][]any{{true}}, Agrees, ""},
		{values, [][]any{{1.5, 1.6, 1.4}}, "", "lo is at most hi"},
		{values, [][]any{{"1.5", nil, nil}}, "", `column value is a number, not "1.5"`},
	} {
		r := Relation{Lo: 1, Hi: 2}
		f, err := r.judge(&query.Answer{Columns: c.columns, Rows: c.rows})
		switch {
		case c.verdict == "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%v: error %v, expected %q", c.rows, err, c.says)
		case c.verdict != "" && (err != nil || f.verdict != c.verdict || !strings.Contains(f.note, c.says)):
			t.Errorf("%v: %+v, %v, expected %s %q", c.rows, f, err, c.verdict, c.says)
		}
	}
	r := Relation{Lo: math.Inf(-1), Hi: math.Inf(1), Strict: true, Column: "other", Above: true}
	for other, want := range map[any]Verdict{1.0: Agrees, 2.0: Differs, nil: Unclear} {
		f, err := r.judge(&query.Answer{Columns: []string{"other", "value"}, Rows: [][]any{{other, 1.5}}})
		if err != nil || f.verdict != want {
			t.Errorf("1.5 above %v: %v, %v, expected %s", other, f, err, want)
		}
	}
	if r.Lo != math.Inf(-1) {
		t.Error("judging changed the relation")
	}
}

func TestOrder(t *testing.T) {
	row := func(name string, in ...float64) []any {
		if in == nil {
			return []any{name, nil, nil, nil}
		}
		return []any{name, (in[0] + in[1]) / 2, in[0], in[1]}
	}
	for _, c := range []struct {
		rows    [][]any
		verdict Verdict
		says    string
	}{
		{[][]any{row("a"), row("b"), row("c")}, Agrees, ""},
		{[][]any{row("a", 1, 3), row("b", 2, 4), row("c", 3, 5)}, Agrees, ""},
		{[][]any{row("b"), row("a"), row("c")}, Differs, "b comes before a"},
		{[][]any{row("b", 1, 2), row("a", 3, 4), row("c", 5, 6)}, Differs, "b comes before a"},
		{[][]any{row("b", 1, 3), row("a", 2, 4), row("c", 5, 6)}, Unclear, "intervals of a and b overlap"},
		{[][]any{row("c", 1, 2), row("a", 2, 3), row("b", 4, 5)}, Differs, "c comes before b"},
		{[][]any{row("a"), row("b")}, Unclear, "2 rows, expected 3"},
		{[][]any{row("a"), row("b"), row("d")}, Unclear, "no row c"},
	} {
		r := Relation{Order: []string{"a", "b", "c"}}
		f, err := r.judge(&query.Answer{Columns: []string{"name", "value", "lo", "hi"}, Rows: c.rows})
		if err != nil || f.verdict != c.verdict || !strings.Contains(f.note, c.says) {
			t.Errorf("%v: %+v, %v, expected %s %q", c.rows, f, err, c.verdict, c.says)
		}
	}
}
