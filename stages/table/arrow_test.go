package table

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
)

// An independent implementation reads every column of every file, finds the
// row counts of the footers, and the values that were written.
func TestArrowReadsWhatWeWrite(t *testing.T) {
	dir := t.TempDir()
	s := makeStudy(rand.New(rand.NewPCG(9, 1)), 12, 2500)
	s.scatter(t, rand.New(rand.NewPCG(9, 2)), dir, 0, s.keys)
	parts, err := list(filepath.Join(dir, partsFolder), "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range parts {
		arrowRows(t, path)
	}
	compactWith(t, dir, s.place, shape{batch: 512, group: 2048, bytes: 200_000}, windowBytes)
	files, err := finishedPaths(filepath.Join(dir, "samples"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var got []sample
	for _, path := range files {
		got = append(got, arrowRows(t, path)...)
	}
	equalSamples(t, got, s.table())
}

// Plain and dictionary-coded columns alike survive a dictionary that outgrows
// its bound.
func TestArrowReadsOverflownDictionaries(t *testing.T) {
	type row struct {
		Text  string `parquet:"text,dict" doc:"all different"`
		Value int64  `parquet:"val,dict" doc:"all different"`
	}
	texts := New[row]("texts", "Texts that are all different.")
	rows := make([]row, 300_000)
	for i := range rows {
		rows[i] = row{Text: fmt.Sprint("text number ", i), Value: int64(i) * 1_000_003}
	}
	dir := t.TempDir()
	if err := texts.Write(dir, rows, testProvenance); err != nil {
		t.Fatal(err)
	}
	got, err := texts.Read(dir)
	if err != nil || !slices.Equal(got, rows) {
		t.Fatalf("%d rows that differ, %v", len(got), err)
	}
	n := 0
	arrowRecords(t, filepath.Join(dir, "texts", finishedName(0)), func(r arrow.Record) {
		for i := range int(r.NumRows()) {
			text, value := r.Column(0).(*array.String).Value(i), r.Column(1).(*array.Int64).Value(i)
			if want := rows[n]; text != want.Text || value != want.Value {
				t.Fatalf("row %d is %q %d, expected %v", n, text, value, want)
			}
			n++
		}
	})
	if n != len(rows) {
		t.Fatalf("arrow read %d rows, expected %d", n, len(rows))
	}
}

func arrowRecords(t *testing.T, path string, f func(arrow.Record)) {
	t.Helper()
	pf, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer pf.Close()
	r, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{BatchSize: 1000}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	records, err := r.GetRecordReader(context.Background(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer records.Release()
	var rows int64
	for records.Next() {
		rows += records.Record().NumRows()
		f(records.Record())
	}
	if rows != pf.NumRows() {
		t.Fatalf("%s: arrow reads %d rows, the footer says %d", path, rows, pf.NumRows())
	}
}

// arrowRows decodes a file of samples by arrow.
func arrowRows(t *testing.T, path string) []sample {
	t.Helper()
	var rows []sample
	arrowRecords(t, path, func(r arrow.Record) {
		column := func(name string) arrow.Array {
			found := r.Schema().FieldIndices(name)
			if len(found) != 1 {
				t.Fatalf("arrow finds %d columns %s", len(found), name)
			}
			return r.Column(found[0])
		}
		for i := range int(r.NumRows()) {
			s := sample{
				Cell:     column("cell").(*array.Int32).Value(i),
				Request:  column("request").(*array.Int64).Value(i),
				Router:   column("router").(*array.String).Value(i),
				Label:    column("label").(*array.String).Value(i),
				WaitUs:   column("wait_us").(*array.Int64).Value(i),
				Ratio:    column("ratio").(*array.Float64).Value(i),
				Small:    column("small").(*array.Float32).Value(i),
				Hit:      column("hit").(*array.Boolean).Value(i),
				Byte:     column("byte_value").(*array.Uint8).Value(i),
				Turn:     column("turn").(*array.Int16).Value(i),
				Big:      column("big").(*array.Uint64).Value(i),
				Negative: column("negative").(*array.Int8).Value(i),
			}
			if c := column("done_us").(*array.Int64); c.IsValid(i) {
				s.DoneUs = new(c.Value(i))
			}
			if c := column("maybe").(*array.Float64); c.IsValid(i) {
				s.Maybe = new(c.Value(i))
			}
			if c := column("note").(*array.String); c.IsValid(i) {
				s.Note = new(c.Value(i))
			}
			if c := column("flag").(*array.Boolean); c.IsValid(i) {
				s.Flag = new(c.Value(i))
			}
			from, to := column("segment_ids").(*array.List).ValueOffsets(i)
			for j := from; j < to; j++ {
				s.Ids = append(s.Ids, column("segment_ids").(*array.List).ListValues().(*array.Int64).Value(int(j)))
			}
			from, to = column("segment_tokens").(*array.List).ValueOffsets(i)
			for j := from; j < to; j++ {
				s.Tokens = append(s.Tokens, column("segment_tokens").(*array.List).ListValues().(*array.Int32).Value(int(j)))
			}
			from, to = column("tags").(*array.List).ValueOffsets(i)
			for j := from; j < to; j++ {
				s.Tags = append(s.Tags, column("tags").(*array.List).ListValues().(*array.String).Value(int(j)))
			}
			factors := column("factors").(*array.Map)
			from, to = factors.ValueOffsets(i)
			for j := from; j < to; j++ {
				if s.Factors == nil {
					s.Factors = map[string]string{}
				}
				s.Factors[factors.Keys().(*array.String).Value(int(j))] = factors.Items().(*array.String).Value(int(j))
			}
			rows = append(rows, s)
		}
	})
	return rows
}
