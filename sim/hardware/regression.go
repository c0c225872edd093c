package hardware

import "switchyard/sim/engine"

// RegressionParams choose one of the functions that Preble (Srivatsa and
// others, ICLR 2025, arXiv:2407.00023) fitted to measured steps, from
// model_equations.py of its code at commit 8e7906a. With n new tokens in the
// step, q new tokens and s tokens of total context of a request, and C the sum
// of s, in milliseconds:
//
//	mistral-7b-a6000    (linear(n) + attention(C) + Σ long(q, s)) / 0.9
//	  linear      0.10842571 n + 4.20978 from 384, max(22, −118 + 1.25 n − 0.00256 n²) from 192, else 22
//	  attention   0.32 up to 1,024, else 0.000186 C + 0.159, halved where the KV is shared or short
//	  long        0.00113 q + 0.00175 s + 2.19e-6 q s where q s > 2²⁰
//	mistral-7b-a100     (linear(n) + attention of the short + Σ long(q, s)) / 0.85
//	  linear      0.05031337 n + 5.506 from 256, 10.5 from 64, else 8.96
//	  long        0.12386 − 0.000745359 q + 0.00172023 s + 1.36266e-6 q s where q s >= 2²⁰
//	llama-2-7b-a6000    linear(n) + 1.66366 C / 2048
//	  linear      0.131 n + 5.67 from 384, 0.114 n + 12.4 from 128, else 26.065
//	llama-3-70b-a100    Σ 28.9314 + 0.182233 q + 0.00400365 s + 2.5505e-6 q s
//	llama-3-70b-h100    Σ 18.6673 + 0.0798791 q + 0.00268532 s + 7.44345e-7 q s
//
// The first three were measured with SGLang 0.1.12 and FlashInfer on one GPU,
// except llama-2-7b with vLLM; the last two are labelled tensor parallel over
// two GPUs. Model, GPU and degree of the cluster play no part.
//
// attention is halved where the unique KV tokens u of the step's B requests
// have u/B <= 1,024 and B u <= 2²⁴. A batch does not say how much of its
// context is shared; unique_kv says what stands for it: the whole context
// (Preble's decodes), or the new tokens (its scheduler's prefill estimates).
//
// The bound of 22 ms on the parabola of the first fit is ours. Its code has
// none, and the parabola turns at 244 tokens, falls below 22 from 315 on, and
// is negative at 362 to 383, where a step would take no time at all. From 192 to
// 314 tokens and from 384 on the times are those of the code.
//
// On the A100 the code converts the attention of short requests to seconds
// twice, so that it vanishes; here it counts, once for all of them. The 70B
// functions were fitted to single prefills: summed over a batch of decodes, as
// the code does, they charge each the read of all weights.
type RegressionParams struct {
	Fit        string  `yaml:"fit" default:"mistral-7b-a6000" enum:"mistral-7b-a6000|mistral-7b-a100|llama-2-7b-a6000|llama-3-70b-a100|llama-3-70b-h100" doc:"measured model and GPU"`
	UniqueKV   string  `yaml:"unique_kv" default:"context" enum:"context|new" doc:"what stands for a step's unique KV tokens: its whole context, or its new tokens"`
	OverheadUs float64 `yaml:"overhead_us" default:"0" min:"0" max:"1e7" unit:"us" doc:"time of every step beside the fit; Preble's loop slept 600"`
}

// Regression is a step model of Preble's. It implements engine.StepModel.
type Regression struct {
	ms       func(b engine.Batch, newIsUnique bool) float64
	unique   bool // new tokens stand for unique KV
	overhead float64
}

// Build implements StepParams.
func (p *RegressionParams) Build(GPU, Model, int) (engine.StepModel, error) {
	fits := map[string]func(engine.Batch, bool) float64{
		"mistral-7b-a6000": mistralA6000,
		"mistral-7b-a100":  mistralA100,
		"llama-2-7b-a6000": llama2A6000,
		"llama-3-70b-a100": llama70A100.ms,
		"llama-3-70b-h100": llama70H100.ms,
	}
	return &Regression{fits[p.Fit], p.UniqueKV == "new", p.OverheadUs}, nil
}

// StepNs returns the time of a step in whole nanoseconds.
func (r *Regression) StepNs(b engine.Batch) int64 {
	return stepNs(float64(r.ms(b, r.unique)*1e3)+r.overhead, false)
}

// quadratic is a sum over requests of one + new q + total s + product q s.
type quadratic struct{ one, new, total, product float64 }

func (f quadratic) of(requests, q, s, qs int64) float64 {
	return float64(f.one*float64(requests)) + float64(f.new*float64(q)) + float64(f.total*float64(s)) + float64(f.product*float64(qs))
}

var (
	longA6000   = quadratic{0, 1.13e-3, 1.75e-3, 2.19e-6}
	longA100    = quadratic{0.12386358, -7.45358651e-4, 1.72022673e-3, 1.36265841e-6}
	llama70A100 = quadratic{28.9313893, 1.82233431e-1, 4.00365142e-3, 2.55050069e-6}
	llama70H100 = quadratic{18.6673, 7.98791e-2, 2.68532e-3, 7.44345e-7}
)

// ms sums over all requests: those that decode have q = 1.
func (f quadratic) ms(b engine.Batch, _ bool) float64 {
	count, q, s, qs := long(b, 0)
	d := b.Decodes()
	decoded := b.DecodeContext + d
	return f.of(count, q, s, qs) + f.of(d, d, decoded, decoded)
}

// long returns the number of prefill chunks with q s of at least least, and
// their sums. A batch whose caller keeps no chunks has one. No decode is long:
// it would need a context of a million tokens.
func long(b engine.Batch, least int64) (count, q, s, qs int64) {
	if b.Prefill == 0 {
		return 0, 0, 0, 0
	}
	lone := [1]engine.Chunk{{New: b.Prefill, Done: b.Context - b.DecodeContext}}
	chunks := lone[:]
	if b.Chunks != nil {
		chunks = *b.Chunks
	}
	for _, c := range chunks {
		total := c.Done + c.New
		if p := c.New * total; p >= least {
			count++
			q += c.New
			s += total
			qs += p
		}
	}
	return count, q, s, qs
}

func mistralA6000(b engine.Batch, newIsUnique bool) float64 {
	n := float64(b.Tokens)
	linear := 22.0
	switch {
	case b.Tokens >= 384:
		linear = float64(0.10842571*n) + 4.209777
	case b.Tokens >= 192:
		linear = max(linear, -118+float64(1.25*n)-float64(2.56e-3*float64(n*n)))
	}
	attention := attentionA6000(b.Requests, b.Context+b.Tokens, unique(b, newIsUnique))
	return (linear + attention + longA6000.of(long(b, 1<<20+1))) / 0.9
}

func mistralA100(b engine.Batch, newIsUnique bool) float64 {
	linear := 8.96
	switch {
	case b.Tokens >= 256:
		linear = float64(0.05031337*float64(b.Tokens)) + 5.505997
	case b.Tokens >= 64:
		linear = 10.5
	}
	count, q, s, qs := long(b, 1<<20)
	attention := longA100.of(count, q, s, qs)
	if short := b.Requests - count; short > 0 {
		attention += attentionA6000(short, b.Context+b.Tokens-s, unique(b, newIsUnique))
	}
	return (linear + attention) / 0.85
}

func unique(b engine.Batch, newIsUnique bool) int64 {
	if newIsUnique {
		return b.Tokens
	}
	return b.Context + b.Tokens
}

func attentionA6000(requests, context, unique int64) float64 {
	if context <= 1024 {
		return 0.32
	}
	t := float64(1.86e-4*float64(context)) + 0.159
	if unique <= 1024*requests && requests*unique <= 1<<24 {
		t /= 2
	}
	return t
}

func llama2A6000(b engine.Batch, _ bool) float64 {
	n := float64(b.Tokens)
	linear := 26.06523603
	switch {
	case b.Tokens >= 384:
		linear = float64(0.131*n) + 5.67
	case b.Tokens >= 128:
		linear = float64(0.114*n) + 12.4
	}
	return linear + float64(1.663659159/2048*float64(b.Context+b.Tokens))
}
