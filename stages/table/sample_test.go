package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// sample is a row with every type of column that tables may have.
type sample struct {
	Cell     int32             `parquet:"cell,dict" doc:"position in the experiment"`
	Request  int64             `parquet:"request,delta" doc:"index of the request"`
	Router   string            `parquet:"router,dict" doc:"name of the router"`
	Label    string            `parquet:"label" doc:"free text, with 'quotes'"`
	WaitUs   int64             `parquet:"wait_us,delta" unit:"us" symbol:"W" doc:"time in the queue"`
	DoneUs   *int64            `parquet:"done_us" unit:"us" doc:"time of the last token; NULL if there is none"`
	Ratio    float64           `parquet:"ratio" unit:"share" doc:"some ratio"`
	Maybe    *float64          `parquet:"maybe" doc:"a float that may be missing"`
	Small    float32           `parquet:"small" doc:"a short float"`
	Hit      bool              `parquet:"hit" doc:"a flag"`
	Byte     uint8             `parquet:"byte_value" doc:"an unsigned byte"`
	Turn     int16             `parquet:"turn" doc:"a small integer"`
	Big      uint64            `parquet:"big" doc:"an unsigned integer"`
	Ids      []int64           `parquet:"segment_ids" doc:"a list of wide integers"`
	Tokens   []int32           `parquet:"segment_tokens" unit:"tokens" doc:"a list of integers"`
	Tags     []string          `parquet:"tags,dict" doc:"a list of texts"`
	Factors  map[string]string `parquet:"factors" doc:"swept values by name"`
	Note     *string           `parquet:"note" doc:"a text that may be missing"`
	Flag     *bool             `parquet:"flag" doc:"a flag that may be missing"`
	Negative int8              `parquet:"negative" doc:"a signed byte"`
}

func (s *sample) Place(index int32) { s.Cell = index }

var samples = New[sample]("samples", "Rows with every type of column.")

// narrow is a row as most large tables have it: numbers only.
type narrow struct {
	Cell  int32 `parquet:"cell,dict" doc:"position in the experiment"`
	Index int64 `parquet:"idx,delta" doc:"index in the task"`
	Value int64 `parquet:"val" doc:"some value"`
}

func (n *narrow) Place(index int32) { n.Cell = index }

var narrows = New[narrow]("narrows", "Narrow rows.")

var testProvenance = Provenance{Experiment: "test"}

func makeSample(r *rand.Rand, cell int32, i int) sample {
	s := sample{
		Cell: cell, Request: int64(i), Router: fmt.Sprint("router-", r.IntN(4)),
		Label: fmt.Sprintf("é'%x", r.Uint64()), WaitUs: r.Int64N(1e9) - 10, Ratio: r.Float64(),
		Small: r.Float32(), Hit: r.IntN(2) == 0, Byte: uint8(r.Uint32()), Turn: int16(r.Uint32()), Big: r.Uint64(),
		Negative: int8(r.Uint32()),
	}
	switch r.IntN(8) {
	case 0:
		s.Ratio = math.NaN()
	case 1:
		s.Ratio, s.Label = math.Inf(-1), ""
	case 2:
		s.Ratio = math.Copysign(0, -1)
	}
	if r.IntN(3) > 0 {
		s.DoneUs = new(r.Int64N(2)) // zeros must stay apart from NULL
		s.Maybe = new(float64(r.IntN(2)))
		s.Flag = new(r.IntN(2) == 0)
	}
	if r.IntN(3) == 0 {
		s.Note = new("")
	}
	for range r.IntN(5) {
		s.Ids = append(s.Ids, r.Int64()-math.MaxInt64/2)
		s.Tokens = append(s.Tokens, int32(r.Uint32()))
	}
	for i := range r.IntN(3) {
		s.Tags = append(s.Tags, fmt.Sprint("tag", i))
	}
	for i := range r.IntN(12) {
		if s.Factors == nil {
			s.Factors = map[string]string{}
		}
		s.Factors[fmt.Sprint("factor_", i*i)] = fmt.Sprint(r.IntN(3))
	}
	return s
}

func makeSamples(seed uint64, cell int32, n int) []sample {
	r := rand.New(rand.NewPCG(seed, uint64(cell)))
	rows := make([]sample, n)
	for i := range rows {
		rows[i] = makeSample(r, cell, i)
	}
	return rows
}

// show prints a row so that equal rows, and only they, print alike: nil and
// empty lists are one value in a table, pointers are what they point to.
func show(s sample) string {
	deref := func(set bool, f func() any) any {
		if !set {
			return "NULL"
		}
		return f()
	}
	ratio := math.Float64bits(s.Ratio)
	return fmt.Sprintf("%d %d %q %q %d %v %x %v %x %t %d %d %d %v %v %q %v %q %v %d",
		s.Cell, s.Request, s.Router, s.Label, s.WaitUs, deref(s.DoneUs != nil, func() any { return *s.DoneUs }), ratio,
		deref(s.Maybe != nil, func() any { return *s.Maybe }), math.Float32bits(s.Small), s.Hit, s.Byte, s.Turn, s.Big,
		s.Ids, s.Tokens, s.Tags, s.Factors, deref(s.Note != nil, func() any { return *s.Note }),
		deref(s.Flag != nil, func() any { return *s.Flag }), s.Negative)
}

func equalSamples(t *testing.T, got, want []sample) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, expected %d", len(got), len(want))
	}
	for i := range got {
		if g, w := show(got[i]), show(want[i]); g != w {
			t.Fatalf("row %d:\n got %s\nwant %s", i, g, w)
		}
	}
}

// contents returns the bytes of all files below dir by relative path.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func writePart[T any](t testing.TB, table *Table[T], dir string, worker, seq int, tasks map[string][]T, keys ...string) {
	t.Helper()
	w := table.NewPart(dir, worker, seq, testProvenance)
	for _, key := range keys {
		if err := w.Append(key, table.Rows(tasks[key])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
