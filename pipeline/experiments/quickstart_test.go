package experiments

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"switchyard/stages/aggregate"
	"switchyard/stages/experiment"
	"switchyard/stages/run"
	"switchyard/stages/simulate"
)

// TestQuickstartHasSettled: the first thing that people see carries no doubts
// about itself, such as that it measures the start with cold caches. What its
// first lines promise is so.
func TestQuickstartHasSettled(t *testing.T) {
	data, _ := Read("quickstart")
	e, err := experiment.Load("", data, experiment.Options{BuiltIn: "quickstart", Set: []string{"routers=[round-robin, random, cache-aware]"}})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := simulate.NewPlan(e)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "quickstart")
	if _, err := run.Execute(t.Context(), simulate.Job(plan, simulate.Options{}), run.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	result, err := aggregate.Run(dir, aggregate.Options{Plan: plan, Baseline: e.Baseline})
	if err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	if err := result.Print(&printed); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(printed.String(), "warning:") {
		t.Errorf("printed doubts:\n%s", &printed)
	}
	saturated := map[string]bool{}
	for _, row := range result.Summary {
		if row.Metric == "e2e_mean_us" {
			saturated[row.WorkloadPoint+" "+row.Router] = row.Saturated
		}
	}
	for cell, want := range map[string]bool{
		"tool rate_rps=4 random": false, "tool rate_rps=14 random": false, "tool rate_rps=24 cache-aware": true,
		"documents rate_rps=0.25 random": false, "documents rate_rps=0.35 random": true, "documents rate_rps=0.35 cache-aware": false,
	} {
		if got, ok := saturated[cell]; !ok || got != want {
			t.Errorf("%s: saturated %v, expected %v", cell, got, want)
		}
	}
	for _, row := range result.Comparisons {
		if row.Metric == "e2e_mean_us" && row.Router == "cache-aware" && row.WorkloadPoint == "documents rate_rps=0.25" && !(row.RatioHi != nil && *row.RatioHi < 0.7) {
			t.Errorf("documents: cache-aware / round-robin is %v at most, expected below 0.7", row.RatioHi)
		}
	}
}
