package hardware

import (
	"math"
	"testing"

	"switchyard/sim/engine"
)

// expected returns the mean number of distinct experts among the choices of n
// tokens, each of which takes two of four, by going through all choices.
func expected(n int) float64 {
	var pairs []int
	for i := range 4 {
		for j := range i {
			pairs = append(pairs, 1<<i|1<<j)
		}
	}
	sum, cases := 0, 0
	var choose func(left, touched int)
	choose = func(left, touched int) {
		if left == 0 {
			for ; touched > 0; touched &= touched - 1 {
				sum++
			}
			cases++
			return
		}
		for _, p := range pairs {
			choose(left-1, touched|p)
		}
	}
	choose(n, 0)
	return float64(sum) / float64(cases)
}

// What a memory-bound step reads of a mixture: everything but the experts, and
// the experts that its tokens are expected to touch.
func TestExpertsRead(t *testing.T) {
	g := GPU{FLOPS: 1e30, Bandwidth: 1e9, Memory: 1e12, Link: 1e9}
	m := Model{Layers: 3, Hidden: 64, Heads: 4, KVHeads: 2, HeadDim: 16, FFN: 4096, Vocab: 100, Experts: 4, ActiveExperts: 2}
	r, err := NewRoofline(g, m, 1, RooflineParams{MFU: 1, MBU: 1})
	if err != nil {
		t.Fatal(err)
	}
	expert := float64(3 * 3 * 64 * 4096 * 2)
	for n := 1; n <= 5; n++ {
		want := float64(m.WeightBytes()) - expert*(4-expected(n)) // 1 byte a ns
		b := engine.Batch{Tokens: int64(n), Requests: int64(n), Attention2: int64(n)}
		if got := float64(r.StepNs(b)); math.Abs(got-want) > 1 {
			t.Errorf("%d tokens take %.0f ns, want %.0f", n, got, want)
		}
	}
	if got := r.StepNs(engine.Batch{Tokens: 1 << 40, Requests: 1}); got != m.WeightBytes() {
		t.Errorf("very many tokens take %d ns, want the %d of all weights", got, m.WeightBytes())
	}
}

func TestPower(t *testing.T) {
	for _, x := range []float64{0, .25, .9375, 1} {
		for n := int64(0); n < 3000; n += 1 + n/7 {
			if got, want := power(x, n), math.Pow(x, float64(n)); math.Abs(got-want) > 1e-12 {
				t.Errorf("%v to the %d is %v, want %v", x, n, got, want)
			}
		}
	}
}

// A compute-bound step of a mixture costs its active parameters.
func TestActiveCompute(t *testing.T) {
	g, m := find(t, "h100", "qwen3-30b-a3b")
	r, err := NewRoofline(g, m, 1, RooflineParams{MFU: 1, MBU: 1})
	if err != nil {
		t.Fatal(err)
	}
	const n = 100_000
	want := (2*n*float64(m.ActiveParameters()) + 4*4096*48*float64(n)*n/2) / 989e12 * 1e9
	got := float64(r.StepNs(engine.Batch{Tokens: n, Prefill: n, Requests: 1, Attention2: n * n}))
	if math.Abs(got-want) > 2 {
		t.Errorf("the step takes %.0f ns, want %.0f", got, want)
	}
}

// Weights in fp8 halve what the products of the blocks occupy, and double the
// peak where the GPU has the units; a KV cache in fp8 halves that alone.
func TestFP8(t *testing.T) {
	g, m := find(t, "h100", "llama-3.1-8b")
	half := m.With(FP8, BF16)
	if got, want := half.WeightBytes(), m.WeightBytes()-m.BlockParameters(); got != want {
		t.Errorf("fp8 weights have %d bytes, want %d", got, want)
	}
	if got := m.With(BF16, FP8).KVBytes(); got != m.KVBytes()/2 {
		t.Errorf("an fp8 token has %d bytes, want half of %d", got, m.KVBytes())
	}
	_, mixture := find(t, "h100", "mixtral-8x7b")
	products := mixture.BlockParameters() - 32*8*4096 // without routers
	if got, want := mixture.With(FP8, BF16).WeightBytes(), mixture.WeightBytes()-products; got != want {
		t.Errorf("fp8 weights of a mixture have %d bytes, want %d", got, want)
	}
	free := 72e9 - float64(half.WeightBytes())
	if got, want := KVCapacity(g, m.With(FP8, FP8), 1, .9), int64(free/65536); got != want {
		t.Errorf("%d tokens fit, want %d", got, want)
	}
	step := func(g GPU, m Model, b engine.Batch) float64 {
		r, err := NewRoofline(g, m, 1, RooflineParams{MFU: 1, MBU: 1})
		if err != nil {
			t.Fatal(err)
		}
		return float64(r.StepNs(b))
	}
	prefill := engine.Batch{Tokens: 4096, Prefill: 4096, Requests: 1, Attention2: 4096 * 4096}
	products8 := 2 * 4096 * float64(m.BlockParameters()) / 989e12 * 1e9 * (1 - 989./1979)
	if got, want := step(g, m, prefill)-step(g, half, prefill), products8; math.Abs(got-want) > 2 {
		t.Errorf("fp8 saves %.0f ns of a prefill, want %.0f", got, want)
	}
	old, _ := FindGPU("a100-80gb")
	if step(old, m, prefill) != step(old, half, prefill) {
		t.Error("fp8 weights speed up the compute of a GPU without fp8 units")
	}
	decode := engine.Batch{Tokens: 1, Requests: 1, Context: 1000, DecodeContext: 1000, Attention2: 2001}
	saved := (float64(m.BlockParameters()) + 500*float64(m.KVBytes())) / 2039e9 * 1e9
	if got := step(old, m, decode) - step(old, m.With(FP8, FP8), decode); math.Abs(got-saved) > 2 {
		t.Errorf("fp8 saves %.0f ns of a decode, want %.0f", got, saved)
	}
}

// Eight GPUs hold two copies of four KV heads: a token takes twice the bytes,
// and each GPU reads as much as with four.
func TestCopiedHeads(t *testing.T) {
	g, m := find(t, "h100", "qwen3-30b-a3b")
	p := RooflineParams{MFU: 1, MBU: 1}
	context := func(degree int) int64 {
		r, err := NewRoofline(g, m, degree, p)
		if err != nil {
			t.Fatal(err)
		}
		b := engine.Batch{Tokens: 1, Requests: 1}
		without := r.StepNs(b)
		b.Context = 1e7
		return r.StepNs(b) - without
	}
	if four, eight := context(4), context(8); four-eight > 1 || eight-four > 1 {
		t.Errorf("a context takes %d ns on four GPUs and %d on eight", four, eight)
	}
	if one, four := context(1), context(4); math.Abs(float64(one)/4-float64(four)) > 2 {
		t.Errorf("a context takes %d ns on one GPU and %d on four", one, four)
	}
	free := 8*80e9*.9 - float64(m.WeightBytes())
	if got, want := KVCapacity(g, m, 8, .9), int64(free/float64(2*m.KVBytes())); got != want {
		t.Errorf("%d tokens fit on eight GPUs, want %d", got, want)
	}
}
