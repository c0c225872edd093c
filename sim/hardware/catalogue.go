package hardware

var gpus = []GPU{
	{"a6000", "NVIDIA RTX A6000 48 GB", 154.8e12, 768e9, 48e9, 56.25e9, "NVIDIA RTX A6000 datasheet: 309.7 TFLOPS tensor with sparsity, half of it dense; NVLink bridge 112.5 GB/s both ways"},
	{"a100-40gb", "NVIDIA A100 SXM 40 GB", 312e12, 1555e9, 40e9, 300e9, "NVIDIA A100 datasheet"},
	{"a100-80gb", "NVIDIA A100 SXM 80 GB", 312e12, 2039e9, 80e9, 300e9, "NVIDIA A100 datasheet"},
	{"h100", "NVIDIA H100 SXM 80 GB", 989e12, 3.35e12, 80e9, 450e9, "NVIDIA H100 datasheet"},
	{"h200", "NVIDIA H200 SXM 141 GB", 989e12, 4.8e12, 141e9, 450e9, "NVIDIA H200 datasheet"},
	{"l4", "NVIDIA L4 24 GB", 121e12, 300e9, 24e9, 32e9, "NVIDIA L4 datasheet: 242 TFLOPS with sparsity, half of it dense; PCIe 4.0 x16"},
	{"l40s", "NVIDIA L40S 48 GB", 362e12, 864e9, 48e9, 32e9, "NVIDIA L40S datasheet; PCIe 4.0 x16"},
}

var models = []Model{
	{"mistral-7b", "Mistral-7B-v0.1", 32, 4096, 32, 8, 128, 14336, 32000, false, false, 2, "config.json of mistralai/Mistral-7B-v0.1"},
	{"llama-2-7b", "Llama-2-7B", 32, 4096, 32, 32, 128, 11008, 32000, false, false, 2, "config.json of meta-llama/Llama-2-7b-hf"},
	{"llama-3.1-8b", "Llama-3.1-8B", 32, 4096, 32, 8, 128, 14336, 128256, false, false, 2, "config.json of meta-llama/Llama-3.1-8B"},
	{"llama-3.1-70b", "Llama-3.1-70B", 80, 8192, 64, 8, 128, 28672, 128256, false, false, 2, "config.json of meta-llama/Llama-3.1-70B"},
	{"qwen3-8b", "Qwen3-8B", 36, 4096, 32, 8, 128, 12288, 151936, false, true, 2, "config.json of Qwen/Qwen3-8B"},
	{"qwen3-14b", "Qwen3-14B", 40, 5120, 40, 8, 128, 17408, 151936, false, true, 2, "config.json of Qwen/Qwen3-14B"},
}

// GPUs lists the known accelerators.
func GPUs() []GPU { return gpus }

// Models lists the known models.
func Models() []Model { return models }

// FindGPU returns the GPU of that name.
func FindGPU(name string) (GPU, bool) {
	for _, g := range gpus {
		if g.Name == name {
			return g, true
		}
	}
	return GPU{}, false
}

// FindModel returns the model of that name.
func FindModel(name string) (Model, bool) {
	for _, m := range models {
		if m.Name == name {
			return m, true
		}
	}
	return Model{}, false
}
