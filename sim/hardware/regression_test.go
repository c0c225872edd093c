package hardware

import (
	"math"
	"testing"

	"switchyard/sim/engine"
)

// Values of the fits in milliseconds, to the digits given.
func TestRegression(t *testing.T) {
	fit := func(name, unique string) engine.StepModel {
		return build(t, GPU{}, Model{}, func(p *RegressionParams) { p.Fit, p.UniqueKV = name, unique })
	}
	check := func(model engine.StepModel, what string, b engine.Batch, want float64, decimals int) {
		t.Helper()
		scale := math.Pow10(decimals)
		if got := float64(model.StepNs(b)) / 1e6; math.Round(got*scale)/scale != want {
			t.Errorf("%s takes %.4f ms, want %v", what, got, want)
		}
	}
	// extend computes q of s tokens of total context.
	extend := func(q, s int64) engine.Batch { return batch(nil, engine.Chunk{New: q, Done: s - q}) }
	decode := func(n int, s int64) engine.Batch {
		contexts := make([]int64, n)
		for i := range contexts {
			contexts[i] = s - 1
		}
		return batch(contexts)
	}
	scheduler := fit("mistral-7b-a6000", "new") // as its scheduler estimates a prefill
	check(scheduler, "a prefill of 512 on the A6000", extend(512, 512), 66.7, 1)
	for n, want := range map[int64]float64{1024: 128, 1835: 240, 2285: 301, 3871: 521, 4096: 553, 8192: 1183, 9865: 1464, 23474: 4254} {
		check(scheduler, "a prefill on the A6000", extend(n, n), want, 0)
	}
	check(scheduler, "512 tokens at 8,192", extend(512, 8192), 94, 0)
	check(scheduler, "100 tokens at 9,865", extend(100, 9865), 25.6, 1)
	check(scheduler, "2,000 tokens at 23,474", extend(2000, 23474), 413, 0)
	a6000 := fit("mistral-7b-a6000", "context")
	check(a6000, "one decode at 2,000", decode(1, 2000), 25.0, 1)
	check(a6000, "one decode at 10,000", decode(1, 10000), 26.7, 1)
	check(a6000, "one decode at 30,000", decode(1, 30000), 30.8, 1)
	check(a6000, "16 decodes at 2,000", decode(16, 2000), 31.2, 1)
	check(a6000, "64 decodes at 2,000", decode(64, 2000), 51.1, 1)
	check(a6000, "8 decodes at 23,474", decode(8, 23474), 63.4, 1)
	a100 := fit("mistral-7b-a100", "context")
	for n, want := range map[int64]float64{1835: 123, 9865: 758, 23474: 2306} {
		check(a100, "a prefill on the A100", extend(n, n), want, 0)
	}
	check(a100, "one decode at 2,000 on the A100", decode(1, 2000), 11.2, 1)
	h100 := fit("llama-3-70b-h100", "context")
	for n, want := range map[int64]float64{1835: 173, 9865: 906, 23474: 2367} {
		check(h100, "a prefill of 70B on the H100", extend(n, n), want, 0)
	}
	check(h100, "one decode of 70B at 2,000", decode(1, 2000), 24.1, 1)
	// By hand: 28.9314 + 0.182233 x 1000 + 0.00400365 x 3000 + 2.5505e-6 x 3e6, and 0.131 x 1000 + 5.67 + 1.66366 x 3000/2048.
	check(fit("llama-3-70b-a100", "context"), "1,000 tokens of 70B at 3,000", extend(1000, 3000), 230.8, 1)
	check(fit("llama-2-7b-a6000", "context"), "1,000 tokens at 3,000", extend(1000, 3000), 139.1, 1)
	check(fit("llama-2-7b-a6000", "context"), "one decode at 2,048", decode(1, 2048), 27.7, 1)
}

// No step is free, and no prefill of more tokens is much shorter than one of
// fewer: a parabola that a fit has below some length must not leave its range.
func TestRegressionFloor(t *testing.T) {
	for fit, least := range map[string]int64{
		"mistral-7b-a6000": 22e6, "mistral-7b-a100": 8.9e6, "llama-2-7b-a6000": 26e6, "llama-3-70b-a100": 28e6, "llama-3-70b-h100": 18e6,
	} {
		for _, unique := range []string{"context", "new"} {
			model := build(t, GPU{}, Model{}, func(p *RegressionParams) { p.Fit, p.UniqueKV = fit, unique })
			for n := int64(1); n <= 40_000; n++ {
				for _, done := range []int64{0, 5000, 100_000} {
					if got := model.StepNs(batch(nil, engine.Chunk{New: n, Done: done})); got < least {
						t.Fatalf("%s: %d tokens after %d take %d ns, want at least %d", fit, n, done, got, least)
					}
				}
			}
		}
	}
	// By hand: (-118 + 1.25 x 250 - 0.00256 x 250² + 0.32) / 0.9 is above the bound and stays.
	model := build(t, GPU{}, Model{}, func(p *RegressionParams) { p.Fit = "mistral-7b-a6000" })
	if got, want := float64(model.StepNs(batch(nil, engine.Chunk{New: 250})))/1e6, (-118+1.25*250-.00256*250*250+.32)/.9; math.Abs(got-want) > 1e-5 {
		t.Errorf("250 tokens take %v ms, want %v", got, want)
	}
}

// Terms a request count each request by itself.
func TestRegressionSums(t *testing.T) {
	chunks := []engine.Chunk{{New: 300, Done: 9000}, {New: 1024, Done: 0}, {New: 1, Done: 70}, {New: 2000, Done: 5}}
	contexts := []int64{12000, 5}
	b := batch(contexts, chunks...)
	var h100, quad float64
	one := func(q, s float64) {
		h100 += 18.6673 + .0798791*q + .00268532*s + 7.44345e-7*q*s
		if q*s > 1<<20 {
			quad += .00113*q + .00175*s + 2.19e-6*q*s
		}
	}
	for _, c := range chunks {
		one(float64(c.New), float64(c.New+c.Done))
	}
	for _, c := range contexts {
		one(1, float64(c+1))
	}
	near := func(name string, want float64) {
		model := build(t, GPU{}, Model{}, func(p *RegressionParams) { p.Fit, p.OverheadUs = name, 600 })
		if got := float64(model.StepNs(b)) / 1e6; math.Abs(got-want-.6) > 1e-5 {
			t.Errorf("%s takes %.6f ms, want %.6f", name, got, want+.6)
		}
	}
	near("llama-3-70b-h100", h100)
	n := 300 + 1024 + 1 + 2000 + 2.
	context := n + 9000 + 70 + 5 + 12005
	near("mistral-7b-a6000", (.10842571*n+4.209777+1.86e-4*context+.159+quad)/.9)
	// Chunks that no one kept are taken for one.
	lone := batch([]int64{50}, engine.Chunk{New: 2000, Done: 700})
	kept := build(t, GPU{}, Model{}, func(p *RegressionParams) { p.Fit = "mistral-7b-a100" })
	want := kept.StepNs(lone)
	lone.Chunks = nil
	if got := kept.StepNs(lone); got != want {
		t.Errorf("a chunk that is not kept takes %d ns, want %d", got, want)
	}
}
