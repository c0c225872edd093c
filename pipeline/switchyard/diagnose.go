package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"switchyard/stages/endpoint"
	"switchyard/stages/experiment"
	"switchyard/stages/run"
)

func diagnoseCommand() *cli.Command {
	return &cli.Command{
		Name:      "diagnose",
		Usage:     "measure how often a live world's diagnoser is right, on labelled failures",
		ArgsUsage: "FILE|NAME FAILURES",
		UsageText: `switchyard diagnose FILE|NAME FAILURES [FLAGS]

The experiment has a world of kind live with a section diagnoser; the first is
measured. FAILURES is a .json file of Who&When, a folder of these, or a .csv with
a row a step: run, question, answer, module, output, mistaken (0 or 1). What
comes out is the accuracy p that an oracle with noise has, with its interval.`,
		Flags: experimentFlags(),
		Action: func(c *cli.Context) error {
			if err := exactly(c, 2, 2); err != nil {
				return err
			}
			s, err := readStudy(c)
			if err != nil {
				return err
			}
			live := s.choices.Live()
			if live == nil {
				return &coded{run.ExitInput, fmt.Errorf("diagnose: %s has no world of kind live with a diagnoser; see %s list live diagnoser", s.argument, invoked())}
			}
			failures, err := endpoint.ReadFailures(c.Args().Get(1))
			if err != nil {
				return &coded{run.ExitInput, fmt.Errorf("diagnose: %w", err)}
			}
			a, err := live.Measure(c.Context, s.experiment.Seed, failures)
			if err != nil {
				return err
			}
			return printAccuracy(c, a)
		},
	}
}

// readStudy is openStudy for a command that has more arguments behind the
// experiment, and no folder.
func readStudy(c *cli.Context) (*study, error) {
	s := &study{argument: c.Args().First()}
	file, data, err := readExperiment(s.argument)
	if err != nil {
		return nil, &coded{run.ExitInput, err}
	}
	s.experiment, err = experiment.Load(file, data, experiment.Options{BuiltIn: s.argument, Set: c.StringSlice("set"), Replications: c.String("replications")})
	if s.experiment != nil {
		err = experiment.Join(err, s.makePlans())
	}
	if err != nil {
		return nil, &coded{run.ExitInput, err}
	}
	return s, nil
}

func printAccuracy(c *cli.Context, a endpoint.Accuracy) error {
	share := func(x float64) string { return fmt.Sprintf("%.3f", x) }
	between := func(lo, hi float64) string { return fmt.Sprintf("%.3f to %.3f", lo, hi) }
	return aligned(c.App.Writer, "", [][]string{
		{"failures", fmt.Sprint(a.Failures), "", ""},
		{"verdicts", fmt.Sprint(a.Verdicts), "", "one an agent and failure"},
		{"unread", fmt.Sprint(a.Unread), "", "of them without a verdict, which count as half right"},
		{"p", share(a.P), between(a.Lo, a.Hi), "share of verdicts that are right, mean over failures"},
		{"blamed", share(a.Blamed), "", "of the agents to blame"},
		{"spared", share(a.Spared), "", "of the others"},
		{"named", share(a.Named), between(a.NamedLo, a.NamedHi), "failures in which the one to blame, and no other, is blamed"},
		{"dollars", fmt.Sprintf("%.4f", a.Dollars), "", ""},
	})
}
