package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"switchyard/stages/query"
)

func queryCommand() *cli.Command {
	return &cli.Command{
		Name:      "query",
		Usage:     "ask the tables of an experiment in SQL, with DuckDB",
		ArgsUsage: "DIR SQL",
		UsageText: `switchyard query DIR SQL [--format table|csv|tsv|json] [--all]

  switchyard query out/quickstart "from comparisons limit 5"
  switchyard query out/quickstart "select router, count(*) from cells group by all" --format csv
  echo "show tables" | switchyard query out/quickstart -

Every table is a view of its name; schema prints their columns. The SQL "-" is
read from standard input. Of several statements the last one's rows are printed.
JSON has no NaN and no infinity: they are null in it.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "table", Usage: "`FORMAT` of the rows: " + strings.Join(query.Formats(), ", ")},
			&cli.BoolFlag{Name: "all", DisableDefaultText: true, Usage: "print all rows also as a table, which else stops after 10000"},
		},
		Action: func(c *cli.Context) error {
			if err := exactly(c, 2, 2); err != nil {
				return err
			}
			sql := c.Args().Get(1)
			if sql == "-" {
				text, err := io.ReadAll(os.Stdin)
				if err != nil {
					return fmt.Errorf("query: read standard input: %w", err)
				}
				sql = string(text)
			}
			if hint := unfinished(c.Args().Get(0)); hint != "" {
				say(c, "warning: %s", hint)
			}
			return query.Run(c.Context, c.Args().Get(0), sql, query.Options{Format: c.String("format"), All: c.Bool("all")}, c.App.Writer)
		},
	}
}
