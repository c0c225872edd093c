package cluster

import (
	"fmt"
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/hardware"
	"switchyard/sim/param"
	"switchyard/sim/workload"
)

// a6000 is a cluster of Mistral-7B on A6000s.
func a6000(t testing.TB, replicas int, change func(*engine.Lecture)) Config {
	t.Helper()
	g, _ := hardware.FindGPU("a6000")
	m, _ := hardware.FindModel("mistral-7b")
	var p hardware.RooflineParams
	param.Defaults(&p)
	step, err := hardware.NewRoofline(g, m, 1, p)
	if err != nil {
		t.Fatal(err)
	}
	c := config(replicas, hardware.KVCapacity(g, m, 1, 0.9), change)
	c.Step = step
	return c
}

// generated makes a workload of a generator at its defaults.
func generated(t testing.TB, name string, requests int, rate float64, replication int) *workload.Workload {
	t.Helper()
	e, ok := workload.FindGenerator(name)
	if !ok {
		t.Fatalf("no generator %s", name)
	}
	g := e.New()
	param.Defaults(g)
	arrivals := new(workload.Poisson)
	param.Defaults(arrivals)
	arrivals.RPS = rate
	w, err := (&workload.Spec{Seed: 1, Replication: replication, Requests: requests, Generator: g, Arrivals: arrivals}).Build()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// BenchmarkRun simulates 100,000 tool calls on four replicas.
func BenchmarkRun(b *testing.B) {
	w := generated(b, "tool-use", 100000, 36, 1)
	for _, name := range []string{"round-robin", "least-requests", "consistent-hash", "prefix-threshold", "cache-aware"} {
		b.Run(fmt.Sprint("tool-use/", name), func(b *testing.B) {
			c := a6000(b, 4, nil)
			var sim Sim
			p := policy(b, name)
			if _, err := sim.Run(c, w, name, p, 1, 1); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := sim.Run(c, w, name, p, 1, 1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*w.Len())/b.Elapsed().Seconds(), "requests/s")
		})
	}
}

// BenchmarkOverload simulates 100,000 tool calls that come more than twice as
// fast as four replicas serve them, so that tens of thousands wait in the end,
// under every waiting order of every scheduler.
func BenchmarkOverload(b *testing.B) {
	w := generated(b, "tool-use", 100000, 90, 1)
	for _, scheduler := range engine.Schedulers() {
		orders := []string{""}
		for _, f := range param.Fields(scheduler.New()) {
			if f.Name == "order" {
				orders = f.Enum
			}
		}
		for _, order := range orders {
			b.Run(scheduler.Name+"/"+order, func(b *testing.B) {
				c := a6000(b, 4, nil)
				c.Engine = scheduler.New()
				param.Defaults(c.Engine)
				if order != "" {
					if err := param.Set(c.Engine, "order", order); err != nil {
						b.Fatal(err)
					}
				}
				var sim Sim
				p := policy(b, "round-robin")
				start := cpuSeconds(b)
				for b.Loop() {
					r, err := sim.Run(c, w, "round-robin", p, 1, 1)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(r.EndNs)/float64(r.LastArrivalNs), "load")
				}
				b.ReportMetric(float64(b.N*w.Len())/(cpuSeconds(b)-start), "requests/cpu-s")
			})
		}
	}
}
