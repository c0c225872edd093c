//go:build unix

package simulate

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"switchyard/sim/cluster"
	"switchyard/sim/engine"
	"switchyard/sim/hardware"
	"switchyard/sim/param"
	"switchyard/sim/router"
	"switchyard/sim/workload"
	"switchyard/stages/trace"
)

// repeated interns a trace over and over until there are n requests. Each copy
// has contents of its own, so that none becomes the next one's cache hit.
func repeated(b *testing.B, c *trace.Requests, n int) *workload.Workload {
	b.Helper()
	builder := workload.Builder{BlockTokens: c.BlockTokens()}
	builder.Grow(n)
	var r workload.Request
	c.At(c.Len()-1, &r)
	length := r.ArrivalUs
	for i := range n {
		copied := int64(i / c.Len())
		c.At(i%c.Len(), &r)
		r.ArrivalUs += copied * length
		for k := range r.Segments {
			r.Segments[k].ID += copied << 40
		}
		if err := builder.Add(&r); err != nil {
			b.Fatal(err)
		}
	}
	w, err := builder.Build()
	if err != nil {
		b.Fatal(err)
	}
	return w
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

// BenchmarkMooncake simulates Mooncake's conversations, repeated to 100,000
// requests, on eight H100 with Llama-3.1-8B in blocks of 16 under vllm-v1, at a
// speed at which requests wait but the cluster keeps up. Interning is
// included, reading the file is not.
func BenchmarkMooncake(b *testing.B) {
	data := os.Getenv("SWITCHYARD_DATA")
	if data == "" {
		b.Skip("SWITCHYARD_DATA does not name a folder with traces/mooncake-conversation.jsonl")
	}
	name := filepath.Join(data, "traces", "mooncake-conversation.jsonl")
	file, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	requests, err := trace.Load(name, file, trace.Source{}, trace.Options{Speed: 3})
	if err != nil {
		b.Fatal(err)
	}
	g, _ := hardware.FindGPU("h100")
	m, _ := hardware.FindModel("llama-3.1-8b")
	var roofline hardware.RooflineParams
	param.Defaults(&roofline)
	step, err := hardware.NewRoofline(g, m, 1, roofline)
	if err != nil {
		b.Fatal(err)
	}
	p := new(engine.VLLM)
	param.Defaults(p)
	config := cluster.Config{Replicas: 8, Step: step, KVTokens: p.KVTokens(hardware.KVCapacity(g, m, 1, 0.9)), Engine: p}
	for _, policy := range []string{"round-robin", "cache-aware"} {
		b.Run(policy, func(b *testing.B) {
			entry, _ := router.Find(policy)
			params := entry.New()
			param.Defaults(params)
			const n = 100_000
			var r *cluster.Result
			start := cpuSeconds(b)
			for b.Loop() {
				w := repeated(b, requests, n)
				var sim cluster.Sim
				if r, err = sim.Run(config, w, policy, params, 1, 1); err != nil {
					b.Fatal(err)
				}
			}
			var steps, cached, prompt, busy int64
			for _, s := range r.Replicas {
				steps, cached, prompt, busy = steps+s.Steps, cached+s.CachedTokens, prompt+s.PromptTokens, busy+s.BusyNs
			}
			preemptions := 0
			for _, k := range r.Preemptions {
				preemptions += int(k)
			}
			b.ReportMetric(float64(b.N)*n/(cpuSeconds(b)-start), "requests/cpu-s")
			b.ReportMetric(float64(steps)/n, "steps/request")
			b.ReportMetric(float64(cached)/float64(prompt), "hit-rate")
			b.ReportMetric(float64(preemptions), "preemptions")
			b.ReportMetric(float64(busy)/float64(r.EndNs)/8, "busy")
			b.ReportMetric(float64(r.EndNs)/float64(r.LastArrivalNs), "end/last-arrival")
		})
	}
}
