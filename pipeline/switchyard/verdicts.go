package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"switchyard/stages/aggregate"
	"switchyard/stages/choose"
	"switchyard/stages/expect"
	"switchyard/stages/experiment"
	"switchyard/stages/generate"
	"switchyard/stages/query"
	"switchyard/stages/queueing"
	"switchyard/stages/run"
	"switchyard/stages/simulate"
	"switchyard/stages/table"
)

// written are the schemas of the tables that the experiment leaves, over which
// its expectations ask.
func (s *study) written() (all []table.Schema) {
	kept := s.experiment.Tables
	left := map[string]bool{
		simulate.Requests.Name: kept.Requests == "none", simulate.Replicas.Name: !kept.Replicas,
		simulate.Timeline.Name: !kept.Timeline, simulate.Decisions.Name: kept.Decisions == 0,
		choose.Rounds.Name: !kept.Rounds, choose.Assignments.Name: kept.Assignments == "none",
		queueing.Balls.Name: !s.experiment.Has(experiment.Balls), queueing.Dispatch.Name: !s.experiment.Has(experiment.Dispatch),
	}
	definitions := aggregate.Tables()
	if s.experiment.Has(experiment.Simulate) {
		if kept.Workload {
			definitions = append(definitions, generate.Tables()...)
		}
		definitions = append(definitions, simulate.Tables()...)
	}
	definitions = append(definitions, queueing.Tables()...)
	if s.experiment.Has(experiment.Choose) {
		definitions = append(definitions, choose.Tables()...)
	}
	definitions = slices.DeleteFunc(definitions, func(d table.Definition) bool { return left[d.Schema().Name] })
	for _, d := range definitions {
		all = append(all, d.Schema())
	}
	return all
}

// check holds the tables against the experiment's expectations. A program
// without DuckDB says that it cannot.
func (s *study) check(c *cli.Context) ([]expect.Row, error) {
	if err := s.describe(); err != nil { // the views of what was aggregated
		return nil, err
	}
	if s.expectations == nil { // what the experiment was made from is gone
		return nil, nil
	}
	rows, err := s.expectations.Run(c.Context, s.dir)
	switch {
	case errors.Is(err, query.ErrNoDuckDB):
		say(c, "warning: the %d expectations of %s are not checked: %v", len(s.expectations.Expectations), s.experiment.Name, err)
		return nil, nil
	case errors.As(err, new(*experiment.Error)):
		return nil, &coded{run.ExitInput, err}
	}
	return rows, err
}

// print writes the comparison and, where the file has expectations, the
// verdicts.
func (s *study) print(c *cli.Context, result *aggregate.Result, verdicts []expect.Row) error {
	if err := result.Print(c.App.Writer); err != nil || len(verdicts) == 0 {
		return err
	}
	fmt.Fprintln(c.App.Writer)
	return expect.Print(c.App.Writer, verdicts)
}

// refuseStrict refuses --strict where it could not hold what it says.
func (s *study) refuseStrict(c *cli.Context) error {
	if !c.Bool("strict") {
		return nil
	}
	if len(s.expectations.Expectations) == 0 {
		return &coded{run.ExitInput, fmt.Errorf("%s: --strict needs expectations, and experiment %s has none", c.Command.Name, s.experiment.Name)}
	}
	if !query.Available() {
		return fmt.Errorf("%s: --strict cannot check expectations: %w", c.Command.Name, query.ErrNoDuckDB)
	}
	return nil
}

// strictly is the error of verdicts that differ, where --strict asks for one.
func strictly(c *cli.Context, t expect.Tally) error {
	if !c.Bool("strict") || t.Differ == 0 {
		return nil
	}
	return fmt.Errorf("%s --strict: %s", c.Command.Name, t)
}
