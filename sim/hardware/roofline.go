package hardware

import (
	"fmt"

	"switchyard/sim/engine"
)

// RooflineParams are the assumed figures of the roofline.
type RooflineParams struct {
	MFU                float64 `yaml:"mfu" default:"0.7" min:"0.01" max:"1" unit:"share" doc:"share of the peak FLOP/s that a compute-bound step reaches"`
	MBU                float64 `yaml:"mbu" default:"0.8" min:"0.01" max:"1" unit:"share" doc:"share of the memory bandwidth that a memory-bound step reaches"`
	OverheadUs         float64 `yaml:"overhead_us" default:"500" min:"0" unit:"us" doc:"time that every step takes beside its work"`
	AllReduceLatencyUs float64 `yaml:"allreduce_latency_us" default:"10" min:"0" unit:"us" doc:"fixed time of one all-reduce; two a layer with tensor parallelism"`
}

// Roofline is the step model of one replica. It implements engine.StepModel.
type Roofline struct {
	perToken     float64 // ns of compute a new token
	perAttention float64 // ns of compute a unit of m × done + m²/2
	weights      float64 // ns to read all weights
	perContext   float64 // ns to read a token of context
	overhead     float64 // ns a step
	perReduced   float64 // ns of all-reduce a new token
}

// NewRoofline returns the step model of model m on degree GPUs g.
func NewRoofline(g GPU, m Model, degree int, p RooflineParams) (*Roofline, error) {
	if degree < 1 || m.KVHeads%degree != 0 {
		return nil, fmt.Errorf("tensor_parallel is %d, expected a divisor of the %d KV heads of %s", degree, m.KVHeads, m.Name)
	}
	d := float64(degree)
	compute := 1e9 / (g.FLOPS * p.MFU * d)
	memory := 1e9 / (g.Bandwidth * p.MBU * d)
	r := &Roofline{
		perToken:     2 * float64(m.BlockParameters()) * compute,
		perAttention: 4 * float64(m.Hidden) * float64(m.Layers) * compute,
		weights:      float64(m.WeightBytes()) * memory,
		perContext:   float64(m.KVBytes()) * memory,
		overhead:     p.OverheadUs * 1e3,
	}
	if degree > 1 {
		reduces := 2 * float64(m.Layers)
		r.overhead += reduces * p.AllReduceLatencyUs * 1e3
		// A ring moves 2 (d-1)/d of the activations through every link.
		r.perReduced = reduces * 2 * (d - 1) / d * float64(m.Hidden*m.Bytes) / g.Link * 1e9
	}
	return r, nil
}

// StepNs returns the time of a step in whole nanoseconds. The conversions
// keep a compiler from fusing multiply and add, which would change bits.
func (r *Roofline) StepNs(b engine.Batch) int64 {
	tokens := float64(b.Tokens)
	compute := float64(r.perToken*tokens) + float64(r.perAttention*(0.5*float64(b.Attention2)))
	memory := r.weights + float64(r.perContext*float64(b.Context))
	return int64(max(compute, memory) + r.overhead + float64(r.perReduced*tokens) + 0.5)
}
