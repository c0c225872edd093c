package main

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

func listCommand() *cli.Command {
	return &cli.Command{
		Name:      "list",
		Usage:     "list what an experiment file may name, and its parameters",
		ArgsUsage: "[KIND [NAME]]",
		UsageText: `switchyard list [KIND [NAME]]

  switchyard list
  switchyard list routers
  switchyard list routers cache-aware
  switchyard list experiment`,
		Action: func(c *cli.Context) error {
			if err := exactly(c, 0, 2); err != nil {
				return err
			}
			if c.NArg() == 0 {
				return writeNamed(c, catalogueKinds())
			}
			k, err := findKind(c.Args().First())
			if err != nil {
				return err
			}
			switch {
			case c.NArg() == 1 && k.single():
				return k.all()[0].describe(c.App.Writer)
			case c.NArg() == 1:
				return writeNamed(c, catalogue(k.name))
			}
			i, err := k.find(c.Args().Get(1))
			if err != nil {
				return err
			}
			return i.describe(c.App.Writer)
		},
	}
}

func writeNamed(c *cli.Context, all []named) error {
	rows := make([][]string, len(all))
	for i, n := range all {
		rows[i] = []string{n.name, n.summary}
	}
	if err := aligned(c.App.Writer, "", rows); err != nil {
		return fmt.Errorf("list: %w", err)
	}
	return nil
}
