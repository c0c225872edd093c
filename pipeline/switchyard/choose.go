package main

import (
	"github.com/urfave/cli/v2"

	"switchyard/stages/experiment"
)

func chooseCommand() *cli.Command {
	flags := append(executionFlags(), experimentFlags()...)
	return &cli.Command{
		Name:      "choose",
		Usage:     "choose models for the modules of compound systems: tables selections, rounds and pareto",
		ArgsUsage: "FILE|NAME",
		UsageText: `switchyard choose FILE|NAME [FLAGS]

  switchyard choose lecture-case
  switchyard choose lecture-case --cell 1

Tables worlds, pools and assignments say what the optimisers choose from.`,
		Flags: append(flags, cellFlag("the grid")),
		Action: func(c *cli.Context) error {
			s, err := openStudy(c, experiment.Choose)
			if err != nil {
				return err
			}
			jobs := s.choiceJobs(c)
			return s.perform(c, jobs)
		},
	}
}
