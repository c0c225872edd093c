package trace

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// table reads a CSV file by the names in its header. Names are compared without
// regard to case and surrounding space, columns may stand in any order, and
// those not asked for are passed over. A quoted field must end on its line.
type table struct {
	l      *lines
	header []byte
	names  []string // as the header has them
	column []int    // of each name asked for, -1 where an optional one is absent
	fields [][]byte // of the line that next read
	line   []byte
}

// openTable reads the header. A name that ends in ? is optional.
func openTable(in *input, names ...string) (*table, error) {
	t := &table{l: newLines(in)}
	line, err := t.l.next()
	if errors.Is(err, io.EOF) {
		return nil, &Error{File: in.file, Problem: "file is empty", Expected: "a header with " + plain(names)}
	}
	if err != nil {
		return nil, err
	}
	t.header, t.line = bytes.Clone(line), line
	if err := t.split(); err != nil {
		return nil, t.at(err)
	}
	for _, f := range t.fields {
		t.names = append(t.names, strings.TrimSpace(string(f)))
	}
	for _, name := range names {
		name, optional := strings.CutSuffix(name, "?")
		same := func(s string) bool { return strings.EqualFold(s, name) }
		at := slices.IndexFunc(t.names, same)
		if at < 0 && !optional {
			return nil, t.at(&Error{Problem: "header has no column " + quote(name), Expected: plain(names)})
		}
		if at >= 0 && slices.ContainsFunc(t.names[at+1:], same) {
			return nil, t.at(&Error{Problem: "header has the column " + quote(name) + " twice", Expected: "it once"})
		}
		t.column = append(t.column, at)
	}
	return t, nil
}

func plain(names []string) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		if name, optional := strings.CutSuffix(name, "?"); optional {
			b.WriteString("optional ")
			b.WriteString(name)
		} else {
			b.WriteString(name)
		}
	}
	return b.String()
}

// next reads a row, or returns io.EOF. A line equal to the header is passed
// over: files that were put one behind the other have it again.
func (t *table) next() error {
	for {
		line, err := t.l.next()
		if err != nil {
			return err
		}
		if bytes.Equal(line, t.header) {
			continue
		}
		t.line = line
		if err := t.split(); err != nil {
			return t.at(err)
		}
		if len(t.fields) != len(t.names) {
			return t.at(&Error{Problem: fmt.Sprintf("line has %d fields", len(t.fields)),
				Expected: fmt.Sprintf("the header's %d: %s", len(t.names), strings.Join(t.names, ","))})
		}
		return nil
	}
}

// split cuts the line into fields; quotes, which the published files do not
// use, take the long way.
func (t *table) split() error {
	t.fields = t.fields[:0]
	if bytes.IndexByte(t.line, '"') < 0 {
		rest, more := t.line, true
		for more {
			var f []byte
			f, rest, more = bytes.Cut(rest, []byte(","))
			t.fields = append(t.fields, bytes.TrimSpace(f))
		}
		return nil
	}
	r := csv.NewReader(bytes.NewReader(t.line))
	record, err := r.Read()
	if err != nil {
		var e *csv.ParseError
		if errors.As(err, &e) {
			err = e.Err
		}
		return &Error{Problem: fmt.Sprintf("line is no CSV (%v)", err), Expected: "fields with commas between them"}
	}
	for _, f := range record {
		t.fields = append(t.fields, bytes.TrimSpace([]byte(f)))
	}
	return nil
}

// field returns the value of the i-th name asked for, nil where the file does
// not have it.
func (t *table) field(i int) []byte {
	if t.column[i] < 0 {
		return nil
	}
	return t.fields[t.column[i]]
}

// tokens parses the i-th name's value as a count of tokens.
func (t *table) tokens(i int) (int32, error) {
	name := t.names[t.column[i]]
	x, err := number(name, t.field(i))
	if err != nil {
		return 0, err
	}
	return tokens(name, x)
}

func (t *table) at(err error) error { return t.l.at(err, t.line) }

// hasColumns reports whether the first line of head is a header with these
// names.
func hasColumns(head []byte, names ...string) bool {
	line, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	fields := strings.Split(string(line), ",")
	for _, name := range names {
		if !slices.ContainsFunc(fields, func(f string) bool { return strings.EqualFold(strings.Trim(f, "\" \r"), name) }) {
			return false
		}
	}
	return true
}
