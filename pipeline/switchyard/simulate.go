package main

import (
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"switchyard/stages/experiment"
	"switchyard/stages/run"
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
		Flags: append(flags, &cli.IntFlag{Name: "cell", Usage: "run only the cell at position `N` of the grid, into a folder of its own"}),
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
			return s.execute(c, jobs, nil)
		},
	}
}

// only leaves one cell in the job. Its tables go elsewhere: in the
// experiment's folder they would replace those of the whole grid.
func (s *study) only(c *cli.Context, job *run.Job) error {
	cell := c.Int("cell")
	if cell < 0 || cell >= len(job.Tasks) {
		return fmt.Errorf("simulate: --cell is %d, expected 0 to %d", cell, len(job.Tasks)-1)
	}
	job.Tasks = job.Tasks[cell : cell+1]
	if c.String("out") == "" {
		s.dir = filepath.Join(filepath.Dir(s.dir), fmt.Sprintf("%s-cell-%d", filepath.Base(s.dir), cell))
	}
	return nil
}
