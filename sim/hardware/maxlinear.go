package hardware

import (
	"fmt"

	"switchyard/sim/engine"
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
type MaxLinearParams struct {
	OverheadUs          float64 `yaml:"overhead_us" required:"true" min:"0" unit:"us" doc:"time that every step takes beside its work"`
	PerRequestUs        float64 `yaml:"per_request_us" default:"0" min:"0" unit:"us" doc:"time of each request in the step"`
	PerPrefillTokenUs   float64 `yaml:"per_prefill_token_us" required:"true" min:"0" unit:"us" doc:"compute time of each new token of a prompt, without attention"`
	WeightsUs           float64 `yaml:"weights_us" required:"true" min:"0" unit:"us" doc:"time to read the weights, which hides as much compute"`
	PerContextTokenUs   float64 `yaml:"per_context_token_us" required:"true" min:"0" unit:"us" doc:"time of each token that a decode looks at, its own among them"`
	Attention           string  `yaml:"attention" default:"shape" enum:"shape|none" doc:"prefill attention: from the model's shape, or none"`
	AttentionEfficiency float64 `yaml:"attention_efficiency" default:"1" min:"0.01" max:"100" unit:"ratio" doc:"FLOP/s of prefill attention over those of matrix products"`
	WholeUs             bool    `yaml:"whole_us" default:"false" doc:"cut every step to whole microseconds"`
}

// MaxLinear is the max-linear step model. It implements engine.StepModel.
type MaxLinear struct {
	p            MaxLinearParams
	perAttention float64 // us a unit of m × done + m²/2
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
	compute := float64(l.p.PerPrefillTokenUs*float64(b.Prefill)) +
		float64(l.perAttention*(0.5*float64(b.PrefillAttention2())))
	us := l.p.OverheadUs + float64(l.p.PerRequestUs*float64(b.Requests)) + max(compute, l.p.WeightsUs) +
		float64(l.p.PerContextTokenUs*float64(b.DecodeContext+b.Decodes()))
	return stepNs(us, l.p.WholeUs)
}
