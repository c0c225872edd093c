//go:build duckdb

package simulate

import (
	"database/sql"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
)

// TestDuckDB computes columns of `cells` by the formulas of their docs from
// table `requests`, in SQL.
func TestDuckDB(t *testing.T) {
	p := mustPlan(t, "requests: 60", "requests: 400", "warm_up: 0.1", "warm_up: 0.25")
	dir := t.TempDir()
	execute(t, p, Options{}, dir, 2)
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, name := range []string{"cells", "requests", "replicas"} {
		if _, err := db.Exec(fmt.Sprintf("create view %s as from read_parquet('%s')", name, filepath.Join(dir, name, "*.parquet"))); err != nil {
			t.Fatal(err)
		}
	}
	formulas := map[string]string{
		"requests_in_window":   "count(*) filter (in_window)",
		"requests_measured":    "count(*) filter (in_window and r.status = 'finished')",
		"window_start_us":      "min(arrival_us) filter (in_window)",
		"window_end_us":        "max(arrival_us) filter (in_window)",
		"arrived":              "count(*) filter (arrival_us > c.window_start_us)",
		"completed":            "count(*) filter (finished_us > c.window_start_us and finished_us <= c.window_end_us)",
		"arrival_rps":          "1e6 * count(*) filter (arrival_us > c.window_start_us) / (c.window_end_us - c.window_start_us)",
		"prefix_hit_rate":      "sum(cached_tokens) filter (in_window) / sum(r.prompt_tokens) filter (in_window)",
		"hit_ceiling":          "sum(r.ceiling_tokens) filter (in_window) / sum(r.prompt_tokens) filter (in_window)",
		"lost_to_routing":      "sum(r.ceiling_tokens - r.unlimited_tokens) filter (in_window) / sum(r.prompt_tokens) filter (in_window)",
		"lost_to_eviction":     "sum(r.unlimited_tokens - r.cached_tokens) filter (in_window) / sum(r.prompt_tokens) filter (in_window)",
		"slo_attainment":       "avg((ttft_us <= 1000 * c.slo_ttft_ms)::int) filter (in_window)",
		"tpot_mean_us":         "avg((e2e_us - ttft_us) / (output_tokens - 1)) filter (in_window and output_tokens > 1)",
		"tpot_p95_us":          "quantile_cont((e2e_us - ttft_us) / (output_tokens - 1), 0.95) filter (in_window and output_tokens > 1)",
		"tpot_preble_mean_us":  "avg((e2e_us - ttft_us) / output_tokens) filter (in_window)",
		"queue_mean_us":        "avg(started_us - r.arrival_us) filter (in_window)",
		"queue_p90_us":         "quantile_cont(started_us - r.arrival_us, 0.9) filter (in_window)",
		"system_mean_requests": "sum(greatest(least(finished_us, c.window_end_us) - greatest(r.arrival_us, c.window_start_us), 0)) / (c.window_end_us - c.window_start_us)",
	}
	for _, latency := range []string{"ttft", "e2e"} {
		formulas[latency+"_mean_us"] = fmt.Sprintf("avg(%s_us) filter (in_window)", latency)
		for _, q := range []string{"50", "90", "95", "99"} {
			formulas[latency+"_p"+q+"_us"] = fmt.Sprintf("quantile_cont(%s_us, 0.%s) filter (in_window)", latency, q)
		}
	}
	for column, formula := range formulas {
		formula = strings.ReplaceAll(formula, "(cached_tokens", "(r.cached_tokens")
		rows, err := db.Query(fmt.Sprintf(
			`select c.cell, any_value(c.%s)::double, (%s)::double from cells c join requests r using (cell) group by c.cell, c.window_start_us, c.window_end_us, c.slo_ttft_ms order by 1`, column, formula))
		if err != nil {
			t.Fatalf("%s: %v", column, err)
		}
		n := 0
		for ; rows.Next(); n++ {
			var cell int32
			var got, want float64
			if err := rows.Scan(&cell, &got, &want); err != nil {
				t.Fatalf("%s: %v", column, err)
			}
			if math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
				t.Errorf("cell %d: %s is %v, its formula gives %v", cell, column, got, want)
			}
		}
		if err := rows.Err(); err != nil || n != len(p.Runs) {
			t.Errorf("%s: %d rows, %v", column, n, err)
		}
	}
}
