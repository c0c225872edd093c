package table

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/parquet-go/parquet-go"
)

// ReadKey returns the rows of one task of the finished table; ok is false
// where there is no such task, or no file yet. It reads the footers and the
// pages that hold the rows, not the whole table.
func (t *Table[T]) ReadKey(dir, key string) (rows []T, ok bool, err error) {
	paths, err := finishedPaths(filepath.Join(dir, t.Name))
	for _, path := range paths {
		if err == nil {
			var found bool
			rows, found, err = t.readKey(path, key, rows)
			ok = ok || found
		}
	}
	if err != nil {
		return nil, false, fmt.Errorf("read table %s: %w", t.Name, err)
	}
	return rows, ok, nil
}

// ReadStored returns the rows of one task wherever they are stored: in a part,
// the newest first, or in the finished table. It is for jobs whose tasks depend
// on the rows of others, which need not be compacted yet.
func (t *Table[T]) ReadStored(dir, key string) (rows []T, ok bool, err error) {
	parts, err := partsOf(dir, t.Name)
	for i := len(parts) - 1; i >= 0 && err == nil; i-- {
		if rows, ok, err = t.readKey(parts[i].path, key, nil); ok && err == nil {
			return rows, true, nil
		}
	}
	if err != nil {
		return nil, false, fmt.Errorf("read table %s: %w", t.Name, err)
	}
	return t.ReadKey(dir, key)
}

// readKey appends what a file has of a task.
func (t *Table[T]) readKey(path, key string, rows []T) (all []T, ok bool, err error) {
	file, err := open(path)
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", path, err)
	}
	defer func() { err = errors.Join(err, file.close()) }()
	if err := file.checkSchema(t.Schema().ID(), t.layout); err != nil {
		return nil, false, fmt.Errorf("%s: %w", path, err)
	}
	r := segmentReader[T]{file: file, rows: parquet.NewGenericReader[T](file.File)}
	defer r.rows.Close()
	var start int64
	for _, task := range file.tasks {
		if task.key == key {
			ok = true
			from := len(rows)
			rows = append(rows, make([]T, task.rows)...)
			if err := r.read(start, rows[from:], new([]T)); err != nil {
				return nil, false, fmt.Errorf("%s: %w", path, err)
			}
		}
		start += task.rows
	}
	return rows, ok, nil
}
