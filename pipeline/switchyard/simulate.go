package main

import (
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"switchyard/stages/experiment"
	"switchyard/stages/queueing"
	"switchyard/stages/run"
	"switchyard/stages/simulate"
)

func simulateCommand() *cli.Command {
	flags := append(executionFlags(), experimentFlags()...)
	return &cli.Command{
		Name:      "simulate",
		Usage:     "run the cells of an experiment: tables cells, requests and replicas",
		ArgsUsage: "FILE|NAME",
		UsageText: `switchyard simulate FILE|NAME [FLAGS]

  switchyard simulate quickstart
  switchyard simulate my.yaml --cell 7

Workloads are read from table workload where generate left them, and made
anew where it did not.`,
		Flags: append(flags, cellFlag("the grid")),
		Action: func(c *cli.Context) error {
			s, err := openStudy(c, experiment.Simulate)
			if err != nil {
				return err
			}
			jobs := []run.Job{s.simulateJob(c, s.dir)}
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

// executeCell runs a job of one cell and prints its row of the job's first
// table.
func (s *study) executeCell(c *cli.Context, job run.Job) error {
	if err := s.execute(c, []run.Job{job}, nil); err != nil {
		return err
	}
	say(c, "the tables lie in %s", s.dir)
	switch job.Name {
	case experiment.Balls:
		return printRow(c.App.Writer, queueing.Balls, s.dir)
	case experiment.Dispatch:
		return printRow(c.App.Writer, queueing.Dispatch, s.dir)
	}
	return printRow(c.App.Writer, simulate.Cells, s.dir)
}

// only leaves one cell in the job. Its tables go elsewhere: in the
// experiment's folder they would replace those of the whole grid.
func (s *study) only(c *cli.Context, job *run.Job) error {
	cell := c.Int("cell")
	if cell < 0 || cell >= len(job.Tasks) {
		return fmt.Errorf("%s: --cell is %d, expected 0 to %d", c.Command.Name, cell, len(job.Tasks)-1)
	}
	job.Tasks = job.Tasks[cell : cell+1]
	s.dir = fmt.Sprintf("%s-cell-%d", filepath.Clean(s.dir), cell)
	return nil
}
