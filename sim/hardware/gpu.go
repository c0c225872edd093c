package hardware

// GPU is one accelerator. Figures are per GPU.
type GPU struct {
	Name, Title string
	FLOPS       float64 // dense bf16 peak, FLOP/s
	FP8         float64 // dense fp8 peak, FLOP/s; 0 where it has no fp8 units
	Bandwidth   float64 // memory, B/s
	Memory      float64 // bytes, decimal
	Link        float64 // to its peers, B/s in one direction
	Source      string
}

// The vendors print peaks with sparsity; these are without it.
var gpus = []GPU{
	{"a6000", "NVIDIA RTX A6000 48 GB", 154.8e12, 0, 768e9, 48e9, 56.25e9, "NVIDIA RTX A6000 datasheet: 309.7 TFLOPS tensor with sparsity, half of it dense; NVLink bridge 112.5 GB/s both ways"},
	{"a100-40gb", "NVIDIA A100 SXM 40 GB", 312e12, 0, 1555e9, 40e9, 300e9, "NVIDIA A100 datasheet; NVLink 600 GB/s both ways"},
	{"a100-80gb", "NVIDIA A100 SXM 80 GB", 312e12, 0, 2039e9, 80e9, 300e9, "NVIDIA A100 datasheet; NVLink 600 GB/s both ways"},
	{"h100", "NVIDIA H100 SXM 80 GB", 989e12, 1979e12, 3.35e12, 80e9, 450e9, "NVIDIA H100 datasheet; NVLink 900 GB/s both ways"},
	{"h200", "NVIDIA H200 SXM 141 GB", 989e12, 1979e12, 4.8e12, 141e9, 450e9, "NVIDIA H200 datasheet; NVLink 900 GB/s both ways"},
	{"b200", "NVIDIA B200 SXM 180 GB", 2.25e15, 4.5e15, 8e12, 180e9, 900e9, "NVIDIA DGX B200 datasheet, an eighth of 72 PFLOPS fp8 with sparsity, half of it dense and half of that in bf16; of 64 TB/s, 1,440 GB, and NVLink of 14.4 TB/s both ways"},
	{"l4", "NVIDIA L4 24 GB", 121e12, 242.5e12, 300e9, 24e9, 32e9, "NVIDIA L4 datasheet: 242 TFLOPS bf16 and 485 fp8 with sparsity, half of it dense; PCIe 4.0 x16"},
	{"l40s", "NVIDIA L40S 48 GB", 362e12, 733e12, 864e9, 48e9, 32e9, "NVIDIA L40S datasheet: 362 TFLOPS bf16 and 733 fp8, dense; PCIe 4.0 x16"},
	{"mi300x", "AMD Instinct MI300X 192 GB", 1307.4e12, 2614.9e12, 5.3e12, 192e9, 448e9, "AMD Instinct MI300X datasheet; seven Infinity Fabric links of 128 GB/s both ways"},
}

// GPUs lists the known accelerators.
func GPUs() []GPU { return gpus }

// FindGPU returns the GPU of that name.
func FindGPU(name string) (GPU, bool) {
	for _, g := range gpus {
		if g.Name == name {
			return g, true
		}
	}
	return GPU{}, false
}
