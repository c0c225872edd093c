package main

import (
	"time"

	"github.com/urfave/cli/v2"
)

// experimentFlags change what an experiment file says.
func experimentFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "replications", Aliases: []string{"seeds"}, Usage: "replications `LIST` in place of the file's: 1..30, or 1,2,5"},
		&cli.StringSliceFlag{Name: "set", Usage: "set a value of the file, repeatable: `PATH=VALUE`, e.g. workloads.tool.requests=500"},
	}
}

// executionFlags say where and how tasks run.
func executionFlags() []cli.Flag {
	return []cli.Flag{
		outFlag(),
		&cli.IntFlag{Name: "workers", Aliases: []string{"j"}, Usage: "tasks at a time `N`; 0 means one a core; results do not depend on it"},
		&cli.DurationFlag{Name: "commit-every", Value: 30 * time.Second, Usage: "a kill costs at most the results of this `TIME`"},
		&cli.BoolFlag{Name: "keep-going", Usage: "run the other cells when one fails (the default)"},
		&cli.BoolFlag{Name: "fail-fast", Usage: "stop after the first cell that fails"},
		&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "print the cells, done and to do, with an estimate of the time"},
	}
}

func outFlag() cli.Flag {
	return &cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "folder of the tables `DIR` (default: out/NAME, by the experiment's name)"}
}

func allowMissingFlag() cli.Flag {
	return &cli.BoolFlag{Name: "allow-missing", Usage: "aggregate configurations that lack replications, with a warning"}
}
