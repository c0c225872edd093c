package table

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// errOutdated marks a sound file whose table has changed since: another
// version or other columns.
var errOutdated = errors.New("written for another version of the table")

// openFile is a Parquet file that has passed the cheap checks.
type openFile struct {
	*parquet.File
	path   string
	handle *os.File
	tasks  taskList // nil in tables that are not made of tasks
	tasked bool
}

func (f *openFile) close() error { return f.handle.Close() }

// open reads and checks a file's footer: magic bytes, row counts, and the list
// of tasks. The reason of a refusal never is a panic of the decoder.
func open(path string) (file *openFile, err error) {
	handle, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("unreadable footer: %v", r)
		}
		if err != nil {
			file = nil
			handle.Close()
		}
	}()
	info, err := handle.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 {
		return nil, errors.New("the file is empty")
	}
	parsed, err := parquet.OpenFile(handle, info.Size())
	if err != nil {
		return nil, fmt.Errorf("no complete Parquet file: %w", err)
	}
	file = &openFile{File: parsed, path: path, handle: handle}
	return file, file.check()
}

func (f *openFile) check() error {
	var rows int64
	for _, g := range f.Metadata().RowGroups {
		rows += g.NumRows
	}
	if rows != f.NumRows() {
		return fmt.Errorf("row groups hold %d rows, the footer says %d", rows, f.NumRows())
	}
	text, ok := f.Lookup(keyTasks)
	if !ok {
		return nil
	}
	sum, _ := f.Lookup(keyTasksSum)
	tasks, err := parseTasks(text, sum)
	if err != nil {
		return err
	}
	if n := tasks.rows(); n != rows {
		return fmt.Errorf("tasks hold %d rows, the footer says %d", n, rows)
	}
	f.tasks, f.tasked = tasks, true
	return nil
}

// checkSchema reports errOutdated unless the file was written for schema id
// and has exactly the given columns.
func (f *openFile) checkSchema(id string, columns *parquet.Schema) error {
	if found, _ := f.Lookup(keySchema); found != id {
		return fmt.Errorf("%w: it says %q, expected %q", errOutdated, found, id)
	}
	if !parquet.EqualNodes(f.Schema(), columns) {
		return fmt.Errorf("%w: its columns differ from those of %s", errOutdated, id)
	}
	return nil
}

// checkPages reads the whole file and compares each page with its checksum.
func (f *openFile) checkPages() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("unreadable page: %v", r)
		}
	}()
	for _, g := range f.Metadata().RowGroups {
		for i := range g.Columns {
			m := &g.Columns[i].MetaData
			if err := f.checkChunk(m); err != nil {
				return fmt.Errorf("column %v: %w", m.PathInSchema, err)
			}
		}
	}
	return nil
}

// checkChunk walks the pages of one column chunk: a header, then as many
// bytes as it says, until the chunk is used up.
func (f *openFile) checkChunk(m *format.ColumnMetaData) error {
	start := m.DataPageOffset
	if m.DictionaryPageOffset > 0 && m.DictionaryPageOffset < start {
		start = m.DictionaryPageOffset
	}
	if start < 4 || m.TotalCompressedSize < 0 || start+m.TotalCompressedSize > f.Size() {
		return fmt.Errorf("pages at %d to %d lie outside the file of %d bytes", start, start+m.TotalCompressedSize, f.Size())
	}
	r := bufio.NewReaderSize(io.NewSectionReader(f.handle, start, m.TotalCompressedSize), 1<<16)
	decoder := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(r))
	var values int64
	for {
		if _, err := r.Peek(1); err == io.EOF {
			break
		}
		var h format.PageHeader
		if err := decoder.Decode(&h); err != nil {
			return fmt.Errorf("page header: %w", err)
		}
		sum := crc32.NewIEEE()
		if n, err := io.CopyN(sum, r, int64(h.CompressedPageSize)); err != nil {
			return fmt.Errorf("page ends after %d of %d bytes: %w", n, h.CompressedPageSize, err)
		}
		if sum.Sum32() != uint32(h.CRC) {
			return errors.New("a page does not match its checksum")
		}
		if v2, ok := h.DataPageHeaderV2.Get(); ok {
			values += int64(v2.NumValues)
		}
	}
	if values != m.NumValues {
		return fmt.Errorf("pages hold %d values, the footer says %d", values, m.NumValues)
	}
	return nil
}
