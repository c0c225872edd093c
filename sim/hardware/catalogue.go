package hardware

// Every figure is in the config.json of the repository that is named last.
var models = []Model{
	{Name: "mistral-7b", Title: "Mistral-7B-v0.1", Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 8, HeadDim: 128, FFN: 14336, Vocab: 32000, Source: config("mistralai/Mistral-7B-v0.1")},
	{Name: "mistral-nemo-12b", Title: "Mistral-Nemo-2407", Layers: 40, Hidden: 5120, Heads: 32, KVHeads: 8, HeadDim: 128, FFN: 14336, Vocab: 131072, Source: config("mistralai/Mistral-Nemo-Base-2407")},
	{Name: "mistral-small-24b", Title: "Mistral-Small-24B-2501", Layers: 40, Hidden: 5120, Heads: 32, KVHeads: 8, HeadDim: 128, FFN: 32768, Vocab: 131072, Source: config("mistralai/Mistral-Small-24B-Base-2501")},
	{Name: "mixtral-8x7b", Title: "Mixtral-8x7B-v0.1", Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 8, HeadDim: 128, FFN: 14336, Vocab: 32000, Experts: 8, ActiveExperts: 2, Source: config("mistralai/Mixtral-8x7B-v0.1")},
	{Name: "mixtral-8x22b", Title: "Mixtral-8x22B-v0.1", Layers: 56, Hidden: 6144, Heads: 48, KVHeads: 8, HeadDim: 128, FFN: 16384, Vocab: 32000, Experts: 8, ActiveExperts: 2, Source: config("mistral-community/Mixtral-8x22B-v0.1")},
	{Name: "llama-2-7b", Title: "Llama-2-7B", Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 32, HeadDim: 128, FFN: 11008, Vocab: 32000, Source: config("meta-llama/Llama-2-7b-hf")},
	{Name: "llama-2-13b", Title: "Llama-2-13B", Layers: 40, Hidden: 5120, Heads: 40, KVHeads: 40, HeadDim: 128, FFN: 13824, Vocab: 32000, Source: config("meta-llama/Llama-2-13b-hf")},
	{Name: "llama-2-70b", Title: "Llama-2-70B", Layers: 80, Hidden: 8192, Heads: 64, KVHeads: 8, HeadDim: 128, FFN: 28672, Vocab: 32000, Source: config("meta-llama/Llama-2-70b-hf")},
	{Name: "codellama-34b", Title: "CodeLlama-34B", Layers: 48, Hidden: 8192, Heads: 64, KVHeads: 8, HeadDim: 128, FFN: 22016, Vocab: 32000, Source: config("codellama/CodeLlama-34b-hf")},
	{Name: "llama-3-8b", Title: "Meta-Llama-3-8B", Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 8, HeadDim: 128, FFN: 14336, Vocab: 128256, Source: config("meta-llama/Meta-Llama-3-8B")},
	{Name: "llama-3-70b", Title: "Meta-Llama-3-70B", Layers: 80, Hidden: 8192, Heads: 64, KVHeads: 8, HeadDim: 128, FFN: 28672, Vocab: 128256, Source: config("meta-llama/Meta-Llama-3-70B")},
	{Name: "llama-3.1-8b", Title: "Llama-3.1-8B", Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 8, HeadDim: 128, FFN: 14336, Vocab: 128256, Source: config("meta-llama/Llama-3.1-8B")},
	{Name: "llama-3.1-70b", Title: "Llama-3.1-70B", Layers: 80, Hidden: 8192, Heads: 64, KVHeads: 8, HeadDim: 128, FFN: 28672, Vocab: 128256, Source: config("meta-llama/Llama-3.1-70B")},
	{Name: "llama-3.1-405b", Title: "Llama-3.1-405B", Layers: 126, Hidden: 16384, Heads: 128, KVHeads: 8, HeadDim: 128, FFN: 53248, Vocab: 128256, Source: config("meta-llama/Llama-3.1-405B")},
	{Name: "llama-3.2-1b", Title: "Llama-3.2-1B", Layers: 16, Hidden: 2048, Heads: 32, KVHeads: 8, HeadDim: 64, FFN: 8192, Vocab: 128256, TiedHead: true, Source: config("meta-llama/Llama-3.2-1B")},
	{Name: "llama-3.2-3b", Title: "Llama-3.2-3B", Layers: 28, Hidden: 3072, Heads: 24, KVHeads: 8, HeadDim: 128, FFN: 8192, Vocab: 128256, TiedHead: true, Source: config("meta-llama/Llama-3.2-3B")},
	{Name: "qwen2.5-7b", Title: "Qwen2.5-7B", Layers: 28, Hidden: 3584, Heads: 28, KVHeads: 4, HeadDim: 128, FFN: 18944, Vocab: 152064, QKVBias: true, Source: config("Qwen/Qwen2.5-7B")},
	{Name: "qwen2.5-14b", Title: "Qwen2.5-14B", Layers: 48, Hidden: 5120, Heads: 40, KVHeads: 8, HeadDim: 128, FFN: 13824, Vocab: 152064, QKVBias: true, Source: config("Qwen/Qwen2.5-14B")},
	{Name: "qwen2.5-32b", Title: "Qwen2.5-32B", Layers: 64, Hidden: 5120, Heads: 40, KVHeads: 8, HeadDim: 128, FFN: 27648, Vocab: 152064, QKVBias: true, Source: config("Qwen/Qwen2.5-32B")},
	{Name: "qwen2.5-72b", Title: "Qwen2.5-72B", Layers: 80, Hidden: 8192, Heads: 64, KVHeads: 8, HeadDim: 128, FFN: 29568, Vocab: 152064, QKVBias: true, Source: config("Qwen/Qwen2.5-72B")},
	{Name: "qwen3-0.6b", Title: "Qwen3-0.6B", Layers: 28, Hidden: 1024, Heads: 16, KVHeads: 8, HeadDim: 128, FFN: 3072, Vocab: 151936, TiedHead: true, QKNorm: true, Source: config("Qwen/Qwen3-0.6B")},
	{Name: "qwen3-1.7b", Title: "Qwen3-1.7B", Layers: 28, Hidden: 2048, Heads: 16, KVHeads: 8, HeadDim: 128, FFN: 6144, Vocab: 151936, TiedHead: true, QKNorm: true, Source: config("Qwen/Qwen3-1.7B")},
	{Name: "qwen3-4b", Title: "Qwen3-4B", Layers: 36, Hidden: 2560, Heads: 32, KVHeads: 8, HeadDim: 128, FFN: 9728, Vocab: 151936, TiedHead: true, QKNorm: true, Source: config("Qwen/Qwen3-4B")},
	{Name: "qwen3-8b", Title: "Qwen3-8B", Layers: 36, Hidden: 4096, Heads: 32, KVHeads: 8, HeadDim: 128, FFN: 12288, Vocab: 151936, QKNorm: true, Source: config("Qwen/Qwen3-8B")},
	{Name: "qwen3-14b", Title: "Qwen3-14B", Layers: 40, Hidden: 5120, Heads: 40, KVHeads: 8, HeadDim: 128, FFN: 17408, Vocab: 151936, QKNorm: true, Source: config("Qwen/Qwen3-14B")},
	{Name: "qwen3-32b", Title: "Qwen3-32B", Layers: 64, Hidden: 5120, Heads: 64, KVHeads: 8, HeadDim: 128, FFN: 25600, Vocab: 151936, QKNorm: true, Source: config("Qwen/Qwen3-32B")},
	{Name: "qwen3-30b-a3b", Title: "Qwen3-30B-A3B", Layers: 48, Hidden: 2048, Heads: 32, KVHeads: 4, HeadDim: 128, FFN: 768, Vocab: 151936, Experts: 128, ActiveExperts: 8, QKNorm: true, Source: config("Qwen/Qwen3-30B-A3B")},
	{Name: "qwen3-235b-a22b", Title: "Qwen3-235B-A22B", Layers: 94, Hidden: 4096, Heads: 64, KVHeads: 4, HeadDim: 128, FFN: 1536, Vocab: 151936, Experts: 128, ActiveExperts: 8, QKNorm: true, Source: config("Qwen/Qwen3-235B-A22B")},
}

func config(repository string) string { return "config.json of " + repository }

// Models lists the known models.
func Models() []Model { return models }

// FindModel returns the model of that name.
func FindModel(name string) (Model, bool) {
	for _, m := range models {
		if m.Name == name {
			return m, true
		}
	}
	return Model{}, false
}
