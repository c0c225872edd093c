package aggregate

import (
	"strings"
	"testing"

	"switchyard/stages/serve"
)

// deployedRows makes pools of three assignments; in the last one nothing meets
// the objective.
func deployedRows(pools int) (rows []serve.Row) {
	for r := 1; r <= pools; r++ {
		for k, name := range []string{"m=A", "m=B", "m=C"} {
			row := serve.Row{Assignment: name, Split: name[2:] + "=4", Fits: true, Questions: 100, Used: 4,
				AccuracyTrain: .9 - .1*float64(k), AccuracyTest: .8 - .1*float64(k) + .001*float64(r%3),
				Mean: number(1e6 * float64(3-k)), P99: number(4e6 * float64(3-k)), Within: number(.5 + .25*float64(k)),
				Single: true, BestAccuracy: k == 0, BestSingle: k == 0, BestSLO: k == 1 && r < pools}
			row.System, row.World, row.Serving, row.SystemPoint, row.WorldPoint, row.ServingPoint = "s", "w", "g", "s", "w", "g load=1"
			row.Replication, row.Pool = int32(r), 1
			rows = append(rows, row)
		}
	}
	return rows
}

// TestDeployed: what is best with and without the objective is compared over the
// pools that have both, and a pool without the former is no gap.
func TestDeployed(t *testing.T) {
	result, err := (&rows{deployed: deployedRows(6)}).analyse(Options{})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, s := range result.Summary {
		if s.Metric == "latency_p99_us" && s.Router == "most accurate in slo" && s.N == 5 && *s.Mean == 8e6 {
			found++
		}
		if s.Metric == "slo_share" && s.Router == "best single model" && s.N == 6 && *s.Mean == .5 {
			found++
		}
	}
	for _, c := range result.Comparisons {
		if c.Metric == testAccuracy && c.Router == "most accurate in slo" && c.Baseline == "most accurate" && c.N == 5 && *c.Difference < -.0999 && *c.Difference > -.1001 {
			found++
		}
	}
	var text strings.Builder
	if err := result.Print(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"s in w on g load=1", "most accurate in slo: m=B on B=4", "50.0 ± 0.0"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("print has no %q in\n%s", want, &text)
		}
	}
	if found != 3 || len(result.Warnings) > 0 {
		t.Errorf("%d of 3 rows found, warnings %q", found, result.Warnings)
	}
}
