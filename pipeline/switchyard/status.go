package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"switchyard/stages/run"
)

func statusCommand() *cli.Command {
	return &cli.Command{
		Name:      "status",
		Usage:     "print what is done and what is left in a folder of results",
		ArgsUsage: "DIR",
		UsageText: `switchyard status DIR

  switchyard status out/quickstart`,
		Action: func(c *cli.Context) error {
			if err := exactly(c, 1, 1); err != nil {
				return err
			}
			dir := c.Args().First()
			s, why, err := reopenStudy(dir)
			if err != nil {
				return err
			}
			if why != nil {
				say(c, "what is left is unknown, since the grid cannot be made again: %v", why)
				return lastRun(c, dir)
			}
			for _, job := range s.jobs(c) {
				estimate, err := run.Inspect(job, dir, 0)
				if err != nil {
					return err
				}
				fmt.Fprintln(c.App.Writer, estimate)
			}
			return lastRun(c, dir)
		},
	}
}

const notFinished = "did not finish; it was killed, interrupted, or is running"

// unfinished says that the run in a folder has not come to its end, and how it
// does; "" where it has, or where nothing has run there.
func unfinished(dir string) string {
	m, err := run.ReadManifest(dir)
	if err != nil || !m.Finished.IsZero() {
		return ""
	}
	return fmt.Sprintf("the last run in %s %s; complete it by: %s", dir, notFinished, quoteAll(m.Command))
}

// lastRun prints what the manifest knows of the run that wrote it.
func lastRun(c *cli.Context, dir string) error {
	m, err := run.ReadManifest(dir)
	if err != nil {
		return err
	}
	state := "finished " + m.Finished.Format(time.DateTime)
	if m.Finished.IsZero() {
		state = notFinished
	}
	fmt.Fprintf(c.App.Writer, "last run: %s, started %s, %s\n", quoteAll(m.Command), m.Started.Format(time.DateTime), state)
	for _, f := range m.Failures {
		fmt.Fprintf(c.App.Writer, "failed: %s: %s\n  repeat it: %s\n", f.Name, f.Error, pasted(f.Repro))
	}
	return nil
}
