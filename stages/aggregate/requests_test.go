package aggregate

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"switchyard/stages/experiment"
	"switchyard/stages/simulate"
	"switchyard/stages/stats"
	"switchyard/stages/table"
)

const perRun = 120 // requests of a made-up run

// runs makes the requests of a study and the cells that a meter measures in
// them, as the simulation would. latency gives the E2E latency of a request.
func runs(s study, warmUp float64, latency func(c *simulate.Cell, i int, r *rand.Rand) float64) ([]simulate.Cell, []simulate.Request) {
	cells := s.cells(1)
	var all []simulate.Request
	var meter simulate.Meter
	for k := range cells {
		c := &cells[k]
		r := rand.New(rand.NewPCG(uint64(k), 7))
		rows := make([]simulate.Request, perRun)
		for i := range rows {
			rows[i] = request(c.Cell, i, int64(latency(c, i, r)), r)
		}
		meter.Rows(rows, c.Replicas)
		m := meter.Measure(warmUp, experiment.SLO{TTFTMs: 500})
		c.SetMetrics(&m)
		c.RequestsShare, c.KVMean = 1, number(0.5)
		all = append(all, rows...)
	}
	return cells, all
}

func request(cell int32, i int, e2eUs int64, r *rand.Rand) simulate.Request {
	arrival := int64(i) * 100_000
	start, first, end := arrival+e2eUs/10, arrival+e2eUs/5, arrival+e2eUs
	ttft := first - arrival
	return simulate.Request{
		Cell: cell, Request: int32(i), Replica: int32(r.IntN(4)), Status: "finished",
		ArrivalUs: arrival, StartedUs: &start, FirstTokenUs: &first, FinishedUs: &end, TTFTUs: &ttft, E2EUs: &e2eUs,
		PromptTokens: 1000, OutputTokens: int32(1 + r.IntN(3)), CachedTokens: 400, CeilingTokens: 700, UnlimitedTokens: 600, DispatchedTokens: 650,
	}
}

func exponential(c *simulate.Cell, _ int, r *rand.Rand) float64 {
	return 1e6 * float64(1+c.Config) * r.ExpFloat64()
}

// folder writes tables as an experiment would leave them.
func folder(t *testing.T, cells []simulate.Cell, requests []simulate.Request) string {
	t.Helper()
	dir := t.TempDir()
	p := table.Provenance{Experiment: "study"}
	if err := simulate.Cells.Write(dir, cells, p); err != nil {
		t.Fatal(err)
	}
	if requests != nil {
		if err := simulate.Requests.Write(dir, requests, p); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func mustRun(t *testing.T, dir string, o Options) *Result {
	t.Helper()
	r, err := Run(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// latencies returns the E2E latencies of a configuration's requests after a
// cut, all replications together and by replication.
func latencies(cells []simulate.Cell, requests []simulate.Request, config int32, cut int) (all []float64, each [][]float64) {
	for _, c := range cells {
		if c.Config != config {
			continue
		}
		var x []float64
		for _, q := range requests {
			if q.Cell == c.Cell && int(q.Request) >= cut {
				x = append(x, float64(*q.E2EUs))
			}
		}
		all, each = append(all, x...), append(each, x)
	}
	return all, each
}

func TestRunPoolsAndCutsAnew(t *testing.T) {
	cells, requests := runs(small, 0.25, exponential)
	dir := folder(t, cells, requests)
	for _, c := range []struct {
		warmUp *float64
		cut    int
	}{{nil, 30}, {number(0.25), 30}, {number(0), 0}, {number(0.5), 60}} {
		r := mustRun(t, dir, Options{Baseline: "random", WarmUp: c.warmUp})
		for config := range int32(3) {
			all, each := latencies(cells, requests, config, c.cut)
			row := findSummary(t, r, config, "e2e_p95_us")
			same(t, "pooled", row.Pooled, stats.Quantile(all, 0.95))
			var means, p95s []float64
			for _, x := range each {
				means, p95s = append(means, stats.Mean(x)), append(p95s, stats.Quantile(x, 0.95))
			}
			same(t, "mean of p95", row.Mean, stats.Mean(p95s))
			if int(row.Requests) != len(all) || row.WarmUp != float64(c.cut)/perRun {
				t.Errorf("%d requests after a cut of %v, expected %d after %v", row.Requests, row.WarmUp, len(all), float64(c.cut)/perRun)
			}
			mean := findSummary(t, r, config, meanE2E)
			same(t, "mean", mean.Mean, stats.Mean(means))
			if mean.Pooled != nil {
				t.Errorf("a mean has a pooled quantile of %v", *mean.Pooled)
			}
			// State over time is not in the requests.
			if kv := findSummary(t, r, config, "kv_mean"); (kv.Mean == nil) != (c.cut != 30) {
				t.Errorf("cut %d: KV use is %v", c.cut, kv.Mean)
			}
		}
	}
}

func TestWrittenTablesReadBack(t *testing.T) {
	cells, requests := runs(small, 0.2, exponential)
	for i := range cells {
		cells[i].Factors = map[string]string{"rate_rps": "4"}
	}
	dir := folder(t, cells, requests)
	r := mustRun(t, dir, Options{})
	first := tableBytes(t, dir)
	summary, err := SummaryTable.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	comparisons, err := ComparisonTable.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(summary) != len(r.Summary) || len(comparisons) != len(r.Comparisons) {
		t.Fatalf("read %d and %d rows, wrote %d and %d", len(summary), len(comparisons), len(r.Summary), len(r.Comparisons))
	}
	for i, row := range summary {
		want := r.Summary[i]
		if row.Metric != want.Metric || row.Factors["rate_rps"] != "4" || !slices.Equal(row.Warnings, want.Warnings) || (row.Lo == nil) != (want.Lo == nil) {
			t.Fatalf("row %d reads back as %+v, expected %+v", i, row, want)
		}
	}
	mustRun(t, dir, Options{})
	if again := tableBytes(t, dir); !bytes.Equal(first, again) {
		t.Error("the same aggregate twice gives different bytes")
	}
}

func tableBytes(t *testing.T, dir string) []byte {
	t.Helper()
	var out []byte
	for _, name := range []string{"summary", "comparisons"} {
		data, err := os.ReadFile(filepath.Join(dir, name, "part-0000.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, data...)
	}
	return out
}

func TestRunErrors(t *testing.T) {
	cells, requests := runs(small, 0.2, exponential)
	sampled := slices.Clone(cells)
	sampled[3].RequestsShare = 0.01
	twisted := slices.Clone(cells)
	twisted[3].Config, twisted[10].Config = 2, 0
	twisted[3].Replication, twisted[10].Replication = twisted[10].Replication, twisted[3].Replication
	wrong := slices.Clone(cells)
	wrong[2].Measured++
	mixed := slices.Clone(cells)
	mixed[2].WarmUp = 0.3
	for i := range mixed {
		mixed[i].RequestsShare = 0
	}
	for _, c := range []struct {
		name     string
		cells    []simulate.Cell
		requests []simulate.Request
		o        Options
		want     string
	}{
		{"warm-up out of range", cells, requests, Options{WarmUp: number(1)}, "warm-up is 1, expected"},
		{"warm-up NaN", cells, requests, Options{WarmUp: number(math.NaN())}, "warm-up is NaN"},
		{"a sample cannot be cut anew", sampled, requests, Options{WarmUp: number(0.5)}, "requests: all"},
		{"two warm-ups", mixed, nil, Options{}, "warm-up 0.2, tool / a6000x4 / random with 0.3"},
		{"no cells", cells[:0], nil, Options{}, "run the experiment first"},
		{"no requests", cells, nil, Options{}, "requests"},
		{"some cells without requests", cells, requests[:perRun*4], Options{}, "4 of the 15 cells"},
		{"a cell with some of its requests", cells, requests[:perRun*15-1], Options{}, "does not match cells"},
		{"another measurement", wrong, requests, Options{}, "does not match cells"},
		{"cells out of order", twisted, requests, Options{}, "not in the order of the grid"},
	} {
		_, err := Run(folder(t, c.cells, c.requests), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected %q", c.name, err, c.want)
		}
	}
	if _, err := Run(t.TempDir(), Options{}); err == nil {
		t.Error("an empty folder gives no error")
	}
}

// A plan whose objective or warm-up changed since the cells ran decides.
func TestThePlanDecidesHowCellsAreMeasured(t *testing.T) {
	cells, requests := runs(small, 0.25, exponential)
	dir := folder(t, cells, requests)
	plan := planOf(small.routers, small.replications)
	plan.Experiment.WarmUp, plan.Experiment.SLO = 0.5, experiment.SLO{E2EMs: 1e9}
	row := findSummary(t, mustRun(t, dir, Options{Plan: plan}), 0, "slo_attainment")
	same(t, "attainment of no bound", row.Mean, 1)
	if row.WarmUp != 0.5 || row.Requests != 5*perRun/2 {
		t.Errorf("warm-up %v, %d requests", row.WarmUp, row.Requests)
	}
	if row := findSummary(t, mustRun(t, dir, Options{Plan: plan, WarmUp: number(0)}), 0, meanE2E); row.WarmUp != 0 {
		t.Errorf("the option's warm-up gives way to the plan's %v", row.WarmUp)
	}
	if row := findSummary(t, mustRun(t, dir, Options{}), 0, "slo_attainment"); *row.Mean > 0.99 {
		t.Errorf("the cells' own objective is attained by %v: the test tests nothing", *row.Mean)
	}
}

// Without all requests a cell has no pooled quantile, and the rest goes on.
func TestSampledRequestsAreNotPooled(t *testing.T) {
	cells, requests := runs(small, 0.2, exponential)
	for i := range cells {
		if cells[i].Config == 1 {
			cells[i].RequestsShare = 0.5
		}
	}
	requests = slices.DeleteFunc(requests, func(q simulate.Request) bool {
		return cells[q.Cell].Config == 1 && q.Request%2 == 0
	})
	r := mustRun(t, folder(t, cells, requests), Options{})
	for config, want := range []bool{true, false, true} {
		if row := findSummary(t, r, int32(config), p99E2E); (row.Pooled != nil) != want {
			t.Errorf("configuration %d: pooled %v, expected one: %v", config, row.Pooled, want)
		}
	}
}

// A start that the cut leaves in draws a warning; a cut behind it does not.
func TestMSERWarnsOfAShortWarmUp(t *testing.T) {
	start := func(c *simulate.Cell, i int, r *rand.Rand) float64 {
		if i < perRun/3 && c.Config == 1 {
			return 1e3
		}
		return 1e4 * (1 + 0.1*r.NormFloat64())
	}
	cells, requests := runs(small, 0.1, start)
	dir := folder(t, cells, requests)
	has := func(r *Result, config int32) bool {
		return strings.Contains(strings.Join(findSummary(t, r, config, meanE2E).Warnings, ";"), "MSER-5 would cut 33 %")
	}
	r := mustRun(t, dir, Options{})
	if !has(r, 1) || has(r, 0) {
		t.Errorf("warnings %q and %q, expected MSER's in the first alone", findSummary(t, r, 1, meanE2E).Warnings, findSummary(t, r, 0, meanE2E).Warnings)
	}
	if r = mustRun(t, dir, Options{WarmUp: number(0.4)}); has(r, 1) {
		t.Errorf("a cut behind the start draws %q", findSummary(t, r, 1, meanE2E).Warnings)
	}
}
