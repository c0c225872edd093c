package main

import (
	"io"
	"testing"

	"github.com/urfave/cli/v2"

	"switchyard/stages/experiment"
)

// TestWorkloadsCanBeRepeated: a workload that fails has a command that makes it
// again by itself, with the changes that were made to the file.
func TestWorkloadsCanBeRepeated(t *testing.T) {
	app := newApp(io.Discard, io.Discard)
	app.Command("generate").Action = func(c *cli.Context) error {
		s, err := openStudy(c, experiment.Simulate)
		if err != nil {
			return err
		}
		want := "switchyard generate testdata/tiny.yaml --replications 1..2 --set seed=4 --cell 1"
		if got := s.generateJob(c).Tasks[1].Repro; got != want {
			t.Errorf("repeat by %q, expected %q", got, want)
		}
		return nil
	}
	words, err := arrange(app, []string{"generate", "testdata/tiny.yaml", "--seeds", "1..2", "--set", "seed=4", "--out", "x"})
	if err == nil {
		err = app.Run(append([]string{programName}, words...))
	}
	if err != nil {
		t.Fatal(err)
	}
}
