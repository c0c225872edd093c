package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"switchyard/stages/aggregate"
	"switchyard/stages/run"
)

func runCommand() *cli.Command {
	flags := append(executionFlags(), experimentFlags()...)
	return &cli.Command{
		Name:      "run",
		Usage:     "run an experiment: generate, simulate and aggregate, then print the comparison",
		ArgsUsage: "FILE|NAME",
		UsageText: `switchyard run FILE|NAME [FLAGS]

  switchyard run quickstart
  switchyard run quickstart --dry-run
  switchyard run my.yaml --seeds 1..30 --workers 2 --out out/night
  switchyard run my.yaml --set routers.sticky.threshold=0.4

The same command resumes a run that was interrupted or killed.`,
		Flags: append(flags, allowMissingFlag()),
		Action: func(c *cli.Context) error {
			s, err := openStudy(c)
			if err != nil {
				return err
			}
			jobs := s.jobs(c)
			if c.Bool("dry-run") {
				return s.dryRun(c, jobs)
			}
			var result *aggregate.Result
			failed := s.execute(c, jobs, func() (err error) {
				result, err = s.aggregate(aggregate.Options{AllowMissing: c.Bool("allow-missing")})
				return err
			})
			if result == nil {
				return failed
			}
			if err := result.Print(c.App.Writer); err != nil {
				return err
			}
			say(c, "\nThe tables lie in %s; ask them:\n  %s", s.dir, s.question())
			return failed
		},
	}
}

// question is a query that every experiment can answer.
func (s *study) question() string {
	return quoteAll([]string{programName, "query", s.dir}) +
		` "select router_point, rate_rps, mean / 1e6 as seconds from summary where metric = 'e2e_mean_us' order by config"`
}

// dryRun prints what a run would do.
func (s *study) dryRun(c *cli.Context, jobs []run.Job) error {
	w := c.App.Writer
	rows := [][]string{{"config", "workload", "cluster", "router"}}
	for _, config := range s.plan.Configs {
		rows = append(rows, []string{fmt.Sprint(config.Index), config.WorkloadPoint, config.ClusterPoint, config.RouterPoint})
	}
	if err := aligned(w, "", rows); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d configurations, %d cells with their replications, in %s\n",
		len(s.plan.Configs), len(s.plan.Runs), s.dir)
	for _, job := range jobs {
		estimate, err := run.Inspect(job, s.dir, c.Int("workers"))
		if err != nil {
			return err
		}
		fmt.Fprintln(w, estimate)
	}
	return nil
}
