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
		&cli.IntFlag{Name: "workers", Aliases: []string{"j"}, DefaultText: "one a core", Usage: "tasks at a time `N`; results do not depend on it"},
		&cli.DurationFlag{Name: "commit-every", Value: 30 * time.Second, DefaultText: "30s", Usage: "a kill costs at most the results of this `TIME`, such as 5s or 2m"},
		&cli.BoolFlag{Name: "keep-going", DisableDefaultText: true, Usage: "run the other cells when one fails, which is the default"},
		&cli.BoolFlag{Name: "fail-fast", DisableDefaultText: true, Usage: "stop after the first cell that fails"},
		&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, DisableDefaultText: true, Usage: "print the cells, done and to do, with an estimate of the time"},
	}
}

func outFlag() cli.Flag {
	return &cli.StringFlag{Name: "out", Aliases: []string{"o"}, DefaultText: "out/NAME, by the experiment's name", Usage: "folder of the tables `DIR`"}
}

func cellFlag(grid string) cli.Flag {
	return &cli.IntFlag{Name: "cell", DefaultText: "all", Usage: "run only the cell at position `N` of " + grid + ", into the folder DIR-cell-N, and print its row"}
}

func strictFlag() cli.Flag {
	return &cli.BoolFlag{Name: "strict", DisableDefaultText: true, Usage: "exit with 1 where an expectation's verdict is differs"}
}

func allowMissingFlag() cli.Flag {
	return &cli.BoolFlag{Name: "allow-missing", DisableDefaultText: true, Usage: "aggregate configurations that lack replications, with a warning"}
}
