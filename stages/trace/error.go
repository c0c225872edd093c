package trace

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// textLimit is the number of characters of a bad line that an error quotes.
const textLimit = 200

// Error is a record that a reader cannot use.
type Error struct {
	File     string // as the caller gave it
	Line     int    // from 1; a row in the parquet format; 0 where the whole file is meant
	Row      bool   // Line counts rows
	Field    string // "" where the whole line is meant
	Problem  string // what the field is: "-3", "missing"
	Expected string // what would do, and how to get there
	Text     string // of the line, cut at 200 characters
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		if e.Row {
			fmt.Fprintf(&b, ": row %d", e.Line)
		} else {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
	}
	b.WriteString(": ")
	if e.Field != "" {
		b.WriteString(e.Field)
		b.WriteString(" is ")
	}
	b.WriteString(e.Problem)
	if e.Expected != "" {
		b.WriteString(", expected ")
		b.WriteString(e.Expected)
	}
	if e.Text != "" {
		fmt.Fprintf(&b, ", in %#q", e.Text)
	}
	return b.String()
}

// bad returns an error about a field; the reader adds file, line and text.
func bad(field, problem, expected string) *Error {
	return &Error{Field: field, Problem: problem, Expected: expected}
}

// quote shortens and quotes a value.
func quote(value string) string { return fmt.Sprintf("%#q", cutText(value, 60)) }

// cutText returns the first limit characters of s.
func cutText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := 0
	for i := range s {
		if n == limit {
			return s[:i] + "..."
		}
		n++
	}
	return s
}

// lineText is what an error quotes of a line, which may be very long.
func lineText(line []byte) string {
	if most := textLimit * utf8.UTFMax; len(line) > most {
		line = line[:most]
	}
	return cutText(string(line), textLimit)
}
