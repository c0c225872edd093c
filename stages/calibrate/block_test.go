package calibrate

import (
	"strings"
	"testing"

	"switchyard/sim/cluster"
	"switchyard/sim/hardware"
	"switchyard/stages/experiment"
	"switchyard/stages/simulate"
	"switchyard/stages/trace"
)

// What is pasted is the server of the table: read by the experiment's own
// reader it replays the recording to the very latencies, whether the hardware
// is known, in which data types, or not at all.
func TestBlockReplays(t *testing.T) {
	fp8 := qwen()
	fp8.Model = fp8.Model.With(hardware.FP8, hardware.FP8)
	fp8.Set, fp8.Utilization = []string{"async_scheduling=true"}, 0.9 // the KV cache follows from the data types
	bare := Engine{TensorParallel: 1, Scheduler: "vllm-v1", Set: []string{"async_scheduling=false"}}
	for name, c := range map[string]struct {
		step string
		e    Engine
		want []string
	}{
		"fp8":              {"max-linear", fp8, []string{"weight_dtype: fp8", "kv_dtype: fp8"}},
		"without hardware": {"linear", bare, []string{"kv_tokens: 1099511627776"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := made(t, c.step, c.e, 1, 60, 4e5)
			r, err := Run(t.Context(), []*trace.Measured{m}, nil, Options{Step: c.step, Engine: c.e})
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(r.Block, want) {
					t.Errorf("want %s in\n%s", want, r.Block)
				}
			}
			e, err := experiment.Load("x.yaml", []byte("name: x\nworkloads: [{name: w, generator: tool-use, requests: 10, arrivals: {process: poisson, rate_rps: 1}}]\nrouters: [random]\n"+r.Block), experiment.Options{})
			if err != nil {
				t.Fatal(err)
			}
			p, err := simulate.NewPlan(e)
			if err != nil {
				t.Fatalf("%v\n%s", err, r.Block)
			}
			config := p.Configs[0].Cluster.Config
			recording, err := newRecording(m)
			if err != nil {
				t.Fatal(err)
			}
			l, err := recording.simulate(new(cluster.Sim), server{config.Step, config.Engine, config.KVTokens})
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range r.Rows {
				if row.Fit == "all" && (l.ttft[row.Request] != row.SimTTFT || l.e2e[row.Request] != row.SimE2E) {
					t.Fatalf("request %d replays to TTFT %v and E2E %v, the table has %v and %v", row.Request, l.ttft[row.Request], l.e2e[row.Request], row.SimTTFT, row.SimE2E)
				}
			}
		})
	}
}
