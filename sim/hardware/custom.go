package hardware

import "switchyard/sim/param"

// GPUParams are the figures of a GPU that is not in the catalogue.
type GPUParams struct {
	Name         string  `yaml:"name" default:"custom" doc:"its name, for people"`
	TFLOPS       float64 `yaml:"tflops" required:"true" min:"0.001" unit:"TFLOP/s" doc:"dense bf16 peak"`
	FP8TFLOPS    float64 `yaml:"fp8_tflops" default:"0" min:"0" unit:"TFLOP/s" doc:"dense fp8 peak; 0 means no fp8 units"`
	BandwidthGBs float64 `yaml:"bandwidth_gbs" required:"true" min:"0.001" unit:"GB/s" doc:"memory bandwidth"`
	MemoryGB     float64 `yaml:"memory_gb" required:"true" min:"0.001" unit:"GB" doc:"memory, in decimal gigabytes"`
	LinkGBs      float64 `yaml:"link_gbs" default:"32" min:"0.001" unit:"GB/s" doc:"to each peer in one direction; 32 is PCIe 4.0 x16"`
}

// GPU returns what the figures say.
func (p GPUParams) GPU() GPU {
	return GPU{Name: p.Name, Title: p.Name, FLOPS: p.TFLOPS * 1e12, FP8: p.FP8TFLOPS * 1e12,
		Bandwidth: p.BandwidthGBs * 1e9, Memory: p.MemoryGB * 1e9, Link: p.LinkGBs * 1e9, Source: "the experiment file"}
}

// ModelParams are the shape of a model that is not in the catalogue, under the
// names that config.json files have, where these are clear.
type ModelParams struct {
	Name          string `yaml:"name" default:"custom" doc:"its name, for people"`
	Layers        int    `yaml:"layers" required:"true" min:"1" max:"10000" doc:"transformer blocks (num_hidden_layers)"`
	Hidden        int    `yaml:"hidden" required:"true" min:"1" max:"1000000" doc:"width of the residual stream (hidden_size)"`
	Heads         int    `yaml:"heads" required:"true" min:"1" max:"100000" doc:"query heads (num_attention_heads)"`
	KVHeads       int    `yaml:"kv_heads" required:"true" min:"1" max:"100000" doc:"key and value heads (num_key_value_heads)"`
	HeadDim       int    `yaml:"head_dim" default:"0" min:"0" max:"100000" doc:"width of a head; 0 means hidden over heads"`
	FFN           int    `yaml:"ffn" required:"true" min:"1" max:"10000000" doc:"width of the feed-forward layer, or of one expert's (intermediate_size, moe_intermediate_size)"`
	Vocab         int    `yaml:"vocab" required:"true" min:"1" max:"100000000" doc:"rows of the embedding (vocab_size)"`
	Experts       int    `yaml:"experts" default:"0" min:"0" max:"100000" doc:"experts a layer; 0 means a dense model"`
	ActiveExperts int    `yaml:"active_experts" default:"0" min:"0" max:"100000" doc:"experts that a token is routed to"`
	TiedHead      bool   `yaml:"tied_head" default:"false" doc:"the output head shares the embedding's weights"`
	QKNorm        bool   `yaml:"qk_norm" default:"false" doc:"queries and keys are normalised"`
	QKVBias       bool   `yaml:"qkv_bias" default:"false" doc:"queries, keys and values have biases"`
}

// Check refuses shapes that are none.
func (p *ModelParams) Check() error {
	switch {
	case p.Heads%p.KVHeads != 0:
		return &param.Error{Field: "kv_heads", Value: param.Format(p.KVHeads), Expected: "a divisor of the " + param.Format(p.Heads) + " heads"}
	case p.HeadDim == 0 && p.Hidden%p.Heads != 0:
		return &param.Error{Field: "head_dim", Expected: "the width of a head, since the heads do not divide the hidden size"}
	case p.Experts == 0 && p.ActiveExperts > 0:
		return &param.Error{Field: "experts", Expected: "the number of experts, since a token is routed to some"}
	case p.Experts > 0 && (p.ActiveExperts == 0 || p.ActiveExperts > p.Experts):
		return &param.Error{Field: "active_experts", Value: param.Format(p.ActiveExperts), Expected: "from 1 to the " + param.Format(p.Experts) + " experts"}
	}
	return nil
}

// Model returns what the figures say.
func (p ModelParams) Model() Model {
	width := p.HeadDim
	if width == 0 {
		width = p.Hidden / p.Heads
	}
	return Model{Name: p.Name, Title: p.Name, Layers: p.Layers, Hidden: p.Hidden, Heads: p.Heads, KVHeads: p.KVHeads,
		HeadDim: width, FFN: p.FFN, Vocab: p.Vocab, Experts: p.Experts, ActiveExperts: p.ActiveExperts,
		TiedHead: p.TiedHead, QKNorm: p.QKNorm, QKVBias: p.QKVBias, Source: "the experiment file"}
}
