package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"switchyard/stages/aggregate"
	"switchyard/stages/expect"
	"switchyard/stages/experiment"
	"switchyard/stages/run"
)

func runCommand() *cli.Command {
	flags := append(append(executionFlags(), experimentFlags()...), allowMissingFlag(), strictFlag())
	return &cli.Command{
		Name:      "run",
		Usage:     "run an experiment: all its stages, then print the comparison",
		ArgsUsage: "FILE|NAME",
		UsageText: `switchyard run FILE|NAME [FLAGS]

  switchyard run quickstart
  switchyard run quickstart --dry-run
  switchyard run my.yaml --seeds 1..30 --workers 2 --out out/night
  switchyard run my.yaml --set routers.sticky.threshold=0.4

The same command resumes a run that was interrupted or killed. Expectations of
the file are checked at the end (switchyard list expectations).`,
		Flags: flags,
		Action: func(c *cli.Context) error {
			s, err := openStudy(c)
			if err != nil {
				return err
			}
			jobs := s.jobs(c)
			if c.Bool("dry-run") {
				return s.dryRun(c, jobs)
			}
			if err := s.refuseStrict(c); err != nil {
				return err
			}
			var result *aggregate.Result
			var verdicts []expect.Row
			failed := s.execute(c, jobs, func() (err error) {
				if result, err = s.aggregate(c, aggregate.Options{AllowMissing: c.Bool("allow-missing")}); err != nil {
					return err
				}
				verdicts, err = s.check(c)
				return err
			})
			if result == nil {
				return failed
			}
			if err := s.print(c, result, verdicts); err != nil {
				return err
			}
			say(c, "\nThe tables lie in %s; ask them:\n  %s", s.dir, s.question())
			return errors.Join(failed, strictly(c, expect.Count(verdicts)))
		},
	}
}

// questions are a query that an experiment can answer, by its job.
var questions = map[string]string{
	experiment.Simulate: "select workload_point, router_point, mean / 1e6 as seconds from summary where metric = 'e2e_mean_us' order by config",
	experiment.Balls:    "select workload_point, maximum, count(*) as runs from balls group by all order by all",
	experiment.Dispatch: "select workload_point, router_point, mean, lo, hi, theory from summary where metric = 'response_mean' order by config",
	experiment.Serve:    "select serving_point, assignment, split, avg(accuracy_test) as accuracy, avg(dollars_question) as dollars, avg(latency_p99_us) / 1e6 as p99_s from served where front group by all order by accuracy desc",
	experiment.Choose:   "select workload_point, router_point, metric, mean, lo, hi from summary where metric in ('accuracy_test', 'gain_points', 'evaluations') order by config",
}

// question is a query that the experiment can answer: of its first job, or of
// serving, which joins what others found.
func (s *study) question() string {
	job := s.experiment.Jobs()[0]
	if s.experiment.Has(experiment.Serve) {
		job = experiment.Serve
	}
	return fmt.Sprintf("%s %q", quoteAll([]string{os.Args[0], "query", s.dir}), questions[job])
}

// perform runs the jobs of a command, or of the last one the cell that --cell
// names, or says what would run.
func (s *study) perform(c *cli.Context, jobs []run.Job) error {
	if c.IsSet("cell") {
		jobs = jobs[len(jobs)-1:]
		if err := s.only(c, &jobs[0]); err != nil {
			return err
		}
	}
	if c.Bool("dry-run") {
		return s.dryRun(c, jobs)
	}
	if c.IsSet("cell") {
		return s.executeCell(c, jobs[0])
	}
	return s.execute(c, jobs, nil)
}

// dryRun prints what a run would do.
func (s *study) dryRun(c *cli.Context, jobs []run.Job) error {
	w := c.App.Writer
	configs := 0
	for _, job := range s.experiment.Jobs() {
		points := s.experiment.Points[job]
		configs += len(points)
		head := []string{"config"}
		for _, in := range points[0].Parts {
			head = append(head, in.Part)
		}
		rows := [][]string{head}
		for _, p := range points {
			row := []string{fmt.Sprint(p.Index)}
			for _, in := range p.Parts {
				row = append(row, p.LabelOf(in.Part))
			}
			rows = append(rows, row)
		}
		if err := aligned(w, "", rows); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%d configurations, %d cells with their replications, in %s\n",
		configs, len(s.plan.Runs)+len(s.queueing.Balls)+len(s.queueing.Dispatch)+len(s.choices.Runs)+len(s.serving.Runs), s.dir)
	for _, job := range jobs {
		estimate, err := run.Inspect(job, s.dir, c.Int("workers"))
		if err != nil {
			return err
		}
		fmt.Fprintln(w, estimate)
	}
	return nil
}
