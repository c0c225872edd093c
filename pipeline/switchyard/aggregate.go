package main

import (
	"github.com/urfave/cli/v2"

	"switchyard/stages/aggregate"
)

func aggregateCommand() *cli.Command {
	return &cli.Command{
		Name:      "aggregate",
		Usage:     "compare the routers of an experiment that has run: tables summary and comparisons",
		ArgsUsage: "DIR",
		UsageText: `switchyard aggregate DIR [FLAGS]

  switchyard aggregate out/quickstart
  switchyard aggregate out/quickstart --baseline cache-aware

Nothing is simulated again. Another warm-up needs "requests: all" among the
experiment's tables.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "baseline", Usage: "`ROUTER` that the others are compared with (default: the experiment's)"},
			&cli.Float64Flag{Name: "warm-up", Usage: "`SHARE` of the arrivals to cut, at least 0 and less than 1 (default: as simulated)"},
			allowMissingFlag(),
		},
		Action: func(c *cli.Context) error {
			if err := exactly(c, 1, 1); err != nil {
				return err
			}
			return nil
		},
	}
}

var _ = aggregate.Run
