package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Error is one thing that is wrong in an experiment file, with its place.
type Error struct {
	File         string // as given to Load, or the option: "--set a.b=v"
	Line, Column int    // from 1, in characters; 0 where File is an option
	Path         string // routers[2].threshold
	Problem      string // "unknown key", "missing", or "" where Value is wrong
	Value        string // as written
	Expected     string
	Nearest      string // the known name that was probably meant, or ""
}

// Error prints
//
//	quick.yaml:12:20: routers[2].threshold: value "2": expected a number from 0 to 1
//	quick.yaml:9:5: workloads[0].requets: unknown key: expected one of name, requests; did you mean "requests"?
func (e *Error) Error() string {
	var b strings.Builder
	switch {
	case e.Line > 0:
		fmt.Fprintf(&b, "%s:%d:%d: ", e.name(), e.Line, e.Column)
	default:
		fmt.Fprintf(&b, "%s: ", e.name())
	}
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	if e.Problem != "" {
		b.WriteString(e.Problem + ": ")
	} else {
		b.WriteString("value " + strconv.Quote(e.Value) + ": ")
	}
	b.WriteString("expected " + e.Expected)
	if e.Nearest != "" {
		fmt.Fprintf(&b, "; did you mean %q?", e.Nearest)
	}
	return b.String()
}

func (e *Error) name() string {
	if e.File == "" {
		return "experiment" // a section that is in no file
	}
	return e.File
}

// Join gathers errors, those inside joined errors too, into one: each message
// once, what is wrong in the file by position, then what is wrong in options,
// then the rest. A caller that decodes many points of one experiment passes
// all that it gets. Join returns nil where there is no error.
func Join(errs ...error) error {
	var flat []error
	seen := map[string]bool{}
	var add func(err error)
	add = func(err error) {
		if err == nil {
			return
		}
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range many.Unwrap() {
				add(e)
			}
			return
		}
		if text := err.Error(); !seen[text] {
			seen[text] = true
			flat = append(flat, err)
		}
	}
	for _, err := range errs {
		add(err)
	}
	slices.SortStableFunc(flat, func(a, b error) int {
		x, y := place(a), place(b)
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]), cmp.Compare(x[2], y[2]))
	})
	return errors.Join(flat...)
}

// place returns an error's sort key: class, line, column.
func place(err error) [3]int {
	var e *Error
	switch {
	case !errors.As(err, &e):
		return [3]int{2}
	case e.Line == 0:
		return [3]int{1}
	}
	return [3]int{0, e.Line, e.Column}
}
