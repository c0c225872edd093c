package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"switchyard/stages/query"
)

// TestNotebookQueriesRun runs the SQL of notebooks/queries.sql and of the
// notebook against a small quickstart, so that a column that was renamed is
// noticed also where there is no Python.
func TestNotebookQueriesRun(t *testing.T) {
	if !version().DuckDB {
		t.Skip("built without the tag duckdb, with which run.sh test builds where a C compiler is present")
	}
	dir := filepath.Join(t.TempDir(), "quickstart")
	var stderr bytes.Buffer
	if code := execute(append([]string{"run", "quickstart", "--out", dir}, strings.Fields(scaled)...), &bytes.Buffer{}, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	fromFile := queriesOf(t, "../../notebooks/queries.sql")
	if len(fromFile) != 10 {
		t.Errorf("notebooks/queries.sql has %d queries, expected ten", len(fromFile))
	}
	fromNotebook := notebookQueries(t, "../../notebooks/quickstart.ipynb")
	if len(fromNotebook) < 3 {
		t.Errorf("found %d queries in the notebook", len(fromNotebook))
	}
	for _, sql := range append(fromFile, fromNotebook...) {
		var out bytes.Buffer
		if err := query.Run(t.Context(), dir, sql, query.Options{Format: "csv"}, &out); err != nil {
			t.Errorf("%s\n%v", sql, err)
		} else if !strings.Contains(out.String(), "\n") {
			t.Errorf("%s\nprinted %q, expected a header at least", sql, &out)
		}
	}
}

// queriesOf splits a file of queries at its semicolons.
func queriesOf(t *testing.T, path string) (queries []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(data), ";\n") {
		if block = strings.TrimSpace(block); block != "" {
			queries = append(queries, block)
		}
	}
	return queries
}

var sqlCall = regexp.MustCompile(`(?s)sql\(("""|")(.*?)("""|")\)`)

// notebookQueries are the texts in a notebook's calls of sql.
func notebookQueries(t *testing.T, path string) (queries []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var notebook struct {
		Cells []struct {
			Type   string   `json:"cell_type"`
			Source []string `json:"source"`
		} `json:"cells"`
	}
	if err := json.Unmarshal(data, &notebook); err != nil {
		t.Fatal(err)
	}
	for _, cell := range notebook.Cells {
		if cell.Type != "code" {
			continue
		}
		for _, call := range sqlCall.FindAllStringSubmatch(strings.Join(cell.Source, ""), -1) {
			queries = append(queries, call[2])
		}
	}
	return queries
}
