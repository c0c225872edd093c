package hardware

import (
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/param"
)

// prepared returns every step model with figures to run on, and two more
// rooflines.
func prepared(t testing.TB) (names []string, all []engine.StepModel) {
	g, m := find(t, "h100", "llama-3.1-8b")
	for _, s := range StepModels() {
		p := s.New()
		param.Defaults(p)
		if p, ok := p.(*TableParams); ok {
			for _, prefill := range []int64{0, 256, 512, 1024, 2048, 4096} {
				for _, d := range []int64{1, 4, 16, 64, 256} {
					for _, context := range []int64{0, 500, 2000, 8000, 32000} {
						p.Points = append(p.Points, Point{prefill, d, d * context, 1e3 + float64(prefill+d)})
					}
				}
			}
		}
		model, err := p.Build(g, m, 1)
		if err != nil {
			t.Fatal(err)
		}
		names, all = append(names, s.Name), append(all, model)
	}
	mixture, _ := FindModel("mixtral-8x7b")
	r, err := NewRoofline(g, mixture, 2, RooflineParams{MFU: .7, MBU: .8})
	if err != nil {
		t.Fatal(err)
	}
	return append(names, "roofline of a mixture"), append(all, r)
}

var steps = map[string]engine.Batch{
	"decodes": batch([]int64{100, 2000, 300, 4000, 777, 1234, 999, 20, 64, 1300}),
	"mixed":   batch([]int64{100, 2000, 300, 4000}, engine.Chunk{New: 900, Done: 1024}, engine.Chunk{New: 1100}),
}

func TestNoAllocation(t *testing.T) {
	names, all := prepared(t)
	for i, model := range all {
		for what, b := range steps {
			if n := testing.AllocsPerRun(100, func() { model.StepNs(b) }); n != 0 {
				t.Errorf("%s allocates %v times for a step of %s", names[i], n, what)
			}
		}
	}
}

func BenchmarkStepNs(b *testing.B) {
	names, all := prepared(b)
	for i, model := range all {
		for what, step := range steps {
			b.Run(names[i]+"/"+what, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					model.StepNs(step)
				}
			})
		}
	}
}
