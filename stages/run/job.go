package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"switchyard/stages/table"
)

// Task is one unit of work with its own place in the job's tables.
type Task struct {
	// Key is the task's identity over runs; two tasks with equal keys give
	// equal rows.
	Key string
	// Index is the task's place in its tables: their sort order, and their
	// index column. Tasks that write a table in common have different indexes.
	Index int32
	// Name says to a person which task it is: "tool rate_rps=4 / a6000x4 /
	// cache-aware / replication 3".
	Name string
	// Weight is the task's cost in any unit that the job's tasks share; zero
	// or less counts as one. It orders a group's tasks and weighs the estimate
	// of the time that is left; no result depends on it.
	Weight float64
	// Group is the input that the task shares with others; nil for none.
	Group *Group
	// Tables names the tables the task writes, at least one. It is done when
	// all of them hold its key, be it with no rows.
	Tables []string
	// Repro is the command that runs this task again by itself.
	Repro string
	// Run computes the rows. shared is what Group.Open returned, worker what
	// Job.NewWorker returned for the worker that runs the task. It should
	// return when ctx ends; a long task that does not delays the second
	// interrupt.
	Run func(ctx context.Context, shared, worker any, out *Sink) error
}

// weight is the task's weight with its default.
func (t *Task) weight() float64 {
	if t.Weight > 0 {
		return t.Weight
	}
	return 1
}

// Group is an input that several tasks share, opened when the first of them
// starts and dropped when the last has ended. Tasks share it when they point
// to the same Group; they must not write to what Open returns.
type Group struct {
	Name string
	Open func(ctx context.Context) (any, error)
}

// Job is a set of tasks and the tables they write.
type Job struct {
	// Name is the stage, as it stands in table `failures` and in the manifest.
	Name string
	// Tables are the tables that the tasks write, the most telling one first:
	// it is committed last. All of them are compacted at the end, also those
	// that no task wrote.
	Tables []table.Definition
	Tasks  []Task
	// NewWorker makes what one worker keeps from task to task, such as a
	// simulator's buffers; nil for none. A worker gets a new one after a task
	// that failed, which may have left the old one in any state.
	NewWorker func() any
	// Next returns the tasks that follow from one that is done, such as the
	// next point of a bisection. It is called once for every done task, by one
	// goroutine at a time, also for tasks done by an earlier run; the order of
	// calls varies, so what it returns may depend on nothing but done and the
	// rows of done. Keys and indexes of the tasks it returns are new to the job.
	Next func(done Task) ([]Task, error)
}

// check reports what makes the job unusable; all of it is a mistake of the
// stage that made the job.
func (j *Job) check() error {
	if j.Name == "" || len(j.Tables) == 0 {
		return errors.New("job: needs a name and a table")
	}
	for i, d := range j.Tables {
		name := d.Schema().Name
		if name == Failures.Name || slices.ContainsFunc(j.Tables[:i], func(e table.Definition) bool { return e.Schema().Name == name }) {
			return fmt.Errorf("job %s: table %s stands in it twice", j.Name, name)
		}
	}
	return nil
}

// place is a task's position in one table.
type place struct {
	table string
	index int32
}

// catalogue holds every task that the job has had so far and refuses those
// that would share another's key or place.
type catalogue struct {
	job    *Job
	tables map[string]bool
	keys   map[string]bool
	places map[place]string
}

func newCatalogue(j *Job) *catalogue {
	c := &catalogue{job: j, tables: make(map[string]bool), keys: make(map[string]bool), places: make(map[place]string)}
	for _, d := range j.Tables {
		c.tables[d.Schema().Name] = true
	}
	return c
}

// add enters a task.
func (c *catalogue) add(t *Task) error {
	switch {
	case t.Key == "":
		return fmt.Errorf("job %s: task %q has no key", c.job.Name, t.Name)
	case t.Run == nil || len(t.Tables) == 0:
		return fmt.Errorf("job %s: task %q needs a function and a table", c.job.Name, t.Name)
	case c.keys[t.Key]:
		return fmt.Errorf("job %s: key %s of task %q stands for another task as well", c.job.Name, t.Key, t.Name)
	}
	c.keys[t.Key] = true
	for _, name := range t.Tables {
		if !c.tables[name] {
			return fmt.Errorf("job %s: task %q writes table %s, which is not the job's", c.job.Name, t.Name, name)
		}
		at := place{name, t.Index}
		if other, taken := c.places[at]; taken {
			return fmt.Errorf("job %s: tasks %q and %q both have index %d in table %s", c.job.Name, other, t.Name, t.Index, name)
		}
		c.places[at] = t.Name
	}
	return nil
}

// Sink takes the rows of one task.
type Sink struct {
	task    *Task
	batches []table.Batch
	units   *atomic.Int64
	err     error
}

// Write keeps rows for the table they belong to, in the order of the calls.
// The rows are held, not copied, until Task.Run has returned and its worker
// has written them; the worker's next task may use their memory again.
func (s *Sink) Write(b table.Batch) {
	if !slices.Contains(s.task.Tables, b.Table()) {
		s.err = fmt.Errorf("task writes table %s, expected one of %v", b.Table(), s.task.Tables)
		return
	}
	s.batches = append(s.batches, b)
}

// Count adds to the units of work done, such as simulated requests, that
// progress and the manifest give a rate of.
func (s *Sink) Count(units int64) { s.units.Add(units) }
