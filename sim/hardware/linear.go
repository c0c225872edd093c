package hardware

import "switchyard/sim/engine"

// LinearParams are the coefficients of the linear model, the form of many
// published fits:
//
//	t = base + per_request B + per_prefill_token P + per_context_token (C + D)
//
// with B requests in the step, P new prefill tokens, D decodes and C the sum of
// their contexts. The sum is taken in this order in microseconds; with
// whole_us it is cut to whole ones, so that simulators that agree on the rules
// agree to the microsecond.
type LinearParams struct {
	BaseUs            float64 `yaml:"base_us" required:"true" min:"0" max:"1e7" unit:"us" doc:"time of every step"`
	PerRequestUs      float64 `yaml:"per_request_us" default:"0" min:"0" max:"1e7" unit:"us" doc:"time of each request in the step"`
	PerPrefillTokenUs float64 `yaml:"per_prefill_token_us" required:"true" min:"0" max:"1e4" unit:"us" doc:"time of each new token of a prompt"`
	PerContextTokenUs float64 `yaml:"per_context_token_us" required:"true" min:"0" max:"1e4" unit:"us" doc:"time of each token that a decode looks at, its own among them"`
	WholeUs           bool    `yaml:"whole_us" default:"false" doc:"cut every step to whole microseconds"`
}

// Linear is the linear step model. It implements engine.StepModel.
type Linear struct{ p LinearParams }

// Build implements StepParams.
func (p *LinearParams) Build(GPU, Model, int) (engine.StepModel, error) { return &Linear{*p}, nil }

// StepNs returns the time of a step, at least one nanosecond, or one
// microsecond where those are cut.
func (l *Linear) StepNs(b engine.Batch) int64 {
	us := l.p.BaseUs + float64(l.p.PerRequestUs*float64(b.Requests)) +
		float64(l.p.PerPrefillTokenUs*float64(b.Prefill)) +
		float64(l.p.PerContextTokenUs*float64(b.DecodeContext+b.Decodes()))
	return stepNs(us, l.p.WholeUs)
}

// AdditiveNs returns the part of a step's time that is the sum over its
// requests: all but base, and nothing where steps are cut.
func (l *Linear) AdditiveNs(b engine.Batch) float64 {
	if l.p.WholeUs {
		return 0
	}
	return 1e3 * (float64(l.p.PerRequestUs*float64(b.Requests)) + float64(l.p.PerPrefillTokenUs*float64(b.Prefill)) +
		float64(l.p.PerContextTokenUs*float64(b.DecodeContext+b.Decodes())))
}

// stepNs turns microseconds into a step's nanoseconds.
func stepNs(us float64, whole bool) int64 {
	if whole {
		return 1000 * max(1, int64(us))
	}
	return max(1, int64(float64(us*1e3)+0.5))
}
