package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// build says which program this is. The commit goes into manifests and never
// into tables, which are equal for equal results.
type build struct {
	Commit string // of the source, "" when not built from a checkout
	Dirty  bool   // the source was changed after the commit
	Go     string
	Target string // operating system, architecture and instruction set level
	DuckDB bool
}

func version() build {
	b := build{Go: runtime.Version(), Target: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Dirty = s.Value == "true"
		case "GOAMD64":
			b.Target += "/" + s.Value
		case "-tags":
			b.DuckDB = slices.Contains(strings.Split(s.Value, ","), "duckdb")
		}
	}
	return b
}

func (b build) String() string {
	commit := "unknown commit"
	if b.Commit != "" {
		commit = b.Commit[:min(12, len(b.Commit))]
		if b.Dirty {
			commit += " with changes"
		}
	}
	duck := "without DuckDB"
	if b.DuckDB {
		duck = "with DuckDB"
	}
	return fmt.Sprintf("%s (%s, %s, %s)", commit, b.Go, b.Target, duck)
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:      "version",
		Usage:     "print the commit, compiler and options of this build",
		UsageText: "switchyard version",
		Action: func(c *cli.Context) error {
			if err := exactly(c, 0, 0); err != nil {
				return err
			}
			_, err := fmt.Fprintln(c.App.Writer, programName, version())
			return err
		},
	}
}
