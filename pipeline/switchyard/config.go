package main

import (
	"github.com/urfave/cli/v2"
)

func configCommand() *cli.Command {
	return &cli.Command{
		Name:      "config",
		Usage:     "print an experiment with every default resolved",
		ArgsUsage: "FILE|NAME",
		UsageText: `switchyard config FILE|NAME [FLAGS]

  switchyard config quickstart
  switchyard config quickstart --set workloads.tool.requests=500 > copy.yaml

What it prints is an experiment file of the same cells.`,
		Flags: experimentFlags(),
		Action: func(c *cli.Context) error {
			s, err := openStudy(c)
			if err != nil {
				return err
			}
			_, err = c.App.Writer.Write(s.experiment.Resolved())
			return err
		},
	}
}
