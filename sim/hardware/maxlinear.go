package hardware

import (
	"fmt"
	"math"

	"switchyard/sim/engine"
	"switchyard/sim/param"
)

// MaxLinearParams are the coefficients of the form that fits measured engines:
//
//	t = overhead + per_request B + max(per_prefill_token P + attention, weights)
//	  + per_context_token (C + D)
//
// with B, P, C and D as in LinearParams. A step that is bound by compute does
// not pay for reading the weights as well: additive fits overestimate at high
// load. The attention of prefills is not fitted but follows from the shape of
// the model, since runs with one prompt length cannot tell it from P:
//
//	attention = per_prefill_token / attention_efficiency
//	          × 4 heads head_size layers Σ (m done + m²/2) / (2 active parameters)
//
// that is, its FLOPs at the speed that the matrix products of a token have,
// times a relative efficiency. Attention of decodes is in per_context_token.
//
// Kernels compute whole tiles of tokens. With tile_tokens n > 0, P stands for the
// new tokens of a step with prefills, its decodes among them, rounded up to a
// multiple of n. Steps of decodes alone, which are bound by weights, are not
// rounded. In runs of vLLM 0.23 with Qwen3-14B on an H100, a prefill takes the
// same time from 960 to 1,023 tokens in its step and a tenth more from 1,024 on.
//
// Few kernels are bound by one thing alone where the two sides of the maximum
// are near each other, at about 256 tokens on an H100. With a knee k > 0 the
// maximum of compute c and weights w is rounded to (c^k + w^k)^(1/k), which is
// 26 % more than it for k = 3 where c = w, and 0.5 % where one is four times the
// other.
type MaxLinearParams struct {
	OverheadUs          float64 `yaml:"overhead_us" required:"true" min:"0" max:"1e7" unit:"us" doc:"time that every step takes beside its work"`
	PerRequestUs        float64 `yaml:"per_request_us" default:"0" min:"0" max:"1e7" unit:"us" doc:"time of each request in the step"`
	PerPrefillTokenUs   float64 `yaml:"per_prefill_token_us" required:"true" min:"0" max:"1e4" unit:"us" doc:"compute time of each new token of a prompt, without attention"`
	WeightsUs           float64 `yaml:"weights_us" required:"true" min:"0" max:"1e7" unit:"us" doc:"time to read the weights, which hides as much compute"`
	PerContextTokenUs   float64 `yaml:"per_context_token_us" required:"true" min:"0" max:"1e4" unit:"us" doc:"time of each token that a decode looks at, its own among them"`
	Attention           string  `yaml:"attention" default:"shape" enum:"shape|none" doc:"prefill attention: from the model's shape, or none"`
	AttentionEfficiency float64 `yaml:"attention_efficiency" default:"1" min:"0.01" max:"100" unit:"ratio" doc:"FLOP/s of prefill attention over those of matrix products"`
	TileTokens          int64   `yaml:"tile_tokens" default:"0" min:"0" max:"1000000" unit:"tokens" doc:"new tokens of a step with prefills are rounded up to a multiple of this, decodes included; 0: only prompt tokens count, as they are"`
	Knee                float64 `yaml:"knee" default:"0" min:"0" max:"100" doc:"how sharply compute takes over from reading weights: power of their sum, from 1 on; 0 takes the greater one"`
	WholeUs             bool    `yaml:"whole_us" default:"false" doc:"cut every step to whole microseconds"`
}

// MaxLinear is the max-linear step model. It implements engine.StepModel.
type MaxLinear struct {
	p            MaxLinearParams
	perAttention float64 // us a unit of m × done + m²/2
}

// Check refuses knees of which both sides together take longer than one after
// the other.
func (p *MaxLinearParams) Check() error {
	if p.Knee > 0 && p.Knee < 1 {
		return &param.Error{Field: "knee", Value: param.Format(p.Knee), Expected: "0, or at least 1"}
	}
	return nil
}

// Build implements StepParams. It needs a model unless attention is none.
func (p *MaxLinearParams) Build(_ GPU, m Model, _ int) (engine.StepModel, error) {
	l := &MaxLinear{p: *p}
	if p.Attention == "none" {
		return l, nil
	}
	if m.ActiveParameters() <= 0 {
		return nil, fmt.Errorf("max-linear takes attention from the model's shape: name a model, or set attention: none")
	}
	perFLOP := p.PerPrefillTokenUs / (2 * float64(m.ActiveParameters()))
	l.perAttention = m.attentionWork() * perFLOP / p.AttentionEfficiency
	return l, nil
}

// StepNs returns the time of a step, as Linear.StepNs does.
func (l *MaxLinear) StepNs(b engine.Batch) int64 {
	tokens := b.Prefill
	if n := l.p.TileTokens; n > 0 && tokens > 0 {
		tokens = (b.Tokens + n - 1) / n * n
	}
	compute := float64(l.p.PerPrefillTokenUs*float64(tokens)) +
		float64(l.perAttention*(0.5*float64(b.PrefillAttention2())))
	us := l.p.OverheadUs + float64(l.p.PerRequestUs*float64(b.Requests)) + l.greater(compute) +
		float64(l.p.PerContextTokenUs*float64(b.DecodeContext+b.Decodes()))
	return stepNs(us, l.p.WholeUs)
}

// greater returns the greater of compute and reading the weights, rounded by the
// knee.
func (l *MaxLinear) greater(compute float64) float64 {
	weights, k := l.p.WeightsUs, l.p.Knee
	if k == 0 || compute <= 0 || weights <= 0 {
		return max(compute, weights)
	}
	return math.Pow(math.Pow(compute, k)+math.Pow(weights, k), 1/k)
}
