package run

import (
	"fmt"
	"time"

	"switchyard/stages/table"
)

// Estimate says what a run would do.
type Estimate struct {
	Stage string
	Tasks int // known so far; follow-up tasks of those to do are not among them
	Done  int
	Todo  int
	// TodoWeight is the weight of the tasks to do, TotalWeight that of all.
	TodoWeight, TotalWeight float64
	// Time is the wall time that the tasks to do will take, from the rate in
	// the manifest of an earlier run in the folder; meaningless unless Known.
	Time  time.Duration
	Known bool
	// Rate is the weight that one worker did in a second, 0 if not known.
	Rate float64
}

// String says it in a line: "simulate: 40 tasks, 12 done, 28 to do, about 1m20s".
func (e Estimate) String() string {
	s := fmt.Sprintf("%s: %d tasks, %d done, %d to do", e.Stage, e.Tasks, e.Done, e.Todo)
	if e.Known && e.Todo > 0 {
		s += ", about " + round(e.Time)
	}
	return s
}

// Inspect finds out what a run of the job in the folder would have to do,
// without the lock and without a change to the folder; workers as in Options.
// The estimate assumes that weights mean what they meant in the earlier run.
func Inspect(job Job, dir string, workers int) (Estimate, error) {
	o := Options{Dir: dir, Workers: workers}.withDefaults()
	if err := o.Validate(); err != nil {
		return Estimate{}, err
	}
	if err := job.check(); err != nil {
		return Estimate{}, err
	}
	parts, err := table.InspectParts(dir, job.Tables...)
	if err != nil {
		return Estimate{}, fmt.Errorf("%w: open %s: %w", ErrStorage, dir, err)
	}
	e := newExecution(&job, o, time.Now())
	e.onDisk = parts.Keys
	todo, err := e.admit(pointers(job.Tasks))
	if err != nil {
		return Estimate{}, err
	}
	out := Estimate{Stage: job.Name, Tasks: len(e.tasks), Todo: len(todo), Done: len(e.tasks) - len(todo)}
	for _, t := range e.tasks {
		out.TotalWeight += t.weight()
	}
	for _, t := range todo {
		out.TodoWeight += t.weight()
	}
	out.predict(dir, o.Workers)
	return out, nil
}

// predict fills the time from an earlier run's rate. More workers than tasks
// do not help.
func (e *Estimate) predict(dir string, workers int) {
	m, err := ReadManifest(dir)
	if err != nil {
		return
	}
	for _, s := range m.Stages {
		if s.Name == e.Stage && s.WeightPerWorkerSecond > 0 {
			e.Rate = s.WeightPerWorkerSecond
			e.Time = seconds(e.TodoWeight / e.Rate / float64(max(1, min(workers, e.Todo))))
			e.Known = true
		}
	}
}
