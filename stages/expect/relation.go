package expect

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"switchyard/stages/query"
)

// Relation is a set of numbers in which a value should lie, or an order.
type Relation struct {
	Lo, Hi float64 // of the set; infinite where it has no bound
	Strict bool    // the bounds are not in the set
	Column string  // of the answer that is the bound, in place of Lo or Hi; "" without
	Above  bool    // with Column: the value should lie above it
	Order  []string
	Text   string // for people
}

var columnName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// Verdict is what a result is worth beside what was expected.
type Verdict string

// The verdicts.
const (
	Agrees  Verdict = "agrees"
	Differs Verdict = "differs"
	Unclear Verdict = "cannot be judged"
)

// finding is what an answer says.
type finding struct {
	value, lo, hi *float64
	found         string // the rows of an order
	verdict       Verdict
	note          string // why, where the verdict does not say it
}

func unclear(format string, values ...any) finding {
	return finding{verdict: Unclear, note: fmt.Sprintf(format, values...)}
}

// columns are those that the answer has to have, and those that it may have.
func (r *Relation) columns() (must, may []string) {
	switch {
	case r.Order != nil:
		return []string{"name"}, []string{"value", "lo", "hi"}
	case r.Column != "":
		return []string{"value", r.Column}, []string{"lo", "hi"}
	}
	return []string{"value"}, []string{"lo", "hi"}
}

// judge holds an answer, whose columns fit, against the relation. The error is
// that a column holds what is no number.
func (r *Relation) judge(a *query.Answer) (finding, error) {
	rows, err := rowsOf(a, r.Column)
	if err != nil {
		return finding{}, err
	}
	if r.Order != nil {
		return r.judgeOrder(rows), nil
	}
	if len(rows) != 1 {
		return unclear("the SQL has %s, expected one", count(len(rows), "row")), nil
	}
	row := rows[0]
	if row.value == nil {
		return unclear("the SQL's value is NULL, or not finite"), nil
	}
	set := *r
	if r.Column != "" {
		if row.bound == nil {
			return unclear("the SQL's column %s is NULL, or not finite", r.Column), nil
		}
		if r.Above {
			set.Lo = *row.bound
		} else {
			set.Hi = *row.bound
		}
	}
	f := finding{value: row.value, lo: row.lo, hi: row.hi}
	f.verdict, f.note = set.place(*row.value, row.lo, row.hi)
	if r.Column != "" {
		f.found = r.Column + " " + short(*row.bound)
	}
	return f, nil
}

// place says whether a value with its interval lies in the set, as the package
// documentation defines it.
func (r *Relation) place(x float64, lo, hi *float64) (Verdict, string) {
	if lo == nil || hi == nil {
		if r.holds(x) {
			return Agrees, ""
		}
		return Differs, ""
	}
	above := *lo > r.Lo || *lo == r.Lo && !r.Strict
	below := *hi < r.Hi || *hi == r.Hi && !r.Strict
	outside := *hi < r.Lo || *lo > r.Hi || r.Strict && (*hi == r.Lo || *lo == r.Hi)
	bounded := !math.IsInf(r.Lo, 0) && !math.IsInf(r.Hi, 0)
	switch {
	case above && below:
		return Agrees, ""
	case outside:
		return Differs, ""
	case !r.holds(x):
		return Unclear, "too few replications: the value lies outside, its interval reaches in"
	case !bounded:
		return Unclear, "too few replications: the interval crosses the bound"
	case *hi-*lo > r.Hi-r.Lo:
		return Unclear, "too few replications: the interval is wider than the tolerance"
	}
	return Agrees, ""
}

// holds reports whether a number lies in the set; NaN lies in none.
func (r *Relation) holds(x float64) bool {
	if r.Strict {
		return r.Lo < x && x < r.Hi
	}
	return r.Lo <= x && x <= r.Hi
}

// judgeOrder compares the order of rows.
func (r *Relation) judgeOrder(rows []row) finding {
	var names, found []string
	for _, row := range rows {
		names = append(names, row.name)
		text := row.name
		if row.value != nil {
			text += " " + short(*row.value)
		}
		found = append(found, text)
	}
	f := finding{found: strings.Join(found, ", ")}
	if len(names) != len(r.Order) {
		return f.unclear("the SQL has %s, expected %d", count(len(names), "row"), len(r.Order))
	}
	for _, name := range r.Order {
		if !slices.Contains(names, name) {
			return f.unclear("the SQL has no row %s", name)
		}
	}
	f.verdict = Agrees
	open := ""
	for i, a := range r.Order { // should come before all that follow
		for _, b := range r.Order[i+1:] {
			x, y := rows[slices.Index(names, a)], rows[slices.Index(names, b)]
			switch {
			case slices.Index(names, a) < slices.Index(names, b):
			case x.overlaps(y):
				open = a + " and " + b
			default:
				f.verdict, f.note = Differs, fmt.Sprintf("%s comes before %s", b, a)
				return f
			}
		}
	}
	if open != "" {
		return f.unclear("too few replications: the intervals of %s overlap", open)
	}
	return f
}

func (f finding) unclear(format string, values ...any) finding {
	f.verdict, f.note = Unclear, fmt.Sprintf(format, values...)
	return f
}

// row is a row of an answer.
type row struct {
	name                 string
	value, lo, hi, bound *float64
}

// overlaps reports whether both have intervals that share a number.
func (r row) overlaps(o row) bool {
	return r.lo != nil && r.hi != nil && o.lo != nil && o.hi != nil && *r.lo <= *o.hi && *o.lo <= *r.hi
}

// rowsOf reads an answer.
func rowsOf(a *query.Answer, bound string) ([]row, error) {
	rows := make([]row, len(a.Rows))
	for i, cells := range a.Rows {
		for k, column := range a.Columns {
			if column == "name" {
				rows[i].name = text(cells[k])
				continue
			}
			var to **float64
			switch column {
			case "value":
				to = &rows[i].value
			case "lo":
				to = &rows[i].lo
			case "hi":
				to = &rows[i].hi
			case bound:
				to = &rows[i].bound
			}
			x, err := number(cells[k])
			if err != nil {
				return nil, fmt.Errorf("whose column %s is a number, not %w", column, err)
			}
			*to = x
		}
		if lo, hi := rows[i].lo, rows[i].hi; lo != nil && hi != nil && *lo > *hi {
			return nil, fmt.Errorf("whose column lo is at most hi, not %s and %s", short(*lo), short(*hi))
		}
	}
	return rows, nil
}

// number reads a value of an answer; nil is NULL, and so is what is not finite:
// the interval of a single replication.
func number(x any) (*float64, error) {
	switch x := x.(type) {
	case nil:
		return nil, nil
	case bool:
		value := 0.0
		if x {
			value = 1
		}
		return &value, nil
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, nil
		}
		return &x, nil
	}
	return nil, fmt.Errorf("%q", fmt.Sprint(x))
}

func text(x any) string {
	switch x := x.(type) {
	case nil:
		return "NULL"
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return fmt.Sprint(x)
}

// short prints a number for people, in four digits or all before the point.
func short(x float64) string {
	if a := math.Abs(x); a >= 1000 && a < 1e7 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
