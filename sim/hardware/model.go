package hardware

import (
	"fmt"
	"math"

	"switchyard/sim/param"
)

// DType is how a number is stored.
type DType int

const (
	BF16 DType = iota
	FP8
)

// FindDType returns the data type of that name, bf16 or fp8.
func FindDType(name string) (t DType, ok bool) {
	return map[string]DType{"bf16": BF16, "fp8": FP8}[name], name == "bf16" || name == "fp8"
}

// Bytes returns the bytes of one number.
func (t DType) Bytes() int64 {
	if t == FP8 {
		return 1
	}
	return 2
}

func (t DType) String() string {
	if t == FP8 {
		return "fp8"
	}
	return "bf16"
}

// Model is the shape of a decoder-only transformer with grouped-query
// attention and a gated feed-forward layer, or one with a mixture of such
// layers.
type Model struct {
	Name, Title   string
	Layers        int
	Hidden        int
	Heads         int
	KVHeads       int
	HeadDim       int
	FFN           int // width of the feed-forward layer, or of one expert's
	Vocab         int
	Experts       int   // in each layer; 0 for a dense model
	ActiveExperts int   // that a token is routed to
	TiedHead      bool  // output head shares the embedding's weights
	QKNorm        bool  // RMS norms on queries and keys
	QKVBias       bool  // biases on queries, keys and values
	Weights       DType // of the weights of the matrix products in the blocks
	KV            DType // of the KV cache
	Source        string
}

// With returns the model stored in other data types.
func (m Model) With(weights, kv DType) Model {
	m.Weights, m.KV = weights, kv
	return m
}

// attentionParameters returns the weights of the projections of one layer.
func (m Model) attentionParameters() int64 {
	return int64(2*m.Hidden*m.Heads*m.HeadDim + 2*m.Hidden*m.KVHeads*m.HeadDim)
}

// expertParameters returns the weights of one feed-forward layer or expert.
func (m Model) expertParameters() int64 { return int64(3 * m.Hidden * m.FFN) }

// routerParameters returns the weights that choose experts in one layer.
func (m Model) routerParameters() int64 { return int64(m.Hidden * m.Experts) }

// BlockParameters returns the weights of the matrix products in all
// transformer blocks, all experts and the routers among them, norms and biases
// excluded.
func (m Model) BlockParameters() int64 {
	return int64(m.Layers) * (m.attentionParameters() + m.routerParameters() + int64(max(1, m.Experts))*m.expertParameters())
}

// ActiveParameters returns those of BlockParameters that one token uses: all
// of them in a dense model.
func (m Model) ActiveParameters() int64 {
	used := 1
	if m.Experts > 0 {
		used = m.ActiveExperts
	}
	return int64(m.Layers) * (m.attentionParameters() + m.routerParameters() + int64(used)*m.expertParameters())
}

// Parameters returns all weights: blocks, norms, biases, embedding and output
// head.
func (m Model) Parameters() int64 {
	small := m.Layers*2*m.Hidden + m.Hidden
	if m.QKNorm {
		small += m.Layers * 2 * m.HeadDim
	}
	if m.QKVBias {
		small += m.Layers * (m.Heads + 2*m.KVHeads) * m.HeadDim
	}
	tables := 2
	if m.TiedHead {
		tables = 1
	}
	return m.BlockParameters() + int64(small) + int64(tables)*int64(m.Vocab)*int64(m.Hidden)
}

// WeightBytes returns the bytes of all weights. Only attention projections and
// feed-forward layers are ever stored in fp8.
func (m Model) WeightBytes() int64 {
	products := m.BlockParameters() - int64(m.Layers)*m.routerParameters()
	return BF16.Bytes()*(m.Parameters()-products) + m.Weights.Bytes()*products
}

// expertBytes returns the bytes of the weights of all experts; 0 for a dense
// model.
func (m Model) expertBytes() int64 {
	return int64(m.Layers) * int64(m.Experts) * m.expertParameters() * m.Weights.Bytes()
}

// KVBytes returns the bytes of keys and values of one token.
func (m Model) KVBytes() int64 {
	return 2 * int64(m.Layers) * int64(m.KVHeads) * int64(m.HeadDim) * m.KV.Bytes()
}

// attentionWork returns 4 × heads × head size × layers: the FLOPs of attention
// for each pair of a new token and one that it looks at.
func (m Model) attentionWork() float64 {
	return 4 * float64(m.Heads*m.HeadDim) * float64(m.Layers)
}

// CheckDegree refuses a number of GPUs over which the heads cannot be divided,
// by a *param.Error on tensor_parallel.
func (m Model) CheckDegree(degree int) error {
	if degree >= 1 && m.Heads%degree == 0 && (m.KVHeads%degree == 0 || degree%m.KVHeads == 0) {
		return nil
	}
	return &param.Error{Field: "tensor_parallel", Value: param.Format(degree),
		Expected: fmt.Sprintf("a divisor of the %d heads of %s that divides or is a multiple of its %d KV heads", m.Heads, m.Name, m.KVHeads)}
}

// KVCapacity returns how many tokens of KV cache fit on a replica of degree
// GPUs: floor((memory × utilisation − weights) / KV bytes per token), with the
// memory of all its GPUs. More GPUs than KV heads hold copies of them, so that
// a token takes degree / KV heads times the bytes. It is not positive where
// the weights do not fit.
func KVCapacity(g GPU, m Model, degree int, utilisation float64) int64 {
	free := g.Memory*float64(degree)*utilisation - float64(m.WeightBytes())
	copies := max(1, degree/max(1, m.KVHeads))
	return int64(math.Floor(free / float64(m.KVBytes()*int64(copies))))
}
