package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A child whose files may not grow past a limit from the middle of its run on
// meets a write error, as on a full disk: in a part, or in compaction, which
// writes larger files. It stops with a clear error, and a later run ends well.
func TestWriteErrorStopsTheRun(t *testing.T) {
	const tasks = 60
	s := synthetic{numbers: upTo(tasks), groups: 1 + tasks/10}
	want := straight(t, s)
	for _, c := range []struct {
		limit       string
		least, most int // tasks stored
	}{
		{"100", 1, tasks - 1},
		{"1100", tasks, tasks},
	} {
		dir := t.TempDir()
		child := newChild(t, dir, tasks, 2*time.Millisecond, childLimit+"="+c.limit)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if code := child.code(); code != ExitInternal {
			t.Fatalf("limit %s: code %d: %s", c.limit, code, child.stderr.String())
		}
		wantText(t, errors.New(child.stderr.String()), "cannot store results", "file too large")
		r := execute(t, s, Options{Dir: dir})
		if r.Skipped < c.least || r.Skipped > c.most || r.Done+r.Skipped != tasks {
			t.Errorf("limit %s: %d of %d tasks had been stored, expected %d to %d", c.limit, r.Skipped, tasks, c.least, c.most)
		}
		wantSame(t, dir, want)
	}
}

// stopEarly leaves a folder with parts and no finished tables.
func stopEarly(t *testing.T, s synthetic) string {
	t.Helper()
	dir, signals := t.TempDir(), make(chan os.Signal, 1)
	job := s.job()
	last := len(job.Tasks) - 1
	job.Tasks[last].Weight = 1e-9 // comes last
	job.Next = func(done Task) ([]Task, error) {
		if done.Index == int32(last)-1 {
			signals <- os.Interrupt
			signals <- os.Interrupt // parts stay parts
			time.Sleep(50 * time.Millisecond)
		}
		return nil, nil
	}
	// Equal weights, so that the order is that of the indexes.
	for i := range last {
		job.Tasks[i].Weight = 1
	}
	r, err := Execute(t.Context(), job, Options{Dir: dir, Workers: 1, Signals: signals, FlushEvery: time.Nanosecond})
	if !errors.Is(err, ErrInterrupted) || r.Left != 1 {
		t.Fatalf("error %v, left %d", err, r.Left)
	}
	return dir
}

// A part that is cut short, altered or emptied is moved aside, and its tasks
// run again.
func TestCorruptPartsRunAgain(t *testing.T) {
	s := synthetic{numbers: upTo(9)}
	want := straight(t, s)
	for name, spoil := range map[string]func([]byte) []byte{
		"cut short": func(b []byte) []byte { return b[:len(b)-9] },
		"emptied":   func([]byte) []byte { return nil },
		"altered":   func(b []byte) []byte { copy(b[len(b)/8:], "altered by someone"); return b },
	} {
		for _, of := range []string{"squares", "digits"} {
			dir := stopEarly(t, s)
			path := ""
			for _, part := range partsOf(t, dir) {
				if strings.HasPrefix(part, of) {
					path = filepath.Join(dir, "parts", part)
				}
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, spoil(data), 0o644); err != nil {
				t.Fatal(err)
			}
			r := execute(t, s, Options{Dir: dir, Workers: 2})
			if r.Done != 2 || r.Skipped != 7 {
				t.Errorf("%s %s: done %d, skipped %d, expected 2 and 7", of, name, r.Done, r.Skipped)
			}
			if len(r.Corrupt) != 1 || !strings.Contains(r.Corrupt[0], filepath.Base(path)) {
				t.Errorf("%s %s: reported %q", of, name, r.Corrupt)
			}
			if _, err := os.Stat(path + ".corrupt"); err != nil {
				t.Errorf("%s %s: %v", of, name, err)
			}
			wantSame(t, dir, want)
		}
	}
}

// A part that spoils while the run goes on is found by compaction, which sends
// its tasks back to the workers.
func TestPartThatSpoilsLater(t *testing.T) {
	dir, spoiled := t.TempDir(), false
	s := synthetic{numbers: upTo(9), groups: 9}
	s.before = func(_ context.Context, number int, _, _ any) error {
		if number < 8 || spoiled {
			return nil
		}
		spoiled = true
		return os.Truncate(filepath.Join(dir, "parts", partsOf(t, dir)[0]), 100)
	}
	r := execute(t, s, Options{Dir: dir, Workers: 1, FlushEvery: time.Nanosecond})
	wantCounts(t, r, 9, 0, 0, 0)
	if len(r.Corrupt) != 1 {
		t.Errorf("reported %q", r.Corrupt)
	}
	wantSame(t, dir, straight(t, synthetic{numbers: upTo(9)}))
}

// A worker without a task commits while the others are still at work.
func TestIdleWorkersCommit(t *testing.T) {
	dir := t.TempDir()
	s := synthetic{numbers: upTo(9)}
	s.before = func(_ context.Context, number int, _, _ any) error {
		if number == 2 { // the heaviest comes first
			until(t, "the other worker has committed", func() bool { return hasPart(t, dir) })
		}
		return nil
	}
	execute(t, s, Options{Dir: dir, Workers: 2, FlushEvery: time.Hour})
}

// Large results are committed before their time.
func TestLargeResultsAreCommitted(t *testing.T) {
	dir := t.TempDir()
	job := synthetic{numbers: upTo(9), groups: 9}.job()
	for i := range job.Tasks {
		job.Tasks[i].Run = func(_ context.Context, _, _ any, out *Sink) error {
			if i == 8 && len(partsOf(t, dir)) < 4 {
				return errors.New("two parts of each table should be there")
			}
			out.Write(digits.Rows(make([]digit, 10_000)))
			return nil
		}
	}
	r, err := Execute(t.Context(), job, Options{Dir: dir, Workers: 1, FlushEvery: time.Hour, FlushBytes: 100})
	if err != nil {
		t.Fatal(err)
	}
	wantCounts(t, r, 9, 0, 0, 0)
}

// Finished tables are checked as well.
func TestCorruptFinishedTableRunsAgain(t *testing.T) {
	s := synthetic{numbers: upTo(9)}
	want := straight(t, s)
	dir := straight(t, s)
	path := filepath.Join(dir, "digits", "part-0000.parquet")
	if err := os.Truncate(path, 500); err != nil {
		t.Fatal(err)
	}
	r := execute(t, s, Options{Dir: dir})
	wantCounts(t, r, 9, 0, 0, 0)
	wantSame(t, dir, want)
}

func TestFolderThatIsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Execute(t.Context(), synthetic{numbers: upTo(1)}.job(), Options{Dir: path})
	if !errors.Is(err, ErrStorage) || ExitCode(err) != ExitInternal {
		t.Errorf("error %v", err)
	}
}
