package hardware

import (
	"math"
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/param"
)

// batch returns the batch of a step with decodes of these contexts and these
// prefill chunks, counted one by one.
func batch(contexts []int64, chunks ...engine.Chunk) engine.Batch {
	b := engine.Batch{Chunks: &chunks}
	for _, c := range contexts {
		b.Tokens++
		b.Requests++
		b.Context += c
		b.DecodeContext += c
		b.Attention2 += 2*c + 1
	}
	for _, c := range chunks {
		b.Tokens += c.New
		b.Prefill += c.New
		b.Requests++
		b.Context += c.Done
		b.Attention2 += 2*c.New*c.Done + c.New*c.New
	}
	return b
}

// build returns a step model with its defaults and what set changes.
func build[P any](t testing.TB, g GPU, m Model, set func(*P)) engine.StepModel {
	t.Helper()
	p := new(P)
	param.Defaults(p)
	set(p)
	if err := param.Validate(p); err != nil {
		t.Fatal(err)
	}
	model, err := any(p).(StepParams).Build(g, m, 1)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// Steps of a worked example, by hand: base 1,000, 10 a prefill token, 1 a
// token of context.
func TestLinear(t *testing.T) {
	l := build(t, GPU{}, Model{}, func(p *LinearParams) {
		p.BaseUs, p.PerPrefillTokenUs, p.PerContextTokenUs, p.WholeUs = 1000, 10, 1, true
	})
	for i, c := range []struct {
		b    engine.Batch
		want int64
	}{
		{batch(nil, engine.Chunk{New: 6}, engine.Chunk{New: 2}), 1080},
		{batch([]int64{6}, engine.Chunk{New: 3, Done: 2}), 1037},
		{batch([]int64{7, 5}), 1014},
		{batch([]int64{8, 6}), 1016},
		{batch([]int64{8}), 1009},
		{batch(nil, engine.Chunk{New: 3, Done: 4}), 1030},
	} {
		if got := l.StepNs(c.b); got != c.want*1000 {
			t.Errorf("step %d takes %d ns, want %d us", i, got, c.want)
		}
	}
}

func TestWholeUs(t *testing.T) {
	set := func(whole bool, base float64) engine.StepModel {
		return build(t, GPU{}, Model{}, func(p *LinearParams) {
			p.BaseUs, p.PerRequestUs, p.WholeUs = base, 2.25, whole
		})
	}
	b := batch([]int64{5, 5, 5})
	if got := set(true, 100.2).StepNs(b); got != 106_000 {
		t.Errorf("106.95 us are cut to %d ns, want 106,000", got)
	}
	if got := set(false, 100.2).StepNs(b); got != 106_950 {
		t.Errorf("106.95 us are %d ns", got)
	}
	if whole, exact := set(true, 0).StepNs(engine.Batch{}), set(false, 0).StepNs(engine.Batch{}); whole != 1000 || exact != 1 {
		t.Errorf("steps of no time take %d and %d ns, want 1,000 and 1", whole, exact)
	}
}

func TestMaxLinear(t *testing.T) {
	_, m := find(t, "h100", "qwen3-14b")
	step := func(attention string, efficiency float64) engine.StepModel {
		return build(t, GPU{}, m, func(p *MaxLinearParams) {
			p.OverheadUs, p.PerRequestUs, p.PerPrefillTokenUs, p.WeightsUs, p.PerContextTokenUs = 1000, 10, 40, 10_000, .1
			p.Attention, p.AttentionEfficiency = attention, efficiency
		})
	}
	plain := step("none", 1)
	if got := plain.StepNs(batch([]int64{99, 199}, engine.Chunk{New: 200})); got != 1e3*(1000+30+10_000+30) {
		t.Errorf("a step bound by weights takes %d ns, want 11,060 us", got)
	}
	if got := plain.StepNs(batch([]int64{99, 199}, engine.Chunk{New: 300, Done: 5000})); got != 1e3*(1000+30+12_000+30) {
		t.Errorf("a step bound by compute takes %d ns, want 13,060 us", got)
	}
	// 13.2e9 parameters in the blocks; attention of 5,120 x 40.
	long := batch([]int64{50}, engine.Chunk{New: 1000, Done: 3000}, engine.Chunk{New: 500})
	pairs := 1000*3000 + 1000*1000/2 + 500*500/2.
	attention := 40 * 4 * 5120 * 40 * pairs / (2 * float64(m.BlockParameters()))
	for _, efficiency := range []float64{1, .5} {
		got := float64(step("shape", efficiency).StepNs(long) - plain.StepNs(long))
		if want := attention / efficiency * 1e3; math.Abs(got-want) > 2 {
			t.Errorf("attention at efficiency %v takes %.0f ns, want %.0f", efficiency, got, want)
		}
	}
	round := build(t, GPU{}, m, func(p *MaxLinearParams) {
		p.PerPrefillTokenUs, p.WeightsUs, p.Attention, p.Knee = 40, 10_000, "none", 2
	})
	for tokens, want := range map[int64]int64{250: 14_142_136, 1000: 41_231_056, 0: 10_000_000} {
		if got := round.StepNs(batch([]int64{0}, engine.Chunk{New: tokens})); got != want {
			t.Errorf("%d tokens at knee 2 take %d ns, want %d", tokens, got, want)
		}
	}
	tiled := build(t, GPU{}, m, func(p *MaxLinearParams) {
		p.PerPrefillTokenUs, p.WeightsUs, p.Attention, p.TileTokens = 40, 10_000, "none", 128
	})
	for _, c := range []struct {
		prefill, decodes int64
		want             int64 // tokens
	}{{1000, 24, 1024}, {1000, 25, 1152}, {1024, 0, 1024}, {897, 1, 1024}, {0, 200, 250}} {
		var chunks []engine.Chunk
		if c.prefill > 0 {
			chunks = append(chunks, engine.Chunk{New: c.prefill})
		}
		if got := tiled.StepNs(batch(make([]int64, c.decodes), chunks...)); got != c.want*40_000 {
			t.Errorf("%d prompt tokens and %d decodes in tiles take %d ns, want the time of %d tokens", c.prefill, c.decodes, got, c.want)
		}
	}
	if (&MaxLinearParams{Knee: .5}).Check() == nil {
		t.Error("a knee of 0.5 passes")
	}
	if _, err := (&MaxLinearParams{Attention: "shape"}).Build(GPU{}, Model{}, 1); err == nil {
		t.Error("attention comes from the shape of no model")
	}
}

// With the roofline's own coefficients, max-linear is the roofline wherever
// compute binds prefills and memory binds decodes.
func TestMaxLinearIsRoofline(t *testing.T) {
	g, m := find(t, "a6000", "mistral-7b")
	r := roofline(t)
	l := build(t, g, m, func(p *MaxLinearParams) {
		p.OverheadUs, p.PerPrefillTokenUs, p.WeightsUs, p.PerContextTokenUs = r.overhead/1e3, r.perToken/1e3, r.weights/1e3, r.perContext/1e3
	})
	for _, b := range []engine.Batch{
		batch(nil, engine.Chunk{New: 512}), batch(nil, engine.Chunk{New: 1024, Done: 20000}),
		batch(nil, engine.Chunk{New: 2000}, engine.Chunk{New: 48, Done: 7}), batch(nil, engine.Chunk{New: 3}),
	} {
		if a, b := r.StepNs(b), l.StepNs(b); a-b > 1 || b-a > 1 {
			t.Errorf("the roofline takes %d ns, max-linear %d", a, b)
		}
	}
	b := batch([]int64{2000, 100, 7})
	if got, want := l.StepNs(b), r.StepNs(b)+int64(3*r.perContext); got-want > 1 || want-got > 1 {
		t.Errorf("decodes take %d ns, want %d: the roofline without their own tokens, and these", got, want)
	}
}
