package table

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// study is a set of tasks with their rows and places.
type study struct {
	keys  []string // by place
	rows  map[string][]sample
	place map[string]int32
}

func makeStudy(r *rand.Rand, tasks, most int) study {
	s := study{rows: map[string][]sample{}, place: map[string]int32{}}
	for i := range tasks {
		key := fmt.Sprintf("task-%03d", (7*i+1)%tasks) // in another order than the places
		s.keys = append(s.keys, key)
		s.place[key] = int32(i)
		s.rows[key] = makeSamples(r.Uint64(), -1, r.IntN(most+1)) // cell is set by Place
	}
	return s
}

// table is the naive compaction: all rows in memory, by place.
func (s study) table() []sample {
	var all []sample
	for place, key := range s.keys {
		for _, row := range s.rows[key] {
			row.Cell = int32(place)
			all = append(all, row)
		}
	}
	return all
}

// scatter writes the keys in a random order into random parts.
func (s study) scatter(t *testing.T, r *rand.Rand, dir string, seq int, keys []string) {
	t.Helper()
	keys = slices.Clone(keys)
	r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for len(keys) > 0 {
		n := 1 + r.IntN(len(keys))
		writePart(t, samples, dir, r.IntN(3), seq, s.rows, keys[:n]...)
		keys = keys[n:]
		seq++
	}
}

// smallShape cuts a small table into several files.
var smallShape = shape{batch: 64, group: 256, bytes: 60_000}

func compactWith(t *testing.T, dir string, place map[string]int32, cut shape, window int64) Compaction {
	t.Helper()
	c, err := compactor[sample]{table: samples, dir: dir, place: place, prov: testProvenance, shape: cut, window: window}.run()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// However the rows reach the finished table, in whatever parts, at once or
// over several compactions, with whatever memory, its bytes are the same and
// its rows those of the naive compaction.
func TestCompactionIsAFunctionOfTheRows(t *testing.T) {
	for _, cut := range []shape{finishedShape, smallShape} {
		r := rand.New(rand.NewPCG(1, 1))
		s := makeStudy(r, 18, 400)
		var first map[string]string
		for trial := range 6 {
			dir := t.TempDir()
			window := int64([]int{1, 2 << 20, windowBytes}[trial%3])
			keys, seq := slices.Clone(s.keys), 0
			for step := trial % 3; len(keys) > 0; step-- {
				n := len(keys)
				if step > 0 {
					n = r.IntN(n + 1)
				}
				s.scatter(t, r, dir, seq, keys[:n])
				keys, seq = keys[n:], seq+100
				compactWith(t, dir, s.place, cut, window)
			}
			got, err := samples.Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			equalSamples(t, got, s.table())
			files := contents(t, dir)
			if cut == smallShape && len(files) < 3 {
				t.Fatalf("%d files, expected several", len(files))
			}
			if first == nil {
				first = files
			}
			if len(files) != len(first) {
				t.Fatalf("trial %d left %d files, expected %d", trial, len(files), len(first))
			}
			for name, data := range files {
				if first[name] != data {
					t.Fatalf("trial %d: %s differs in its bytes", trial, name)
				}
			}
		}
	}
}

func TestCompactionKnowsWhenItIsDone(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	dir := t.TempDir()
	s := makeStudy(r, 8, 50)
	s.scatter(t, r, dir, 0, s.keys)
	if c := compactWith(t, dir, s.place, finishedShape, windowBytes); !c.Changed || c.Rows != int64(len(s.table())) || c.Files != 1 {
		t.Fatalf("first compaction: %+v", c)
	}
	if c := compactWith(t, dir, s.place, finishedShape, windowBytes); c.Changed || c.Rows != int64(len(s.table())) || c.Files != 1 {
		t.Fatalf("second compaction: %+v", c)
	}
	moved := map[string]int32{}
	for key, place := range s.place {
		moved[key] = place + 1 // same order, other positions
	}
	if c := compactWith(t, dir, moved, finishedShape, windowBytes); !c.Changed {
		t.Fatal("moved places changed nothing")
	}
	rows, err := samples.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if rows[0].Cell != s.table()[0].Cell+1 {
		t.Fatalf("first row has place %d", rows[0].Cell)
	}
	c, err := samples.Compact(dir, moved, Provenance{Experiment: "renamed"})
	if err != nil || !c.Changed {
		t.Fatalf("another experiment's name: %+v, %v", c, err)
	}
}

// A run without any task, and tasks without any row, still make a table.
func TestCompactionOfNothing(t *testing.T) {
	dir := t.TempDir()
	if c := compactWith(t, dir, nil, finishedShape, windowBytes); c.Files != 1 || c.Rows != 0 {
		t.Fatalf("compaction %+v", c)
	}
	writePart(t, samples, dir, 0, 0, nil, "a", "b")
	place := map[string]int32{"a": 0, "b": 1}
	compactWith(t, dir, place, finishedShape, windowBytes)
	rows, err := samples.Read(dir)
	if err != nil || len(rows) != 0 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	p, err := OpenParts(dir, samples)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Keys["samples"]) != 2 {
		t.Fatalf("keys %v, expected a and b", p.Keys["samples"])
	}
}

// Cutting an experiment down and restoring it loses no row.
func TestTasksOutOfTheExperimentAreKept(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	dir := t.TempDir()
	s := makeStudy(r, 12, 60)
	s.scatter(t, r, dir, 0, s.keys)
	compactWith(t, dir, s.place, finishedShape, windowBytes)
	whole := contents(t, dir)

	some := map[string]int32{s.keys[5]: 0, s.keys[2]: 1}
	c := compactWith(t, dir, some, finishedShape, windowBytes)
	want := int64(len(s.rows[s.keys[5]]) + len(s.rows[s.keys[2]]))
	if c.Rows != want || c.Kept != int64(len(s.table()))-want {
		t.Fatalf("compaction %+v, expected %d rows", c, want)
	}
	if c := compactWith(t, dir, some, finishedShape, windowBytes); c.Changed || c.Kept == 0 {
		t.Fatalf("kept rows are written again: %+v", c)
	}
	p, err := OpenParts(dir, samples)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Keys["samples"]) != len(s.keys) || len(p.Files) != 1 || p.Files[0].Worker != keptWorker {
		t.Fatalf("parts %+v", p)
	}
	compactWith(t, dir, s.place, finishedShape, windowBytes)
	if again := contents(t, dir); len(again) != 1 || again["samples/part-0000.parquet"] != whole["samples/part-0000.parquet"] {
		t.Fatal("the restored table differs")
	}
}

func TestNewestPartWins(t *testing.T) {
	dir := t.TempDir()
	old := map[string][]sample{"a": makeSamples(1, 0, 5), "b": makeSamples(2, 1, 5)}
	newer := map[string][]sample{"a": makeSamples(3, 0, 7)}
	writePart(t, samples, dir, 7, 1, old, "b", "a")
	writePart(t, samples, dir, 0, 2, newer, "a")
	compactWith(t, dir, map[string]int32{"a": 0, "b": 1}, finishedShape, windowBytes)
	got, err := samples.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	equalSamples(t, got, append(slices.Clone(newer["a"]), old["b"]...))
	writePart(t, samples, dir, 0, 3, old, "a")
	compactWith(t, dir, map[string]int32{"a": 0, "b": 1}, finishedShape, windowBytes)
	if got, err = samples.Read(dir); err != nil {
		t.Fatal(err)
	}
	equalSamples(t, got, append(slices.Clone(old["a"]), old["b"]...))
}

// The window of rows depends on what a row takes, not on how many there are.
func TestMemoryDoesNotGrowWithTheTable(t *testing.T) {
	tasks := make(taskList, 10_000)
	for _, rows := range []int64{1e6, 1e8, 1e10} {
		g := newGatherer[wide]([]inputFile{{rows: rows, bytes: 60 * rows, tasks: tasks}}, windowBytes)
		limit := int64(windowBytes)
		if rows < smallTask*int64(len(tasks)) {
			limit *= smallFactor
		}
		if bytes := int64(g.rows) * (rowBytes[wide]() + 120); bytes > limit || bytes < limit/2 {
			t.Errorf("a window of %d rows takes %d bytes, expected up to %d", g.rows, bytes, limit)
		}
	}
}

func TestPartWriterRefuses(t *testing.T) {
	dir := t.TempDir()
	w := samples.NewPart(dir, 0, 0, testProvenance)
	if err := w.Close(); err != nil || len(contents(t, dir)) != 0 {
		t.Fatalf("an unused part left something: %v", err)
	}
	for want, f := range map[string]func(w *PartWriter) error{
		"second time": func(w *PartWriter) error {
			w.Append("a", samples.Rows(nil))
			w.Append("b", samples.Rows(nil))
			return w.Append("a", samples.Rows(nil))
		},
		"without tabs":  func(w *PartWriter) error { return w.Append("a\tb", samples.Rows(nil)) },
		"table narrows": func(w *PartWriter) error { return w.Append("a", narrows.Rows(make([]narrow, 1))) },
	} {
		w := samples.NewPart(dir, 0, 0, testProvenance)
		if err := f(w); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
		if err := w.Close(); err == nil {
			t.Errorf("%s: Close succeeds after the error", want)
		}
	}
	if left := contents(t, dir); len(left) != 0 {
		t.Fatalf("refused parts left %d files", len(left))
	}
}

func TestWholeTablesAreNotCompacted(t *testing.T) {
	dir := t.TempDir()
	if err := samples.Write(dir, makeSamples(1, 0, 5), testProvenance); err != nil {
		t.Fatal(err)
	}
	if _, err := samples.Compact(dir, nil, testProvenance); err == nil || !strings.Contains(err.Error(), "written whole") {
		t.Fatalf("error %v", err)
	}
	if rows, err := samples.Read(dir); err != nil || len(rows) != 5 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
}

func TestSequenceNumbersAreNotUsedAgain(t *testing.T) {
	dir := t.TempDir()
	writePart(t, narrows, dir, 3, 41, nil, "a")
	p, err := OpenParts(dir, samples) // not the part's table
	if err != nil || p.Next != 42 {
		t.Fatalf("next %d, %v, expected 42", p.Next, err)
	}
	path := filepath.Join(dir, partsFolder, partName("narrows", 3, 41))
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	if p, err = OpenParts(dir, narrows); err != nil || p.Next != 42 || len(p.Reports) != 1 {
		t.Fatalf("%+v, %v, expected next 42 and one report", p, err)
	}
}
