package aggregate

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"switchyard/stages/simulate"
)

var small = study{workloads: []string{"tool"}, routers: []string{"random", "sticky", "aware"}, replications: 5}

func TestEveryMetricOfCellsIsSummarised(t *testing.T) {
	r := mustAnalyse(t, small.cells(1), Options{})
	if len(r.Summary) != 3*len(metrics) || len(r.Comparisons) != 2*len(metrics) {
		t.Errorf("%d summary and %d comparison rows, expected %d and %d", len(r.Summary), len(r.Comparisons), 3*len(metrics), 2*len(metrics))
	}
	if len(metrics) < 40 {
		t.Errorf("cells has %d metrics, expected at least 40", len(metrics))
	}
	quantiles := 0
	for _, m := range metrics {
		if m.better != "lower" && m.better != "higher" && m.better != "none" {
			t.Errorf("%s: better is %q, expected lower, higher or none", m.name, m.better)
		}
		if m.sample != noSample {
			quantiles++
		}
	}
	if quantiles != 16 {
		t.Errorf("%d quantiles found by name, expected 4 of 4 latencies", quantiles)
	}
	for _, name := range []string{meanE2E, p99E2E, hitRate, hitCeiling, served.drift, growthRps, arrivalRps} {
		metricIndex(name) // panics where cells lost it
	}
}

func TestMissingReplications(t *testing.T) {
	cells := small.cells(2)
	cells = slices.DeleteFunc(cells, func(c simulate.Cell) bool { return c.Config == 1 && c.Replication >= 4 })
	_, err := analyse(cells, nil, Options{})
	var missing *MissingError
	if !errors.As(err, &missing) {
		t.Fatalf("error %v, expected a MissingError", err)
	}
	for _, want := range []string{"1 of 3 configurations", "tool / a6000x4 / sticky: replications 4, 5 of 5", "--allow-missing", "run the experiment again"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q lacks %q", err, want)
		}
	}
	r := mustAnalyse(t, cells, Options{AllowMissing: true, Baseline: "random"})
	if row := findSummary(t, r, 1, meanE2E); row.N != 3 || !slices.Contains(row.Warnings, "without replications 4, 5") {
		t.Errorf("summary of what is there: n = %d, warnings %q", row.N, row.Warnings)
	}
	// Both directions: the pairs are the replications that both sides have.
	if row := findComparison(t, r, 1, meanE2E); row.N != 3 || !slices.Contains(row.Warnings, "3 pairs of 5 replications") {
		t.Errorf("against the complete baseline: n = %d, warnings %q", row.N, row.Warnings)
	}
	r = mustAnalyse(t, cells, Options{AllowMissing: true, Baseline: "sticky"})
	if row := findComparison(t, r, 0, meanE2E); row.N != 3 || !slices.Contains(row.Warnings, "baseline: without replications 4, 5") {
		t.Errorf("against the incomplete baseline: n = %d, warnings %q", row.N, row.Warnings)
	}
	if len(r.Warnings) != 1 {
		t.Errorf("warnings of the experiment %q, expected one", r.Warnings)
	}
}

func TestPlanFindsWhatHasNoCellAtAll(t *testing.T) {
	plan := planOf([]string{"random", "sticky", "aware", "preble"}, 6)
	_, err := analyse(small.cells(3), nil, Options{Plan: plan})
	if err == nil {
		t.Fatal("no error, expected one")
	}
	for _, want := range []string{"4 of 4", "tool / a6000x4 / preble: all replications", "tool / a6000x4 / random: replications 6 of 6"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q lacks %q", err, want)
		}
	}
}

// A workload that has one replication because nothing in it is random lacks
// none, beside others that have five.
func TestWorkloadsDifferInTheirReplications(t *testing.T) {
	s := small
	s.workloads = []string{"tool", "fixed"}
	cells := slices.DeleteFunc(s.cells(15), func(c simulate.Cell) bool { return c.WorkloadPoint == "fixed" && c.Replication > 1 })
	r := mustAnalyse(t, cells, Options{Baseline: "random"})
	if a, b := findSummary(t, r, 0, meanE2E), findSummary(t, r, 3, meanE2E); a.N != 5 || b.N != 1 {
		t.Errorf("n = %d and %d, expected 5 and 1", a.N, b.N)
	}
}

func TestDisjointReplicationsCompareNothing(t *testing.T) {
	cells := small.cells(4)
	cells = slices.DeleteFunc(cells, func(c simulate.Cell) bool { return (c.Config == 0) == (c.Replication > 2) })
	row := findComparison(t, mustAnalyse(t, cells, Options{AllowMissing: true}), 1, meanE2E)
	if row.N != 0 || row.Mean != nil || row.Difference != nil || row.P != nil || row.Ratio != nil || row.Family != 0 {
		t.Errorf("no pair gives %+v, expected NULLs", row)
	}
}

func TestTwiceTheSameCellIsRefused(t *testing.T) {
	cells := small.cells(5)
	cells[1].Replication = cells[0].Replication
	if _, err := analyse(cells, nil, Options{}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("error %v, expected one about a cell held twice", err)
	}
}

func TestBaselines(t *testing.T) {
	s := small
	s.routers = []string{"random", "sticky threshold=0.25", "sticky threshold=0.5"}
	cells := s.cells(6)
	for i := range cells {
		cells[i].Router, _, _ = strings.Cut(cells[i].RouterPoint, " ")
	}
	for _, c := range []struct{ baseline, want string }{
		{"", ""}, {"random", ""}, {"sticky threshold=0.5", ""},
		{"sticky", `"sticky threshold=0.25", "sticky threshold=0.5"; name one`},
		{"radom", `did you mean "random"?`},
		{"zzz", `expected one of "random", "sticky", "sticky threshold=0.25"`},
	} {
		r, err := analyse(cells, nil, Options{Baseline: c.baseline})
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("baseline %q: error %v, expected %q", c.baseline, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("baseline %q: %v", c.baseline, err)
		} else if len(r.Comparisons) != 2*len(metrics) {
			t.Errorf("baseline %q: %d comparisons", c.baseline, len(r.Comparisons))
		}
	}
	// The first router is the baseline with its first values.
	first := slices.Concat(s.routers[1:], s.routers[:1])
	s.routers = first
	swept := s.cells(6)
	for i := range swept {
		swept[i].Router, _, _ = strings.Cut(swept[i].RouterPoint, " ")
	}
	r, err := analyse(swept, nil, Options{})
	if err != nil || len(r.Comparisons) != 2*len(metrics) || r.points[0].baseline.RouterPoint != first[0] {
		t.Errorf("no baseline named: %v, %+v", err, r)
	}
	// Each swept value is a router of its own, in the family too.
	row := findComparison(t, mustAnalyse(t, cells, Options{Baseline: "random"}), 2, meanE2E)
	if row.Family != 2 || row.RouterPoint != "sticky threshold=0.5" || row.Router != "sticky" {
		t.Errorf("got family %d of %s, expected 2", row.Family, row.RouterPoint)
	}
}

func TestAPointWithoutBaselineIsSaid(t *testing.T) {
	s := small
	s.workloads = []string{"tool", "chat"}
	cells := slices.DeleteFunc(s.cells(7), func(c simulate.Cell) bool { return c.Config == 3 })
	r := mustAnalyse(t, cells, Options{Baseline: "random"})
	if len(r.Comparisons) != 2*len(metrics) || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "chat / a6000x4 has no run of baseline random") {
		t.Errorf("%d comparisons, warnings %q", len(r.Comparisons), r.Warnings)
	}
}

func TestSaturation(t *testing.T) {
	for _, c := range []struct {
		name      string
		completed int64
		slope     func(rep int32) float64 // of 10 arrivals a second
		reps      int
		want      bool
	}{
		{"keeps up", 1000, func(int32) float64 { return 0 }, 5, false},
		{"at the bound of completions", 980, func(int32) float64 { return 0 }, 5, false},
		{"under the bound of completions", 979, func(int32) float64 { return 0 }, 5, true},
		{"backlog grows by 2 % surely", 1000, func(r int32) float64 { return 0.2 + 0.01*float64(r%2) }, 5, true},
		{"backlog grows by 2 % perhaps", 1000, func(r int32) float64 { return 0.2 + 0.5*float64(r-3) }, 5, false},
		{"backlog grows by exactly 1 %", 1000, func(int32) float64 { return 0.1 }, 5, false},
		{"one replication grows", 1000, func(int32) float64 { return 5 }, 1, false},
		{"one replication falls short", 900, func(int32) float64 { return 5 }, 1, true},
	} {
		s := small
		s.replications = c.reps
		s.each = func(cell *simulate.Cell, _ *rand.Rand) {
			if cell.Config == 1 {
				cell.Completed = c.completed
				cell.BacklogSlope = number(c.slope(cell.Replication))
			}
		}
		r := mustAnalyse(t, s.cells(8), Options{Baseline: "random"})
		if got := findSummary(t, r, 1, meanE2E).Saturated; got != c.want {
			t.Errorf("%s: saturated %v, expected %v", c.name, got, c.want)
		}
		row := findComparison(t, r, 1, meanE2E)
		if (row.Ratio == nil) != c.want || (row.RatioMedian == nil) != c.want || row.Difference == nil {
			t.Errorf("%s: ratio %v, difference %v", c.name, row.Ratio, row.Difference)
		}
		if findComparison(t, r, 2, meanE2E).Ratio == nil {
			t.Errorf("%s: another router lost its ratio", c.name)
		}
		// A saturated baseline leaves no ratio to anyone.
		r = mustAnalyse(t, s.cells(8), Options{Baseline: "sticky"})
		if row := findComparison(t, r, 0, meanE2E); (row.Ratio == nil) != c.want || row.BaselineSaturated != c.want {
			t.Errorf("%s: ratio to it %v", c.name, row.Ratio)
		}
	}
}

func TestOneReplicationHasNoIntervals(t *testing.T) {
	s := small
	s.replications = 1
	r := mustAnalyse(t, s.cells(9), Options{})
	row := findSummary(t, r, 0, meanE2E)
	if row.N != 1 || row.Mean == nil || row.Lo != nil || row.Hi != nil || row.SD != nil || !slices.Contains(row.Warnings, oneReplication) {
		t.Errorf("summary %+v", row)
	}
	c := findComparison(t, r, 1, meanE2E)
	if c.Difference == nil || c.Ratio == nil || c.RatioMedian == nil || c.P != nil || c.PHolm != nil || c.RatioLo != nil || c.DifferenceLo != nil || c.Family != 0 {
		t.Errorf("comparison %+v", c)
	}
}

func TestZeroVariance(t *testing.T) {
	s := small
	s.each = func(c *simulate.Cell, _ *rand.Rand) { c.E2EMeanUs = number(100 * float64(1+c.Config)) }
	r := mustAnalyse(t, s.cells(10), Options{})
	row := findSummary(t, r, 0, meanE2E)
	same(t, "lo", row.Lo, 100)
	same(t, "hi", row.Hi, 100)
	if len(row.Warnings) != 1 || !strings.Contains(row.Warnings[0], "agree exactly") {
		t.Errorf("warnings %q", row.Warnings)
	}
	c := findComparison(t, r, 1, meanE2E)
	same(t, "p", c.P, 0)
	same(t, "ratio", c.Ratio, 2)
	same(t, "ratio lo", c.RatioLo, 2)
	same(t, "ratio hi", c.RatioHi, 2)
}

func TestMetricsWithoutAValue(t *testing.T) {
	s := small
	s.each = func(c *simulate.Cell, _ *rand.Rand) {
		c.TPOTMeanUs = nil // every answer is one token
		if c.Config == 1 && c.Replication == 2 {
			c.TPOTP50Us = number(math.NaN())
		}
	}
	r := mustAnalyse(t, s.cells(11), Options{Baseline: "random"})
	if row := findSummary(t, r, 0, "tpot_mean_us"); row.N != 0 || row.Mean != nil || row.Lo != nil {
		t.Errorf("summary of nothing: %+v", row)
	}
	if row := findComparison(t, r, 1, "tpot_mean_us"); row.N != 0 || row.Difference != nil || row.Ratio != nil {
		t.Errorf("comparison of nothing: %+v", row)
	}
	if row := findSummary(t, r, 1, "tpot_p50_us"); row.N != 4 || !slices.Contains(row.Warnings, "no value in 1 of 5 replications") {
		t.Errorf("summary without one: n = %d, warnings %q", row.N, row.Warnings)
	}
	if row := findComparison(t, r, 1, "tpot_p50_us"); row.N != 4 {
		t.Errorf("comparison without one: n = %d", row.N)
	}
}

func TestRatiosThatSayNothingAreNull(t *testing.T) {
	s := small
	s.each = func(c *simulate.Cell, r *rand.Rand) {
		c.Duplication = number(r.NormFloat64()) // signed
		c.LostInFlight = number(0)              // a baseline of zero
		if c.Config == 0 {
			c.LostToEviction = number(float64(c.Replication%5) / 10) // 0 .. 0.4: known too badly
		}
	}
	r := mustAnalyse(t, s.cells(12), Options{Baseline: "random"})
	if row := findComparison(t, r, 1, "duplication"); row.Ratio != nil || row.Difference == nil {
		t.Errorf("ratio of signed values is %v", row.Ratio)
	}
	if row := findComparison(t, r, 1, "lost_in_flight"); row.Ratio != nil || row.P == nil || *row.P != 1 {
		t.Errorf("ratio to zero is %v", row.Ratio)
	}
	row := findComparison(t, r, 1, "lost_to_eviction")
	if row.Ratio == nil || row.RatioLo == nil {
		t.Errorf("ratio %v from %v, expected bounds", row.Ratio, row.RatioLo)
	}
	// One infinite ratio of five does not move the median to infinity.
	if row.RatioMedian == nil || *row.RatioMedian < 250 {
		t.Errorf("median of ratios %v, expected one of the finite ones", row.RatioMedian)
	}
}

func TestP99OfFewRequestsCarriesAWarning(t *testing.T) {
	for _, c := range []struct {
		measured int64
		want     bool
	}{{1999, true}, {2000, false}} {
		s := small
		s.each = func(cell *simulate.Cell, _ *rand.Rand) { cell.Measured = c.measured }
		r := mustAnalyse(t, s.cells(13), Options{})
		has := func(metric string) bool {
			return slices.ContainsFunc(findSummary(t, r, 0, metric).Warnings, func(w string) bool { return strings.HasPrefix(w, "p99 from") })
		}
		if has(p99E2E) != c.want || has(meanE2E) || has("e2e_p95_us") {
			t.Errorf("%d requests a replication: warning %v, expected %v", c.measured, has(p99E2E), c.want)
		}
	}
}

func TestDriftWarns(t *testing.T) {
	s := small
	s.each = func(c *simulate.Cell, r *rand.Rand) {
		if c.Config == 1 {
			c.E2EDrift = number(0.3 + 0.01*r.NormFloat64())
		}
	}
	r := mustAnalyse(t, s.cells(14), Options{})
	for config, want := range []bool{false, true, false} {
		got := strings.Contains(strings.Join(findSummary(t, r, int32(config), meanE2E).Warnings, ";"), "rises by ")
		if got != want {
			t.Errorf("configuration %d: drift warning %v, expected %v", config, got, want)
		}
	}
	if w := findSummary(t, r, 1, hitRate).Warnings; len(w) != 0 {
		t.Errorf("the hit rate has warnings of time: %q", w)
	}
}

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int32{"": nil, "3": {3}, "3, 4": {3, 4}, "1..4, 7, 9..11": {1, 2, 3, 4, 7, 9, 10, 11}} {
		if got := ranges(numbers); got != want {
			t.Errorf("ranges(%v) = %q, expected %q", numbers, got, want)
		}
	}
}
