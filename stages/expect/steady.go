package expect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"switchyard/stages/experiment"
	"switchyard/stages/query"
)

// jobOf says whose configurations a table of cells holds.
var jobOf = map[string]string{"cells": experiment.Simulate, "dispatch": experiment.Dispatch}

// openSteady returns a second session whose views have no rows of saturated
// configurations, nil where none is saturated: what an SQL answers there as
// well depends on none of them. Session has all rows.
func openSteady(ctx context.Context, dir string, session *query.Session) (*query.Session, error) {
	saturated, err := session.Ask(ctx, "SELECT DISTINCT job, config FROM summary WHERE saturated ORDER BY ALL", 1<<20)
	if err != nil || len(saturated.Rows) == 0 {
		return nil, err
	}
	configs := map[string][]string{}
	for _, row := range saturated.Rows {
		job := text(row[0])
		configs[job] = append(configs[job], text(row[1]))
	}
	views, err := session.Ask(ctx, `SELECT table_name, string_agg(column_name, ',') FROM duckdb_columns()
		WHERE table_name IN (SELECT view_name FROM duckdb_views() WHERE NOT internal) GROUP BY ALL ORDER BY ALL`, 1<<20)
	if err != nil {
		return nil, err
	}
	var statements strings.Builder
	statements.WriteString("SET threads = 1;\n")
	for _, view := range views.Rows {
		name := text(view[0])
		if where := steadyRows(name, strings.Split(text(view[1]), ","), configs); where != "" {
			fmt.Fprintf(&statements, "ALTER VIEW %[1]s RENAME TO %[1]s_with_saturated; CREATE VIEW %[1]s AS FROM %[1]s_with_saturated WHERE %[2]s;\n", name, where)
		}
	}
	steady, err := query.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := steady.Do(ctx, statements.String()); err != nil {
		return nil, errors.Join(err, steady.Close())
	}
	return steady, nil
}

// steadyRows is the condition for the rows of a table that are not of saturated
// configurations; "" where the table has none that are.
func steadyRows(name string, columns []string, configs map[string][]string) string {
	has := func(column string) bool { return slices.Contains(columns, column) }
	among := func(column, job string) string { return column + " IN (" + strings.Join(configs[job], ", ") + ")" }
	switch {
	case has("job") && has("config"):
		var parts []string
		for _, job := range []string{experiment.Simulate, experiment.Dispatch} {
			if configs[job] == nil {
				continue
			}
			bad := among("config", job)
			if has("baseline_config") {
				bad = "(" + bad + " OR " + among("baseline_config", job) + ")"
			}
			parts = append(parts, fmt.Sprintf("NOT (job = '%s' AND %s)", job, bad))
		}
		return strings.Join(parts, " AND ")
	case jobOf[name] != "" && configs[jobOf[name]] != nil:
		return "NOT " + among("config", jobOf[name])
	case has("cell") && configs[experiment.Simulate] != nil:
		return "cell NOT IN (SELECT cell FROM read_parquet('cells/part-*.parquet') WHERE " + among("config", experiment.Simulate) + ")"
	}
	return ""
}
