package main

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"switchyard/stages/experiment"
	"switchyard/stages/run"
)

func queueCommand() *cli.Command {
	flags := append(executionFlags(), experimentFlags()...)
	return &cli.Command{
		Name:      "queue",
		Usage:     "run the classic models of an experiment: tables balls and dispatch",
		ArgsUsage: "FILE|NAME",
		UsageText: `switchyard queue FILE|NAME [FLAGS]

  switchyard queue lecture-stale --seeds 1..2
  switchyard queue lecture-dispatch --cell 7`,
		Flags: append(flags,
			&cli.StringFlag{Name: "job", Usage: "run only `JOB`: balls or dispatch"},
			cellFlag("the job's grid"),
		),
		Action: func(c *cli.Context) error {
			s, err := openStudy(c, experiment.Balls, experiment.Dispatch)
			if err != nil {
				return err
			}
			jobs := s.queueingJobs(c)
			if name := c.String("job"); name != "" {
				jobs = slices.DeleteFunc(jobs, func(j run.Job) bool { return j.Name != name })
				if len(jobs) == 0 {
					return fmt.Errorf("queue: experiment %s has no cells of job %q, expected --job balls or dispatch, as its file has", s.experiment.Name, name)
				}
			}
			if c.IsSet("cell") && len(jobs) > 1 {
				return fmt.Errorf("queue: --cell needs --job here: experiment %s has cells of balls and of dispatch", s.experiment.Name)
			}
			return s.perform(c, jobs)
		},
	}
}
