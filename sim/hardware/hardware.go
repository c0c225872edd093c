// Package hardware says what a GPU and a model are, how many tokens of KV
// cache fit beside the weights, and how long one engine step takes.
//
// The step time is a roofline (Williams, Waterman and Patterson, 2009):
//
//	t     = max(FLOPs / (peak × mfu), bytes / (bandwidth × mbu)) + overhead
//	FLOPs = 2 × block parameters × new tokens
//	      + 4 × hidden × layers × Σ (m × done + m²/2)
//	bytes = weight bytes + KV bytes per token × Σ done
//
// with the sums over the requests of the step, each of which computes m new
// tokens after done tokens of context. The first term counts the matrix
// products of the transformer blocks, the second causal attention; embedding
// and output head are left out of the FLOPs and kept in the bytes. With tensor
// parallelism over d GPUs both terms are divided by d, and each layer adds two
// ring all-reduces of its activations.
//
// Exact: parameter counts and KV bytes, from the models' published shapes.
// Published: peaks, bandwidths and memory sizes. Assumed: the utilisations mfu
// and mbu, the overhead, and the latency of an all-reduce; they are parameters.
//
//	gpu, _ := hardware.FindGPU("a6000")
//	model, _ := hardware.FindModel("mistral-7b")
//	hardware.KVCapacity(gpu, model, 1, 0.9) // 219,089 tokens
package hardware

import "math"

// GPU is one accelerator. Figures are per GPU.
type GPU struct {
	Name, Title string
	FLOPS       float64 // dense bf16 peak, FLOP/s
	Bandwidth   float64 // memory, B/s
	Memory      float64 // bytes, decimal
	Link        float64 // to its peers, B/s in one direction
	Source      string
}

// Model is the shape of a dense decoder-only transformer with grouped-query
// attention and a gated feed-forward layer.
type Model struct {
	Name, Title string
	Layers      int
	Hidden      int
	Heads       int
	KVHeads     int
	HeadDim     int
	FFN         int // width of the feed-forward layer
	Vocab       int
	TiedHead    bool // output head shares the embedding's weights
	QKNorm      bool // RMS norms on queries and keys
	Bytes       int  // per parameter and per KV element; 2 for bf16
	Source      string
}

// BlockParameters returns the weights of the matrix products in all
// transformer blocks, norms excluded.
func (m Model) BlockParameters() int64 {
	attention := 2*m.Hidden*m.Heads*m.HeadDim + 2*m.Hidden*m.KVHeads*m.HeadDim
	return int64(m.Layers) * int64(attention+3*m.Hidden*m.FFN)
}

// Parameters returns all weights: blocks, norms, embedding and output head.
func (m Model) Parameters() int64 {
	norms := m.Layers*2*m.Hidden + m.Hidden
	if m.QKNorm {
		norms += m.Layers * 2 * m.HeadDim
	}
	tables := 2
	if m.TiedHead {
		tables = 1
	}
	return m.BlockParameters() + int64(norms) + int64(tables)*int64(m.Vocab)*int64(m.Hidden)
}

// WeightBytes returns the bytes of all weights.
func (m Model) WeightBytes() int64 { return int64(m.Bytes) * m.Parameters() }

// KVBytes returns the bytes of keys and values of one token.
func (m Model) KVBytes() int64 {
	return 2 * int64(m.Layers) * int64(m.KVHeads) * int64(m.HeadDim) * int64(m.Bytes)
}

// KVCapacity returns how many tokens of KV cache fit on a replica of degree
// GPUs: floor((memory × utilisation − weights) / KV bytes per token), with the
// memory of all its GPUs. It is not positive where the weights do not fit.
func KVCapacity(g GPU, m Model, degree int, utilisation float64) int64 {
	free := g.Memory*float64(degree)*utilisation - float64(m.WeightBytes())
	return int64(math.Floor(free / float64(m.KVBytes())))
}
