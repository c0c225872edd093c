package outcomes

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"switchyard/stages/trace"
)

// rowBatch is the number of rows decoded at once; prompts and answers of eleven
// models take some 20 KB a row.
const rowBatch = 64

// parquetRows reads the plain columns of a Parquet file; lists and structures
// are passed over.
type parquetRows struct {
	file    string
	header  []string
	column  []int     // by leaf of the file: index in header, or -1
	scale   []float64 // by index in header: 1, or what a decimal's digits count
	groups  []parquet.RowGroup
	reader  parquet.Rows
	buffer  []parquet.Row
	have    []parquet.Row // not yet taken
	cells   []cell
	row     int
	expects int64
	ended   bool // the group's reader is through
}

func openParquet(file string, at io.ReaderAt, size int64) (p *parquetRows, err error) {
	defer damaged(file, new(int), &err)
	f, err := parquet.OpenFile(at, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, &trace.Error{File: file, Problem: fmt.Sprintf("file is not readable as Parquet (%v)", err), Expected: "a whole Parquet file"}
	}
	p = &parquetRows{file: file, groups: f.RowGroups(), buffer: make([]parquet.Row, rowBatch), expects: f.NumRows()}
	schema := f.Schema()
	for _, path := range schema.Columns() {
		leaf, ok := schema.Lookup(path...)
		for ok && len(p.column) <= leaf.ColumnIndex {
			p.column = append(p.column, -1)
		}
		if !ok || len(path) != 1 || leaf.MaxRepetitionLevel > 0 {
			continue
		}
		p.column[leaf.ColumnIndex] = len(p.header)
		p.header = append(p.header, path[0])
		p.scale = append(p.scale, scaleOf(leaf.Node.Type()))
	}
	p.cells = make([]cell, len(p.header))
	if err := twice(p.header); err != nil {
		err.File = file
		return nil, err
	}
	return p, nil
}

// scaleOf is the unit of a decimal's digits.
func scaleOf(t parquet.Type) float64 {
	scale := 1.0
	if l := t.LogicalType(); l != nil && l.Value != nil {
		if d, ok := l.Value.(*format.DecimalType); ok {
			for range min(max(d.Scale, 0), 300) {
				scale /= 10
			}
		}
	}
	return scale
}

// damaged turns a panic of the decoder, which checks less than a file from
// outside can get wrong, into an error.
func damaged(file string, row *int, err *error) {
	if p := recover(); p != nil {
		*err = &trace.Error{File: file, Row: true, Line: *row, Problem: fmt.Sprintf("file is damaged (%v)", p), Expected: "a Parquet file: write it again"}
	}
}

func (p *parquetRows) names() []string { return p.header }

func (p *parquetRows) next() (err error) {
	defer damaged(p.file, &p.row, &err)
	for len(p.have) == 0 {
		if err := p.fetch(); err != nil {
			return err
		}
	}
	p.row++
	clear(p.cells)
	for _, v := range p.have[0] {
		if i := v.Column(); i >= 0 && i < len(p.column) && p.column[i] >= 0 {
			c := p.column[i]
			p.cells[c] = decode(v, p.scale[c])
		}
	}
	p.have = p.have[1:]
	return nil
}

// fetch reads the next batch.
func (p *parquetRows) fetch() error {
	if p.reader != nil && p.ended {
		p.reader.Close()
		p.reader = nil
	}
	if p.reader == nil {
		if len(p.groups) == 0 {
			if int64(p.row) != p.expects {
				return &trace.Error{File: p.file, Problem: fmt.Sprintf("file yields %d rows", p.row), Expected: fmt.Sprintf("the %d that its footer counts", p.expects)}
			}
			return io.EOF
		}
		p.reader, p.ended = p.groups[0].Rows(), false
		p.groups = p.groups[1:]
	}
	n, err := p.reader.ReadRows(p.buffer)
	p.have = p.buffer[:n]
	switch {
	case errors.Is(err, io.EOF):
		p.ended = true
	case err != nil || n == 0:
		return &trace.Error{File: p.file, Row: true, Line: p.row + 1, Problem: fmt.Sprintf("row cannot be read (%v)", err), Expected: "a whole Parquet file"}
	}
	return nil
}

func decode(v parquet.Value, scale float64) cell {
	if v.IsNull() {
		return cell{}
	}
	switch v.Kind() {
	case parquet.Boolean:
		if v.Boolean() {
			return cell{kind: isNumber, x: 1}
		}
		return cell{kind: isNumber}
	case parquet.Int32:
		return cell{kind: isNumber, x: float64(v.Int32()) * scale}
	case parquet.Int64:
		return cell{kind: isNumber, x: float64(v.Int64()) * scale}
	case parquet.Float:
		return cell{kind: isNumber, x: float64(v.Float())}
	case parquet.Double:
		return cell{kind: isNumber, x: v.Double()}
	case parquet.ByteArray:
		return textCell(string(v.ByteArray()))
	}
	return cell{kind: isText, text: v.String()}
}

func (p *parquetRows) cell(column int) cell { return p.cells[column] }

func (p *parquetRows) place() (int, bool) { return p.row, true }
