package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"switchyard/stages/run"
	"switchyard/stages/table"
)

func schemaCommand() *cli.Command {
	return &cli.Command{
		Name:      "schema",
		Usage:     "print the data dictionary: what every table and column means",
		ArgsUsage: "[TABLE]",
		UsageText: `switchyard schema [TABLE]

  switchyard schema
  switchyard schema cells`,
		Action: func(c *cli.Context) error {
			if err := exactly(c, 0, 1); err != nil {
				return err
			}
			wanted := schemas()
			if name := c.Args().First(); name != "" {
				s, err := findSchema(wanted, name)
				if err != nil {
					return err
				}
				wanted = []table.Schema{s}
			}
			return table.WriteDictionary(c.App.Writer, wanted, run.Columns(c.App.Writer))
		},
	}
}

func findSchema(all []table.Schema, name string) (table.Schema, error) {
	var known []string
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
		known = append(known, s.Name)
	}
	return table.Schema{}, fmt.Errorf("schema: no table %q, expected one of %s%s", name, strings.Join(known, ", "), didYouMean(name, known, ""))
}

// tableNames are the tables for completion.
func tableNames() (names []named) {
	for _, s := range schemas() {
		names = append(names, named{s.Name, s.Doc})
	}
	return names
}
