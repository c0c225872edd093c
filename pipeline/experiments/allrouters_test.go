package experiments

import (
	"bytes"
	"slices"
	"testing"

	"switchyard/sim/router"
	"switchyard/stages/capacity"
	"switchyard/stages/experiment"
	"switchyard/stages/run"
	"switchyard/stages/simulate"
)

// allRouters loads the experiment without its trace, which is no part of the
// program.
func allRouters(t *testing.T, set ...string) *experiment.Experiment {
	t.Helper()
	data, _ := Read("all-routers")
	head, rest, ok := bytes.Cut(data, []byte("  - name: conversation\n"))
	_, tail, more := bytes.Cut(rest, []byte("\nclusters:"))
	if !ok || !more {
		t.Fatal("all-routers has no workload conversation before its clusters")
	}
	text := slices.Concat(head, []byte("\nclusters:"), tail)
	e, err := experiment.Load("", text, experiment.Options{BuiltIn: "all-routers", Set: set})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Every policy is in it once, but for replay.
func TestAllRoutersHasAll(t *testing.T) {
	e := allRouters(t)
	count := map[string]int{}
	for _, p := range e.Points[experiment.Simulate] {
		if p.Part("workload").Name == "tool-use" && p.Factors[0].Value == "68.65" {
			policy, _ := p.Part("router").Section.String("policy")
			count[policy]++
		}
	}
	for _, p := range router.Policies() {
		want := 1
		switch p.Name {
		case "recorded":
			want = 0
		case "clairvoyant":
			want = 4
		}
		if count[p.Name] != want {
			t.Errorf("policy %s stands in all-routers %d times, expected %d", p.Name, count[p.Name], want)
		}
	}
	requests := map[string]int{}
	plan, err := simulate.NewPlan(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range plan.Workloads {
		requests[v.Name] = v.Requests()
	}
	for name, n := range requests {
		if n < 5000 {
			t.Errorf("%s has %d requests a cell, expected at least 5,000", name, n)
		}
	}
	if len(requests) != 6 {
		t.Errorf("workloads %v, expected six beside the trace", requests)
	}
}

// The committed loads are those that the search finds: of one workload, under
// two of its best routers.
func TestCommittedCapacity(t *testing.T) {
	e := allRouters(t, "routers=[least-requests, prefix-threshold, cache-aware]", "replications=3")
	var points []experiment.Point
	var rates []float64
	for _, p := range e.Points[experiment.Simulate] {
		if p.Part("workload").Name == "video-qa" && p.Part("router").Name != "least-requests" {
			p.Index = len(points)
			points = append(points, p)
		}
	}
	e.Points[experiment.Simulate] = points
	plan, err := simulate.NewPlan(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range plan.Workloads {
		rates = append(rates, v.RateRps())
	}
	searches, err := capacity.NewPlan(plan, capacity.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := run.Execute(t.Context(), capacity.Job(searches, dir), run.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	rows, err := capacity.Capacities.Read(dir)
	if err != nil || len(rows) != 2 {
		t.Fatal(len(rows), err)
	}
	best := 0.0
	for _, row := range rows {
		if row.Capacity == nil {
			t.Fatalf("%s has no capacity", row.Router)
		}
		best = max(best, *row.Capacity)
	}
	// Searches from different loads end in different brackets of 2 %.
	committed := rates[0] / .5
	if !(committed > best/1.02 && committed < best*1.02) {
		t.Errorf("committed is %v, found %v", committed, best)
	}
	for i, share := range []float64{.5, .8, .95} {
		if r := rates[i] / committed; r < share-.001 || r > share+.001 {
			t.Errorf("load %v is %.4f of the capacity, expected %v", rates[i], r, share)
		}
	}
}
