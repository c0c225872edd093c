package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"switchyard/stages/query"
)

func queryCommand() *cli.Command {
	return &cli.Command{
		Name:      "query",
		Usage:     "ask the tables of an experiment in SQL, with DuckDB",
		ArgsUsage: "DIR SQL",
		UsageText: `switchyard query DIR SQL [--format table|csv|tsv|json]

  switchyard query out/quickstart "from comparisons limit 5"
  switchyard query out/quickstart "select router, count(*) from cells group by all" --format csv

Every table is a view of its name; schema prints their columns.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "table", Usage: "`FORMAT` of the rows: " + strings.Join(query.Formats(), ", ")},
		},
		Action: func(c *cli.Context) error {
			if err := exactly(c, 2, 2); err != nil {
				return err
			}
			return query.Run(c.Context, c.Args().Get(0), c.Args().Get(1), c.String("format"), c.App.Writer)
		},
	}
}
