//go:build unix

package router

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"switchyard/sim/param"
	"switchyard/sim/workload"
)

// tools is 100,000 calls of tools at 8 a second and replica.
func tools(b *testing.B, replicas int) *workload.Workload {
	g, arrivals := new(workload.ToolUse), new(workload.Poisson)
	param.Defaults(g)
	param.Defaults(arrivals)
	arrivals.RPS = 8 * float64(replicas)
	w, err := (&workload.Spec{Seed: 1, Replication: 1, Requests: 100_000, Generator: g, Arrivals: arrivals}).Build()
	if err != nil {
		b.Fatal(err)
	}
	return w
}

// conversations is Mooncake's conversation trace, four times over with contents
// of its own each time, sped up to .5 a second and replica; once for many
// replicas, where matrices of nodes by replicas are large.
func conversations(b *testing.B, replicas int) *workload.Workload {
	data := os.Getenv("SWITCHYARD_DATA")
	if data == "" {
		b.Skip("SWITCHYARD_DATA does not name a folder with traces/mooncake-conversation.jsonl")
	}
	copies := int64(4)
	if replicas > 64 {
		copies = 1
	}
	builder := workload.Builder{BlockTokens: 512}
	for c := range copies {
		file, err := os.Open(filepath.Join(data, "traces", "mooncake-conversation.jsonl"))
		if err != nil {
			b.Fatal(err)
		}
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var row struct {
				Timestamp int64
				Input     int32   `json:"input_length"`
				Output    int32   `json:"output_length"`
				Hashes    []int64 `json:"hash_ids"`
			}
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				b.Fatal(err)
			}
			r := workload.Request{ArrivalUs: (row.Timestamp + c*3_537_000) * 1000 * 7 / int64(replicas), After: workload.None,
				Session: workload.None, OutputID: workload.None, Prompt: row.Input, Output: max(1, row.Output)}
			for i, h := range row.Hashes {
				r.Segments = append(r.Segments, workload.Segment{ID: h + c<<40, Tokens: min(512, row.Input-int32(i)*512)})
			}
			if err := builder.Add(&r); err != nil {
				b.Fatal(err)
			}
		}
		file.Close()
	}
	w, err := builder.Build()
	if err != nil {
		b.Fatal(err)
	}
	return w
}

// cpuSeconds returns the CPU time that the process has taken, garbage
// collection on other cores included.
func cpuSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkRoute reports decisions a CPU-second of every policy at its defaults,
// with the books that the driver keeps: policy random shows what those take.
func BenchmarkRoute(b *testing.B) {
	for _, load := range []struct {
		name string
		make func(*testing.B, int) *workload.Workload
	}{{"tool-use", tools}, {"mooncake", conversations}} {
		for _, replicas := range []int{8, 64, 1024} {
			b.Run(fmt.Sprintf("%s/%d", load.name, replicas), func(b *testing.B) {
				w := load.make(b, replicas)
				for _, p := range Policies() {
					b.Run(p.Name, func(b *testing.B) { benchmarkRoute(b, p, w, replicas) })
				}
			})
		}
	}
}

func benchmarkRoute(b *testing.B, p Policy, w *workload.Workload, replicas int) {
	d, ok := newBench(p, w, replicas)
	if !ok {
		b.Skip("this policy does not go with the workload")
	}
	b.ReportAllocs()
	cpu := 0.
	for b.Loop() {
		b.StopTimer()
		d.reset(p.Name)
		b.StartTimer()
		start := cpuSeconds(b)
		d.run()
		cpu += cpuSeconds(b) - start
	}
	b.ReportMetric(float64(b.N*w.Len())/cpu, "decisions/cpu-s")
	if d.held > 0 {
		b.ReportMetric(float64(d.held)/float64(b.N*w.Len()), "held-share")
	}
}
