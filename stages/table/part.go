package table

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
)

// partsFolder holds the parts of all tables, below the experiment's folder.
const partsFolder = "parts"

// partGroupRows is the least number of rows of a part's row group; it ends
// with the task that reaches it, so that compaction finds most tasks at the
// start of a row group.
const partGroupRows = 4_096

// keptWorker stands for a worker in the name of the part that holds the rows
// of tasks that the experiment no longer has.
const keptWorker = -1

// PartWriter writes one part: the rows of some tasks in one table, as one
// worker finishes them. The file appears, complete, when Close returns. It is
// not safe for concurrent use.
type PartWriter struct {
	path  string
	disk  disk
	begin func(*tempFile) partEncoder
	file  *tempFile // nil before the first Append
	enc   partEncoder
	tasks taskList
	seen  map[string]bool
	group int   // rows since the last row group was ended here
	rows  int64 // in all
	err   error // of an earlier Append: the file is unusable
}

type partEncoder interface {
	append(b Batch) error
	flush() error
	close(taskList) error
}

// NewPart implements Definition.
func (t *Table[T]) NewPart(dir string, worker, seq int, p Provenance) *PartWriter {
	return t.newPart(disk{}, dir, worker, seq, p)
}

func (t *Table[T]) newPart(d disk, dir string, worker, seq int, p Provenance) *PartWriter {
	return &PartWriter{
		path: filepath.Join(dir, partsFolder, partName(t.Name, worker, seq)),
		disk: d,
		seen: map[string]bool{},
		begin: func(f *tempFile) partEncoder {
			return typedPart[T]{t, newEncoder(t, f, partPageBytes, p)}
		},
	}
}

type typedPart[T any] struct {
	table   *Table[T]
	encoder *encoder[T]
}

func (p typedPart[T]) append(b Batch) error {
	typed, ok := b.(batch[T])
	if !ok || typed.table.Name != p.table.Name {
		return fmt.Errorf("batch of table %s given to a part of table %s", b.Table(), p.table.Name)
	}
	return p.encoder.write(typed.rows)
}

func (p typedPart[T]) flush() error { return p.encoder.writer.Flush() }

func (p typedPart[T]) close(tasks taskList) error {
	tasks.store(p.encoder.writer.SetKeyValueMetadata)
	return p.encoder.writer.Close()
}

// Append adds rows of the task with that key. Calls for one key must follow
// each other; an empty or nil batch records that the task has no rows here. After an
// error the part can only be aborted.
func (w *PartWriter) Append(key string, b Batch) error {
	if w.err == nil {
		if err := w.append(key, b); err != nil {
			w.err = fmt.Errorf("part %s: %w", w.path, err)
		}
	}
	return w.err
}

func (w *PartWriter) append(key string, b Batch) error {
	if n := len(w.tasks); n == 0 || w.tasks[n-1].key != key {
		if err := w.start(key); err != nil {
			return err
		}
	}
	if b == nil || b.Len() == 0 {
		return nil
	}
	if err := w.enc.append(b); err != nil {
		return err
	}
	w.group += b.Len()
	w.rows += int64(b.Len())
	w.tasks[len(w.tasks)-1].rows += int64(b.Len())
	return nil
}

func (w *PartWriter) start(key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if w.seen[key] {
		return fmt.Errorf("task %s comes a second time", key)
	}
	if w.file == nil {
		file, err := w.disk.create(w.path)
		if err != nil {
			return err
		}
		w.file, w.enc = file, w.begin(file)
	} else if w.group >= partGroupRows {
		if err := w.enc.flush(); err != nil {
			return err
		}
		w.group = 0
	}
	w.seen[key] = true
	w.tasks = append(w.tasks, task{key: key, place: -1})
	return nil
}

// Rows returns the number of rows appended.
func (w *PartWriter) Rows() int64 { return w.rows }

// Tasks returns the number of keys appended.
func (w *PartWriter) Tasks() int { return len(w.tasks) }

// Size returns the bytes written so far; the open row group, at most
// 122,880 rows, is not in it yet.
func (w *PartWriter) Size() int64 {
	if w.file == nil {
		return 0
	}
	return w.file.size
}

// Close makes the part durable under its name; one without any key leaves no
// file.
func (w *PartWriter) Close() error {
	if w.err != nil {
		return errors.Join(w.err, w.Abort())
	}
	if w.file == nil {
		return nil
	}
	file := w.file
	err := w.enc.close(w.tasks)
	if err == nil {
		err = file.finish()
	}
	if err == nil {
		err = file.publish()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("part %s: %w", w.path, err), w.Abort())
	}
	w.file, w.enc = nil, nil
	return nil
}

// Abort drops the part; no file remains.
func (w *PartWriter) Abort() error {
	if w.file == nil {
		return nil
	}
	file := w.file
	w.file, w.enc = nil, nil
	return file.abort()
}

func partName(table string, worker, seq int) string {
	if worker == keptWorker {
		return fmt.Sprintf("%s-kept-%06d.parquet", table, seq)
	}
	return fmt.Sprintf("%s-%02d-%06d.parquet", table, worker, seq)
}

var partPattern = regexp.MustCompile(`^([a-z_][a-z0-9_]*)-(\d+|kept)-(\d+)\.parquet$`)

// parsePartName takes a part's name apart.
func parsePartName(name string) (table string, worker, seq int, ok bool) {
	m := partPattern.FindStringSubmatch(name)
	if m == nil {
		return "", 0, 0, false
	}
	worker = keptWorker
	if m[2] != "kept" {
		if worker, _ = strconv.Atoi(m[2]); worker < 0 {
			return "", 0, 0, false
		}
	}
	seq, err := strconv.Atoi(m[3])
	return m[1], worker, seq, err == nil
}

// rowBytes is the size of a row in memory, what it points to aside.
func rowBytes[T any]() int64 { return int64(reflect.TypeFor[T]().Size()) }
