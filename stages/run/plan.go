package run

import (
	"fmt"
	"slices"
)

// admit enters tasks into the job and returns those that are to be run. What
// follows from tasks that are done already is entered as well.
func (e *execution) admit(tasks []*Task) ([]*Task, error) {
	e.nextMu.Lock()
	defer e.nextMu.Unlock()
	var pending []*Task
	for queue := tasks; len(queue) > 0; queue = queue[1:] {
		t := queue[0]
		isDone, err := e.enter(t)
		if err != nil {
			return nil, err
		}
		if !isDone {
			pending = append(pending, t)
			continue
		}
		follow, err := follow(e.job, t)
		if err != nil {
			return nil, err
		}
		queue = append(queue, follow...)
	}
	return pending, nil
}

// enter adds one task to the books and says whether it is done already.
func (e *execution) enter(t *Task) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.catalogue.add(t); err != nil {
		return false, err
	}
	e.tasks = append(e.tasks, t)
	if !stands(e.onDisk, t) {
		e.outcome[t.Key] = untried
		e.meter.add(t.weight())
		return false, nil
	}
	if e.outcome[t.Key] != done {
		e.outcome[t.Key] = skipped
		e.meter.skip()
	}
	return true, nil
}

// next enters what follows from a task that this run has finished.
func (e *execution) next(t *Task) ([]*Task, error) {
	if e.job.Next == nil {
		return nil, nil
	}
	e.nextMu.Lock()
	more, err := follow(e.job, t)
	e.nextMu.Unlock()
	if err != nil || len(more) == 0 {
		return nil, err
	}
	return e.admit(more)
}

// settle records that a task is done.
func (e *execution) settle(t *Task) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.outcome[t.Key] = done
}

// fail records that a task failed.
func (e *execution) fail(t *Task, err error) {
	e.mu.Lock()
	e.outcome[t.Key] = failed
	e.failures = append(e.failures, newFailure(e.job.Name, t, err))
	e.mu.Unlock()
	e.meter.finish(t.weight(), false)
	if e.options.FailFast {
		e.schedule.stop()
	}
}

// stands reports whether every table of the task holds its key.
func stands(onDisk map[string]map[string]int64, t *Task) bool {
	return !slices.ContainsFunc(t.Tables, func(name string) bool {
		_, ok := onDisk[name][t.Key]
		return !ok
	})
}

// follow asks the job what follows from a done task.
func follow(job *Job, t *Task) (tasks []*Task, err error) {
	if job.Next == nil {
		return nil, nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = recovered(r)
		}
		if err != nil {
			err = fmt.Errorf("job %s: what follows task %q: %w", job.Name, t.Name, err)
		}
	}()
	more, err := job.Next(*t)
	return pointers(more), err
}

// pointers returns a pointer to each task.
func pointers(tasks []Task) []*Task {
	out := make([]*Task, len(tasks))
	for i := range tasks {
		out[i] = &tasks[i]
	}
	return out
}
