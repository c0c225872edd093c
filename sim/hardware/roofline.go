package hardware

import "switchyard/sim/engine"

// RooflineParams are the assumed figures of the roofline.
type RooflineParams struct {
	MFU                float64 `yaml:"mfu" default:"0.7" min:"0.01" max:"1" unit:"share" doc:"share of the peak FLOP/s that a compute-bound step reaches"`
	MBU                float64 `yaml:"mbu" default:"0.8" min:"0.01" max:"1" unit:"share" doc:"share of the memory bandwidth that a memory-bound step reaches"`
	OverheadUs         float64 `yaml:"overhead_us" default:"500" min:"0" max:"1e7" unit:"us" doc:"time that every step takes beside its work"`
	AllReduceLatencyUs float64 `yaml:"allreduce_latency_us" default:"10" min:"0" max:"1e7" unit:"us" doc:"fixed time of one all-reduce; two a layer with tensor parallelism"`
}

// Build implements StepParams.
func (p *RooflineParams) Build(g GPU, m Model, degree int) (engine.StepModel, error) {
	r, err := NewRoofline(g, m, degree, *p)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Roofline is the step model of one replica. It implements engine.StepModel.
type Roofline struct {
	perToken     float64 // ns of compute a new token
	perAttention float64 // ns of compute a unit of m × done + m²/2
	weights      float64 // ns to read all weights
	experts      float64 // ns of them for all experts of a mixture, else 0
	untouched    float64 // share of the experts that a token is not routed to
	perContext   float64 // ns to read a token of context
	overhead     float64 // ns a step
	perReduced   float64 // ns of all-reduce a new token
}

// NewRoofline returns the step model of model m on degree GPUs g.
func NewRoofline(g GPU, m Model, degree int, p RooflineParams) (*Roofline, error) {
	if err := m.CheckDegree(degree); err != nil {
		return nil, err
	}
	d := float64(degree)
	compute := 1e9 / (g.FLOPS * p.MFU * d)
	memory := 1e9 / (g.Bandwidth * p.MBU * d)
	products := compute
	if m.Weights == FP8 && g.FP8 > 0 {
		products = 1e9 / (g.FP8 * p.MFU * d)
	}
	copies := float64(max(1, degree/m.KVHeads)) // of the KV heads
	r := &Roofline{
		perToken:     2 * float64(m.ActiveParameters()) * products,
		perAttention: m.attentionWork() * compute,
		weights:      float64(m.WeightBytes()) * memory,
		perContext:   float64(m.KVBytes()) * memory * copies,
		overhead:     p.OverheadUs * 1e3,
	}
	if m.Experts > 0 {
		r.experts = float64(m.expertBytes()) * memory
		r.untouched = 1 - float64(m.ActiveExperts)/float64(m.Experts)
	}
	if degree > 1 {
		reduces := 2 * float64(m.Layers)
		r.overhead += reduces * p.AllReduceLatencyUs * 1e3
		// A ring moves 2 (d-1)/d of the activations through every link.
		r.perReduced = reduces * 2 * (d - 1) / d * float64(int64(m.Hidden)*BF16.Bytes()) / g.Link * 1e9
	}
	return r, nil
}

// StepNs returns the time of a step in whole nanoseconds.
func (r *Roofline) StepNs(b engine.Batch) int64 {
	tokens := float64(b.Tokens)
	compute := float64(r.perToken*tokens) + float64(r.perAttention*(0.5*float64(b.Attention2)))
	memory := r.weights + float64(r.perContext*float64(b.Context))
	if r.experts > 0 {
		memory -= float64(r.experts * power(r.untouched, b.Tokens))
	}
	return max(1, int64(max(compute, memory)+r.overhead+float64(r.perReduced*tokens)+0.5))
}

// power returns x to the n-th by squaring. It is faster than math.Pow for
// whole n, and the same on every machine.
func power(x float64, n int64) float64 {
	y := 1.0
	for ; n > 0 && y > 0; n >>= 1 {
		if n&1 != 0 {
			y *= x
		}
		x *= x
	}
	return y
}

// AdditiveNs returns the part of a step's time that is the sum over its
// requests: computation and the all-reduce of their tokens.
func (r *Roofline) AdditiveNs(b engine.Batch) float64 {
	tokens := float64(b.Tokens)
	return float64(r.perToken*tokens) + float64(r.perAttention*(0.5*float64(b.Attention2))) + float64(r.perReduced*tokens)
}
