package experiments

import (
	"path/filepath"
	"testing"

	"switchyard/stages/aggregate"
	"switchyard/stages/experiment"
	"switchyard/stages/queueing"
	"switchyard/stages/run"
	"switchyard/stages/table"
)

// models runs a built-in experiment of the classic models as the program does
// and returns what was concluded, and the folder.
func models(t *testing.T, name string, set ...string) (*aggregate.Result, string) {
	t.Helper()
	data, ok := Read(name)
	if !ok {
		t.Fatalf("no experiment %s", name)
	}
	e, err := experiment.Load("", data, experiment.Options{Set: set})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := queueing.NewPlan(e)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), name)
	for _, job := range queueing.Jobs(plan, queueing.Options{}) {
		report, err := run.Execute(t.Context(), job, run.Options{Dir: dir, Provenance: table.Provenance{Experiment: e.Name}})
		if err != nil || report.Failed > 0 {
			t.Fatal(err, report.Failures)
		}
		t.Logf("%s: %d cells in %v", name, report.Done, report.Elapsed)
	}
	result, err := aggregate.Run(dir, aggregate.Options{Queueing: plan, Baseline: e.Baseline})
	if err != nil {
		t.Fatal(err)
	}
	return result, dir
}
