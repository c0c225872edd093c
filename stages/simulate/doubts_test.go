package simulate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"switchyard/stages/experiment"
	"switchyard/stages/generate"
)

// loaded plans an experiment file of a folder.
func loaded(t *testing.T, dir, text string) *Plan {
	t.Helper()
	e, err := experiment.Load(filepath.Join(dir, "test.yaml"), []byte(text), experiment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(e)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// cellsOf runs a plan and reads its cells.
func cellsOf(t *testing.T, p *Plan) []Cell {
	t.Helper()
	dir := t.TempDir()
	execute(t, p, Options{}, dir, 1)
	cells, err := Cells.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

const ending = `
clusters:
  - {name: pair, replicas: 2, model: mistral-7b, gpu: a6000%s}
routers: [round-robin]
`

// A run that is hardly longer than its conversations falls short of its rate,
// and its row says so; one request at a time does not.
func TestMissedRate(t *testing.T) {
	const text = "name: test\nreplications: 1\nwarm_up: 0\nworkloads:\n  - {name: a, generator: %s, requests: 2000, arrivals: {process: deterministic, rate_rps: 4}}\n"
	for generator, want := range map[string]bool{"chat, turns: 6": true, "chat, turns: 1": false, "lecture-tool": false} {
		c := cellsOf(t, loaded(t, "", fmt.Sprintf(text, generator)+fmt.Sprintf(ending, "")))[0]
		got := slices.ContainsFunc(c.Warnings, func(s string) bool { return strings.Contains(s, "where 4 are offered") })
		if got != want {
			t.Errorf("%s: %v requests a second arrive of 4; warnings are %q", generator, *c.ArrivalRps, c.Warnings)
		}
	}
}

// Chance alone is no reason for a warning: few arrivals miss a rate by much.
func TestMissedByChance(t *testing.T) {
	for _, c := range []struct {
		arrival, offered float64
		arrived          int64
		want             bool
	}{
		{5, 4, 100, false}, {3, 4, 100, false}, {3, 4, 1000, true}, {5, 4, 1000, true}, {4.1, 4, 1e9, false}, {1, 4, 20, true}, {0, 4, 0, true},
	} {
		if got := Missed(c.arrival, c.offered, c.arrived); got != c.want {
			t.Errorf("%d arrivals at %v where %v are offered: missed is %v", c.arrived, c.arrival, c.offered, got)
		}
	}
}

// Where every request is turned away, the status and a warning say so, and
// nothing is called saturated.
func TestNothingServed(t *testing.T) {
	const text = "name: test\nreplications: 1\nworkloads:\n  - {name: a, generator: long-documents, requests: 300, arrivals: {process: poisson, rate_rps: 1}}\n"
	for extra, want := range map[string]string{", kv_tokens: 500": "nothing-served", ", kv_tokens: 25000": "rejected", "": "ok"} {
		c := cellsOf(t, loaded(t, "", text+fmt.Sprintf(ending, extra)))[0]
		if c.Status != want {
			t.Errorf("%q: the status is %s, expected %s", extra, c.Status, want)
		}
		warned := strings.Join(c.Warnings, "\n")
		switch want {
		case "nothing-served":
			if c.Saturated || c.CompletionRatio != nil || c.Turned != c.Arrived || !strings.Contains(warned, "nothing was served: 300 of 300 requests were rejected") {
				t.Errorf("%d of %d turned away, saturated %v, completion %v, warnings %q", c.Turned, c.Arrived, c.Saturated, c.CompletionRatio, warned)
			}
		case "rejected":
			if c.Rejected == 0 || !strings.Contains(warned, fmt.Sprintf("%d of 300 requests were rejected", c.Rejected)) {
				t.Errorf("%d were rejected, warnings %q", c.Rejected, warned)
			}
			if ratio := float64(c.Completed) / float64(c.Arrived-c.Turned); *c.CompletionRatio != ratio || c.Turned == 0 {
				t.Errorf("the completion ratio is %v, expected %v of those not turned away", *c.CompletionRatio, ratio)
			}
		}
	}
}

// TestTurnedAwayIsNoBacklog: a server that turns half away and serves the rest
// at once is not saturated.
func TestTurnedAwayIsNoBacklog(t *testing.T) {
	rows := randomRows(shape{n: 2000, replicas: 2, gap: 1000, service: 500, waiting: 1, reject: 0.5}, 1)
	var m Meter
	m.Rows(rows, 2)
	got := m.Measure(0, experiment.SLO{})
	if got.Saturated || got.CompletionRatio < 0.99 || got.CompletionRatio > 1.01 || got.Turned < 900 || got.Turned > 1100 {
		t.Errorf("saturated %v, completion ratio %v, %d turned away; expected no, 1, about 1000", got.Saturated, got.CompletionRatio, got.Turned)
	}
}

// The cut is by the time of arrival: of requests that come in the opposite
// order of their indexes, the last ones are cut.
func TestCutIsByArrival(t *testing.T) {
	const n = 10
	rows := make([]Request, n)
	for i := range rows {
		at := int64(1000 * (n - i))
		rows[i] = Request{Request: int32(i), Status: "finished", ArrivalUs: at, StartedUs: &at, FirstTokenUs: &at, FinishedUs: &at, PromptTokens: 1, OutputTokens: 1}
	}
	var m Meter
	m.Rows(rows, 1)
	out := m.Measure(0.3, experiment.SLO{})
	if out.WindowStartUs != 4000 || out.InWindow != 7 {
		t.Errorf("the window opens at %d us and holds %d requests, expected 4000 and 7", out.WindowStartUs, out.InWindow)
	}
	for i := range rows {
		if want := i < 7; m.Measured(i) != want {
			t.Errorf("request %d measured: %v, expected %v", i, m.Measured(i), want)
		}
	}
}

// A trace is one run, whatever the replications; the plan says so once, with
// what its reader left out. Cells and profiles have a key in common.
func TestRecordedTrace(t *testing.T) {
	dir := t.TempDir()
	var lines strings.Builder
	for i := range 50 {
		fmt.Fprintf(&lines, `{"timestamp": %d, "input_length": 600, "output_length": %d, "hash_ids": [0, %d]}`+"\n", 1500*i, i%5, i%7)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine.jsonl"), []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	const text = `name: test
replications: 2..4
workloads:
  - {name: mine, trace: mine.jsonl, format: mooncake, speed: {sweep: [1, 2]}}
  - {name: drawn, trace: mine.jsonl, format: mooncake, resample: auto, resample_window_s: 7}
`
	p := loaded(t, dir, text+fmt.Sprintf(ending, ""))
	notes := strings.Join(p.Notes(), "\n")
	for _, want := range []string{"mine.jsonl: 10 of 50 records left out: no output tokens", "workload mine is a recorded trace, the same in every replication: it runs once, not in all 3 of the experiment"} {
		if strings.Count(notes, want) != 1 {
			t.Errorf("notes are\n%s\nexpected %q once", notes, want)
		}
	}
	out := t.TempDir()
	execute(t, p, Options{}, out, 1)
	executeJob(t, generate.Job(p.Workloads, p.Experiment.Replications), out, 1)
	cells, err := Cells.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	profiles, err := generate.Profiles.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(cells) != 2+3 || len(profiles) != 2+3 {
		t.Fatalf("%d cells and %d profiles, expected 5: 2 of the trace, 3 resamples", len(cells), len(profiles))
	}
	for _, c := range cells {
		met := 0
		for _, q := range profiles {
			if q.Variant == c.Variant && q.Replication == c.Replication {
				met++
				if q.WorkloadPoint != c.WorkloadPoint || int64(q.Requests) != c.Requests {
					t.Errorf("cell %s has %d requests, its profile is of %s with %d", c.WorkloadPoint, c.Requests, q.WorkloadPoint, q.Requests)
				}
			}
		}
		if met != 1 {
			t.Errorf("cell %s, replication %d, has %d profiles", c.WorkloadPoint, c.Replication, met)
		}
		broken := slices.Contains(c.Warnings, "bootstrap of 7 s windows: reuse across windows is broken")
		if drawn := c.Workload == "drawn"; broken != drawn || drawn == (c.Source == "recorded") {
			t.Errorf("cell %s is %s, with the warnings %q", c.WorkloadPoint, c.Source, c.Warnings)
		}
	}
}
