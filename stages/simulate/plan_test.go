package simulate

import (
	"strings"
	"testing"

	"switchyard/stages/experiment"
)

const small = `name: small
seed: 7
replications: 1..2
warm_up: 0.1
slo: {ttft_ms: 2000}
tables: {requests: all}
workloads:
  - name: docs
    generator: long-documents
    requests: 60
    arrivals: {process: poisson, rate_rps: {sweep: [0.25, 0.5], per_replica: true}}
clusters:
  - name: pair
    replicas: 2
    model: mistral-7b
    gpu: a6000
routers:
  - round-robin
  - {name: sticky, policy: prefix-threshold, threshold: {sweep: [0.25, 0.5]}}
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
	if len(p.Configs) != 6 || len(p.Runs) != 12 || len(p.Workloads) != 2 {
		t.Fatalf("%d configurations, %d cells, %d workloads; expected 6, 12, 2", len(p.Configs), len(p.Runs), len(p.Workloads))
	}
	for i, r := range p.Runs {
		if int(r.Index) != i || int(r.Config.Index) != i/2 || r.Replication != 1+i%2 {
			t.Errorf("cell %d has index %d, configuration %d, replication %d", i, r.Index, r.Config.Index, r.Replication)
		}
	}
	last := p.Runs[11]
	if got, want := last.Name(), "docs rate_rps=0.5 / pair / sticky threshold=0.5 / replication 2"; got != want {
		t.Errorf("the last cell is %q, expected %q", got, want)
	}
	if last.Config.Factors["rate_rps"] != "0.5" || last.Config.Factors["threshold"] != "0.5" {
		t.Errorf("factors are %v", last.Config.Factors)
	}
	row := p.cellRow(&last)
	if row.RateRps == nil || *row.RateRps != 1 { // 0.5 a replica
		t.Errorf("the offered rate is %v, expected 1", row.RateRps)
	}
	if row.KVCapacity != 219089 {
		t.Errorf("KV capacity is %d, expected 219089", row.KVCapacity)
	}
	seen := map[string]bool{}
	for _, r := range p.Runs {
		seen[r.Key] = true
	}
	if len(seen) != len(p.Runs) {
		t.Errorf("%d keys for %d cells", len(seen), len(p.Runs))
	}
}

func TestPlanErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		edits []string
		want  []string
	}{
		{"policy", []string{"- round-robin", "- round-robbin"},
			[]string{"small.yaml:18:5:", `value "round-robbin"`, "one of random, round-robin", `did you mean "round-robin"?`}},
		{"parameter of a policy", []string{"threshold: {sweep: [0.25, 0.5]}", "treshold: 0.5"},
			[]string{"small.yaml:19:46:", "treshold", `did you mean "threshold"?`}},
		{"bound of a policy", []string{"- round-robin", "- {name: ring, policy: consistent-hash, vnodes: 0}"},
			[]string{"small.yaml:18:51:", "vnodes", `value "0"`, "a whole number from 1 to 65536"}},
		{"model", []string{"mistral-7b", "mistral-8b"},
			[]string{"small.yaml:15:12:", `value "mistral-8b"`, "one of mistral-7b", `did you mean "mistral-7b"?`}},
		{"gpu", []string{"a6000", "a600"},
			[]string{"small.yaml:16:10:", "one of a6000", `did you mean "a6000"?`}},
		{"engine", []string{"gpu: a6000", "gpu: a6000\n    engine: {order: fifo}"},
			[]string{"small.yaml:17:21:", "engine.order", "fcfs"}},
		{"router without a policy", []string{"- round-robin", "- {name: round-robin, threshold: 0.1}"},
			[]string{"small.yaml:18:5:", "policy"}},
		{"memory", []string{"mistral-7b", "llama-3.1-70b"},
			[]string{"memory for the 141.1 GB of weights of llama-3.1-70b", "raise tensor_parallel"}},
		{"tensor parallelism", []string{"gpu: a6000", "gpu: a6000\n    tensor_parallel: 3"},
			[]string{"small.yaml:17:22:", "tensor_parallel", "divisor"}},
		{"generator", []string{"long-documents", "long-document"},
			[]string{"small.yaml:9:16:", `did you mean "long-documents"?`}},
		{"trace", []string{"    generator: long-documents\n    requests: 60\n    arrivals: {process: poisson, rate_rps: {sweep: [0.25, 0.5], per_replica: true}}\n", "    trace: absent.jsonl\n"},
			[]string{"small.yaml:9:12:", "absent.jsonl"}},
		{"the same twice", []string{"- round-robin", "- round-robin\n  - {name: again, policy: round-robin}"},
			[]string{"small.yaml:19:27:", "differ from those of \"round-robin\"", "leave one out"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := planned(t, c.edits...)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error is\n%v\nexpected %q in it", err, want)
				}
			}
			if n := strings.Count(err.Error(), "\n") + 1; n != 1 {
				t.Errorf("one mistake is reported %d times:\n%v", n, err)
			}
		})
	}
	_, err := planned(t, "- round-robin", "- round-robbin", "a6000", "a600\n    engine: {order: fifo}", "replicas: 2", "replicas: 0", "long-documents", "short-documents")
	if err == nil || strings.Count(err.Error(), "\n") != 4 {
		t.Errorf("five mistakes give\n%v\nexpected five lines", err)
	}
}

// TestCellKey pins a key, and says what a key does not depend on and what it
// does.
func TestCellKey(t *testing.T) {
	base := mustPlan(t)
	const golden = "f874378f39c65bff20a3a165d9b8980ef96a9ed23e66364fc95e695510992911"
	if got := base.Runs[0].Key; got != golden {
		t.Errorf("the first key is %s, expected %s; raise Version if cells give other rows than before", got, golden)
	}
	keys := func(p *Plan) string {
		var all []string
		for _, r := range p.Runs {
			all = append(all, r.Key)
		}
		return strings.Join(all, " ")
	}
	for name, edits := range map[string][]string{
		"the experiment's name":   {"name: small", "name: other"},
		"the workload's name":     {"name: docs", "name: papers"},
		"the cluster's name":      {"name: pair", "name: two"},
		"the router's name":       {"name: sticky", "name: threshold"},
		"the objective":           {"ttft_ms: 2000", "ttft_ms: 10"},
		"the warm-up":             {"warm_up: 0.1", "warm_up: 0.3"},
		"the tables":              {"requests: all", "requests: none"},
		"the baseline":            {"seed: 7", "seed: 7\nbaseline: sticky threshold=0.5"},
		"a default of the router": {"policy: prefix-threshold", "belief: dispatched, policy: prefix-threshold"},
		"a default of the engine": {"gpu: a6000", "gpu: a6000\n    engine: {chunk_tokens: 1024, order: fcfs}"},
		"defaults of the cluster": {"gpu: a6000", "gpu: a6000\n    tensor_parallel: 1\n    mfu: 0.7\n    kv_tokens: 0"},
		"how a rate is written":   {"rate_rps: {sweep: [0.25, 0.5], per_replica: true}", "rate_rps: {sweep: [0.5, 1.0]}"},
	} {
		if keys(mustPlan(t, edits...)) != keys(base) {
			t.Errorf("keys change with %s", name)
		}
	}
	for name, edits := range map[string][]string{
		"the seed":                     {"seed: 7", "seed: 8"},
		"a parameter of the workload":  {"requests: 60", "requests: 61"},
		"a parameter of the cluster":   {"gpu: a6000", "gpu: a6000\n    kv_tokens: 50000"},
		"a parameter of the step time": {"gpu: a6000", "gpu: a6000\n    mfu: 0.6"},
		"a parameter of the engine":    {"gpu: a6000", "gpu: a6000\n    engine: {chunk_tokens: 512}"},
		"the number of replicas":       {"replicas: 2", "replicas: 4"},
	} {
		p := mustPlan(t, edits...)
		for i := range p.Runs {
			if p.Runs[i].Key == base.Runs[i].Key {
				t.Errorf("key %d does not change with %s", i, name)
				break
			}
		}
	}
	more := mustPlan(t, "1..2", "2..3")
	if more.Runs[0].Key != base.Runs[1].Key {
		t.Error("the key of a replication depends on the others")
	}
}
