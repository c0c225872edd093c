package queueing

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"switchyard/stages/experiment"
)

// one plans a study that differs in one item of section dispatch.
func one(t *testing.T, dir, item string) *Plan {
	t.Helper()
	text := "name: one\nreplications: [1]\nwarm_up: 0\npolicies: [jsq]\ndispatch:\n  - {name: d, servers: 2, requests: 3, " + item + "}\n"
	e, err := experiment.Load(filepath.Join(dir, "f.yaml"), []byte(text), experiment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(e)
	if err != nil {
		t.Fatalf("%s: %v", item, err)
	}
	return p
}

// TestParametersReachKeysAndLabels: whatever changes what arrives changes the
// key, so that a run given again does not take over other rows, and what the
// row says of it.
func TestParametersReachKeysAndLabels(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.csv": "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:00:00.0000000,100,10\n2023-11-16 18:00:01.0000000,200,20\n2023-11-16 18:00:04.0000000,300,60\n",
		"b.csv": "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:00:00.0000000,100,10\n2023-11-16 18:00:02.0000000,200,20\n2023-11-16 18:00:04.0000000,300,60\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, pair := range []struct {
		a, b   string
		labels [2]string // of the arrivals or the sizes
	}{
		{"arrivals: {process: gamma, burstiness: 1.5}", "arrivals: {process: gamma, burstiness: 4}", [2]string{"gamma burstiness=1.5", "gamma burstiness=4"}},
		{"arrivals: {process: gamma}", "arrivals: {process: gamma, burstiness: 4}", [2]string{"gamma", "gamma burstiness=4"}},
		{"arrivals: {process: times, times: [0, 1, 5]}", "arrivals: {process: times, times: [0, 4, 5]}", [2]string{"times times=[0,1,5]", "times times=[0,4,5]"}},
		{"arrivals: {process: times, times: [0, 1, 5]}", "arrivals: {process: times, times: [0, 1, 5], keep_rate: true}", [2]string{"times times=[0,1,5]", "times keep_rate=true times=[0,1,5]"}},
		{"arrivals: {trace: a.csv}", "arrivals: {trace: a.csv, keep_rate: true}", [2]string{"trace a.csv", "trace a.csv keep_rate=true"}},
		{"arrivals: {trace: a.csv}", "arrivals: {trace: b.csv}", [2]string{"trace a.csv", "trace b.csv"}},
		{"sizes: {law: erlang, stages: 3}", "sizes: {law: erlang, stages: 4}", [2]string{"erlang stages=3", "erlang stages=4"}},
		{"sizes: {mean: 2}", "sizes: {mean: 3}", [2]string{"exponential mean=2", "exponential mean=3"}},
		{"sizes: {law: empirical, values: [1, 2, 3]}", "sizes: {law: empirical, values: [1, 2, 3], in_order: true}", [2]string{"empirical values=[1,2,3]", "empirical in_order=true values=[1,2,3]"}},
		{"sizes: {trace: a.csv, mean: 2}", "sizes: {trace: a.csv, mean: 3}", [2]string{"trace a.csv of=total mean=2", "trace a.csv of=total mean=3"}},
	} {
		var keys, labels [2]string
		for i, item := range []string{pair.a, pair.b} {
			run := one(t, dir, item).Dispatch[0]
			keys[i], labels[i] = run.Key, run.Config.row().Arrivals
			if item[0] == 's' {
				labels[i] = run.Config.row().Sizes
			}
		}
		if keys[0] == keys[1] {
			t.Errorf("%s and %s have one key", pair.a, pair.b)
		}
		if labels != pair.labels {
			t.Errorf("%s and %s read %q, want %q", pair.a, pair.b, labels, pair.labels)
		}
	}
}

// TestSweptBurstiness: what is swept in the arrivals makes runs that differ.
func TestSweptBurstiness(t *testing.T) {
	p := mustPlan(t, "process: poisson", "process: gamma, burstiness: {sweep: [0.5, 1.5, 4]}", "load: {sweep: [0.5, 0.8]}", "load: 0.8")
	dir := t.TempDir()
	execute(t, p, dir, 2)
	means := map[string]bool{}
	labels := map[string]bool{}
	for _, row := range read(t, Dispatch, dir) {
		if row.Policy == "random" && row.Replication == 1 {
			means[fmt.Sprint(*row.ResponseMean)], labels[row.Arrivals] = true, true
		}
	}
	if len(means) != 3 || len(labels) != 3 {
		t.Errorf("three burstinesses have means %v under labels %v", means, labels)
	}
}

// TestOtherArrivalsRunAgain: a run given again with other arrivals in the same
// folder does not take over what was found with the first.
func TestOtherArrivalsRunAgain(t *testing.T) {
	dir := t.TempDir()
	execute(t, mustPlan(t, "process: poisson", "process: gamma, burstiness: 1.5"), dir, 1)
	if done, _ := execute(t, mustPlan(t, "process: poisson", "process: gamma, burstiness: 4"), dir, 1); done != 18 {
		t.Errorf("with other arrivals %d cells ran again, want all 18 of dispatch", done)
	}
}
