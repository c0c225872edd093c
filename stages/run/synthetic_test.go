package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"switchyard/stages/table"
)

// The synthetic job: task i writes one row of `squares` and i%5 rows of
// `digits`, so that some tasks have no rows in a table.

type square struct {
	Index int32  `parquet:"task,delta" doc:"position of the task"`
	Key   string `parquet:"task_key" doc:"identity of the task"`
	Value int64  `parquet:"value,delta" doc:"square of the number"`
}

func (s *square) Place(index int32) { s.Index = index }

type digit struct {
	Index int32 `parquet:"task,delta" doc:"position of the task"`
	Digit int32 `parquet:"digit,delta" doc:"position in the task"`
	Value int64 `parquet:"value,delta" doc:"some number"`
}

func (d *digit) Place(index int32) { d.Index = index }

var (
	squares = table.New[square]("squares", "squares of small numbers")
	digits  = table.New[digit]("digits", "a few numbers a task")
)

// synthetic is what a test may change of the job.
type synthetic struct {
	numbers []int         // the tasks, in order of their index
	groups  int           // number of shared inputs; 0 for none
	pause   time.Duration // that a task takes
	opens   func(group int) (any, error)
	before  func(ctx context.Context, number int, shared, worker any) error
}

func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

func (s synthetic) job() Job {
	job := Job{Name: "synthetic", Tables: []table.Definition{squares, digits}}
	groups := make([]*Group, s.groups)
	for g := range groups {
		groups[g] = &Group{Name: fmt.Sprint("input ", g), Open: func(context.Context) (any, error) {
			if s.opens != nil {
				return s.opens(g)
			}
			return g, nil
		}}
	}
	for index, number := range s.numbers {
		t := s.task(index, number)
		if s.groups > 0 {
			t.Group = groups[index*s.groups/len(s.numbers)]
		}
		job.Tasks = append(job.Tasks, t)
	}
	return job
}

func (s synthetic) task(index, number int) Task {
	key := fmt.Sprint("number/", number)
	return Task{
		Key: key, Index: int32(index), Name: fmt.Sprint("square of ", number),
		Weight: float64(1 + number%3), Tables: []string{"squares", "digits"},
		Repro: fmt.Sprint("synthetic --only ", number),
		Run: func(ctx context.Context, shared, worker any, out *Sink) error {
			if s.before != nil {
				if err := s.before(ctx, number, shared, worker); err != nil {
					return err
				}
			}
			time.Sleep(s.pause)
			out.Write(squares.Rows([]square{{Key: key, Value: int64(number * number)}}))
			for d := range number % 5 {
				out.Write(digits.Rows([]digit{{Digit: int32(d), Value: int64(number * d)}}))
			}
			out.Count(10)
			return nil
		},
	}
}

// execute runs the job and fails the test on an error.
func execute(t *testing.T, s synthetic, o Options) Report {
	t.Helper()
	r, err := Execute(t.Context(), s.job(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// straight runs the job in a fresh folder by one worker.
func straight(t *testing.T, s synthetic) string {
	t.Helper()
	dir := t.TempDir()
	execute(t, s, Options{Dir: dir, Workers: 1})
	return dir
}

// finished returns a digest of every file of the finished tables.
func finished(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{"squares", "digits", "failures"} {
		err := filepath.WalkDir(filepath.Join(dir, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.Contains(d.Name(), ".corrupt") {
				return err
			}
			data, err := os.ReadFile(path)
			sum := sha256.Sum256(data)
			out[name+"/"+d.Name()] = hex.EncodeToString(sum[:8])
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return out
}

// wantSame fails unless both folders hold the same finished tables.
func wantSame(t *testing.T, got, want string) {
	t.Helper()
	g, w := finished(t, got), finished(t, want)
	if len(w) < 3 {
		t.Fatalf("%d files in the reference %s, expected one a table at least", len(w), want)
	}
	if !maps.Equal(g, w) {
		t.Fatalf("finished tables differ:\n got %v\nwant %v", g, w)
	}
}

// wantCounts compares the report's counts.
func wantCounts(t *testing.T, r Report, done, skipped, failed, left int) {
	t.Helper()
	if r.Done != done || r.Skipped != skipped || r.Failed != failed || r.Left != left {
		t.Fatalf("done %d, skipped %d, failed %d, left %d, expected %d, %d, %d, %d",
			r.Done, r.Skipped, r.Failed, r.Left, done, skipped, failed, left)
	}
}

// partsOf lists the names in the folder of parts.
func partsOf(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "parts"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// wantText fails unless the error's text has every one of the pieces.
func wantText(t *testing.T, err error, pieces ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, expected one with %q", pieces)
	}
	for _, p := range pieces {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q lacks %q", err, p)
		}
	}
}
