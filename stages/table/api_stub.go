package table

import "errors"

var errNotYet = errors.New("not yet")

// PartWriter writes one part.
type PartWriter struct{}

func (t *Table[T]) NewPart(dir string, worker, seq int, p Provenance) *PartWriter { return nil }
func (w *PartWriter) Append(key string, b Batch) error                            { return errNotYet }
func (w *PartWriter) Size() int64                                                 { return 0 }
func (w *PartWriter) Rows() int64                                                 { return 0 }
func (w *PartWriter) Close() error                                                { return errNotYet }
func (w *PartWriter) Abort() error                                                { return errNotYet }

// Parts is what a folder holds.
type Parts struct {
	Keys    map[string]map[string]int64 // table -> task key -> rows, over finished files and parts
	Files   []PartFile                  // the parts, by name
	Next    int                         // first unused sequence number
	Reports []Moved                     // files moved aside
}
type PartFile struct {
	Path, Table string
	Worker, Seq int
	Keys        map[string]int64
}
type Moved struct {
	Path, To string
	Err      error
}

func OpenParts(dir string, tables ...Definition) (*Parts, error) { return nil, errNotYet }

type Compaction struct {
	Rows    int64
	Files   int
	Changed bool
	Kept    int64
	Moved   []Moved
}

func (t *Table[T]) Compact(dir string, place map[string]int32, p Provenance) (Compaction, error) {
	return Compaction{}, errNotYet
}
func (t *Table[T]) Read(dir string) ([]T, error)                      { return nil, errNotYet }
func (t *Table[T]) Scan(dir string, f func(rows []T) error) error     { return errNotYet }
func (t *Table[T]) Write(dir string, rows []T, p Provenance) error    { return errNotYet }
func WriteViews(dir string, schemas []Schema, factors []Factor) error { return errNotYet }
func WriteDataPackage(dir, name string, schemas []Schema) error       { return errNotYet }
func WriteDictionary(w interface{ Write([]byte) (int, error) }, schemas []Schema) error {
	return errNotYet
}

// Factor is a key of a MAP column `factors` that its view shows as a column.
type Factor struct {
	Name    string
	Numeric bool // every value is a number: the column is DOUBLE instead of VARCHAR
}
