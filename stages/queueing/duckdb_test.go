//go:build duckdb

package queueing

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
)

// TestDuckDB asks both tables what a person would.
func TestDuckDB(t *testing.T) {
	dir := t.TempDir()
	execute(t, mustPlan(t), dir, 2)
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, name := range []string{"balls", "dispatch"} {
		if _, err := db.Exec(fmt.Sprintf("create view %s as from read_parquet('%s')", name, filepath.Join(dir, name, "*.parquet"))); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string]string{
		"select count(*) from balls": "12",
		// The distribution of the maximum, and the histogram as rows.
		"select sum(n) from (select maximum, count(*) as n from balls where choices = 2 group by all)":                                            "6",
		"select bool_and(len(loads) = maximum + 1 and list_sum(loads) = bins and loads[1] / bins = empty_share) from balls":                       "true",
		"select max(k) = any_value(maximum) from (select maximum, generate_subscripts(loads, 1) - 1 as k from balls where cell = 0)":              "true",
		"select count(*) from balls where growth_law > 0":                                                                                         "12",
		"select count(*) from dispatch where theory_kind = 'exact' and theory = 'M/G/1' and response_mean > 1":                                    "6",
		"select bool_and(list_sum(class_requests) = requests_measured and isinf(class_upto[4]) and len(server_requests) = servers) from dispatch": "true",
		"select bool_and(response_p50 <= response_p90 and response_p99 <= response_p999 and response_p999 <= response_max) from dispatch":         "true",
		"select string_agg(distinct factors['load'], ' ' order by factors['load']) from dispatch":                                                 "0.5 0.8",
		"select any_value(sizes) || ', ' || any_value(parameters) from dispatch where router = 'first'":                                           "lognormal c2=2, ties=first",
	} {
		var got string
		if err := db.QueryRow("select (" + query + ")::varchar").Scan(&got); err != nil {
			t.Errorf("%s: %v", query, err)
		} else if got != want {
			t.Errorf("%s = %s, want %s", query, got, want)
		}
	}
}
