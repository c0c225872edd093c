package query

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// errEnough is what row returns for a row that the printer does not want, nor
// any after it.
var errEnough = errors.New("enough rows")

// printer writes a result: once begin, then its rows, once end.
type printer interface {
	begin(columns []column) error
	row(values []value) error
	end() error
}

func newPrinter(format string, all bool, w *bufio.Writer) printer {
	switch format {
	case "csv":
		return &separated{w: w, comma: ','}
	case "tsv":
		return &separated{w: w, comma: '\t'}
	case "json":
		return &jsonRows{w: w}
	default:
		return &aligned{w: w, all: all}
	}
}

// separated prints RFC 4180, with "\n" at the ends of lines.
type separated struct {
	w     *bufio.Writer
	comma byte
}

func (p *separated) begin(columns []column) error {
	fields := make([]string, len(columns))
	for i, c := range columns {
		fields[i] = p.quote(c.name)
	}
	return p.line(fields)
}

func (p *separated) row(values []value) error {
	fields := make([]string, len(values))
	for i, v := range values {
		if v.kind != null {
			fields[i] = p.quote(v.plain(value.digits))
		}
	}
	if len(fields) == 1 && fields[0] == "" {
		fields[0] = "NULL" // an empty line would be no row to most readers
	}
	return p.line(fields)
}

func (p *separated) quote(s string) string {
	if s != "" && !strings.ContainsAny(s, "\"\r\n"+string(rune(p.comma))) && s[0] != ' ' && s[len(s)-1] != ' ' && s != "NULL" {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

func (p *separated) line(fields []string) error {
	_, err := p.w.WriteString(strings.Join(fields, string(rune(p.comma))) + "\n")
	return err
}

func (p *separated) end() error { return nil }

// jsonRows prints an array of objects, one a line.
type jsonRows struct {
	w     *bufio.Writer
	names []string
	rows  int
	line  []byte
}

func (p *jsonRows) begin(columns []column) error {
	for _, c := range columns {
		p.names = append(p.names, c.name)
	}
	_, err := p.w.WriteString("[")
	return err
}

func (p *jsonRows) row(values []value) error {
	p.line = p.line[:0]
	if p.rows > 0 {
		p.line = append(p.line, ',')
	}
	p.rows++
	p.line = append(p.line, '\n')
	p.line = value{kind: object, keys: p.names, items: values}.appendJSON(p.line)
	_, err := p.w.Write(p.line)
	return err
}

func (p *jsonRows) end() error {
	_, err := p.w.WriteString("\n]\n")
	return err
}

// measured is the number of rows that decide the widths of an aligned table,
// and the most that are printed unless all are wanted: nobody reads more, and
// those after it are printed as they come, in more time and out of line.
const measured = 10_000

// aligned prints a table for people.
type aligned struct {
	w       *bufio.Writer
	all     bool
	columns []column
	held    [][]string // rows before the widths are known
	widths  []int      // nil before
	rows    int
	more    bool // than were printed
}

func (p *aligned) begin(columns []column) error {
	p.columns = columns
	return nil
}

func (p *aligned) row(values []value) error {
	if p.rows == measured && !p.all {
		p.more = true
		return errEnough
	}
	cells := make([]string, len(values))
	for i, v := range values {
		if cells[i] = "NULL"; v.kind != null {
			cells[i] = visible(v.plain(value.rounded))
		}
	}
	p.rows++
	if p.widths != nil {
		return p.line(cells)
	}
	if p.held = append(p.held, cells); len(p.held) == measured {
		return p.release()
	}
	return nil
}

// release fixes the widths and prints what was held.
func (p *aligned) release() error {
	p.widths = make([]int, len(p.columns))
	names, rules := make([]string, len(p.columns)), make([]string, len(p.columns))
	for i, c := range p.columns {
		names[i] = visible(c.name)
		p.widths[i] = utf8.RuneCountInString(names[i])
		for _, cells := range p.held {
			p.widths[i] = max(p.widths[i], utf8.RuneCountInString(cells[i]))
		}
		rules[i] = strings.Repeat("-", p.widths[i])
	}
	for _, cells := range append([][]string{names, rules}, p.held...) {
		if err := p.line(cells); err != nil {
			return err
		}
	}
	p.held = nil
	return nil
}

func (p *aligned) line(cells []string) error {
	var b strings.Builder
	for i, cell := range cells {
		if i > 0 {
			b.WriteString("  ")
		}
		pad := strings.Repeat(" ", max(0, p.widths[i]-utf8.RuneCountInString(cell)))
		if p.columns[i].number {
			b.WriteString(pad + cell)
		} else {
			b.WriteString(cell + pad)
		}
	}
	_, err := p.w.WriteString(strings.TrimRight(b.String(), " ") + "\n")
	return err
}

func (p *aligned) end() error {
	if p.widths == nil {
		if err := p.release(); err != nil {
			return err
		}
	}
	if p.more {
		_, err := fmt.Fprintf(p.w, "(the first %d rows: all of them come with --all, or faster with --format csv)\n", p.rows)
		return err
	}
	plural := "s"
	if p.rows == 1 {
		plural = ""
	}
	_, err := fmt.Fprintf(p.w, "(%d row%s)\n", p.rows, plural)
	return err
}

// visible replaces what would break the lines of a table.
func visible(s string) string {
	return strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s)
}
