package main

import (
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"switchyard/stages/choose"
	"switchyard/stages/experiment"
	"switchyard/stages/generate"
	"switchyard/stages/queueing"
	"switchyard/stages/run"
	"switchyard/stages/serve"
	"switchyard/stages/simulate"
	"switchyard/stages/table"
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

Workloads are read from table workload where generate left it, and made in
memory where it did not. Of a workload that the table lacks, such as that of a
trace that has changed since, the table is made anew first.`,
		Flags: append(flags, cellFlag("the grid")),
		Action: func(c *cli.Context) error {
			s, err := openStudy(c, experiment.Simulate)
			if err != nil {
				return err
			}
			jobs := []run.Job{s.simulateJob(c, s.dir)}
			stale, err := s.stale(c)
			if err != nil {
				return err
			}
			if stale != nil && !c.IsSet("cell") {
				jobs = append([]run.Job{*stale}, jobs...)
			}
			return s.perform(c, jobs)
		},
	}
}

// stale returns the job that makes table workload, where the folder has that
// table but not all of the experiment's workloads in it; nil otherwise. Cells
// would be of requests that the table does not show.
func (s *study) stale(c *cli.Context) (*run.Job, error) {
	found, err := table.InspectParts(s.dir, generate.Requests)
	if err != nil {
		return nil, err
	}
	keys := found.Keys[generate.Requests.Name]
	job := s.generateJob(c)
	lacks := 0
	for _, t := range job.Tasks {
		if _, ok := keys[t.Key]; !ok {
			lacks++
		}
	}
	if len(keys) == 0 || lacks == 0 {
		return nil, nil
	}
	say(c, "note: table workload in %s lacks %d of the %d workloads and replications as they are now; it is made anew", s.dir, lacks, len(job.Tasks))
	return &job, nil
}

// executeCell runs a job of one cell and prints its row of the job's first
// table.
func (s *study) executeCell(c *cli.Context, job run.Job) error {
	if err := s.execute(c, []run.Job{job}, nil); err != nil {
		return err
	}
	say(c, "the tables lie in %s", s.dir)
	switch job.Name {
	case "generate":
		return printRow(c.App.Writer, generate.Profiles, s.dir)
	case experiment.Balls:
		return printRow(c.App.Writer, queueing.Balls, s.dir)
	case experiment.Dispatch:
		return printRow(c.App.Writer, queueing.Dispatch, s.dir)
	case experiment.Choose:
		return printRow(c.App.Writer, choose.Selections, s.dir)
	case experiment.Serve:
		return printRow(c.App.Writer, serve.Served, s.dir)
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
