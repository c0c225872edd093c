package run

import (
	"context"
	"fmt"
	"time"

	"switchyard/stages/table"
)

// worker runs one task at a time and holds the rows of finished tasks until
// they are committed.
type worker struct {
	*execution
	number  int
	state   any                 // of Job.NewWorker
	parts   []*table.PartWriter // a table each, in the order of Job.Tables; nil before its first key
	held    int                 // keys in parts, not yet committed
	oldest  time.Time           // when the first of them came
	started bool                // state is made
}

// work runs tasks until none is left or the run is stopped, then commits.
func (w *worker) work(ctx context.Context) error {
	defer w.abandon()
	for {
		begin := time.Now()
		t, ok, drained, over := w.schedule.tryNext(ctx)
		if !ok && (over || drained) {
			// What others still run may take long, or bring follow-up tasks.
			if err := w.commit(); err != nil {
				return err
			}
		}
		switch {
		case over:
			return nil
		case !ok:
			w.schedule.wait()
			continue
		}
		follow, err := w.do(ctx, t)
		w.schedule.finish(t, follow)
		if err == nil && w.due() {
			err = w.commit()
		}
		w.meter.work(time.Since(begin))
		if err != nil {
			return err
		}
	}
}

// do runs one task and holds its rows. The error is one that ends the run;
// the task's own goes to the failures.
func (w *worker) do(ctx context.Context, t ticket) (follow []*Task, err error) {
	if ctx.Err() != nil {
		return nil, nil
	}
	out := &Sink{task: t.task, units: &w.meter.units}
	failure := w.call(ctx, t, out)
	switch {
	case failure == nil:
		if err := w.hold(t.task, out.batches); err != nil {
			return nil, err
		}
		w.settle(t.task)
		w.meter.finish(t.task.weight(), true)
		return w.next(t.task)
	case ctx.Err() != nil:
		// Cut short, which is no failure of the task.
		return nil, nil
	}
	w.started = false
	w.fail(t.task, failure)
	return nil, nil
}

// call runs the task's function and turns a panic into an error.
func (w *worker) call(ctx context.Context, t ticket, out *Sink) (err error) {
	if t.q.err != nil {
		return t.q.err
	}
	defer func() {
		if r := recover(); r != nil {
			err = recovered(r)
		}
	}()
	if !w.started && w.job.NewWorker != nil {
		w.state = w.job.NewWorker()
	}
	w.started = true
	if err := t.task.Run(ctx, t.q.shared, w.state, out); err != nil {
		return err
	}
	return out.err
}

// hold appends a finished task's rows to the worker's parts, and its key to
// the part of each of its tables.
func (w *worker) hold(t *Task, batches []table.Batch) error {
	if w.held == 0 {
		w.oldest = time.Now()
	}
	for _, name := range t.Tables {
		part := w.part(name)
		written := false
		for _, b := range batches {
			if b.Table() != name {
				continue
			}
			if err := part.Append(t.Key, b); err != nil {
				return storageError("write", name, err)
			}
			written = true
		}
		if !written {
			if err := part.Append(t.Key, noRows(name)); err != nil {
				return storageError("write", name, err)
			}
		}
	}
	w.held++
	return nil
}

// noRows is a batch that records a key in a table and nothing else.
type noRows string

func (n noRows) Table() string { return string(n) }
func (n noRows) Len() int      { return 0 }

// part returns the worker's open part of a table. All parts of one commit
// have the same number, larger than that of every earlier commit.
func (w *worker) part(name string) *table.PartWriter {
	if w.parts == nil {
		seq := int(w.sequence.Add(1) - 1)
		w.parts = make([]*table.PartWriter, len(w.job.Tables))
		for i, d := range w.job.Tables {
			w.parts[i] = d.NewPart(w.options.Dir, w.number, seq, w.options.Provenance)
		}
	}
	return w.parts[w.position[name]]
}

// due says whether the worker holds enough to commit.
func (w *worker) due() bool {
	if w.held == 0 {
		return false
	}
	var size int64
	for _, p := range w.parts {
		size += p.Size()
	}
	return size >= w.options.FlushBytes || time.Since(w.oldest) >= w.options.FlushEvery
}

// commit makes what the worker holds durable, the job's first table last: the
// order must be the same each time, see the package documentation.
func (w *worker) commit() error {
	if w.held == 0 {
		return nil
	}
	for i := len(w.parts) - 1; i >= 0; i-- {
		if err := w.parts[i].Close(); err != nil {
			return storageError("commit", w.job.Tables[i].Schema().Name, err)
		}
	}
	w.parts, w.held = nil, 0
	return nil
}

// abandon removes the parts that could not be committed.
func (w *worker) abandon() {
	for _, p := range w.parts {
		// The next run removes what cannot be removed now.
		_ = p.Abort()
	}
	w.parts = nil
}

// storageError marks an error of reading or writing results.
func storageError(verb, name string, err error) error {
	return fmt.Errorf("%w: %s table %s: %w", ErrStorage, verb, name, err)
}
