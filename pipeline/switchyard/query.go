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
		UsageText: `switchyard query DIR SQL [--format table|csv|tsv|json]

  switchyard query out/quickstart "from comparisons limit 5"
  switchyard query out/quickstart "select router, count(*) from cells group by all" --format csv
  echo "show tables" | switchyard query out/quickstart -

Every table is a view of its name; schema prints their columns. The SQL "-" is
read from standard input.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "table", Usage: "`FORMAT` of the rows: " + strings.Join(query.Formats(), ", ")},
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
			return query.Run(c.Context, c.Args().Get(0), sql, c.String("format"), c.App.Writer)
		},
	}
}
