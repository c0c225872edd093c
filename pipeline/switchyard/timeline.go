package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"switchyard/stages/run"
	"switchyard/stages/simulate"
)

func timelineCommand() *cli.Command {
	return &cli.Command{
		Name:      "timeline",
		Usage:     "export the steps of one replica of a cell for Perfetto or Chrome's trace viewer",
		ArgsUsage: "DIR",
		UsageText: `switchyard timeline DIR --cell N --replica R --out FILE [--from S] [--to S]

  switchyard timeline out/quickstart --cell 3 --replica 0 --out trace.json
  switchyard timeline out/quickstart --cell 3 --replica 1 --from 10 --to 20 --out -

The cell is run again, with the experiment that the folder's manifest has. Open
the file in ui.perfetto.dev or chrome://tracing. For a sample of all replicas of
all cells, set tables: {timeline: true} in the experiment; table timeline then
has a row a replica and second.`,
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "cell", Usage: "the cell at position `N` of the grid"},
			&cli.IntFlag{Name: "replica", Usage: "its replica `R`, from 0"},
			&cli.Float64Flag{Name: "from", Usage: "leave out what ends before `S` seconds"},
			&cli.Float64Flag{Name: "to", DefaultText: "the end", Usage: "leave out what starts after `S` seconds"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write to `FILE`; - for standard output"},
		},
		Action: timelineAction,
	}
}

func timelineAction(c *cli.Context) error {
	if err := exactly(c, 1, 1); err != nil {
		return err
	}
	out := c.String("out")
	if out == "" {
		return errors.New("timeline: --out names the file to write, such as trace.json; - for standard output")
	}
	s, why, err := reopenStudy(c.Args().First())
	if err != nil {
		return err
	}
	if why != nil {
		return &coded{run.ExitInput, fmt.Errorf("timeline: the cell cannot be run again: %w", why)}
	}
	cell := c.Int("cell")
	if cell < 0 || cell >= len(s.plan.Runs) {
		return fmt.Errorf("timeline: --cell is %d, expected 0 to %d", cell, len(s.plan.Runs)-1)
	}
	var trace bytes.Buffer
	r := &s.plan.Runs[cell]
	if err := s.plan.Trace(r, c.Int("replica"), simulate.Span{From: c.Float64("from"), To: c.Float64("to")}, s.dir, &trace); err != nil {
		return fmt.Errorf("timeline: %w", err)
	}
	if out == "-" {
		_, err := trace.WriteTo(c.App.Writer)
		return err
	}
	if err := os.WriteFile(out, trace.Bytes(), 0o666); err != nil {
		return fmt.Errorf("timeline: %w", err)
	}
	say(c, "wrote replica %d of %s to %s; open it in ui.perfetto.dev", c.Int("replica"), r.Name(), out)
	return nil
}
