package experiments

import (
	"path/filepath"
	"testing"

	"switchyard/stages/aggregate"
	"switchyard/stages/run"
	"switchyard/stages/simulate"
)

// failure is what a built-in experiment of a failure mode came to: rows of
// summary by "cluster / router metric".
type failure struct {
	t    *testing.T
	dir  string
	rows map[string]aggregate.Summary
}

// failing runs an experiment as the program does.
func failing(t *testing.T, name string, set ...string) failure {
	t.Helper()
	e := load(t, name, set)
	plan, err := simulate.NewPlan(e)
	if err != nil {
		t.Fatal(err)
	}
	f := failure{t, filepath.Join(t.TempDir(), name), map[string]aggregate.Summary{}}
	report, err := run.Execute(t.Context(), simulate.Job(plan, simulate.Options{}), run.Options{Dir: f.dir})
	if err != nil || report.Failed > 0 {
		t.Fatal(err, report.Failures)
	}
	result, err := aggregate.Run(f.dir, aggregate.Options{Plan: plan, Baseline: e.Baseline})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range result.Summary {
		f.rows[row.ClusterPoint+" / "+row.RouterPoint+" "+row.Metric] = row
	}
	return f
}

// mean returns the mean of a metric by "cluster / router metric".
func (f failure) mean(of string) float64 {
	f.t.Helper()
	row, ok := f.rows[of]
	if !ok || row.Mean == nil {
		f.t.Fatalf("summary has no mean of %q", of)
	}
	return *row.Mean
}

// between fails unless a mean is in a range.
func (f failure) between(of string, lo, hi float64) {
	f.t.Helper()
	if got := f.mean(of); !(got >= lo && got <= hi) {
		f.t.Errorf("%s is %.4g, expected %.4g to %.4g", of, got, lo, hi)
	}
}

// ratio fails unless the mean of a metric is that many times another router's.
func (f failure) ratio(metric, a, b string, lo, hi float64) {
	f.t.Helper()
	x, y := f.mean(a+" "+metric), f.mean(b+" "+metric)
	if got := x / y; !(got >= lo && got <= hi) {
		f.t.Errorf("%s of %s over %s is %.4g / %.4g = %.3f, expected %.3g to %.3g", metric, a, b, x, y, got, lo, hi)
	}
}

// saturated fails unless these and no others of a list are saturated.
func (f failure) saturated(want map[string]bool) {
	f.t.Helper()
	for of, is := range want {
		if row, ok := f.rows[of+" e2e_mean_us"]; !ok || row.Saturated != is {
			f.t.Errorf("%s: saturated %v, expected %v", of, row.Saturated, is)
		}
	}
}

func TestFailureSystemPrompt(t *testing.T) {
	f := failing(t, "failure-system-prompt")
	for _, router := range []string{"prefix-affinity", "production-stack-prefixaware"} {
		f.between("a6000x8 / "+router+" max_request_share", .99, 1)
		f.saturated(map[string]bool{"a6000x8 / " + router: true})
	}
	for _, router := range []string{"prefix-threshold", "sglang-cache-aware", "dynamo-kv"} {
		f.between("a6000x8 / "+router+" max_request_share", .125, .3)
		f.ratio("e2e_mean_us", "a6000x8 / "+router, "a6000x8 / least-requests", .85, .99)
	}
}

func TestFailureHotWorker(t *testing.T) {
	f := failing(t, "failure-hot-worker")
	f.between("even / sglang-cache-aware prefix_hit_rate", .96, .97)
	f.between("one-slow / sglang-cache-aware prefix_hit_rate", .5, .75)
	f.ratio("e2e_mean_us", "one-slow / sglang-cache-aware", "even / sglang-cache-aware", 4, 9)
	f.ratio("e2e_mean_us", "one-slow / dynamo-kv", "even / dynamo-kv", 1.1, 1.8)
	f.ratio("prefix_hit_rate", "one-slow / dynamo-kv", "even / dynamo-kv", .97, 1.1)
	// The guard itself: never with even replicas, for a sixth of all requests
	// or more with one slow one.
	cells, err := simulate.Cells.Read(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := simulate.Decisions.Read(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	guarded, all := map[string]int{}, map[string]int{}
	for _, d := range rows {
		if c := cells[d.Cell]; d.Chosen && c.Router == "sglang-cache-aware" {
			all[c.Cluster]++
			if d.Rule == "imbalance" {
				guarded[c.Cluster]++
			}
		}
	}
	if guarded["even"] != 0 || guarded["one-slow"]*6 < all["one-slow"] {
		t.Errorf("the guard decides %v of %v", guarded, all)
	}
}

func TestFailureMissSpiral(t *testing.T) {
	f := failing(t, "failure-miss-spiral")
	f.ratio("e2e_mean_us", "one-slow / smallest-tree", "one-slow / least-load", 2, 3)
	f.ratio("e2e_p99_us", "one-slow / smallest-tree", "one-slow / least-load", 4, 12)
}

func TestFailureHerding(t *testing.T) {
	f := failing(t, "failure-herding")
	f.ratio("e2e_mean_us", "a6000x8 / polled poll_ms=1000", "a6000x8 / live", 1.6, 2.2)
	f.ratio("e2e_mean_us", "a6000x8 / polled poll_ms=100", "a6000x8 / live", 1, 1.15)
	f.ratio("e2e_mean_us", "a6000x8 / corrected", "a6000x8 / live", 1, 1.1)
	f.ratio("e2e_mean_us", "a6000x8 / two-choices-polled", "a6000x8 / live", 1.05, 1.25)
	f.ratio("e2e_mean_us", "a6000x8 / polled poll_ms=1000", "a6000x8 / random", 1.2, 2)
}

func TestFailureInstances(t *testing.T) {
	f := failing(t, "failure-instances")
	one := "a6000x8 / guarded instances=1"
	f.ratio("e2e_mean_us", "a6000x8 / guarded instances=2", one, 1.05, 1.6)
	f.ratio("e2e_mean_us", "a6000x8 / guarded instances=4", one, 1.3, 2.2)
	f.ratio("e2e_mean_us", "a6000x8 / guarded instances=8", one, 1.5, 2.6)
	f.ratio("queue_mean_requests", "a6000x8 / guarded instances=8", one, 10, 60)
}

func TestFailureRingSkew(t *testing.T) {
	f := failing(t, "failure-ring-skew")
	// Of a fair share of 1/8.
	f.between("a6000x8 / ring vnodes=20 max_request_share", 1.4/8, 1.7/8)
	f.between("a6000x8 / ring vnodes=256 max_request_share", 1.05/8, 1.25/8)
	f.ratio("e2e_p99_us", "a6000x8 / ring vnodes=20", "a6000x8 / ring vnodes=256", 1.3, 2.5)
}

func TestFailureOneKey(t *testing.T) {
	f := failing(t, "failure-one-key", given(t, "failure-one-key")...)
	f.between("h100x8 / one-block max_request_share", 1, 1)
	f.saturated(map[string]bool{"h100x8 / one-block": true, "h100x8 / two-blocks": false, "h100x8 / smg-prefix-hash": false, "h100x8 / kubeai-prefix-hash": false})
	// Bounded rings spread by load alone: their hits are those of a router that
	// knows of no caches, where two blocks find three times as many.
	for _, router := range []string{"smg-prefix-hash", "kubeai-prefix-hash"} {
		f.between("h100x8 / "+router+" max_request_share", .14, .2)
		f.ratio("prefix_hit_rate", "h100x8 / "+router, "h100x8 / least-requests", .8, 1.05)
	}
	f.ratio("prefix_hit_rate", "h100x8 / two-blocks", "h100x8 / least-requests", 2, 4)
}

func TestFailureEvictedPrefixes(t *testing.T) {
	f := failing(t, "failure-evicted-prefixes")
	// With room for everything all know what is there.
	for _, router := range []string{"tree", "smg-tree", "smg-events", "dynamo-approximate", "dynamo-events", "preble-silent", "preble-notices"} {
		f.between("roomy / "+router+" false_hits", 0, .005)
	}
	// Under pressure half of the prompt is believed in and gone; events leave
	// what goes between a decision and the admission.
	for _, router := range []string{"tree", "smg-tree", "dynamo-approximate"} {
		f.between("tight / "+router+" false_hits", .4, .6)
	}
	f.ratio("false_hits", "tight / smg-events", "tight / smg-tree", 0, .4)
	f.ratio("false_hits", "tight / dynamo-events", "tight / dynamo-approximate", 0, .4)
	f.ratio("false_hits", "tight / preble-notices", "tight / preble-silent", 0, .5)
	// A restart empties a cache and not a tree; nor do time-outs.
	for _, router := range []string{"tree", "smg-tree"} {
		f.between("restarting / "+router+" false_hits", .03, .1)
		f.between("timing-out / "+router+" false_hits", .005, .05)
	}
	for _, cluster := range []string{"restarting", "timing-out"} {
		for _, router := range []string{"smg-events", "dynamo-events"} {
			f.between(cluster+" / "+router+" false_hits", 0, .001)
		}
	}
}

func TestFailureBursts(t *testing.T) {
	f := failing(t, "failure-bursts")
	f.ratio("prefix_hit_rate", "a6000x8 / at-dispatch", "a6000x8 / at-prefill-end", 2.2, 4)
	f.ratio("prefix_hit_rate", "a6000x8 / events-speculative", "a6000x8 / events-only", 2, 3.5)
	f.ratio("e2e_mean_us", "a6000x8 / at-dispatch", "a6000x8 / at-prefill-end", .5, .8)
	f.ratio("e2e_mean_us", "a6000x8 / events-speculative", "a6000x8 / events-only", .5, .85)
	f.ratio("duplication", "a6000x8 / at-prefill-end", "a6000x8 / at-dispatch", 2, 4)
}

// Autoscaling ends the overload of a prefix with few homes where it acts early
// enough: in every replication with early, in some of those in which rebalancing
// alone is overloaded with the default.
func TestFailureHotPrefix(t *testing.T) {
	f := failing(t, "failure-hot-prefix")
	f.between("a6000x8 / e2 max_request_share", .59, .61)
	f.saturated(map[string]bool{"a6000x8 / e2": true, "a6000x8 / rebalancing": true, "a6000x8 / early": false})
	f.ratio("e2e_mean_us", "a6000x8 / rebalancing", "a6000x8 / early", 2, 5)
	f.ratio("e2e_mean_us", "a6000x8 / both", "a6000x8 / early", 1.2, 3)
	f.ratio("e2e_mean_us", "a6000x8 / e2", "a6000x8 / rebalancing", 4, 20)
	cells, err := simulate.Cells.Read(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	overloaded := map[string]int{}
	for _, c := range cells {
		if c.Saturated {
			overloaded[c.Router]++
		}
	}
	if overloaded["e2"] != 12 || overloaded["early"] != 0 || overloaded["both"] == 0 || overloaded["both"] >= overloaded["rebalancing"] {
		t.Errorf("of 12 replications are overloaded %v", overloaded)
	}
}
