package experiment

import (
	"slices"
	"testing"
)

// TestJobs crosses each job's sections by themselves.
func TestJobs(t *testing.T) {
	text := least + `balls: [{name: b, bins: {sweep: [10, 100], zip: z}, choices: {sweep: [1, 2, 3]}}]
policies: [jsq, {name: few, policy: jsq-d, d: {sweep: [2, 3]}}]
dispatch: [{name: d, load: {sweep: [.5, .9], zip: z}}]
`
	e := load(t, text, Options{Set: []string{"policies.jsq.ties=first"}})
	if got := e.Jobs(); !slices.Equal(got, []string{Simulate, Balls, Dispatch}) {
		t.Fatalf("its jobs are %v", got)
	}
	for job, want := range map[string][]string{
		Simulate: {"w / c / random"},
		Balls: {"b bins=10 choices=1", "b bins=10 choices=2", "b bins=10 choices=3",
			"b bins=100 choices=1", "b bins=100 choices=2", "b bins=100 choices=3"},
		Dispatch: {"d load=0.5 / jsq", "d load=0.9 / jsq", "d load=0.5 / few d=2", "d load=0.9 / few d=2",
			"d load=0.5 / few d=3", "d load=0.9 / few d=3"}, // policies stand first in the file: dispatch varies faster
	} {
		for i, p := range e.Points[job] {
			if i >= len(want) || p.Label() != want[i] || p.Index != i {
				t.Errorf("%s: point %d is %s (index %d), want %v", job, i, p.Label(), p.Index, want)
			}
		}
		if len(e.Points[job]) != len(want) {
			t.Errorf("%s has %d points, want %d", job, len(e.Points[job]), len(want))
		}
	}
	jsq := e.Points[Dispatch][0].Part("policy").Section
	if policy, _ := jsq.String("policy"); policy != "jsq" {
		t.Errorf("a policy that is only a name has policy %q", policy)
	}
	if ties, _ := jsq.String("ties"); ties != "first" {
		t.Errorf("an override of it is %q", ties)
	}
	again := load(t, string(e.Resolved()), Options{})
	for _, job := range e.Jobs() {
		for i, p := range e.Points[job] {
			if got := flatten(again, again.Points[job][i]); got != flatten(e, p) {
				t.Errorf("resolved, point %d of %s is\n%s\nwant\n%s", i, job, got, flatten(e, p))
			}
		}
	}
}

// TestBaseline is the first of what competes, and balls compete with nothing.
func TestBaseline(t *testing.T) {
	const swept = "workloads: [{name: w}]\nclusters: [{name: c}]\nrouters: [{name: s, t: {sweep: [.1, .2]}}, random]\n"
	for text, want := range map[string]string{
		"balls: [{name: b}]\n":                                                             "",
		"dispatch: [{name: d}]\npolicies: [jsq, random]\n":                                 "jsq",
		"dispatch: [{name: d}]\npolicies: [jsq, random]\nbaseline: random\n":               "random",
		"dispatch: [{name: d}]\npolicies: [jsq]\n" + least:                                 "jsq",
		"dispatch: [{name: d}]\npolicies: [jsq]\n" + least + "baseline: random\nseed: 3\n": "random",
		swept:                           "s t=0.1",
		swept + "baseline: s t=0.2\n":   "s t=0.2",
		swept + "baseline: 's t=0.2'\n": "s t=0.2",
		swept + "baseline: random\n":    "random",
		// Swept with the workload, the two never meet.
		"workloads: [{name: w, r: {sweep: [1, 2], zip: z}}]\nclusters: [{name: c}]\nrouters: [{name: s, t: {sweep: [.1, .2], zip: z}}]\n": "s",
	} {
		if e := load(t, text, Options{}); e.Baseline != want {
			t.Errorf("%s: baseline %q, want %q", text, e.Baseline, want)
		} else if again := load(t, string(e.Resolved()), Options{}); again.Baseline != want {
			t.Errorf("%s: resolved, baseline %q, want %q", text, again.Baseline, want)
		}
	}
}
