//go:build duckdb && cgo

package query

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"switchyard/stages/table"
)

type row struct {
	Name    string            `parquet:"name,dict" doc:"it's a name"`
	Cell    int32             `parquet:"cell" doc:"a number"`
	Value   float64           `parquet:"val" unit:"us" doc:"a value"`
	Maybe   *int64            `parquet:"maybe" doc:"a value that may be missing"`
	Ids     []int64           `parquet:"ids" doc:"a list"`
	Factors map[string]string `parquet:"factors" doc:"swept values"`
}

// experiment writes a folder whose path has all that SQL and patterns mind.
func experiment(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "o'brien, [1] & co")
	cells := table.New[row]("cells", "It's one row a run.")
	rows := []row{
		{Name: "b", Cell: 1, Value: 0.1, Ids: []int64{1 << 60, -1}, Factors: map[string]string{"rate_rps": "4", "mode": "it's"}},
		{Name: "a", Cell: 2, Value: 2.5, Maybe: new(int64(0)), Factors: map[string]string{"rate_rps": "0.5"}},
	}
	if err := cells.Write(dir, rows, table.Provenance{Experiment: "test"}); err != nil {
		t.Fatal(err)
	}
	if err := table.WriteViews(dir, []table.Schema{cells.Schema()}, []table.Factor{{Name: "rate_rps", Numeric: true}, {Name: "mode"}}); err != nil {
		t.Fatal(err)
	}
	return dir
}

func ask(t *testing.T, dir, sql, format string) string {
	t.Helper()
	var b strings.Builder
	if err := Run(t.Context(), dir, sql, Options{Format: format}, &b); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return b.String()
}

func TestQuery(t *testing.T) {
	dir := experiment(t)
	for _, c := range []struct{ sql, format, want string }{
		{"SELECT name, val, maybe FROM cells ORDER BY cell", "csv", "name,val,maybe\nb,0.1,\na,2.5,0\n"},
		{"SELECT rate_rps + 1 AS r, mode FROM cells ORDER BY cell", "tsv", "r\tmode\n5\tit's\n1.5\t\n"},
		{"SELECT name, sum(cell) AS s FROM cells GROUP BY ALL ORDER BY name", "table", "name  s\n----  -\na     2\nb     1\n(2 rows)\n"},
		{"SELECT ids, factors FROM cells WHERE cell = 1", "json",
			"[\n{\"ids\": [1152921504606846976, -1], \"factors\": {\"mode\": \"it's\", \"rate_rps\": \"4\"}}\n]\n"},
		{"CREATE TABLE t AS SELECT 7 AS x; SELECT x FROM t", "csv", "x\n7\n"},
		{"SELECT comment FROM duckdb_columns() WHERE table_name = 'cells' AND column_name = 'val'", "csv", "comment\na value [us]\n"},
		{"SELECT comment FROM duckdb_views() WHERE view_name = 'cells'", "csv", "comment\nIt's one row a run.\n"},
	} {
		if got := ask(t, dir, c.sql, c.format); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.sql, got, c.want)
		}
	}
}

func TestTypes(t *testing.T) {
	dir := experiment(t)
	for expression, want := range map[string]string{
		"NULL": `null`, "true": `true`, "1::UTINYINT": `1`, "1.50::DECIMAL(5,2)": `1.50`, "-0.05::DECIMAL(5,2)": `-0.05`,
		"(1::HUGEINT << 100)": `1267650600228229401496703205376`, "0.1::FLOAT": `0.1`, "1e300": `1e+300`, "1e-9": `1e-09`,
		"'NaN'::DOUBLE": `null`, "'-inf'::DOUBLE": `null`, "DATE '2024-02-29'": `"2024-02-29"`,
		"TIMESTAMP '2024-02-29 12:34:56.789'": `"2024-02-29 12:34:56.789"`, "TIME '12:34:56'": `"12:34:56"`,
		"'6ba7b810-9dad-11d1-80b4-00c04fd430c8'::UUID": `"6ba7b810-9dad-11d1-80b4-00c04fd430c8"`,
		"'\\x01\\xFF'::BLOB":                           `"\\x01ff"`, "INTERVAL '2 days'": `"2 days"`,
		"[1, NULL, 3]": `[1, null, 3]`, "{'b': 1, 'a': [true]}": `{"a": [true], "b": 1}`, "MAP {2: 'x', 1: NULL}": `{"2": "x", "1": null}`,
		"'a<b>&\"'": `"a<b>&\""`, "'{\"k\": [1, 2]}'::JSON": `{"k": [1, 2]}`,
		"'x'::ENUM('x', 'y')": `"x"`, "union_value(n := 5)": `5`, "[[1], []]": `[[1], []]`, "array_value(1, 2)": `[1, 2]`,
	} {
		got := ask(t, dir, "SELECT "+expression+" AS x", "json")
		got = strings.TrimSuffix(strings.TrimPrefix(got, "[\n{\"x\": "), "}\n]\n")
		if got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s is %s, expected %s", expression, got, want)
		}
	}
}

func TestErrorsPassOn(t *testing.T) {
	dir := experiment(t)
	for sql, want := range map[string]string{
		"SELECT nme FROM cells":         `"nme" not found`,
		"SELEC 1":                       "syntax error",
		"SELECT * FROM requests":        "requests does not exist",
		"SELECT 1; SELECT error('odd')": "odd",
	} {
		err := Run(t.Context(), dir, sql, Options{Format: "csv"}, &strings.Builder{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, expected %q", sql, err, want)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "cells")); err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), dir, "SELECT 1", Options{Format: "csv"}, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "run the experiment again") {
		t.Errorf("error %v, expected advice about the lost table", err)
	}
}

// A query changes nothing in the folder.
func TestQueriesLeaveTheFolderAlone(t *testing.T) {
	dir := experiment(t)
	before, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	ask(t, dir, "DROP VIEW cells; CREATE TABLE cells (x INT); INSERT INTO cells VALUES (1); SELECT * FROM cells", "csv")
	after, err := os.ReadDir(dir)
	if err != nil || len(after) != len(before) {
		t.Fatalf("%d entries, before %d", len(after), len(before))
	}
	if got := ask(t, dir, "SELECT count(*) AS n FROM cells", "csv"); got != "n\n2\n" {
		t.Fatalf("afterwards the table has %s", got)
	}
}

func TestQueryStopsWithItsContext(t *testing.T) {
	dir := experiment(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	err := Run(ctx, dir, "SELECT sum(sqrt(a.range * b.range)) FROM range(1000000000) a, range(1000) b", Options{Format: "csv"}, &strings.Builder{})
	if err == nil || time.Since(start) > 30*time.Second {
		t.Fatalf("error %v after %v", err, time.Since(start))
	}
}
