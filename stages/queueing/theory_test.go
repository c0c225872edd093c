package queueing

import (
	"math"
	"testing"
)

// TestTheoryInRows: what is known beside the mean stands beside what was found.
func TestTheoryInRows(t *testing.T) {
	dir := t.TempDir()
	execute(t, mustPlan(t, "- jsq\n", "- sita-e\n", "[0.5, 0.8]", "[0.5]", "{law: lognormal, c2: 2}", "{law: uniform}", "requests: 500", "discipline: ps\n    requests: 500"), dir, 1)
	for _, row := range read(t, Dispatch, dir) {
		switch row.Policy {
		case "random":
			if *row.TheoryWait != 1 || *row.TheorySlow != 2 || *row.TheoryUsage != 0.5 || len(row.Cutoffs) > 0 {
				t.Errorf("M/G/1-PS at a load of 0.5: wait %v, slowdown %v, utilisation %v, cut-offs %v", *row.TheoryWait, *row.TheorySlow, *row.TheoryUsage, row.Cutoffs)
			}
		case "sita-e": // half of the work of sizes uniform in 0 to 2 is below sqrt 2
			if len(row.Cutoffs) != 1 || math.Abs(row.Cutoffs[0]-math.Sqrt2) > 1e-6 {
				t.Errorf("cut-offs are %v, want the root of 2", row.Cutoffs)
			}
		default:
			if row.TheoryWait != nil || row.TheoryUsage != nil {
				t.Errorf("%s has theory", row.Policy)
			}
		}
	}
	for _, row := range read(t, Balls, dir) {
		want, kind := math.Pow(1-1/float64(row.Bins), float64(row.Balls)), "exact"
		if row.Choices == 2 {
			want, kind = 1-math.Tanh(1), "mean-field"
		}
		if math.Abs(row.Expected-want) > 1e-4 || row.TheoryKind != kind || row.Theory == "" {
			t.Errorf("%s: %v of the bins stay empty in theory, %s, want %v, %s", row.WorkloadPoint, row.Expected, row.TheoryKind, want, kind)
		}
	}
}
