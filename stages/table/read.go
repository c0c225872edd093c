package table

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/parquet-go/parquet-go"
)

// Write makes rows the whole finished table, in place of what was there.
func (t *Table[T]) Write(dir string, rows []T, p Provenance) error {
	return t.writeWhole(disk{}, dir, rows, p)
}

func (t *Table[T]) writeWhole(d disk, dir string, rows []T, p Provenance) error {
	w := &finishedWriter[T]{table: t, disk: d, dir: filepath.Join(dir, t.Name), prov: p, shape: finishedShape}
	err := recoverTable(d, w.dir)
	if err == nil {
		err = w.write(rows)
	}
	if err == nil {
		err = w.close()
	}
	if err != nil {
		w.abort()
		return fmt.Errorf("write table %s: %w", t.Name, err)
	}
	if err := w.commit(); err != nil {
		return fmt.Errorf("write table %s: %w", t.Name, err)
	}
	return nil
}

// Read returns all rows of the finished table. It is meant for the tables
// that fit in memory; see Scan for the others.
func (t *Table[T]) Read(dir string) ([]T, error) {
	var all []T
	err := t.Scan(dir, func(rows []T) error {
		all = append(all, rows...)
		return nil
	})
	return all, err
}

// Scan calls f with the rows of the finished table, in order. The slice is
// f's until it returns; what the rows point to stays as it is. That all rows
// of the footers have come is checked before Scan returns nil. A table that
// has no file yet is an error that wraps fs.ErrNotExist.
func (t *Table[T]) Scan(dir string, f func(rows []T) error) error {
	paths, err := finishedPaths(filepath.Join(dir, t.Name))
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("%s holds no finished table: %w; run the stage that writes it", filepath.Join(dir, t.Name), fs.ErrNotExist)
	}
	for _, path := range paths {
		if err == nil {
			err = t.scanFile(path, f)
		}
	}
	if err != nil {
		return fmt.Errorf("read table %s: %w", t.Name, err)
	}
	return nil
}

func (t *Table[T]) scanFile(path string, f func(rows []T) error) error {
	file, err := open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer file.close()
	if err := file.checkSchema(t.Schema().ID(), t.layout); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	r := segmentReader[T]{file: file, rows: parquet.NewGenericReader[T](file.File)}
	defer r.rows.Close()
	rows := make([]T, min(file.NumRows(), batchRows))
	for left := file.NumRows(); left > 0; {
		batch := rows[:min(left, int64(len(rows)))]
		clear(batch)
		if err := r.full(batch); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		left -= int64(len(batch))
		if err := f(batch); err != nil {
			return err
		}
	}
	return nil
}
