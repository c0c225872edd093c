package main

import (
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"switchyard/stages/capacity"
	"switchyard/stages/experiment"
	"switchyard/stages/run"
)

func capacityCommand() *cli.Command {
	flags := append(executionFlags(), experimentFlags()...)
	return &cli.Command{
		Name:      "capacity",
		Usage:     "find the largest load that each router carries, by bisection: tables capacity and probes",
		ArgsUsage: "FILE|NAME",
		UsageText: `switchyard capacity FILE|NAME [FLAGS]

  switchyard capacity quickstart --seeds 1..3
  switchyard capacity quickstart --slo 0.99 --tolerance 0.05
  switchyard capacity my.yaml --out out/limits

Of each workload, cluster and router of the experiment the load is varied: the
rate of requests, or the speed of a trace. It starts at the first value of the
file, doubles or halves until one load is carried and another is not, and closes
in by bisection. A load is carried where it is not saturated over the file's
replications and, with --slo, that share of the requests meets the file's slo.
The same command resumes a search that was interrupted.`,
		Flags: append(flags,
			&cli.Float64Flag{Name: "slo", DefaultText: "none, stability alone", Usage: "`SHARE` of requests that must meet the experiment's slo, such as 0.99"},
			&cli.Float64Flag{Name: "tolerance", Value: 0.02, Usage: "relative width `W` of the bracket at which a search ends"},
		),
		Action: func(c *cli.Context) error {
			s, err := openStudy(c, experiment.Simulate)
			if err != nil {
				return err
			}
			if c.String("out") == "" {
				s.dir = filepath.Join("out", s.experiment.Name+"-capacity")
			}
			if t := c.Float64("tolerance"); !(t > 0) {
				return fmt.Errorf("capacity: --tolerance is %v, expected a number above 0, such as 0.02", t)
			}
			plan, err := capacity.NewPlan(s.plan, capacity.Options{Attainment: c.Float64("slo"), Tolerance: c.Float64("tolerance")})
			if err != nil {
				return &coded{run.ExitInput, fmt.Errorf("capacity: %w", err)}
			}
			job := capacity.Job(plan, s.dir)
			if c.Bool("dry-run") {
				estimate, err := run.Inspect(job, s.dir, c.Int("workers"))
				if err == nil {
					fmt.Fprintf(c.App.Writer, "%d searches in %s\n%s, and those that follow from them\n", len(plan.Searches), s.dir, estimate)
				}
				return err
			}
			failed := s.execute(c, []run.Job{job}, nil)
			if run.ExitCode(failed) != 0 && run.ExitCode(failed) != run.ExitFailed {
				return failed
			}
			if err := capacity.Print(c.App.Writer, s.dir); err != nil {
				return err
			}
			say(c, "\nThe tables lie in %s", s.dir)
			return failed
		},
	}
}
