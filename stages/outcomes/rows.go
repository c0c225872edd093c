package outcomes

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"switchyard/stages/trace"
)

// rows are the rows of a CSV or Parquet file.
type rows interface {
	names() []string
	next() error // io.EOF behind the last row
	cell(column int) cell
	place() (line int, row bool) // of what next read; row: it counts rows
}

// cell is a value: missing, a number, or a text (which may spell a number).
type cell struct {
	kind cellKind
	x    float64
	text string
}

type cellKind uint8

const (
	isMissing cellKind = iota
	isNumber
	isText
)

func textCell(s string) cell {
	switch s {
	case "", "nan", "NaN", "NA", "null", "NULL", "None":
		return cell{}
	}
	return cell{kind: isText, text: s}
}

// number returns NaN where the cell is missing.
func (c cell) number(field string) (float64, *trace.Error) {
	switch c.kind {
	case isMissing:
		return math.NaN(), nil
	case isNumber:
		if math.IsNaN(c.x) {
			return c.x, nil
		}
		if math.IsInf(c.x, 0) {
			return 0, bad(field, "infinite", "a number")
		}
		return c.x, nil
	}
	text := strings.TrimSpace(c.text)
	switch text {
	case "True", "true", "TRUE":
		return 1, nil
	case "False", "false", "FALSE":
		return 0, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, bad(field, quote(c.text), "a number")
	}
	return x, nil
}

// score returns a number from 0 to 1, NaN where it is missing.
func (c cell) score(field string) (float32, *trace.Error) {
	x, err := c.number(field)
	if err != nil {
		err.Expected = "a score from 0 to 1, True or False; a column that is no model's can be named in the field features or groups"
		return 0, err
	}
	const slack = 1e-6 // of floats that were averaged
	if x < -slack || x > 1+slack {
		return 0, bad(field, strconv.FormatFloat(x, 'g', -1, 64), "a score from 0 to 1; a column that is no model's can be named in the field features")
	}
	return float32(min(max(x, 0), 1)), nil // min and max keep NaN
}

// mostDollars bounds a call's price: more is a mistake of units.
const mostDollars = 1e6

// cost returns dollars, NaN where they are missing.
func (c cell) cost(field string) (float32, *trace.Error) {
	x, err := c.number(field)
	if err != nil {
		return 0, err
	}
	if x < 0 || x > mostDollars {
		return 0, bad(field, strconv.FormatFloat(x, 'g', -1, 64), "dollars from 0 to a million")
	}
	return float32(x), nil
}

// string returns a label or an id.
func (c cell) string() string {
	if c.kind == isNumber {
		return strconv.FormatFloat(c.x, 'g', -1, 64)
	}
	return strings.TrimSpace(c.text)
}

// at completes an error about what next read.
func at(r rows, file string, err error) error {
	line, row := r.place()
	return place(err, file, line, row)
}

// place completes an error about a line or row.
func place(err error, file string, line int, row bool) error {
	var e *trace.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.File == "" {
		e.File = file
	}
	if e.Line == 0 {
		e.Line, e.Row = line, row
	}
	return e
}

// twice finds a name that stands twice.
func twice(names []string) *trace.Error {
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			return bad("", "header has the column "+quote(n)+" twice", "it once")
		}
		seen[n] = true
	}
	return nil
}
