package table

import (
	"fmt"
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// Table is a typed table: rows of T in Parquet files under one folder of an
// experiment. T is a struct whose fields are the columns (see the package
// documentation for its tags). Tables are made once, as package variables, and
// are safe for concurrent use.
type Table[T any] struct {
	Name    string // of the folder and the view
	Doc     string // one sentence
	Version int    // 1 unless set before first use; bump it when a column changes its meaning or type

	columns []Column
	layout  *parquet.Schema
	placing func(row *T, index int32) // see Placing; nil without
}

// Placer is what a row type implements (on its pointer) when one of its
// columns is the position of its task, which a later run of a changed
// experiment may move: compaction calls Place with the current position.
type Placer interface{ Place(index int32) }

// New returns the table of rows T. It panics on what is a programmer's
// mistake: a column without documentation, or of a type or an encoding that
// one of the readers does not understand.
func New[T any](name, doc string) *Table[T] {
	if !plainName(name) || doc == "" {
		panic(fmt.Sprintf("table: table %q needs a plain lower-case name and a doc sentence", name))
	}
	columns, err := columnsOf(reflect.TypeFor[T]())
	if err != nil {
		panic(fmt.Sprintf("table: %s: %v", name, err))
	}
	t := &Table[T]{Name: name, Doc: doc, Version: 1, columns: columns, layout: parquet.SchemaOf(*new(T))}
	seen := map[string]bool{}
	for _, c := range columns {
		if seen[c.Name] {
			panic(fmt.Sprintf("table: %s: two columns are named %s", name, c.Name))
		}
		seen[c.Name] = true
	}
	return t
}

// Schema describes the table.
func (t *Table[T]) Schema() Schema {
	return Schema{Name: t.Name, Doc: t.Doc, Version: t.Version, Columns: t.columns}
}

// Rows wraps rows for a PartWriter. The slice is used until Append returns and
// not kept.
func (t *Table[T]) Rows(rows []T) Batch { return batch[T]{table: t, rows: rows} }

// Batch is some rows of one table. Whoever routes batches to part writers
// needs no more than the table's name.
type Batch interface {
	Table() string
	Len() int
}

type batch[T any] struct {
	table *Table[T]
	rows  []T
}

func (b batch[T]) Table() string { return b.table.Name }
func (b batch[T]) Len() int      { return len(b.rows) }

// Definition is a Table of any row type.
type Definition interface {
	Schema() Schema
	// NewPart returns the writer of one part file, parts/<table>-<worker>-<seq>.parquet
	// below the experiment's folder. The file appears with the first Append.
	NewPart(dir string, worker, seq int, p Provenance) *PartWriter
	// Compact merges the finished table and all parts; see Table.Compact.
	Compact(dir string, place map[string]int32, p Provenance) (Compaction, error)

	openAll(dir string, o opening) (*inputs, error)
}

// Provenance is what every footer says about where rows come from. There is no
// commit, host or time in it: equal experiments give equal bytes, and the
// manifest holds the rest.
type Provenance struct {
	Experiment string
	Tool       string // "switchyard" if empty
}

const (
	keyExperiment = "experiment"
	keySchema     = "schema"
	keyTool       = "tool"
	keyTasks      = "tasks"
	keyTasksSum   = "tasks_crc32"
)

func (p Provenance) tool() string {
	if p.Tool == "" {
		return "switchyard"
	}
	return p.Tool
}
