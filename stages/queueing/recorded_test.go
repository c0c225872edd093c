package queueing

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"switchyard/sim/queueing"
	"switchyard/stages/experiment"
)

// TestRecorded plays the times and the tokens of a trace.
func TestRecorded(t *testing.T) {
	dir := t.TempDir()
	var trace strings.Builder
	trace.WriteString("TIMESTAMP,ContextTokens,GeneratedTokens\n")
	for _, line := range []string{"00.0000000,100,10", "01.0000000,200,20", "04.0000000,300,60"} {
		trace.WriteString("2023-11-16 18:00:" + line + "\n")
	}
	if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte(trace.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	plan := func(item string) (*Plan, error) {
		text := "name: played\nwarm_up: 0\npolicies: [jsq]\ndispatch:\n  - {name: d, servers: 2, requests: 3, " + item + "}\n"
		e, err := experiment.Load(filepath.Join(dir, "f.yaml"), []byte(text), experiment.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return NewPlan(e)
	}
	p, err := plan("arrivals: {trace: t.csv, keep_rate: true}, sizes: {trace: t.csv, of: output, mean: 3}")
	if err != nil {
		t.Fatal(err)
	}
	study := p.Dispatch[0].Config.study
	if got := study.Arrivals.(*queueing.Times).Values; len(got) != 3 || got[1]-got[0] != 1 || got[2]-got[0] != 4 {
		t.Errorf("times are %v", got)
	}
	sizes := study.Sizes.(*queueing.EmpiricalSizes)
	if got := sizes.Values; len(got) != 3 || got[0] != 10 || got[2] != 60 || sizes.Mean != 3 || !sizes.InOrder {
		t.Errorf("sizes are %+v", sizes)
	}
	if rate := study.Rate(); rate != 0.5 {
		t.Errorf("rate is %v, want two gaps in four seconds", rate)
	}
	out := t.TempDir()
	execute(t, p, out, 1)
	row := read(t, Dispatch, out)[0]
	// Sizes 1, 2 and 6 at 0, 1 and 4 never wait for each other on two servers.
	if *row.ResponseMean != 3 || row.Arrivals != "trace t.csv keep_rate=true" || row.Sizes != "trace t.csv of=output mean=3" {
		t.Errorf("mean response is %v, arrivals %q, sizes %q", *row.ResponseMean, row.Arrivals, row.Sizes)
	}
	other, err := plan("arrivals: {trace: t.csv, keep_rate: true}, sizes: {trace: t.csv, of: prompt, mean: 3}")
	if err != nil {
		t.Fatal(err)
	}
	if other.Dispatch[0].Key == p.Dispatch[0].Key {
		t.Error("sizes of other tokens have the same key")
	}
	if _, err := plan("arrivals: {trace: t.csv, process: poisson}"); err == nil || !strings.Contains(err.Error(), "unknown key") {
		t.Errorf("a trace beside a process: %v", err)
	}
}

// TestReplicationsOfGivenTraffic: what leaves nothing to chance runs once, and
// what leaves the policy's draws says so.
func TestReplicationsOfGivenTraffic(t *testing.T) {
	given := []string{"{process: poisson}", "{process: times, times: [0, 1, 2, 4, 7]}", "{law: lognormal, c2: 2}", "{law: empirical, in_order: true, values: [1, 2, 1, 3, 1]}",
		"requests: 500", "requests: 5"}
	for _, c := range []struct {
		edits        []string
		replications int
		doubts       map[string]string
	}{
		{append(given, "  - jsq\n", "", "- random\n", "- round-robin\n", "baseline: random", "baseline: round-robin"), 1,
			map[string]string{"round-robin": nothingDrawn, "first": nothingDrawn}},
		{given, 3, map[string]string{"random": policyDrawn, "jsq": policyDrawn, "first": nothingDrawn}},
		{given[:2], 3, map[string]string{"random": arrivalsShared, "first": arrivalsShared}},
		{given[2:4], 3, map[string]string{"random": sizesShared, "first": sizesShared}},
		{nil, 3, map[string]string{"random": "", "first": ""}},
	} {
		edits := c.edits
		if len(edits) == 2 || len(edits) == 4 {
			edits = append(slices.Clone(edits), given[4:]...)
		}
		p := mustPlan(t, edits...)
		runs := map[string]int{}
		for _, r := range p.Dispatch {
			runs[r.Config.Name()]++
			if want, asked := c.doubts[r.Config.RouterPoint]; asked && r.Config.chance() != want {
				t.Errorf("%q: of %s there is the doubt %q, want %q", edits, r.Name(), r.Config.chance(), want)
			}
		}
		for name, n := range runs {
			if n != c.replications {
				t.Errorf("%q: %s has %d replications, want %d", edits, name, n, c.replications)
			}
		}
	}
}

// TestGivenRequestsAreCounted: a run without a length has that of its lists.
func TestGivenRequestsAreCounted(t *testing.T) {
	for _, c := range []struct {
		arrivals, sizes string
		want            int64
	}{
		{"{process: times, times: [0, 1, 2, 4, 7]}", "{law: lognormal, c2: 2}", 5},
		{"{process: times, times: [0, 1, 2, 4, 7]}", "{law: empirical, in_order: true, values: [1, 2, 1]}", 3},
		{"{process: poisson}", "{law: empirical, in_order: true, values: [1, 2, 1, 2]}", 4},
		{"{process: poisson}", "{law: empirical, values: [1, 2, 1, 2]}", 50_000},
	} {
		p := mustPlan(t, "    requests: 500\n", "", "{process: poisson}", c.arrivals, "{law: lognormal, c2: 2}", c.sizes)
		if got := p.Dispatch[0].Config.study.Traffic.Requests; got != c.want {
			t.Errorf("%s and %s make %d requests, want %d", c.arrivals, c.sizes, got, c.want)
		}
	}
}
