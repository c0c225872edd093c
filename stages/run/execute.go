package run

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"switchyard/stages/table"
)

// maxPasses bounds how often corruption that only compaction discovers sends
// tasks back to the workers; a disk that spoils more than that is beyond help.
const maxPasses = 3

// Execute runs the job's tasks that are not done yet and leaves finished
// tables in the folder; the package documentation says how. The report is
// valid with an error as well. Tasks that fail make no error (see
// Report.Failed); the errors wrap ErrInterrupted, ErrLocked or ErrStorage, or
// tell of a mistake in the job or the options.
func Execute(ctx context.Context, job Job, o Options) (Report, error) {
	started := time.Now()
	o = o.withDefaults()
	if err := o.Validate(); err != nil {
		return Report{Stage: job.Name}, err
	}
	if err := job.check(); err != nil {
		return Report{Stage: job.Name}, err
	}
	lock := o.Lock
	if lock == nil {
		var err error
		if lock, err = Acquire(o.Dir); err != nil {
			return Report{Stage: job.Name}, err
		}
	}
	e := newExecution(&job, o, started)
	release := func() error { return nil }
	if o.Lock == nil {
		release = lock.Release
	}
	return e.supervise(ctx, release)
}

// execution is one call of Execute.
type execution struct {
	job      *Job
	options  Options
	position map[string]int // of a table in Job.Tables
	meter    *meter
	sequence atomic.Int64 // next commit's number
	schedule *schedule

	nextMu sync.Mutex // one call of Job.Next at a time

	mu          sync.Mutex // guards the rest
	onDisk      map[string]map[string]int64
	catalogue   *catalogue
	tasks       []*Task
	outcome     map[string]outcome
	failures    []Failure
	report      Report
	interrupted bool
}

// outcome is what became of a task.
type outcome int

const (
	untried outcome = iota
	skipped         // done by an earlier run
	done
	failed
)

func newExecution(job *Job, o Options, started time.Time) *execution {
	e := &execution{
		job: job, options: o, meter: newMeter(time.Now), schedule: newSchedule(),
		position: make(map[string]int), catalogue: newCatalogue(job), outcome: make(map[string]outcome),
		report: Report{Stage: job.Name, Started: started, Workers: o.Workers, Unit: o.Unit},
	}
	for i, d := range job.Tables {
		e.position[d.Schema().Name] = i
	}
	return e
}

// supervise runs the job beside the signals. After an abort it gives the
// workers a moment; one that does not notice is left behind with the lock,
// because it may still write, and the caller is expected to exit.
func (e *execution) supervise(ctx context.Context, release func() error) (Report, error) {
	working, abort := context.WithCancel(ctx)
	defer abort()
	stop := func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.interrupted = true
		e.meter.stopping.Store(true)
		e.schedule.stop()
	}
	over, listening := make(chan struct{}), make(chan struct{})
	aborted := make(chan struct{})
	go func() {
		defer close(listening)
		listen(ctx, e.options.Signals, over, stop, func() {
			stop()
			abort()
			close(aborted)
		})
	}()

	bar := startBar(e.options.Progress, e.job.Name, e.options.Unit, e.meter)
	result := make(chan error, 1)
	go func() { result <- e.body(working) }()

	var err error
	select {
	case err = <-result:
	case <-aborted:
		select {
		case err = <-result:
		case <-time.After(e.options.Grace):
			release = func() error { return nil }
		}
	}
	close(over)
	<-listening
	bar.stop()
	report := e.finalReport()
	if err == nil && report.Interrupted {
		err = interruption(&report, e.options)
	}
	if failure := release(); err == nil && failure != nil {
		err = fmt.Errorf("%w: release the lock: %w", ErrStorage, failure)
	}
	return report, err
}

// interruption is the error of a run that was stopped.
func interruption(r *Report, o Options) error {
	left, tasks := r.Left, r.Done+r.Skipped+r.Failed+r.Left
	if o.Later != nil {
		more, todo := o.Later()
		left, tasks = left+todo, tasks+more
	}
	err := fmt.Errorf("%w with %d of %d tasks left", ErrInterrupted, left, tasks)
	if o.Resume != "" {
		err = fmt.Errorf("%w; resume with: %s", err, o.Resume)
	}
	return err
}

// body opens the folder, runs what is to do, and finishes the tables.
func (e *execution) body(ctx context.Context) error {
	for range maxPasses {
		if err := e.open(); err != nil {
			return err
		}
		if err := e.runTasks(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil { // aborted: the parts hold what is done
			return e.writeFailures()
		}
		// What is done so far makes tables too, for whoever looks at them
		// before the run goes on.
		stopped := e.isInterrupted() || e.options.FailFast && len(e.failures) > 0
		whole, err := e.compact()
		if err != nil {
			return err
		}
		if whole || stopped {
			return e.writeFailures()
		}
	}
	return fmt.Errorf("%w: %s: files turned out corrupt in %d passes; check the disk", ErrStorage, e.options.Dir, maxPasses)
}

// open finds out what is done, and plans the rest.
func (e *execution) open() error {
	parts, err := table.OpenParts(e.options.Dir, e.job.Tables...)
	if err != nil {
		return fmt.Errorf("%w: open %s: %w", ErrStorage, e.options.Dir, err)
	}
	e.noteMoved(parts.Reports)
	e.sequence.Store(max(e.sequence.Load(), int64(parts.Next)))
	e.plan(parts.Keys)
	pending, err := e.admit(pointers(e.job.Tasks))
	if err != nil {
		return err
	}
	e.schedule.add(pending)
	return nil
}

// plan starts the books anew, for what is on disk.
func (e *execution) plan(onDisk map[string]map[string]int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.onDisk, e.tasks, e.failures = onDisk, nil, nil
	e.catalogue, e.schedule = newCatalogue(e.job), newSchedule()
	if e.interrupted {
		e.schedule.stop()
	}
}

// noteMoved reports files that were corrupt.
func (e *execution) noteMoved(moved []table.Moved) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range moved {
		e.report.Corrupt = append(e.report.Corrupt, m.String())
	}
}

// runTasks runs every task of the schedule.
func (e *execution) runTasks(ctx context.Context) error {
	e.meter.phase.Store(running)
	var g errgroup.Group
	g.SetLimit(e.options.Workers)
	for number := range e.options.Workers {
		g.Go(func() error {
			w := &worker{execution: e, number: number}
			err := w.work(ctx)
			if err != nil {
				// The others commit what they have; they do not start more.
				e.schedule.stop()
			}
			return err
		})
	}
	return g.Wait()
}

// compact brings every table into the order of the tasks. It reports whether
// all the rows were there.
func (e *execution) compact() (whole bool, err error) {
	begin := time.Now()
	e.meter.phase.Store(compacting)
	results := make([]table.Compaction, len(e.job.Tables))
	var g errgroup.Group
	g.SetLimit(e.options.Workers)
	for i, d := range e.job.Tables {
		g.Go(func() error {
			var err error
			results[i], err = d.Compact(e.options.Dir, e.places(d.Schema().Name), e.options.Provenance)
			if err != nil {
				return storageError("compact", d.Schema().Name, err)
			}
			return nil
		})
	}
	err = g.Wait()
	whole = true
	rows := make(map[string]int64, len(results))
	for i, c := range results {
		e.noteMoved(c.Moved)
		whole = whole && len(c.Moved) == 0
		rows[e.job.Tables[i].Schema().Name] = c.Rows
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.report.Compaction += time.Since(begin)
	if err == nil && whole {
		e.report.Rows = rows
	}
	return whole, err
}

// places maps the keys of the done tasks of a table to their indexes.
func (e *execution) places(name string) map[string]int32 {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make(map[string]int32)
	for _, t := range e.tasks {
		if o := e.outcome[t.Key]; (o == done || o == skipped) && slices.Contains(t.Tables, name) {
			out[t.Key] = t.Index
		}
	}
	return out
}

// writeFailures brings table `failures` up to date.
func (e *execution) writeFailures() error {
	left := make(map[string]bool)
	e.mu.Lock()
	rows := slices.Clone(e.failures)
	for _, t := range e.tasks {
		if e.outcome[t.Key] == untried {
			left[t.Key] = true
		}
	}
	e.mu.Unlock()
	lost, err := writeFailures(e.options.Dir, e.job.Name, rows, left, e.options.Provenance)
	if lost != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.report.Corrupt = append(e.report.Corrupt, fmt.Sprintf("table failures is written anew: %v", lost))
	}
	return err
}

func (e *execution) isInterrupted() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.interrupted
}

// finalReport counts what became of the tasks.
func (e *execution) finalReport() Report {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.report
	for _, t := range e.tasks {
		switch e.outcome[t.Key] {
		case untried:
			r.Left++
		case skipped:
			r.Skipped++
		case done:
			r.Done++
		case failed:
			r.Failed++
		}
	}
	r.Failures = slices.Clone(e.failures)
	sortFailures(r.Failures)
	r.Interrupted = e.interrupted
	r.Elapsed = time.Since(r.Started)
	r.Weight, r.Busy = e.meter.total()
	r.Units = e.meter.units.Load()
	return r
}
