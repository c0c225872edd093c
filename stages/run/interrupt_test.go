package run

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// The first interrupt lets the tasks in flight end and leaves tables of what is
// done, which the next run completes to the bytes of one without interrupt.
func TestInterruptFinishesWhatIsInFlight(t *testing.T) {
	dir, signals := t.TempDir(), make(chan os.Signal, 2)
	started, release := make(chan struct{}, 100), make(chan struct{})
	s := synthetic{numbers: upTo(40)}
	s.before = func(ctx context.Context, _ int, _, _ any) error {
		started <- struct{}{}
		<-release
		return ctx.Err()
	}
	go func() {
		<-started
		<-started
		signals <- os.Interrupt
		time.Sleep(20 * time.Millisecond) // the run takes note before the tasks end
		close(release)
	}()
	r, err := Execute(t.Context(), s.job(), Options{Dir: dir, Workers: 2, Signals: signals, Resume: "switchyard run x",
		Later: func() (int, int) { return 160, 150 }})
	if !errors.Is(err, ErrInterrupted) || ExitCode(err, r) != ExitInterrupted {
		t.Fatalf("error %v, code %d", err, ExitCode(err, r))
	}
	wantText(t, err, "188 of 200 tasks left", "resume with: switchyard run x")
	wantCounts(t, r, 2, 0, 0, 38)
	if rows, err := squares.Read(dir); err != nil || !r.Interrupted || r.Rows["squares"] != 2 || len(rows) != 2 {
		t.Errorf("interrupted %v, rows %v, table %v, %v: expected those of the two tasks in flight", r.Interrupted, r.Rows, rows, err)
	}
	s.before = nil
	wantCounts(t, execute(t, s, Options{Dir: dir}), 38, 2, 0, 0)
	wantSame(t, dir, straight(t, s))
}

// The second interrupt ends the tasks' context; what had ended before stays.
func TestSecondInterruptAborts(t *testing.T) {
	dir, signals := t.TempDir(), make(chan os.Signal, 2)
	s := synthetic{numbers: upTo(10)}
	var ended atomic.Int32
	s.before = func(ctx context.Context, number int, _, _ any) error {
		if ended.Add(1) <= 3 {
			return nil
		}
		signals <- os.Interrupt
		signals <- syscall.SIGTERM
		<-ctx.Done()
		return ctx.Err()
	}
	r, err := Execute(t.Context(), s.job(), Options{Dir: dir, Workers: 1, Signals: signals, Resume: "x"})
	if !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	wantText(t, err, "7 of 10 tasks left", "resume with: x")
	wantCounts(t, r, 3, 0, 0, 7)
	s.before = nil
	wantCounts(t, execute(t, s, Options{Dir: dir}), 7, 3, 0, 0)
	wantSame(t, dir, straight(t, s))
}

// The end of the caller's context is an abort.
func TestContextAborts(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := synthetic{numbers: upTo(10), groups: 2}
	s.opens = func(int) (any, error) {
		cancel()
		return nil, context.Canceled
	}
	r, err := Execute(ctx, s.job(), Options{Dir: t.TempDir(), Workers: 1})
	if !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	wantCounts(t, r, 0, 0, 0, 10)
}

// Real signals, in a child: SIGTERM resumes to the same bytes, and two of them
// end even a run whose tasks never notice.
func TestSignals(t *testing.T) {
	const tasks = 200
	dir := t.TempDir()
	c := newChild(t, dir, tasks, 2*time.Millisecond)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the first commit", func() bool { return hasPart(t, dir) })
	c.Process.Signal(syscall.SIGTERM)
	if code := c.code(); code != ExitInterrupted {
		t.Fatalf("code %d: %s", code, c.stderr.String())
	}
	wantText(t, errors.New(c.stderr.String()), "interrupted with", "resume with: switchyard run synthetic")
	c = newChild(t, dir, tasks, 0)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if code := c.code(); code != ExitOK {
		t.Fatalf("code %d: %s", code, c.stderr.String())
	}
	wantSame(t, dir, straight(t, synthetic{numbers: upTo(tasks), groups: 1 + tasks/10}))

	dir = t.TempDir()
	c = newChild(t, dir, 4, 0, childHang+"=1")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the lock", func() bool { _, err := os.Stat(dir + "/.lock"); return err == nil })
	begin := time.Now()
	c.Process.Signal(os.Interrupt)
	time.Sleep(50 * time.Millisecond) // two pending signals of a kind would be one
	c.Process.Signal(os.Interrupt)
	if code := c.code(); code != ExitInterrupted {
		t.Fatalf("code %d: %s", code, c.stderr.String())
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("the abort took %v", took)
	}
}
