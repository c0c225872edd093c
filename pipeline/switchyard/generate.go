package main

import (
	"github.com/urfave/cli/v2"

	"switchyard/stages/experiment"
	"switchyard/stages/run"
)

func generateCommand() *cli.Command {
	flags := append(executionFlags(), experimentFlags()...)
	return &cli.Command{
		Name:      "generate",
		Usage:     "make the workloads of an experiment: tables workload and profile",
		ArgsUsage: "FILE|NAME",
		UsageText: `switchyard generate FILE|NAME [FLAGS]

  switchyard generate quickstart
  switchyard generate my.yaml --seeds 1..3 --out out/look`,
		Flags: append(flags, cellFlag("workloads and replications")),
		Action: func(c *cli.Context) error {
			s, err := openStudy(c, experiment.Simulate)
			if err != nil {
				return err
			}
			jobs := []run.Job{s.generateJob(c)}
			if c.IsSet("cell") {
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
		},
	}
}
