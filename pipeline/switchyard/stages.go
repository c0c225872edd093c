package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"switchyard/stages/aggregate"
	"switchyard/stages/calibrate"
	"switchyard/stages/capacity"
	"switchyard/stages/choose"
	"switchyard/stages/expect"
	"switchyard/stages/experiment"
	"switchyard/stages/generate"
	"switchyard/stages/queueing"
	"switchyard/stages/run"
	"switchyard/stages/serve"
	"switchyard/stages/simulate"
	"switchyard/stages/table"
)

// schemas are those of all tables, in the order in which the stages write them.
func schemas() (all []table.Schema) {
	definitions := slices.Concat(generate.Tables(), simulate.Tables(), queueing.Tables(), choose.Tables(), serve.Tables())
	definitions = append(append(definitions, run.Failures), aggregate.Tables()...)
	definitions = append(definitions, expect.Tables()...)
	definitions = append(append(definitions, calibrate.Tables()...), capacity.Tables()...)
	for _, d := range definitions {
		all = append(all, d.Schema())
	}
	return all
}

// generateJob makes the workloads that the cells share.
func (s *study) generateJob(c *cli.Context) run.Job {
	job := generate.Job(s.plan.Workloads, s.experiment.Replications)
	for i := range job.Tasks {
		job.Tasks[i].Repro = fmt.Sprintf("%s %s --cell %d", programName, s.words(c, "generate"), i)
	}
	return job
}

// simulateJob runs the cells. A workload is read from its table in dir where it
// is there, and made anew where not.
func (s *study) simulateJob(c *cli.Context, dir string) run.Job {
	return simulate.Job(s.plan, simulate.Options{Dir: dir, Repro: func(r *simulate.Run) string {
		return fmt.Sprintf("%s %s --cell %d", programName, s.words(c, "simulate"), r.Index)
	}})
}

// jobs are those of a whole run: which stage feeds which. The cells' workloads
// are made anew in memory, which is faster than to read them back.
func (s *study) jobs(c *cli.Context) (jobs []run.Job) {
	if s.experiment.Has(experiment.Simulate) {
		if s.experiment.Tables.Workload {
			jobs = append(jobs, s.generateJob(c))
		}
		jobs = append(jobs, s.simulateJob(c, ""))
	}
	return slices.Concat(jobs, s.queueingJobs(c), s.choiceJobs(c), s.servingJobs(c))
}

// queueingJobs run the classic models, which need nothing of another stage.
func (s *study) queueingJobs(c *cli.Context) []run.Job {
	return queueing.Jobs(s.queueing, queueing.Options{Repro: func(r *queueing.Run) string {
		return fmt.Sprintf("%s %s --job %s --cell %d", programName, s.words(c, "queue"), r.Config.Job, r.Index)
	}})
}

// choiceJobs choose models for modules: the settings, then the cells.
func (s *study) choiceJobs(c *cli.Context) []run.Job {
	return choose.Jobs(s.choices, choose.Options{
		Again: fmt.Sprintf("%s %s", programName, s.words(c, "choose")),
		Repro: func(r *choose.Run) string {
			return fmt.Sprintf("%s %s --cell %d", programName, s.words(c, "choose"), r.Index)
		},
	})
}

// servingJobs serve what choose chooses from.
func (s *study) servingJobs(c *cli.Context) []run.Job {
	return serve.Jobs(s.serving, serve.Options{Repro: func(r *serve.Run) string {
		return fmt.Sprintf("%s %s --cell %d", programName, s.words(c, "serve"), r.Index)
	}})
}

// execute runs jobs one after the other in the study's folder, under one lock,
// and then finish; the folder's manifest, views and data package follow. Tasks
// that failed make an error with exit code 3 at the end.
func (s *study) execute(c *cli.Context, jobs []run.Job, finish func() error) (err error) {
	signals, stop := run.Signals()
	defer stop()
	lock, err := run.Acquire(s.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	manifest, err := s.openManifest()
	if err != nil {
		return err
	}
	if err := s.describe(); err != nil { // of what an earlier run has left
		return err
	}
	options := s.options(c, lock)
	options.Signals = signals
	failed := 0
	for i, job := range jobs {
		options.Unit = units[job.Name]
		options.Later = func() (tasks, todo int) { return s.count(jobs[i+1:]) }
		report, err := run.Execute(c.Context, job, options)
		manifest.Add(report)
		if err := errors.Join(err, s.describe()); err != nil {
			if errors.Is(err, run.ErrInterrupted) {
				say(c, "what is done can be looked at: %s", quoteAll([]string{os.Args[0], "query", s.dir, "show tables"}))
			}
			return errors.Join(err, run.WriteManifest(s.dir, manifest))
		}
		say(c, "%s", summary(report))
		if failed += report.Failed; failed > 0 && options.FailFast {
			break
		}
	}
	interrupted := patient(signals, stop)
	var finishing error
	switch {
	case finish == nil:
	case failed > 0 && !c.Bool("allow-missing"):
		say(c, "nothing is aggregated while cells are missing: run again to repeat them, or pass --allow-missing to go without")
	default:
		finishing = finish()
	}
	manifest.Finished = time.Now()
	if err := errors.Join(finishing, s.describe(), run.WriteManifest(s.dir, manifest)); err != nil {
		return err
	}
	switch {
	case interrupted():
		return fmt.Errorf("%w after all cells were done; see them with: %s", run.ErrInterrupted, options.Resume)
	case failed > 0:
		return &coded{run.ExitFailed, failures(manifest.Failures)}
	}
	return nil
}

// count returns how many tasks jobs have, and how many of them are to do. A job
// that cannot be looked into counts as to do.
func (s *study) count(jobs []run.Job) (tasks, todo int) {
	for _, job := range jobs {
		estimate, err := run.Inspect(job, s.dir, 0)
		if err != nil {
			estimate = run.Estimate{Tasks: len(job.Tasks), Todo: len(job.Tasks)}
		}
		tasks, todo = tasks+estimate.Tasks, todo+estimate.Todo
	}
	return tasks, todo
}

// patient lets what is short come to its end after a first signal, and gives
// the second back to the system, which ends the program. The function that it
// returns ends its watch and says whether there was a signal.
func patient(signals <-chan os.Signal, giveBack func()) (interrupted func() bool) {
	over, answer := make(chan struct{}), make(chan bool, 1)
	go func() {
		select {
		case <-signals:
			giveBack()
			answer <- true
		case <-over:
			answer <- false
		}
	}()
	return func() bool {
		close(over)
		return <-answer
	}
}

// units name what the tasks of a job count.
var units = map[string]string{"generate": "requests", "simulate": "requests", "capacity": "requests", experiment.Balls: "balls", experiment.Dispatch: "requests", choose.SettingsJob: "assignments", experiment.Choose: "evaluations", experiment.Serve: "calls"}

// openManifest starts the folder's manifest and writes it, so that a run that
// is killed leaves word of what it was.
func (s *study) openManifest() (run.Manifest, error) {
	m, err := run.NewManifest(s.dir, s.experiment.Name)
	if err != nil {
		return m, err
	}
	m.Experiment, m.File, m.Notes = string(s.experiment.Resolved()), s.file, s.plan.Notes()
	return m, run.WriteManifest(s.dir, m)
}

// describe writes what people and DuckDB need to read the tables.
func (s *study) describe() error {
	return errors.Join(
		table.WriteViews(s.dir, schemas(), s.factors()),
		table.WriteDataPackage(s.dir, s.experiment.Name, schemas()),
	)
}

// factors are the swept values of all jobs, which views show as columns.
func (s *study) factors() (all []table.Factor) {
	var swept []experiment.Factor
	for _, job := range s.experiment.Jobs() {
		for _, p := range s.experiment.Points[job] {
			swept = append(swept, p.Factors...)
		}
	}
	position := map[string]int{}
	for _, f := range swept {
		at, seen := position[f.Name]
		if !seen {
			at = len(all)
			position[f.Name] = at
			all = append(all, table.Factor{Name: f.Name, Numeric: true})
		}
		if _, err := strconv.ParseFloat(f.Value, 64); err != nil {
			all[at].Numeric = false
		}
	}
	return all
}

// mostFailures is how many failures a message spells out.
const mostFailures = 5

// failures is the error of a run in which tasks failed.
func failures(all []run.Failure) error {
	errs := []error{fmt.Errorf("%d failed; table failures has them all", len(all))}
	for _, f := range all[:min(len(all), mostFailures)] {
		errs = append(errs, fmt.Errorf("  %s: %s\n    repeat it: %s", f.Name, f.Error, pasted(f.Repro)))
	}
	return errors.Join(errs...)
}

// summary says in a line what a job did.
func summary(r run.Report) string {
	text := fmt.Sprintf("%s: %d done", r.Stage, r.Done)
	if r.Skipped > 0 {
		text += fmt.Sprintf(", %d kept from before", r.Skipped)
	}
	if r.Failed > 0 {
		text += fmt.Sprintf(", %d failed", r.Failed)
	}
	text += ", in " + r.Elapsed.Round(10*time.Millisecond).String()
	if r.Units > 0 && r.Elapsed > 0 {
		text += fmt.Sprintf(", %.0f %s/s", float64(r.Units)/r.Elapsed.Seconds(), r.Unit)
	}
	for _, moved := range r.Corrupt {
		text += "\n  " + moved
	}
	return text
}

func say(c *cli.Context, format string, values ...any) {
	fmt.Fprintf(c.App.ErrWriter, format+"\n", values...)
}
