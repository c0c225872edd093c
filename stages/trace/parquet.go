package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/parquet-go/parquet-go"

	"switchyard/sim/workload"
)

// parquetFormat is a Parquet table with the columns of table `workload`, which a
// user can write with a DuckDB query:
//
//	copy (select epoch_us(t) as arrival_us, prompt as prompt_tokens, answer as output_tokens
//	      from 'log.csv' where answer > 0) to 'mine.parquet'
var parquetFormat = Format{
	Name:    "parquet",
	Summary: "Parquet table with the columns of table workload, such as a DuckDB query writes",
	Source:  "this program's table workload",
	Columns: "arrival_us (us; NULL where after is set), prompt_tokens, output_tokens (tokens); optional request (number, else the order of the rows), " +
		"after (number of the request to wait for), think_us (us), session, turn (from 0), tags (list), " +
		"segment_ids (list, root to leaf), segment_tokens (list of the same length; not needed with block_tokens), output_segment, " +
		"replica (from 0: that it was sent to, for router recorded)",
	Empty:  "an error: the query that writes the table can leave such rows out, and after could not name them",
	strict: true,
	rows:   true,
	matches: func(head []byte) bool {
		return bytes.HasPrefix(head, []byte("PAR1"))
	},
	read: readParquet,
}

// rowBatch is the number of rows decoded at once.
const rowBatch = 512

// Columns of table workload, as indexes into parquetRow.cells.
const (
	colRequest = iota
	colArrival
	colAfter
	colThink
	colSession
	colTurn
	colTags
	colPrompt
	colOutput
	colIDs
	colTokens
	colAnswer
	colReplica
	colCount
)

var parquetColumns = [colCount]struct {
	name           string
	list, required bool
}{
	colRequest: {name: "request"},
	colArrival: {name: "arrival_us"},
	colAfter:   {name: "after"},
	colThink:   {name: "think_us"},
	colSession: {name: "session"},
	colTurn:    {name: "turn"},
	colTags:    {name: "tags", list: true},
	colPrompt:  {name: "prompt_tokens", required: true},
	colOutput:  {name: "output_tokens", required: true},
	colIDs:     {name: "segment_ids", list: true},
	colTokens:  {name: "segment_tokens", list: true},
	colAnswer:  {name: "output_segment"},
	colReplica: {name: "replica"},
}

func readParquet(in *input, emit emitFunc) (err error) {
	row := 0
	defer func() {
		// parquet-go checks less than a file from outside can get wrong.
		if p := recover(); p != nil {
			err = &Error{File: in.file, Row: true, Line: row, Problem: fmt.Sprintf("file is damaged (%v)", p), Expected: "a Parquet file: write it again"}
		}
	}()
	at, size, err := in.readerAt()
	if err != nil {
		return err
	}
	f, err := parquet.OpenFile(at, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return &Error{File: in.file, Problem: fmt.Sprintf("file is not readable as Parquet (%v)", err), Expected: "a whole Parquet file"}
	}
	p := parquetRow{blockTokens: in.blockTokens, tags: map[string][]string{}}
	if err := p.open(f.Schema()); err != nil {
		err.File = in.file
		return err
	}
	for _, group := range f.RowGroups() {
		if err := p.readGroup(group, &row, emit); err != nil {
			var e *Error
			if !errors.As(err, &e) {
				e = &Error{Problem: fmt.Sprintf("rows cannot be read (%v)", err), Expected: "a whole Parquet file"}
			}
			e.File, e.Row, e.Line = in.file, true, row
			return e
		}
	}
	if int64(row) != f.NumRows() {
		return &Error{File: in.file, Problem: fmt.Sprintf("file yields %d rows", row), Expected: fmt.Sprintf("the %d that its footer counts", f.NumRows())}
	}
	return nil
}

// readerAt gives random access: to the source itself where it has that, else
// to a copy in memory.
func (in *input) readerAt() (io.ReaderAt, int64, error) {
	if in.whole != nil {
		if size, err := in.whole.Seek(0, io.SeekEnd); err == nil { // a pipe has the method but cannot seek
			return in.whole, size, nil
		}
	}
	data, err := io.ReadAll(in.r)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: read: %w", in.file, err)
	}
	return bytes.NewReader(data), int64(len(data)), nil
}

// parquetRow decodes rows.
type parquetRow struct {
	blockTokens int32
	cells       [colCount]cells
	wanted      []int // by the file's column: one of ours, or -1
	tags        map[string][]string
	ids, sizes  []int64
	r           workload.Request
}

// open finds the columns.
func (p *parquetRow) open(schema *parquet.Schema) *Error {
	paths := schema.Columns()
	p.wanted = make([]int, len(paths))
	for i, path := range paths {
		p.wanted[i] = -1
		for c, column := range parquetColumns {
			if path[0] != column.name {
				continue
			}
			leaf, _ := schema.Lookup(path...)
			leaf.Path = path // Lookup gives its last name alone
			if p.cells[c].found {
				return bad(column.name, "a structure", "a plain column or list")
			}
			if err := p.cells[c].open(column.name, column.list, c == colTags, leaf); err != nil {
				return err
			}
			p.wanted[leaf.ColumnIndex] = c
		}
	}
	for c, column := range parquetColumns {
		if column.required && !p.cells[c].found {
			return bad(column.name, "missing", "a column of that name; the file has "+topNames(paths))
		}
	}
	switch {
	case !p.cells[colArrival].found && !p.cells[colAfter].found:
		return bad("arrival_us", "missing", "a column of that name; the file has "+topNames(paths))
	case p.cells[colIDs].found && !p.cells[colTokens].found && p.blockTokens == 0:
		return bad("segment_tokens", "missing", "that column beside segment_ids, or the field block_tokens")
	}
	return nil
}

// topNames lists the file's columns.
func topNames(paths [][]string) string {
	var names []string
	for _, path := range paths {
		if len(names) == 0 || names[len(names)-1] != path[0] {
			names = append(names, path[0])
		}
	}
	return cutText(strings.Join(names, ", "), textLimit)
}

func (p *parquetRow) readGroup(group parquet.RowGroup, row *int, emit emitFunc) error {
	rows := group.Rows()
	defer rows.Close()
	buffer := make([]parquet.Row, rowBatch)
	for {
		n, err := rows.ReadRows(buffer)
		for _, values := range buffer[:n] {
			*row++
			if err := p.decode(values, int64(*row-1)); err != nil {
				return err
			}
			if err := emit(*row, p.number(int64(*row-1)), &p.r); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case n == 0:
			return io.ErrNoProgress
		}
	}
}

// number returns the request's number, in a file without them the row's.
func (p *parquetRow) number(row int64) int64 {
	n, ok, _ := p.cells[colRequest].whole()
	if !ok {
		return row
	}
	return n
}

// decode fills p.r.
func (p *parquetRow) decode(values parquet.Row, row int64) error {
	for c := range p.cells {
		p.cells[c].values = nil
	}
	values.Range(func(i int, v []parquet.Value) bool {
		if i < len(p.wanted) && p.wanted[i] >= 0 {
			p.cells[p.wanted[i]].values = v
		}
		return true
	})
	p.r = workload.Request{Segments: p.r.Segments[:0]}
	if err := p.scalars(row); err != nil {
		return err
	}
	p.r.Tags = p.readTags()
	return p.segments()
}

// scalars decodes all columns but the lists.
func (p *parquetRow) scalars(row int64) error {
	r := &p.r
	var after, prompt, output, turn, replica int64
	for _, x := range []struct {
		column      int
		to          *int64
		absent      int64
		least, most int64
	}{
		{colRequest, new(int64), 0, math.MinInt64, math.MaxInt64},
		{colArrival, &r.ArrivalUs, workload.None, 0, exactUs - 1},
		{colAfter, &after, workload.None, 0, math.MaxInt64},
		{colThink, &r.ThinkUs, 0, 0, exactUs - 1},
		{colSession, &r.Session, workload.None, math.MinInt64, math.MaxInt64},
		{colTurn, &turn, 0, 0, math.MaxInt32},
		{colPrompt, &prompt, 0, 0, math.MaxInt32},
		{colOutput, &output, 0, 0, math.MaxInt32},
		{colAnswer, &r.OutputID, workload.None, math.MinInt64, math.MaxInt64},
		{colReplica, &replica, workload.None, 0, math.MaxInt32 - 1},
	} {
		c := &p.cells[x.column]
		v, ok, err := c.whole()
		switch {
		case err != nil:
			return err
		case !ok && c.found && parquetColumns[x.column].required:
			return bad(c.name, "NULL", "a number")
		case !ok:
			v = x.absent
		case v < x.least || v > x.most:
			return bad(c.name, fmt.Sprint(v), fmt.Sprintf("%d to %d", x.least, x.most))
		}
		*x.to = v
	}
	r.Served = int32(replica + 1)
	r.Turn, r.Prompt, r.Output, r.After = int32(turn), int32(prompt), int32(output), workload.None
	if after != workload.None {
		// The number is resolved once all rows are known.
		if after > math.MaxInt32 {
			return bad("after", fmt.Sprint(after), "0 to 2147483647")
		}
		r.After, r.ArrivalUs = int32(after), 0
	} else if r.ArrivalUs == workload.None {
		return bad("arrival_us", "NULL", "a time where after is NULL")
	}
	return nil
}

func (p *parquetRow) segments() error {
	var err error
	if p.ids, err = p.cells[colIDs].wholes(p.ids[:0]); err != nil {
		return err
	}
	if !p.cells[colTokens].found {
		p.r.Segments, err = blocks(p.r.Segments, p.ids, p.r.Prompt, p.blockTokens)
		return err
	}
	if p.sizes, err = p.cells[colTokens].wholes(p.sizes[:0]); err != nil {
		return err
	}
	if len(p.ids) != len(p.sizes) {
		return bad("segment_tokens", fmt.Sprintf("a list of %d", len(p.sizes)), fmt.Sprintf("the %d of segment_ids", len(p.ids)))
	}
	for i, n := range p.sizes {
		if n < 1 || n > int64(p.r.Prompt) {
			return bad("segment_tokens", fmt.Sprintf("a list with %d", n), fmt.Sprintf("1 to prompt_tokens, %d", p.r.Prompt))
		}
		p.r.Segments = append(p.r.Segments, workload.Segment{ID: p.ids[i], Tokens: int32(n)})
	}
	return nil
}

// readTags shares equal lists between requests.
func (p *parquetRow) readTags() []string {
	var list []string
	for _, v := range p.cells[colTags].values {
		if !v.IsNull() {
			list = append(list, string(v.ByteArray()))
		}
	}
	if list == nil {
		return nil
	}
	key := strings.Join(list, "\x00")
	if shared, ok := p.tags[key]; ok {
		return shared
	}
	p.tags[key] = list
	return list
}
