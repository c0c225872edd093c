package table

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// crashShape makes a file of almost every task.
var crashShape = shape{batch: 16, group: 16, bytes: 4_000}

var errKilled = errors.New("killed")

// killer stops every operation from the n-th on, as a kill does: also those
// that would clean up.
type killer struct {
	steps, at int // at: the first operation that does not happen; -1 never
	trace     []string
	unsynced  map[string]bool // files whose contents a power cut may lose
	renamed   [][2]string     // renames that a power cut may lose
}

func (k *killer) disk() disk {
	k.unsynced = map[string]bool{}
	return disk{before: func(op, path string) error {
		if k.at >= 0 && k.steps >= k.at {
			return errKilled
		}
		k.steps++
		k.trace = append(k.trace, op+" "+filepath.Base(path))
		switch op {
		case "create", "write":
			k.unsynced[path+tempSuffix] = true
		case "sync":
			delete(k.unsynced, path+tempSuffix)
		case "rename":
			k.renamed = append(k.renamed, [2]string{path + tempSuffix, path})
		case "syncdir":
			k.renamed = slices.DeleteFunc(k.renamed, func(r [2]string) bool { return filepath.Dir(r[1]) == path })
		}
		return nil
	}}
}

// cutPower spoils what is not durable: contents that were not synced are cut
// in half, and the renames that were not synced are undone.
func (k *killer) cutPower(t *testing.T) {
	t.Helper()
	for path := range k.unsynced {
		if info, err := os.Stat(path); err == nil {
			if err := os.Truncate(path, info.Size()/2); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, r := range slices.Backward(k.renamed) {
		if err := os.Rename(r[1], r[0]); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

// rowsByTask reads the folder as the next run would: what OpenParts finds, and
// the rows after a compaction.
func rowsByTask(t *testing.T, dir string, place map[string]int32) map[int32][]sample {
	t.Helper()
	if _, err := OpenParts(dir, samples); err != nil {
		t.Fatal(err)
	}
	compactWith(t, dir, place, crashShape, 1)
	rows, err := samples.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	by := map[int32][]sample{}
	for _, r := range rows {
		by[r.Cell] = append(by[r.Cell], r)
	}
	return by
}

// A kill at any operation of a compaction leaves a folder that opens to all
// the rows, none of them twice; and so does a power cut there.
func TestCompactionSurvivesAKillAnywhere(t *testing.T) {
	for _, power := range []bool{false, true} {
		r := rand.New(rand.NewPCG(4, 1))
		s := makeStudy(r, 8, 60)
		base := t.TempDir()
		s.scatter(t, r, base, 0, s.keys[:6])
		compactWith(t, base, s.place, crashShape, 1) // several files
		s.scatter(t, r, base, 50, s.keys[6:])
		gone := s.keys[3] // leaves the experiment in this compaction
		place := map[string]int32{}
		for key, p := range s.place {
			if key != gone {
				place[key] = p
			}
		}
		steps, files := 0, 0
		for at := 0; ; at++ {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
				t.Fatal(err)
			}
			k := &killer{at: at}
			c, err := compactor[sample]{table: samples, disk: k.disk(), dir: dir, place: place, prov: testProvenance, shape: crashShape, window: 1}.run()
			if err == nil {
				steps, files = k.steps, c.Files
				break
			}
			if !errors.Is(err, errKilled) {
				t.Fatalf("kill at %d: %v", at, err)
			}
			if power {
				k.cutPower(t)
			}
			readableBefore(t, dir)
			by := rowsByTask(t, dir, s.place)
			for i, key := range s.keys {
				want := slices.Clone(s.rows[key])
				for j := range want {
					want[j].Cell = int32(i)
				}
				if len(by[int32(i)]) != len(want) {
					t.Fatalf("killed before step %d (after %s): task %s has %d rows, expected %d", at, last(k.trace), key, len(by[int32(i)]), len(want))
				}
				equalSamples(t, by[int32(i)], want)
			}
			for name := range contents(t, dir) {
				if strings.HasSuffix(name, tempSuffix) || strings.Contains(name, ".corrupt") || filepath.Base(name) == journalName {
					t.Fatalf("killed before step %d (after %s): %s is left", at, last(k.trace), name)
				}
			}
		}
		if files < 3 || steps < 5*files {
			t.Fatalf("%d files in %d steps: the test cuts too little", files, steps)
		}
	}
}

// readableBefore checks that a reader that comes before the next run sees one
// state of the table, not a mixture.
func readableBefore(t *testing.T, dir string) {
	t.Helper()
	rows, err := samples.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	cells := map[int32]bool{}
	for i, r := range rows {
		if i > 0 && r.Cell != rows[i-1].Cell {
			if cells[r.Cell] {
				t.Fatalf("task %d comes twice", r.Cell)
			}
			cells[rows[i-1].Cell] = true
		}
	}
}

func last(trace []string) string {
	if len(trace) == 0 {
		return "nothing"
	}
	return trace[len(trace)-1]
}

// Replacing a table that was written whole leaves the old one or the new one.
func TestWriteSurvivesAKillAnywhere(t *testing.T) {
	before, after := makeSamples(1, 0, 40), makeSamples(2, 0, 70)
	for at := 0; ; at++ {
		dir := t.TempDir()
		if err := samples.Write(dir, before, testProvenance); err != nil {
			t.Fatal(err)
		}
		k := &killer{at: at}
		err := samples.writeWhole(k.disk(), dir, after, testProvenance)
		if err == nil {
			break
		}
		got, err := samples.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		want := before
		if slices.Contains(k.trace, "rename "+journalName) {
			want = after
		}
		equalSamples(t, got, want)
		if _, err := OpenParts(dir, samples); err != nil {
			t.Fatal(err)
		}
		if got, err = samples.Read(dir); err != nil {
			t.Fatal(err)
		}
		equalSamples(t, got, want)
	}
}

// A part is there in full or not at all.
func TestPartSurvivesAKillAnywhere(t *testing.T) {
	s := makeStudy(rand.New(rand.NewPCG(5, 1)), 5, 200)
	for at := 0; ; at++ {
		dir := t.TempDir()
		k := &killer{at: at}
		w := samples.newPart(k.disk(), dir, 0, 0, testProvenance)
		var err error
		for _, key := range s.keys {
			if err == nil {
				err = w.Append(key, samples.Rows(s.rows[key]))
			}
		}
		err = errors.Join(err, w.Close())
		k.cutPower(t)
		p, openErr := OpenParts(dir, samples)
		if openErr != nil {
			t.Fatal(openErr)
		}
		if n := len(p.Keys["samples"]); n != 0 && n != len(s.keys) || len(p.Reports) > 0 {
			t.Fatalf("killed before step %d: %d tasks, reports %v", at, n, p.Reports)
		}
		if err == nil {
			if len(p.Keys["samples"]) != len(s.keys) {
				t.Fatalf("closed without error and %d tasks on disk", len(p.Keys["samples"]))
			}
			return
		}
	}
}
