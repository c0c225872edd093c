package generate

import (
	"testing"

	"switchyard/sim/workload"
)

// BenchmarkBuild is a workload as a group of cells gets it; BenchmarkRows adds
// the rows of table `workload`.
func BenchmarkBuild(b *testing.B) {
	v := benchVariant(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Build(1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*float64(v.Requests())/b.Elapsed().Seconds(), "requests/s")
}

func BenchmarkRows(b *testing.B) {
	v := benchVariant(b)
	b.ReportAllocs()
	for b.Loop() {
		made := rows{variant: v, replication: 1, all: make([]Request, 0, v.requests)}
		builder := v.builder()
		err := v.Each(1, func(r *workload.Request) error {
			made.add(r)
			return builder.Add(r)
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*float64(v.Requests())/b.Elapsed().Seconds(), "requests/s")
}

func benchVariant(b *testing.B) *Variant {
	return decode(b, b.TempDir(), "  - {name: tool, generator: tool-use, requests: 100000, arrivals: {process: poisson, rate_rps: 8}}\n")[0]
}
