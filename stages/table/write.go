package table

import (
	"io"

	"github.com/parquet-go/parquet-go"
)

const (
	// rowGroupRows is DuckDB's unit of parallelism and of zone maps.
	rowGroupRows = 122_880
	// batchRows divides rowGroupRows.
	batchRows = 8_192
	// A finished file's pages are large: readers skip by row group. A part's
	// are small: several workers hold one part a table each, and compaction
	// jumps between parts.
	filePageBytes = 1 << 20
	partPageBytes = 64 << 10
	// dictionaryBytes bounds the memory of a column with too many values for a
	// dictionary; past it the column goes on in plain encoding.
	dictionaryBytes = 1 << 20
)

// shape says how a finished table is cut.
type shape struct {
	// batch is the number of rows of one call to the encoder. The bytes of a
	// file depend on where calls end, so they always end here.
	batch int
	// group is the number of rows of a row group, a multiple of batch.
	group int
	// bytes is the size at which the table goes on in another file.
	bytes int64
}

var finishedShape = shape{batch: batchRows, group: rowGroupRows, bytes: 256 << 20}

// encoder writes rows of T to one Parquet file.
type encoder[T any] struct{ writer *parquet.GenericWriter[T] }

func newEncoder[T any](t *Table[T], w io.Writer, pageBytes int, p Provenance) *encoder[T] {
	return &encoder[T]{writer: parquet.NewGenericWriter[T](w,
		parquet.Compression(&parquet.Zstd),
		parquet.MaxRowsPerRowGroup(rowGroupRows),
		parquet.PageBufferSize(pageBytes),
		parquet.WriteBufferSize(0), // tempFile buffers, and counts
		parquet.DictionaryMaxBytes(dictionaryBytes),
		parquet.CreatedBy(p.tool(), "", ""),
		parquet.KeyValueMetadata(keyExperiment, p.Experiment),
		parquet.KeyValueMetadata(keySchema, t.Schema().ID()),
		parquet.KeyValueMetadata(keyTool, p.tool()),
	)}
}

// write encodes the rows. Of parquet-go's ways to write, this one visits the
// entries of a map in order of their keys; the others do so in Go's order, which
// is a new one each time.
func (e *encoder[T]) write(rows []T) error {
	_, err := e.writer.Write(rows)
	return err
}

// finishedWriter writes the files of a finished table under temporary names.
// What it writes is a function of the rows, their division into tasks and the
// provenance, and not of the slices in which they come.
type finishedWriter[T any] struct {
	table  *Table[T]
	disk   disk
	dir    string
	prov   Provenance
	shape  shape
	tasked bool // the rows belong to tasks, which the footers list

	file    *tempFile
	encoder *encoder[T]
	pending []T // rows of the batch that is not full yet
	group   int // rows in the open row group
	tasks   taskList
	names   []string // of the files begun
	rows    int64
}

// begin starts the rows of a task: the only place where a file may end, so
// that no task is ever half in a file.
func (w *finishedWriter[T]) begin(t task) error {
	if w.file != nil && w.file.size >= w.shape.bytes {
		if err := w.end(); err != nil {
			return err
		}
	}
	if err := w.open(); err != nil {
		return err
	}
	w.tasks = append(w.tasks, t)
	return nil
}

func (w *finishedWriter[T]) open() error {
	if w.file != nil {
		return nil
	}
	name := finishedName(len(w.names))
	file, err := w.disk.create(joinPath(w.dir, name))
	if err != nil {
		return err
	}
	w.names = append(w.names, name)
	w.file, w.encoder = file, newEncoder(w.table, file, filePageBytes, w.prov)
	w.pending, w.group, w.tasks = make([]T, 0, w.shape.batch), 0, nil
	return nil
}

func (w *finishedWriter[T]) write(rows []T) error {
	if err := w.open(); err != nil {
		return err
	}
	w.rows += int64(len(rows))
	for len(rows) > 0 {
		if len(w.pending) == 0 && len(rows) >= w.shape.batch {
			if err := w.flush(rows[:w.shape.batch]); err != nil {
				return err
			}
			rows = rows[w.shape.batch:]
			continue
		}
		n := min(w.shape.batch-len(w.pending), len(rows))
		w.pending = append(w.pending, rows[:n]...)
		rows = rows[n:]
		if len(w.pending) == w.shape.batch {
			if err := w.flush(w.pending); err != nil {
				return err
			}
			w.pending = w.pending[:0]
		}
	}
	return nil
}

func (w *finishedWriter[T]) flush(rows []T) error {
	if err := w.encoder.write(rows); err != nil {
		return err
	}
	if w.group += len(rows); w.group >= w.shape.group {
		w.group = 0
		return w.encoder.writer.Flush()
	}
	return nil
}

// end completes the open file under its temporary name.
func (w *finishedWriter[T]) end() error {
	if len(w.pending) > 0 {
		if err := w.flush(w.pending); err != nil {
			return err
		}
	}
	clear(w.pending[:cap(w.pending)])
	if w.tasked {
		w.tasks.store(w.encoder.writer.SetKeyValueMetadata)
	}
	if err := w.encoder.writer.Close(); err != nil {
		return err
	}
	file := w.file
	w.file, w.encoder = nil, nil
	return file.finish()
}

// close completes the table; a table without rows is one empty file.
func (w *finishedWriter[T]) close() error {
	if err := w.open(); len(w.names) == 0 || err != nil {
		return err
	}
	return w.end()
}

// abort removes what was written; best effort, as OpenParts would do the same.
func (w *finishedWriter[T]) abort() {
	if w.file != nil {
		w.file.abort()
	}
	for _, name := range w.names {
		w.disk.remove(joinPath(w.dir, name) + tempSuffix)
	}
}
