package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

func TestTablesHoldEveryTaskInOrder(t *testing.T) {
	dir := t.TempDir()
	r := execute(t, synthetic{numbers: upTo(100), groups: 7}, Options{Dir: dir, Workers: 2, Unit: "things"})
	wantCounts(t, r, 100, 0, 0, 0)
	if r.Units != 1000 || r.Rows["squares"] != 100 || r.Rows["digits"] != 200 {
		t.Errorf("units %d, rows %v, expected 1000, 100 squares, 200 digits", r.Units, r.Rows)
	}
	rows, err := squares.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		if want := (square{Index: int32(i), Key: fmt.Sprint("number/", i), Value: int64(i * i)}); row != want {
			t.Fatalf("row %d is %v, expected %v", i, row, want)
		}
	}
	if left := partsOf(t, dir); len(left) > 0 {
		t.Errorf("parts %v are left over", left)
	}
}

func TestBytesDoNotDependOnWorkersOrFlushes(t *testing.T) {
	want := straight(t, synthetic{numbers: upTo(60), groups: 5})
	for _, workers := range []int{1, 2, 7} {
		for _, flush := range []time.Duration{time.Nanosecond, time.Hour} {
			dir := t.TempDir()
			execute(t, synthetic{numbers: upTo(60), groups: 5}, Options{Dir: dir, Workers: workers, FlushEvery: flush})
			wantSame(t, dir, want)
		}
	}
}

func TestSecondRunDoesNothing(t *testing.T) {
	s := synthetic{numbers: upTo(20), groups: 2}
	dir := straight(t, s)
	before := finished(t, dir)
	s.opens = func(int) (any, error) { return nil, errors.New("opened for nothing") }
	wantCounts(t, execute(t, s, Options{Dir: dir}), 0, 20, 0, 0)
	for name, sum := range finished(t, dir) {
		if before[name] != sum {
			t.Errorf("%s changed", name)
		}
	}
}

// A smaller job's tables are those of a fresh run of it; the results of the
// larger one stay and are found again.
func TestCutDownAndRestored(t *testing.T) {
	large, small := synthetic{numbers: upTo(30)}, synthetic{numbers: []int{3, 1, 4}}
	dir := straight(t, large)
	wantCounts(t, execute(t, small, Options{Dir: dir}), 0, 3, 0, 0)
	wantSame(t, dir, straight(t, small))
	wantCounts(t, execute(t, large, Options{Dir: dir}), 0, 30, 0, 0)
	wantSame(t, dir, straight(t, large))
	other := synthetic{numbers: []int{50, 2, 51}}
	wantCounts(t, execute(t, other, Options{Dir: dir}), 2, 1, 0, 0)
	wantSame(t, dir, straight(t, other))
	wantCounts(t, execute(t, large, Options{Dir: dir}), 0, 30, 0, 0)
	wantSame(t, dir, straight(t, large))
}

// narrow is the job without its digits.
func narrow(s synthetic) Job {
	job := s.job()
	for i := range job.Tasks {
		t := &job.Tasks[i]
		inner := t.Run
		t.Tables = []string{"squares"}
		t.Run = func(ctx context.Context, shared, worker any, out *Sink) error {
			wide := &Sink{task: &Task{Tables: []string{"squares", "digits"}}, units: out.units}
			if err := inner(ctx, shared, worker, wide); err != nil {
				return err
			}
			out.Write(wide.batches[0])
			return nil
		}
	}
	return job
}

// A table that is asked for only later makes the tasks run again, and their
// rows stand once in each table; one that is no longer asked for is emptied,
// and its rows are found again.
func TestTableAddedAndDropped(t *testing.T) {
	s := synthetic{numbers: upTo(12)}
	dir, fresh := t.TempDir(), t.TempDir()
	for _, d := range []string{dir, fresh} {
		if _, err := Execute(t.Context(), narrow(s), Options{Dir: d}); err != nil {
			t.Fatal(err)
		}
	}
	wantCounts(t, execute(t, s, Options{Dir: dir}), 12, 0, 0, 0)
	wantSame(t, dir, straight(t, s))
	if r, err := Execute(t.Context(), narrow(s), Options{Dir: dir}); err != nil || r.Skipped != 12 {
		t.Fatal(r, err)
	}
	wantSame(t, dir, fresh)
	wantCounts(t, execute(t, s, Options{Dir: dir}), 0, 12, 0, 0)
	wantSame(t, dir, straight(t, s))
}

func TestInputsAreOpenedOnceAndDropped(t *testing.T) {
	const groups, workers = 10, 3
	var opened [groups]atomic.Int32
	var open, most atomic.Int32
	ended := make([]atomic.Int32, groups)
	s := synthetic{numbers: upTo(50), groups: groups, pause: time.Millisecond}
	s.opens = func(g int) (any, error) {
		opened[g].Add(1)
		most.Store(max(most.Load(), open.Add(1)))
		return g, nil
	}
	s.before = func(_ context.Context, number int, shared, _ any) error {
		if want := number * groups / 50; shared != want {
			return fmt.Errorf("input %v, expected %d", shared, want)
		}
		if ended[number*groups/50].Add(1) == 50/groups {
			open.Add(-1) // the last of the group is about to end
		}
		return nil
	}
	wantCounts(t, execute(t, s, Options{Dir: t.TempDir(), Workers: workers}), 50, 0, 0, 0)
	for g := range opened {
		if n := opened[g].Load(); n != 1 {
			t.Errorf("input %d was opened %d times", g, n)
		}
	}
	if most.Load() > workers {
		t.Errorf("%d inputs were open at once, expected at most %d", most.Load(), workers)
	}
}

// The schedule itself never has more inputs open than workers, and holds none
// at the end.
func TestScheduleDropsInputs(t *testing.T) {
	s := newSchedule()
	var tasks []*Task
	for g := range 5 {
		group := &Group{Name: fmt.Sprint(g), Open: func(context.Context) (any, error) { return make([]byte, 1), nil }}
		for i := range 3 {
			tasks = append(tasks, &Task{Index: int32(g*3 + i), Weight: float64(i), Group: group})
		}
	}
	s.add(tasks)
	var order []int32
	var held []ticket
	for {
		next, ok, _, over := s.tryNext(t.Context())
		if over {
			break
		}
		if ok {
			order = append(order, next.task.Index)
			held = append(held, next)
		}
		if s.open > 2 {
			t.Fatalf("%d inputs open with 2 workers", s.open)
		}
		if len(held) == 2 || !ok {
			if next := held[0]; next.q.shared == nil {
				t.Fatal("an input was dropped before its last task")
			}
			s.finish(held[0], nil)
			held = held[1:]
		}
	}
	if s.open != 0 || len(s.byGroup) != 0 {
		t.Errorf("%d inputs open and %d groups held at the end", s.open, len(s.byGroup))
	}
	// Heaviest first inside a group, groups in order; weight 0 counts as 1.
	if want := []int32{2, 0, 1, 5, 3, 4, 8, 6, 7, 11, 9, 10, 14, 12, 13}; !slices.Equal(order, want) {
		t.Errorf("order %v, expected %v", order, want)
	}
}

// While one input is being opened the other worker opens the next.
func TestOpeningOverlaps(t *testing.T) {
	both := make(chan struct{})
	var waiting atomic.Int32
	s := synthetic{numbers: upTo(8), groups: 2, opens: func(g int) (any, error) {
		if waiting.Add(1) == 2 {
			close(both)
		}
		select {
		case <-both:
			return g, nil
		case <-time.After(10 * time.Second):
			return nil, errors.New("the other input is not being opened")
		}
	}}
	s.before = func(_ context.Context, number int, shared, _ any) error {
		if shared != number/4 {
			return fmt.Errorf("input %v, expected %d", shared, number/4)
		}
		return nil
	}
	wantCounts(t, execute(t, s, Options{Dir: t.TempDir(), Workers: 2}), 8, 0, 0, 0)
}

func TestWorkersKeepTheirState(t *testing.T) {
	made, used := 0, map[any]int{}
	s := synthetic{numbers: upTo(40), groups: 40} // groups keep the order
	s.before = func(_ context.Context, number int, _, worker any) error {
		used[worker]++
		if number == 10 {
			panic("the state may be broken now")
		}
		return nil
	}
	job := s.job()
	job.NewWorker = func() any { made++; return made }
	r, err := Execute(t.Context(), job, Options{Dir: t.TempDir(), Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	wantCounts(t, r, 39, 0, 1, 0)
	if made != 2 || used[1] != 11 || used[2] != 29 {
		t.Errorf("states were used %v times, expected the first 11 times, up to the panic, the second 29", used)
	}
}

// A chain: every number below ten brings the next one, a multiple of three
// brings another one with it.
func chain(s synthetic) Job {
	job := s.job()
	job.Next = func(done Task) ([]Task, error) {
		number := int(done.Index)
		var more []Task
		if number < 9 {
			more = append(more, s.task(number+1, number+1))
		}
		if number%3 == 0 && number < 10 {
			more = append(more, s.task(100+number, 100+number))
		}
		return more, nil
	}
	return job
}

func TestTasksFollowFromTasks(t *testing.T) {
	s := synthetic{numbers: []int{0}}
	want := t.TempDir()
	r, err := Execute(t.Context(), chain(s), Options{Dir: want, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	wantCounts(t, r, 14, 0, 0, 0)
	if rows, err := squares.Read(want); err != nil || len(rows) != 14 || rows[13].Value != 109*109 {
		t.Fatalf("%v, %v", rows, err)
	}

	// Stopped by a failure on the way, then resumed.
	dir := t.TempDir()
	broken := s
	broken.before = func(_ context.Context, number int, _, _ any) error {
		if number == 6 {
			return errors.New("not yet")
		}
		return nil
	}
	r, err = Execute(t.Context(), chain(broken), Options{Dir: dir, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	wantCounts(t, r, 8, 0, 1, 0)
	r, err = Execute(t.Context(), chain(s), Options{Dir: dir, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	wantCounts(t, r, 6, 8, 0, 0)
	wantSame(t, dir, want)
}

func TestFollowUpErrorsEndTheRun(t *testing.T) {
	for name, next := range map[string]func(Task) ([]Task, error){
		"error": func(Task) ([]Task, error) { return nil, errors.New("no idea") },
		"panic": func(Task) ([]Task, error) { panic("no idea") },
		"twice": func(done Task) ([]Task, error) { return []Task{done}, nil },
	} {
		job := synthetic{numbers: upTo(200), pause: time.Millisecond}.job()
		var calls atomic.Int32
		job.Next = func(done Task) ([]Task, error) {
			if calls.Add(1) > 1 {
				return nil, nil
			}
			return next(done)
		}
		r, err := Execute(t.Context(), job, Options{Dir: t.TempDir(), Workers: 2})
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if r.Done > 20 {
			t.Errorf("%s: %d tasks ended before the run did", name, r.Done)
		}
	}
}

func TestBadJobsAreRefused(t *testing.T) {
	good := synthetic{numbers: upTo(3)}
	for name, c := range map[string]struct {
		change func(*Job)
		text   string
	}{
		"same key":      {func(j *Job) { j.Tasks[2].Key = j.Tasks[0].Key }, "stands for another task"},
		"same index":    {func(j *Job) { j.Tasks[2].Index = 0 }, "both have index 0"},
		"no key":        {func(j *Job) { j.Tasks[1].Key = "" }, "has no key"},
		"no tables":     {func(j *Job) { j.Tasks[1].Tables = nil }, "needs a function and a table"},
		"foreign table": {func(j *Job) { j.Tasks[1].Tables = []string{"cubes"} }, "which is not the job's"},
		"table twice":   {func(j *Job) { j.Tables = append(j.Tables, squares) }, "stands in it twice"},
		"no name":       {func(j *Job) { j.Name = "" }, "needs a name"},
	} {
		job := good.job()
		c.change(&job)
		_, err := Execute(t.Context(), job, Options{Dir: t.TempDir()})
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		wantText(t, err, c.text)
		if code := ExitCode(err); code != ExitInternal {
			t.Errorf("%s: exit code %d", name, code)
		}
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	for _, o := range []Options{{}, {Dir: "x", Workers: -1}, {Dir: "x", FlushBytes: -1}} {
		if _, err := Execute(t.Context(), synthetic{numbers: upTo(1)}.job(), o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	if _, err := os.Stat(filepath.Join("x")); err == nil {
		t.Error("a refused run made its folder")
	}
}

func TestRowsOfAnotherTableFailTheTask(t *testing.T) {
	job := synthetic{numbers: upTo(4)}.job()
	for i := range job.Tasks {
		job.Tasks[i].Tables = []string{"squares"}
	}
	r, err := Execute(t.Context(), job, Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	wantCounts(t, r, 1, 0, 3, 0) // the first has no digits to write
	wantText(t, errors.New(r.Failures[0].Error), "task writes table digits, expected one of [squares]")
}
