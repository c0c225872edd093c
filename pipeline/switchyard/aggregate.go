package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"switchyard/stages/aggregate"
	"switchyard/stages/run"
)

func aggregateCommand() *cli.Command {
	return &cli.Command{
		Name:      "aggregate",
		Usage:     "compare the routers, policies or optimisers of an experiment that has run: tables summary and comparisons",
		ArgsUsage: "DIR",
		UsageText: `switchyard aggregate DIR [FLAGS]

  switchyard aggregate out/quickstart
  switchyard aggregate out/quickstart --baseline cache-aware

Nothing is simulated again: tables summary and comparisons are replaced in
place, and the experiment's expectations are checked anew. Another warm-up needs "requests: all" among the experiment's tables.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "baseline", Usage: "`ROUTER` (or policy, or optimiser) that the others are compared with", DefaultText: "the experiment's"},
			&cli.Float64Flag{Name: "warm-up", DefaultText: "as simulated", Usage: "`SHARE` of the arrivals to cut, 0 to 0.9"},
			allowMissingFlag(),
		},
		Action: func(c *cli.Context) error {
			if err := exactly(c, 1, 1); err != nil {
				return err
			}
			s, why, err := reopenStudy(c.Args().First())
			if err != nil {
				return err
			}
			if why != nil {
				say(c, "only replications that some configuration has are missed where they lack, since the grid cannot be made again: %v", why)
			}
			options := aggregate.Options{Baseline: c.String("baseline"), AllowMissing: c.Bool("allow-missing")}
			if c.IsSet("warm-up") {
				share := c.Float64("warm-up")
				options.WarmUp = &share
			}
			return s.aggregateAgain(c, options)
		},
	}
}

// aggregateAgain replaces what was concluded from the cells and prints it.
func (s *study) aggregateAgain(c *cli.Context, options aggregate.Options) (err error) {
	lock, err := run.Acquire(s.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	result, err := s.aggregate(c, options)
	if err != nil {
		return err
	}
	verdicts, err := s.check(c)
	if err := errors.Join(err, s.describe()); err != nil {
		return err
	}
	return s.print(c, result, verdicts)
}

// aggregate makes statements of the cells in the study's folder. A refusal to
// do so over part of the replications has the exit code of cells that failed.
func (s *study) aggregate(c *cli.Context, options aggregate.Options) (*aggregate.Result, error) {
	say(c, "aggregate: summing up and comparing the cells in %s", s.dir)
	options.Plan, options.Queueing, options.Choose, options.Serve = s.plan, s.queueing, s.choices, s.serving
	if options.Baseline == "" {
		options.Baseline = s.experiment.Baseline
	}
	result, err := aggregate.Run(s.dir, options)
	if hint := unfinished(s.dir); hint != "" && c.Command.Name == "aggregate" {
		if err == nil {
			say(c, "warning: %s", hint)
		} else {
			err = fmt.Errorf("%w\n%s", err, hint)
		}
	}
	if errors.As(err, new(*aggregate.MissingError)) {
		return nil, &coded{run.ExitFailed, err}
	}
	return result, err
}
