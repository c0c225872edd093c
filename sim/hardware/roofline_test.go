package hardware

import (
	"math"
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/param"
)

func find(t testing.TB, gpu, model string) (GPU, Model) {
	t.Helper()
	g, ok := FindGPU(gpu)
	m, ok2 := FindModel(model)
	if !ok || !ok2 {
		t.Fatalf("no %s or no %s in the catalogue", gpu, model)
	}
	return g, m
}

func roofline(t testing.TB) *Roofline {
	t.Helper()
	g, m := find(t, "a6000", "mistral-7b")
	var p RooflineParams
	param.Defaults(&p)
	r, err := NewRoofline(g, m, 1, p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestKVCapacity(t *testing.T) {
	g, m := find(t, "a6000", "mistral-7b")
	if got := KVCapacity(g, m, 1, 0.9); got != 219089 {
		t.Errorf("capacity is %d tokens, want 219,089", got)
	}
	if got := m.KVBytes(); got != 131072 {
		t.Errorf("a token of KV cache has %d bytes, want 131,072", got)
	}
	if _, big := find(t, "a6000", "llama-3.1-70b"); KVCapacity(g, big, 1, 0.9) > 0 {
		t.Error("70 billion parameters fit on a GPU of 48 GB")
	}
}

// Step times of Mistral-7B on an A6000, to the digits given.
func TestStepTimes(t *testing.T) {
	r := roofline(t)
	digits := func(name string, ns int64, want float64, decimals int) {
		t.Helper()
		scale := math.Pow10(decimals)
		if got := math.Round(float64(ns)*1e-9*scale) / scale; got != want {
			t.Errorf("%s takes %.9f s, want %v to %d decimals", name, float64(ns)*1e-9, want, decimals)
		}
	}
	prefill := func(tokens int64) int64 {
		return r.StepNs(engine.Batch{Tokens: tokens, Prefill: tokens, Requests: 1, Attention2: tokens * tokens})
	}
	digits("prefill of 512", prefill(512), 0.06709, 5)
	digits("prefill of 1,835", prefill(1835), 0.24503, 5)
	digits("prefill of 2,000", prefill(2000), 0.2678, 4)
	digits("prefill of 2,100", prefill(2100), 0.28169, 5)
	digits("prefill of 9,865", prefill(9865), 1.50671, 5)
	digits("prefill of 21,000", prefill(21000), 3.7725, 4)
	digits("prefill of 23,474", prefill(23474), 4.35740, 5)
	decode := func(context int64) int64 {
		return r.StepNs(engine.Batch{Tokens: 1, Requests: 1, Context: context, Attention2: 2*context + 1})
	}
	digits("lone decode at context 0", decode(0), 0.02407, 5)
	digits("lone decode at context 2,000", decode(2000), 0.02450, 5)
	digits("lone decode at context 10,000", decode(10000), 0.0262, 4)
	digits("lone decode at context 23,100", decode(23100), 0.0290, 4)
	for chunk, want := range map[int64]float64{512: 3.8192, 1024: 3.7825, 2048: 3.7775} {
		var total int64
		for done := int64(0); done < 21000; {
			m := min(chunk, 21000-done)
			total += r.StepNs(engine.Batch{Tokens: m, Prefill: m, Requests: 1, Context: done, Attention2: m * (2*done + m)})
			done += m
		}
		digits("prefill of 21,000 in chunks", total, want, 4)
	}
}

// Two GPUs halve the work and add all-reduces.
func TestTensorParallel(t *testing.T) {
	g, m := find(t, "h100", "llama-3.1-70b")
	p := RooflineParams{MFU: .7, MBU: .8}
	batch := engine.Batch{Tokens: 4096, Prefill: 4096, Requests: 1, Attention2: 4096 * 4096}
	one, err := NewRoofline(g, m, 1, p)
	if err != nil {
		t.Fatal(err)
	}
	p.AllReduceLatencyUs = 7
	two, err := NewRoofline(g, m, 2, p)
	if err != nil {
		t.Fatal(err)
	}
	// 160 all-reduces, each 7 us and 2 (d-1)/d = 1 times 4,096 x 8,192 x 2 bytes over 450 GB/s.
	reduces := 160 * (7000 + 4096*8192*2/450e9*1e9)
	want := float64(one.StepNs(batch))/2 + reduces
	if got := float64(two.StepNs(batch)); math.Abs(got-want) > 2 {
		t.Errorf("a step on two GPUs takes %.0f ns, want %.0f", got, want)
	}
	if _, err := NewRoofline(g, m, 3, p); err == nil {
		t.Error("three GPUs share eight KV heads")
	}
}
