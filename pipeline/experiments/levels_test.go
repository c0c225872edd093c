package experiments

import (
	"path/filepath"
	"testing"

	"switchyard/stages/aggregate"
	"switchyard/stages/choose"
	"switchyard/stages/experiment"
	"switchyard/stages/run"
	"switchyard/stages/serve"
	"switchyard/stages/table"
)

// TestThreeLevels: the most accurate assignment misses the objective at every
// load, another one meets it, and GPUs buy accuracy within it.
func TestThreeLevels(t *testing.T) {
	data, ok := Read("three-levels")
	if !ok {
		t.Fatal("no experiment three-levels")
	}
	e, err := experiment.Load("", data, experiment.Options{Set: []string{"replications=1..2"}})
	if err != nil {
		t.Fatal(err)
	}
	choices, err := choose.NewPlan(e)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := serve.NewPlan(e, choices)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "three-levels")
	for _, job := range serve.Jobs(plan, serve.Options{}) {
		report, err := run.Execute(t.Context(), job, run.Options{Dir: dir, Provenance: table.Provenance{Experiment: e.Name}})
		if err != nil || report.Failed > 0 {
			t.Fatal(err, report.Failures)
		}
	}
	if _, err := aggregate.Run(dir, aggregate.Options{Serve: plan}); err != nil {
		t.Fatal(err)
	}
	rows, err := aggregate.SummaryTable.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	means := map[string]float64{}
	for _, r := range rows {
		if r.Mean != nil {
			means[r.ClusterPoint+" / "+r.RouterPoint+" / "+r.Metric] = *r.Mean
		}
	}
	const within = "most accurate in slo"
	mean := func(point, role, metric string) float64 {
		x, ok := means["h100 "+point+" / "+role+" / "+metric]
		if !ok {
			t.Fatalf("summary has no %s of %s at %s", metric, role, point)
		}
		return x
	}
	for _, point := range []string{"gpus=8 rate_rps=2", "gpus=8 rate_rps=4", "gpus=8 rate_rps=8", "gpus=16 rate_rps=8"} {
		most, best := mean(point, "most accurate", "accuracy_test"), mean(point, within, "accuracy_test")
		if share := mean(point, "most accurate", "slo_share"); share > .95 || mean(point, "most accurate", "meets_slo") != 0 {
			t.Errorf("%s: the most accurate assignment has %.3f of the questions within the objective", point, share)
		}
		// On questions that chose nothing the objective may just be missed, by a
		// burst of arrivals; but not as the most accurate assignment misses it.
		if most, best := mean(point, "most accurate", "slo_share"), mean(point, within, "slo_share"); 1-best > (1-most)/3 {
			t.Errorf("%s: %.3f of the questions within the objective where it counts, %.3f where it does not", point, best, most)
		}
		if best >= most {
			t.Errorf("%s: %.3f under the objective, %.3f without", point, best, most)
		}
		t.Logf("%s: %.3f without the objective, %.3f under it", point, most, best)
	}
	served, err := serve.Served.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range served {
		if r.BestSLO && *r.PlannedWithin < .99 {
			t.Errorf("%s is chosen under the objective with %.3f in planning", r.Assignment, *r.PlannedWithin)
		}
	}
	if few, many := mean("gpus=8 rate_rps=8", within, "accuracy_test"), mean("gpus=16 rate_rps=8", within, "accuracy_test"); many <= few {
		t.Errorf("twice the GPUs have %.3f under the objective, once %.3f", many, few)
	}
}
