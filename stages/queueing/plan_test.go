package queueing

import (
	"fmt"
	"strings"
	"testing"

	"switchyard/sim/queueing"
	"switchyard/stages/experiment"
)

const small = `name: small
seed: 7
replications: 1..3
warm_up: 0.1
baseline: random
balls:
  - {name: fair, bins: {sweep: [50, 400]}, choices: {sweep: [1, 2]}}
dispatch:
  - name: pair
    servers: 2
    load: {sweep: [0.5, 0.8]}
    requests: 500
    arrivals: {process: poisson}
    sizes: {law: lognormal, c2: 2}
    information: {model: periodic, age: 1}
policies:
  - random
  - jsq
  - {name: first, policy: jsq, ties: first}
`

// planned loads a file and plans it; edits are pairs of old and new text.
func planned(t testing.TB, edits ...string) (*Plan, error) {
	t.Helper()
	text := small
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			t.Fatalf("the file has no %q", edits[i])
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	e, err := experiment.Load("small.yaml", []byte(text), experiment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return NewPlan(e)
}

func mustPlan(t testing.TB, edits ...string) *Plan {
	t.Helper()
	p, err := planned(t, edits...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlan(t *testing.T) {
	p := mustPlan(t)
	if len(p.Balls) != 12 || len(p.Dispatch) != 18 {
		t.Fatalf("%d cells of balls and %d of dispatch, want 12 and 18", len(p.Balls), len(p.Dispatch))
	}
	if got, want := p.Balls[5].Name(), "fair bins=50 choices=2 / replication 3"; got != want {
		t.Errorf("a cell of balls is %s, want %s", got, want)
	}
	r := p.Dispatch[15]
	if got, want := r.Name(), "pair load=0.8 / first / replication 1"; got != want || r.Index != 15 || r.Config.Index != 5 {
		t.Errorf("a cell of dispatch is %s (index %d, configuration %d), want %s", got, r.Index, r.Config.Index, want)
	}
	if r.Config.study.WarmUp != 0.1 || r.Config.study.Traffic.Load != 0.8 || r.Config.study.Information.Age != 1 {
		t.Errorf("its study is %+v", r.Config.study)
	}
	seen := map[string]string{}
	for _, r := range append(p.Balls, p.Dispatch...) {
		if other, taken := seen[r.Key]; taken {
			t.Errorf("%s and %s have one key", r.Name(), other)
		}
		seen[r.Key] = r.Name()
	}
}

// TestKeys: a key changes with what decides a run and with nothing else.
func TestKeys(t *testing.T) {
	key := func(edits ...string) (balls, dispatch string) {
		p := mustPlan(t, edits...)
		return p.Balls[0].Key, p.Dispatch[3].Key // jsq
	}
	balls, dispatch := key()
	for _, c := range []struct {
		edit            []string
		balls, dispatch bool // whether the key changes
	}{
		{[]string{"name: small", "name: other"}, false, false},
		{[]string{"baseline: random", "baseline: jsq"}, false, false},
		{[]string{"name: pair", "name: couple"}, false, false},
		{[]string{"- jsq\n", "- {name: shortest, policy: jsq, ties: random}\n"}, false, false},
		{[]string{"name: fair", "name: unfair"}, false, false},
		{[]string{"arrivals: {process: poisson}", "discipline: fcfs"}, false, false},
		{[]string{"bins: {sweep: [50, 400]}", "replacement: true, bins: {sweep: [50, 400]}"}, false, false},
		{[]string{"seed: 7", "seed: 8"}, true, true},
		{[]string{"1..3", "2..4"}, true, true},
		{[]string{"warm_up: 0.1", "warm_up: 0.2"}, false, true},
		{[]string{"requests: 500", "requests: 501"}, false, true},
		{[]string{"servers: 2", "servers: 3"}, false, true},
		{[]string{"c2: 2", "c2: 3"}, false, true},
		{[]string{"process: poisson", "process: gamma"}, false, true},
		{[]string{"age: 1", "age: 1.5"}, false, true},
		{[]string{"age: 1", "age: 1, corrections: true"}, false, true},
		{[]string{"- jsq\n", "- {name: jsq, policy: jsq, ties: rotating}\n"}, false, true},
		{[]string{"bins: {sweep: [50, 400]}", "replacement: false, bins: {sweep: [50, 400]}"}, true, false},
		{[]string{"bins: {sweep: [50, 400]}", "bins: {sweep: [51, 400]}"}, true, false},
	} {
		b, d := key(c.edit...)
		if (b != balls) != c.balls || (d != dispatch) != c.dispatch {
			t.Errorf("%q: key of balls changes %v, of dispatch %v, want %v and %v", c.edit, b != balls, d != dispatch, c.balls, c.dispatch)
		}
	}
}

// TestPlanErrors holds the text of what is wrong with a file.
func TestPlanErrors(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"load: {sweep: [0.5, 0.8]}", "lode: 0.5", `small.yaml:11:5: dispatch[0].lode: unknown key: expected one of information, arrivals, sizes, servers, speeds, discipline, dispatchers, load, requests`},
		{"servers: 2", "servers: 0", `small.yaml:10:14: dispatch[0].servers: value "0": expected a whole number from 1 to 1000000`},
		{"policy: jsq", "policy: jsk", `small.yaml:19:27: policies[2].policy: value "jsk": expected one of random, round-robin, weighted-round-robin, jsq, jsq-d, jiq, lwl, least-expected-work, sita-e, central-queue; did you mean "jsq"?`},
		{"policy: jsq, ", "", `small.yaml:19:5: policies[2].policy: missing: expected the name of a dispatch policy; see list policies`},
		{"ties: first", "ties: last", `small.yaml:19:38: policies[2].ties: value "last": expected one of random, first, rotating`},
		{"law: lognormal", "law: normal", `small.yaml:14:18: dispatch[0].sizes.law: value "normal": expected one of exponential, deterministic, uniform, lognormal, pareto, bounded-pareto, hyperexponential, erlang, empirical`},
		{"c2: 2", "alpha: 2", `small.yaml:14:29: dispatch[0].sizes.alpha: unknown key: expected one of law, mean, c2, sigma`},
		{"process: poisson", "process: poison", `small.yaml:13:25: dispatch[0].arrivals.process: value "poison": expected one of poisson, deterministic, gamma, times; did you mean "poisson"?`},
		{"model: periodic", "model: period", `small.yaml:15:26: dispatch[0].information.model: value "period": expected one of live, periodic, continuous, continuous-exponential, individual, own; did you mean "periodic"?`},
		{"model: periodic, age: 1", "age: 4", `small.yaml:15:24: dispatch[0].information.age: value "4": expected a model other than live and own, which know no age: periodic, continuous, continuous-exponential or individual`},
		{"model: periodic, age: 1", "model: own, age: {sweep: [0, 4]}", `small.yaml:15:48: dispatch[0].information.age.sweep[1]: value "4": expected a model other than live and own, which know no age: periodic, continuous, continuous-exponential or individual`},
		{"model: periodic, age: 1", "corrections: true", `small.yaml:15:32: dispatch[0].information.corrections: value "true": expected a model other than live, which leaves nothing to correct: periodic, continuous, continuous-exponential or individual`},
		{"model: periodic, age: 1", "model: own, corrections: true", `small.yaml:15:44: dispatch[0].information.corrections: value "true": expected a model other than own, which counts what was sent in any case: periodic, continuous, continuous-exponential or individual`},
		{"process: poisson", "process: times, keep_rate: true, times: [0, 1, 5]", `small.yaml:11:20: dispatch[0].load.sweep[0]: value "0.5": expected no load beside arrivals.keep_rate: true, whose times bring their own
small.yaml:11:25: dispatch[0].load.sweep[1]: value "0.8": expected no load beside arrivals.keep_rate: true, whose times bring their own`},
		{"- jsq\n", "- central-queue\n", `small.yaml:18:5: policies[1].policy: value "central-queue": expected a study that can run: policy central-queue holds requests back in one queue: it needs discipline fcfs and live information`},
		{"- jsq\n", "- {name: three, policy: jsq-d, choices: 3}\n", `small.yaml:18:43: policies[1].choices: value "3": expected at most as many as servers, or replacement: true`},
		{"- jsq\n", "- {name: again, policy: jsq, ties: first}\n", `small.yaml:19:27: policies[2].policy: value "jsq": expected parameters that differ from those of "again": the two are the same runs under two names, leave one out`},
		{"choices: {sweep: [1, 2]}", "choices: 0", `small.yaml:7:53: balls[0].choices: value "0": expected a whole number from 1 to 1000`},
		{"choices: {sweep: [1, 2]}", "choices: [1, 2]", `small.yaml:7:53: balls[0].choices: value "[1, 2]": expected a whole number from 1 to 1000, or one after the other by {sweep: [...]}`},
		{"choices: {sweep: [1, 2]}", "choices: 60, replacement: false", `small.yaml:7:53: balls[0].choices: value "60": expected at most as many as bins, or replacement: true`},
		{"balls:\n", "balls:\n  - {name: first, bins: 50, choices: 2}\n", `small.yaml:8:33: balls[1].bins.sweep[0]: value "50": expected parameters that differ from those of "first": the two are the same runs under two names, leave one out`},
		{"process: poisson", "trace: none.jsonl", `small.yaml:13:23: dispatch[0].arrivals.trace: value "none.jsonl": expected a readable trace: open none.jsonl: no such file or directory`},
	} {
		_, err := planned(t, c.from, c.to)
		if err == nil {
			t.Errorf("%s is accepted, want %s", c.to, c.want)
		} else if err.Error() != c.want {
			t.Errorf("%s: error is\n%v\nwant\n%s", c.to, err, c.want)
		}
	}
}

// TestOverload: a policy that does not look overloads a slow server, though
// all servers together can do the work.
func TestOverload(t *testing.T) {
	p := mustPlan(t, "servers: 2", "servers: 2\n    speeds: [0.2, 1.8]", "- jsq\n", "- jsq\n  - round-robin\n  - weighted-round-robin\n  - {name: by-speed, policy: random, weights: speeds}\n")
	want := map[string]bool{"random": true, "round-robin": true}
	for _, r := range p.Dispatch {
		if got := r.Config.row().Saturated; got != want[r.Config.RouterPoint] {
			t.Errorf("%s: saturated is %v", r.Name(), got)
		}
	}
	p = mustPlan(t, "[0.5, 0.8]", "[0.5, 1]")
	for _, r := range p.Dispatch {
		if got, want := r.Config.row().Saturated, strings.Contains(r.Name(), "load=1 "); got != want {
			t.Errorf("%s: saturated is %v", r.Name(), got)
		}
	}
}

// TestDrawnOverload: jsq-d overloads slow servers that its draws cannot pass
// by, which the run shows; jiq is left to its run.
func TestDrawnOverload(t *testing.T) {
	for _, c := range []struct {
		speeds, policy, load, want string
	}{
		{"[0.1, 1.9]", "jsq-d, choices: 1", "0.5", unstable},
		{"[0.1, 1.9]", "jsq-d, choices: 2", "0.9", stable},
		{"[0.1, 1.9]", "jsq-d, choices: 2, replacement: true", "0.5", unstable}, // 1/4 of 1 on 0.1
		{"[0.1, 1.9]", "jsq-d, choices: 3, replacement: true", "0.3", stable},   // 1/8 of 0.6 on 0.1
		{"[0.1, 0.1, 1.9, 1.9]", "jsq-d, choices: 2", "0.5", unstable},          // 1/6 of 2 on 0.2
		{"[0.1, 0.1, 1.9, 1.9]", "jsq-d, choices: 2", "0.25", stable},
		{"[0.1, 1.9]", "jiq", "0.8", open},
		{"[1, 1]", "jiq", "0.8", stable},
	} {
		servers := "servers: " + fmt.Sprint(strings.Count(c.speeds, ",")+1) + "\n    speeds: " + c.speeds
		p := mustPlan(t, "servers: 2", servers, "[0.5, 0.8]", "["+c.load+"]", "information: {model: periodic, age: 1}", "discipline: fcfs",
			"- jsq\n", "- {name: seen, policy: "+c.policy+"}\n", "requests: 500", "requests: 20000", "{law: lognormal, c2: 2}", "{law: exponential}")
		for _, r := range p.Dispatch {
			if r.Config.RouterPoint != "seen" || r.Replication != 1 {
				continue
			}
			if got := r.Config.row().Stability; got != c.want {
				t.Errorf("%s on %s at %s is %s, want %s", c.policy, c.speeds, c.load, got, c.want)
			}
			result, err := new(queueing.Sim).Run(r.Config.study, 1, 1)
			if err != nil {
				t.Fatal(err)
			}
			if g := growth(r.Config.study, result); (g > 0.01) != (c.want == unstable) && c.want != open {
				t.Errorf("%s on %s at %s, %s, has a backlog that grows by %v of what arrives", c.policy, c.speeds, c.load, c.want, g)
			}
		}
	}
}

// TestShortRunsAreNotJudged: what comes to rest or is over at once is not
// saturated, though its load is 1.
func TestShortRunsAreNotJudged(t *testing.T) {
	p := mustPlan(t, "[0.5, 0.8]", "[1]", "{process: poisson}", "{process: deterministic}", "{law: lognormal, c2: 2}", "{law: deterministic}", "- jsq\n", "- round-robin\n")
	for _, r := range p.Dispatch {
		want := open
		if r.Config.RouterPoint == "random" {
			want = unstable
		}
		if got := r.Config.row().Stability; got != want {
			t.Errorf("%s is %s, want %s", r.Name(), got, want)
		}
	}
	p = mustPlan(t, "[0.5, 0.8]", "[2]", "requests: 500", "requests: 5", "{process: poisson}", "{process: times, times: [0, 1, 2, 3, 4]}")
	if got := p.Dispatch[0].Config.row().Stability; got != open {
		t.Errorf("five given times are %s, want %s", got, open)
	}
}

// TestSweptBaseline: a policy that sweeps is no baseline by its name alone, and
// one that comes first stands for its first values, before anything runs.
func TestSweptBaseline(t *testing.T) {
	swept := []string{"- random\n", "- {name: two, policy: jsq-d, choices: {sweep: [1, 2]}}\n"}
	p := mustPlan(t, append(swept, "baseline: random\n", "")...)
	if got := p.Experiment.Baseline; got != "two policy.choices=1" {
		t.Errorf("without a baseline it is %q, want the first values of the first policy", got)
	}
	text := strings.Replace(strings.Replace(small, swept[0], swept[1], 1), "baseline: random", "baseline: two", 1)
	if _, err := experiment.Load("small.yaml", []byte(text), experiment.Options{}); err == nil || !strings.Contains(err.Error(), `expected one of the 2 that it sweeps over: "two policy.choices=1", "two policy.choices=2"`) {
		t.Errorf("a baseline that means two policies: %v", err)
	}
}

// TestOldInformation: a board that is never written again says so.
func TestOldInformation(t *testing.T) {
	for age, want := range map[string]bool{"100": false, "1000": true} { // 500 requests at a load of 0.5 on two servers take 500
		p := mustPlan(t, "age: 1", "age: "+age)
		if got := strings.Join(p.Dispatch[0].Config.row().Warnings, "\n"); strings.Contains(got, "older than the run, which lasts 500 mean sizes") != want {
			t.Errorf("age %s has the doubts %q", age, got)
		}
	}
}

// TestWarmUpIsNotTheSystems: a wrong warm-up is no error of every system too.
func TestWarmUpIsNotTheSystems(t *testing.T) {
	e, err := experiment.Load("small.yaml", []byte(small), experiment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e.WarmUp = -0.1 // as where Load has found it wrong, and goes on
	if _, err := NewPlan(e); err != nil {
		t.Errorf("the plan says it again: %v", err)
	}
}
