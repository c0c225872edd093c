package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"switchyard/stages/table"
)

func readFailures(t *testing.T, dir string) []Failure {
	t.Helper()
	rows, err := Failures.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestFailedTasksLeaveTheRestAlone(t *testing.T) {
	s := synthetic{numbers: upTo(20), groups: 4}
	want := straight(t, s)
	s.opens = func(g int) (any, error) {
		if g == 3 {
			return nil, errors.New("no such trace")
		}
		return g, nil
	}
	s.before = func(_ context.Context, number int, _, _ any) error {
		switch number {
		case 3:
			return errors.New("diverged")
		case 7, 11:
			explode(number)
		case 8:
			var empty []int
			_ = empty[number]
		}
		return nil
	}
	var first map[string]string
	for _, workers := range []int{1, 2} {
		dir := t.TempDir()
		r := execute(t, s, Options{Dir: dir, Workers: workers})
		wantCounts(t, r, 11, 0, 9, 0)
		if code := ExitCode(nil, Report{}, r); code != ExitFailed {
			t.Errorf("exit code %d, expected %d", code, ExitFailed)
		}
		rows := readFailures(t, dir)
		checkFailures(t, rows)
		if first == nil {
			first = finished(t, dir)
		} else if fmt.Sprint(finished(t, dir)) != fmt.Sprint(first) {
			t.Error("the tables of a run with failures depend on the workers")
		}

		// They are tried again, and their rows go.
		wantCounts(t, execute(t, synthetic{numbers: upTo(20), groups: 4}, Options{Dir: dir}), 9, 11, 0, 0)
		wantSame(t, dir, want)
		if rows := readFailures(t, dir); len(rows) > 0 {
			t.Errorf("failures %v are left over", rows)
		}
	}
}

func explode(number int) { panic(fmt.Sprint("cannot square ", number)) }

func checkFailures(t *testing.T, rows []Failure) {
	t.Helper()
	if len(rows) != 9 {
		t.Fatalf("%d failures, expected 9", len(rows))
	}
	three, seven, eight, eleven, last := rows[0], rows[1], rows[2], rows[3], rows[8]
	if three.Error != "diverged" || three.StackHash != nil || three.Repro != "synthetic --only 3" || three.TaskKey != "number/3" || three.Index != 3 {
		t.Errorf("%+v", three)
	}
	if seven.StackHash == nil || *seven.StackHash != *eleven.StackHash || *seven.StackHash == *eight.StackHash {
		t.Error("hashes should be equal for equal places, and differ for others")
	}
	if seven.Error != "panic: cannot square 7" || !strings.HasPrefix(*seven.Stack, "switchyard/stages/run.explode failures_test.go:") ||
		strings.Contains(*seven.Stack, "worker.go") || strings.Contains(*seven.Stack, "/failures_test.go") {
		t.Errorf("error %q, stack\n%s", seven.Error, *seven.Stack)
	}
	wantText(t, errors.New(eight.Error), "index out of range")
	if last.Error != "open input 3: no such trace" {
		t.Errorf("%+v", last)
	}
}

// A run that ends early says nothing about the tasks it did not try.
func TestFailuresOfUntriedTasksStay(t *testing.T) {
	dir := t.TempDir()
	s := synthetic{numbers: upTo(6)}
	s.before = func(_ context.Context, number int, _, _ any) error {
		if number == 0 || number == 5 {
			return errors.New("first time")
		}
		return nil
	}
	wantCounts(t, execute(t, s, Options{Dir: dir}), 4, 0, 2, 0)
	// Number 5 is the heavier one and fails again; number 0 is not tried.
	s.before = func(context.Context, int, any, any) error { return errors.New("second time") }
	wantCounts(t, execute(t, s, Options{Dir: dir, Workers: 1, FailFast: true}), 0, 4, 1, 1)
	rows := readFailures(t, dir)
	if len(rows) != 2 || rows[0].Error != "first time" || rows[1].Error != "second time" {
		t.Errorf("failures %+v", rows)
	}
}

// Two stages share the table; a task that left the job leaves it too.
func TestFailuresOfOtherStagesStay(t *testing.T) {
	dir := t.TempDir()
	cubes := table.New[square]("cubes", "cubes of small numbers")
	other := Job{Name: "another", Tables: []table.Definition{cubes}, Tasks: []Task{{
		Key: "cube", Name: "cube", Tables: []string{"cubes"},
		Run: func(context.Context, any, any, *Sink) error { return errors.New("no cubes") },
	}}}
	if r, err := Execute(t.Context(), other, Options{Dir: dir}); err != nil || r.Failed != 1 {
		t.Fatal(r, err)
	}
	broken := synthetic{numbers: upTo(3), before: func(context.Context, int, any, any) error { return errors.New("no squares") }}
	execute(t, broken, Options{Dir: dir})
	if rows := readFailures(t, dir); len(rows) != 4 || rows[0].Stage != "another" || rows[1].Stage != "synthetic" {
		t.Fatalf("failures %+v", rows)
	}
	execute(t, synthetic{numbers: []int{7}}, Options{Dir: dir})
	if rows := readFailures(t, dir); len(rows) != 1 || rows[0].Stage != "another" {
		t.Errorf("failures %+v", rows)
	}
}

// A failures table that a kill or a bad disk left is no obstacle.
func TestUnreadableFailuresAreReplaced(t *testing.T) {
	s := synthetic{numbers: upTo(3)}
	want := straight(t, s)
	for name, c := range map[string]struct {
		file string
		told int
	}{"unfinished": {"part-0000.parquet.tmp", 0}, "corrupt": {"part-0000.parquet", 1}} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "failures"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "failures", c.file), []byte("PAR1"), 0o644); err != nil {
			t.Fatal(err)
		}
		if r := execute(t, s, Options{Dir: dir}); len(r.Corrupt) != c.told {
			t.Errorf("%s: reported %q", name, r.Corrupt)
		}
		wantSame(t, dir, want)
	}
}

func TestFailFastStops(t *testing.T) {
	dir := t.TempDir()
	s := synthetic{numbers: upTo(50), groups: 50}
	s.before = func(_ context.Context, number int, _, _ any) error {
		if number == 10 {
			return errors.New("diverged")
		}
		return nil
	}
	r := execute(t, s, Options{Dir: dir, Workers: 1, FailFast: true})
	wantCounts(t, r, 10, 0, 1, 39)
	if len(readFailures(t, dir)) != 1 || ExitCode(nil, r) != ExitFailed {
		t.Error("expected one failure and its exit code")
	}
	s.before = nil
	wantCounts(t, execute(t, s, Options{Dir: dir}), 40, 10, 0, 0)
	wantSame(t, dir, straight(t, s))
}

type coded struct{ error }

func (coded) ExitCode() int { return ExitInput }

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err     error
		reports []Report
		want    int
	}{
		{nil, nil, 0},
		{nil, []Report{{Done: 3}, {Skipped: 2}}, 0},
		{nil, []Report{{Failed: 1}, {Done: 1}}, 3},
		{nil, []Report{{Failed: 1}, {Interrupted: true}}, 130},
		{errors.New("x"), []Report{{Failed: 1}}, 1},
		{fmt.Errorf("read: %w", coded{errors.New("x")}), nil, 2},
		{errors.Join(errors.New("y"), coded{errors.New("x")}), nil, 2},
		{fmt.Errorf("run: %w", ErrInterrupted), nil, 130},
		{fmt.Errorf("%w: disk full", ErrStorage), nil, 1},
		{ErrLocked, nil, 1},
	} {
		if got := ExitCode(c.err, c.reports...); got != c.want {
			t.Errorf("ExitCode(%v, %+v) = %d, expected %d", c.err, c.reports, got, c.want)
		}
	}
}
