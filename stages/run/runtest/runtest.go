// Package runtest has what the tests of stages share: it runs their jobs and
// compares the tables that two runs have left.
//
//	done, kept := runtest.Execute(t, jobs, dir, 2)
//	runtest.SameFiles(t, "one and two workers", stage.Tables(), one, two)
package runtest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"switchyard/stages/run"
	"switchyard/stages/table"
)

// Execute runs jobs one after the other into a folder, and returns how many
// tasks ran and how many were kept from before.
func Execute(t testing.TB, jobs []run.Job, dir string, workers int) (done, kept int) {
	t.Helper()
	for _, job := range jobs {
		report, err := run.Execute(t.Context(), job, run.Options{
			Dir: dir, Workers: workers, Provenance: table.Provenance{Experiment: "test"},
		})
		if err != nil || report.Failed > 0 {
			t.Fatalf("run failed: %v, %+v", err, report.Failures)
		}
		done, kept = done+report.Done, kept+report.Skipped
	}
	return done, kept
}

// SameFiles fails unless both folders have the same tables to the byte.
func SameFiles(t testing.TB, what string, tables []table.Definition, a, b string) {
	t.Helper()
	for _, d := range tables {
		path := filepath.Join(d.Schema().Name, "part-0000.parquet")
		x, err := os.ReadFile(filepath.Join(a, path))
		if err != nil {
			t.Fatal(err)
		}
		y, err := os.ReadFile(filepath.Join(b, path))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(x, y) {
			t.Errorf("%s: %s differs", what, path)
		}
	}
}
