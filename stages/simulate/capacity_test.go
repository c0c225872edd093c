package simulate

import (
	"fmt"
	"math"
	"testing"
)

// With steps of base + a (prefill tokens) + b (decodes), capacity has a closed
// form in each of the three limits of a step.
func TestCapacity(t *testing.T) {
	of := func(engine, kv string) *Cluster {
		return clusterOf(t, "    kv_tokens: "+kv+"\n    step: {model: linear, base_us: 5000, per_prefill_token_us: 20, per_request_us: 100, per_context_token_us: 0}\n    engine: {"+engine+"}\n")
	}
	for _, c := range []struct {
		name, engine, kv string
		work             work
		perStep          float64 // requests that a full step completes
	}{
		{"prefill alone", "chunk_tokens: 1000", "1000000", work{600, 100, 1}, 2},
		{"budget", "chunk_tokens: 1000", "1000000", work{600, 200, 101}, 2},
		{"requests", "chunk_tokens: 1000, max_running: 50", "1000000", work{600, 200, 101}, 0.5},
		{"memory", "chunk_tokens: 1000", "9000", work{600, 200, 101}, 9000 / (100 * 450.5)},
		{"vllm", "scheduler: vllm-v1, max_num_batched_tokens: 1000", "1000000", work{600, 200, 101}, 2},
	} {
		us := 5000 + 20*math.Round(c.perStep*(c.work.prompt-c.work.cached)) + 100*max(1, math.Round(c.perStep*c.work.output))
		got, want := of(c.engine, c.kv).capacity(c.work), c.perStep*1e6/us
		if !(math.Abs(got/want-1) < 1e-9) {
			t.Errorf("%s: %v requests a second, expected %v", c.name, got, want)
		}
	}
	if got := of("scheduler: sglang-0.1", "100000").capacity(work{600, 200, 101}); !math.IsNaN(got) {
		t.Errorf("steps of two kinds have a capacity of %v", got)
	}
}

// The load is proportional to the rate, and near 1 where completions begin to
// fall behind; the share of time in steps has long reached 1.
func TestLoadIsHalfAtHalfTheRate(t *testing.T) {
	const text = `name: test
replications: 1
warm_up: 0.3
workloads:
  - {name: a, generator: lecture-tool, requests: 3000, arrivals: {process: poisson, rate_rps: {sweep: [10, 20, 40]}}}
clusters:
  - {name: one, replicas: 1, model: mistral-7b, gpu: a6000, engine: {chunk_tokens: 1024}}
routers: [round-robin]
`
	cells := cellsOf(t, loaded(t, "", text))
	var load []float64
	for _, c := range cells {
		load = append(load, *c.Load/(*c.ArrivalRps))
	}
	for i, c := range cells {
		if math.Abs(load[i]/load[0]-1) > 0.15 { // hits differ a little
			t.Errorf("load a request and second is %v, at the least rate %v", load[i], load[0])
		}
		if *c.Utilisation < 0.98 {
			t.Errorf("at %v/s the replica is in steps for %v of the time", *c.RateRps, *c.Utilisation)
		}
		if over := *c.Load > 1.05; over != c.Saturated {
			t.Error(fmt.Sprint("load ", *c.Load, ", saturated ", c.Saturated))
		}
	}
}
