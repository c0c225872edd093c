//go:build unix

package cluster

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/hardware"
	"switchyard/sim/param"
	"switchyard/sim/workload"
)

// llamaOnH100 is the roofline of Llama-3.1-8B on an H100.
func llamaOnH100(t testing.TB) engine.StepModel {
	t.Helper()
	g, okGPU := hardware.FindGPU("h100")
	m, okModel := hardware.FindModel("llama-3.1-8b")
	if !okGPU || !okModel {
		t.Fatal("no H100 or no Llama-3.1-8B in the catalogue")
	}
	var p hardware.RooflineParams
	param.Defaults(&p)
	step, err := hardware.NewRoofline(g, m, 1, p)
	if err != nil {
		t.Fatal(err)
	}
	return step
}

// vllmConfig is a cluster under vllm-v1 at its defaults.
func vllmConfig(t testing.TB, replicas, blocks int) Config {
	t.Helper()
	p := new(engine.VLLM)
	param.Defaults(p)
	p.Blocks = blocks
	return Config{Replicas: replicas, Step: llamaOnH100(t), KVTokens: p.KVTokens(0), Engine: p}
}

// prefixGroups is a workload of prefix-groups, with deviations of a quarter of
// the means.
func prefixGroups(requests, groups int, prefix int32, own, output, rate float64) workload.Spec {
	return workload.Spec{
		Seed: 1, Replication: 1, Requests: requests, Arrivals: &workload.Poisson{Rate: workload.Rate{RPS: rate}},
		Generator: &workload.PrefixGroups{Groups: groups, Prefix: prefix, Own: own, OwnSD: own / 4, Output: output, OutputSD: output / 4},
	}
}

// overloadedTools is tool use that comes twice as fast as it is served.
func overloadedTools() workload.Spec {
	tool := new(workload.ToolUse)
	param.Defaults(tool)
	return workload.Spec{Seed: 1, Replication: 1, Requests: 1e5, Generator: tool, Arrivals: &workload.Poisson{Rate: workload.Rate{RPS: 300}}}
}

// cpuSeconds returns the CPU time that the process has taken, garbage
// collection on other cores included.
func cpuSeconds(t testing.TB) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkVLLM simulates a million requests (a tenth with 256 replicas) of
// what a published simulator was measured on, and reports requests a
// CPU-second with the generation of the workload: W1 is 32 prefixes on 4 replicas, W2 are
// 64 longer ones, W3 is W2 at four times the load on 16 replicas, W4 at 64
// times on 256; W5 is tool use at twice the rate that 4 replicas serve.
func BenchmarkVLLM(b *testing.B) {
	for _, c := range []struct {
		name             string
		replicas, blocks int
		spec             workload.Spec
	}{
		{"W1", 4, 26312, prefixGroups(1e6, 32, 1024, 128, 128, 60)},
		{"W2", 4, 20000, prefixGroups(1e6, 64, 2048, 256, 192, 80)},
		{"W3", 16, 20000, prefixGroups(1e6, 64, 2048, 256, 192, 320)},
		{"W5", 4, 20000, overloadedTools()},
		{"W4", 256, 20000, prefixGroups(1e5, 64, 2048, 256, 192, 64*80)},
	} {
		for _, name := range []string{"round-robin", "cache-aware"} {
			b.Run(fmt.Sprintf("%s/%s", c.name, name), func(b *testing.B) {
				config := vllmConfig(b, c.replicas, c.blocks)
				p := policy(b, name)
				var r *Result
				var steps int64
				start := cpuSeconds(b)
				for b.Loop() {
					w, err := c.spec.Build()
					if err != nil {
						b.Fatal(err)
					}
					var sim Sim
					if r, err = sim.Run(config, w, name, p, 1, 1); err != nil {
						b.Fatal(err)
					}
				}
				for _, s := range r.Replicas {
					steps += s.Steps
				}
				n := float64(c.spec.Requests)
				b.ReportMetric(float64(b.N)*n/(cpuSeconds(b)-start), "requests/cpu-s")
				b.ReportMetric(float64(steps)/n, "steps/request")
				b.ReportMetric(float64(r.EndNs)/float64(r.LastArrivalNs), "end/last-arrival")
			})
		}
	}
}

// BenchmarkVLLMMemory reports the heap that a million requests of W2 take.
func BenchmarkVLLMMemory(b *testing.B) {
	spec := prefixGroups(1e6, 64, 2048, 256, 192, 80)
	config, p := vllmConfig(b, 4, 20000), policy(b, "round-robin")
	for b.Loop() {
		w, err := spec.Build()
		if err != nil {
			b.Fatal(err)
		}
		var sim Sim
		if _, err := sim.Run(config, w, "round-robin", p, 1, 1); err != nil {
			b.Fatal(err)
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.Sys)/1e6, "MB-from-system")
		runtime.KeepAlive(w)
	}
}
