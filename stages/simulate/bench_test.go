package simulate

import (
	"testing"

	"switchyard/stages/experiment"
)

const toolUse = `name: bench
replications: 1
workloads:
  - name: tool
    generator: tool-use
    requests: 20000
    arrivals: {process: poisson, rate_rps: 12}
clusters:
  - {name: a6000x8, replicas: 8, model: mistral-7b, gpu: a6000}
routers: [cache-aware, round-robin]
`

// BenchmarkTool times cells of the tool workload from the workload in memory
// to the row of table cells, and generation beside it.
func BenchmarkTool(b *testing.B) {
	e, err := experiment.Load("bench.yaml", []byte(toolUse), experiment.Options{})
	if err != nil {
		b.Fatal(err)
	}
	p, err := NewPlan(e)
	if err != nil {
		b.Fatal(err)
	}
	v := p.Workloads[0]
	w, err := v.Build(1)
	if err != nil {
		b.Fatal(err)
	}
	perSecond := func(b *testing.B) {
		b.ReportMetric(float64(b.N)*float64(w.Len())/b.Elapsed().Seconds(), "requests/s")
	}
	b.Run("generate", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if _, err := v.Build(1); err != nil {
				b.Fatal(err)
			}
		}
		perSecond(b)
	})
	for i := range p.Runs {
		r := &p.Runs[i]
		own := new(worker)
		if _, err := p.measure(r, w, own); err != nil {
			b.Fatal(err)
		}
		b.Run(r.Config.RouterPoint, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if _, err := p.measure(r, w, own); err != nil {
					b.Fatal(err)
				}
			}
			perSecond(b)
		})
	}
	r := &p.Runs[0]
	own := new(worker)
	result, err := p.measure(r, w, own)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("metrics", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			own.meter.load(w, result)
			own.meter.Measure(e.WarmUp, e.SLO)
		}
		perSecond(b)
	})
}
