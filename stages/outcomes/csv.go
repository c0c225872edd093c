package outcomes

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"switchyard/stages/trace"
)

// recordLimit bounds a record, so that a file with a quote that never ends
// does not fill the memory.
const recordLimit = 64 << 20

var errTooLong = errors.New("record is too long")

// capped fails once more than recordLimit bytes were read since left was reset.
type capped struct {
	r    io.Reader
	left int
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooLong
	}
	n, err := c.r.Read(p)
	c.left -= n
	return n, err
}

// csvRows reads CSV, RFC 4180: prompts in quotes may span lines.
type csvRows struct {
	file   string
	source *capped
	r      *csv.Reader
	header []string
	record []string
	line   int
}

func openCSV(file string, r io.Reader) (*csvRows, error) {
	c := &csvRows{file: file, source: &capped{r: r, left: recordLimit}}
	c.r = csv.NewReader(bufio.NewReaderSize(c.source, 256<<10))
	c.r.ReuseRecord = true
	header, err := c.r.Read()
	if err != nil {
		return nil, c.failed(err)
	}
	if strings.Contains(strings.Join(header, ""), "\r") {
		return nil, &trace.Error{File: file, Line: 1, Problem: "lines end in a carriage return alone", Expected: "line feeds: convert the file"}
	}
	for i, name := range header {
		if i == 0 {
			name = strings.TrimPrefix(name, "\ufeff")
		}
		c.header = append(c.header, strings.TrimSpace(name))
	}
	if err := twice(c.header); err != nil {
		return nil, place(err, file, 1, false)
	}
	return c, nil
}

func (c *csvRows) names() []string { return c.header }

func (c *csvRows) next() error {
	c.source.left = recordLimit
	record, err := c.r.Read()
	if err != nil {
		return c.failed(err)
	}
	c.record = record
	c.line, _ = c.r.FieldPos(0)
	return nil
}

// failed puts the decoder's complaints into this package's words.
func (c *csvRows) failed(err error) error {
	var p *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF
	case errors.Is(err, errTooLong):
		return &trace.Error{File: c.file, Line: c.line + 1, Problem: fmt.Sprintf("record is longer than %d MiB", recordLimit>>20),
			Expected: "a quote that opens also to close"}
	case errors.Is(err, csv.ErrFieldCount):
		line, _ := c.r.FieldPos(0)
		return &trace.Error{File: c.file, Line: line, Problem: "record has another number of fields than the header",
			Expected: fmt.Sprintf("the header's %d: %s", len(c.header), list(c.header))}
	case errors.As(err, &p):
		return &trace.Error{File: c.file, Line: p.Line, Problem: fmt.Sprintf("line is no CSV (%v)", p.Err), Expected: "fields with commas between them"}
	}
	return fmt.Errorf("%s: read after line %d: %w", c.file, c.line, err)
}

func (c *csvRows) cell(column int) cell { return textCell(c.record[column]) }

func (c *csvRows) place() (int, bool) { return max(1, c.line), false }
