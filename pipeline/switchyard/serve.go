package main

import (
	"github.com/urfave/cli/v2"

	"switchyard/stages/experiment"
)

func serveCommand() *cli.Command {
	flags := append(executionFlags(), experimentFlags()...)
	return &cli.Command{
		Name:      "serve",
		Usage:     "serve the assignments of compound systems on GPUs: tables served and splits",
		ArgsUsage: "FILE|NAME",
		UsageText: `switchyard serve FILE|NAME [FLAGS]

  switchyard serve three-levels --cell 1
  switchyard serve three-levels --seeds 1..30 --dry-run

The assignments come from the file's systems, worlds and optimisers; choose need
not have run before.`,
		Flags: append(flags, cellFlag("the grid")),
		Action: func(c *cli.Context) error {
			s, err := openStudy(c, experiment.Serve)
			if err != nil {
				return err
			}
			jobs := s.servingJobs(c)
			return s.perform(c, jobs)
		},
	}
}
