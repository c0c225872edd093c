package simulate

import (
	"strings"
	"testing"
)

// A setting without effect is said at its place; one that has it is not, nor
// one that a grid crosses with what gives it an effect.
func TestIdleSettings(t *testing.T) {
	for engine, want := range map[string]string{
		"{output_error: 0.3}":                                        `engine.output_error: value "0.3" plays no part: output_known is exact`,
		"{output_max_tokens: 50, output_known: noisy}":               `engine.output_max_tokens: value "50" plays no part: output_known is noisy`,
		"{output_known: maximum, output_max_tokens: 50}":             "",
		"{output_error: 0.3, output_known: {sweep: [exact, noisy]}}": "",
		"{groups: 5}":                                     `engine.groups: value "5" plays no part: order fcfs has no groups`,
		"{groups: 5, order: priority-groups}":             "",
		"{scheduler: preble, groups: 5, order: fcfs-mpq}": "",
		"{host_tokens: 9000, evict: none}":                "engine.host_tokens: value \"9000\" plays no part: evict is none",
		"{scheduler: sglang-0.1, reserve_ratio: 0.1}":     "sets reserve_ratio, 0.1, below reserve_ratio_min, 0.2",
		"{scheduler: vllm-v1, num_blocks: 1000000}":       "takes 16000000 tokens of KV cache, and all memory of the replica holds ",
		"{scheduler: vllm-v1, num_blocks: 1000}":          "",
		"{}":                                              "",
	} {
		p := mustPlan(t, hardwareLine, hardwareLine+"    engine: "+engine+"\n")
		got := strings.Join(p.Notes(), "\n")
		if (got == "") != (want == "") || !strings.Contains(got, want) || want != "" && !strings.Contains(got, ".yaml:") {
			t.Errorf("%s has the notes %q, want %q", engine, got, want)
		}
	}
}

// What cannot both be meant is refused, and what is too large is named.
func TestContradictorySizes(t *testing.T) {
	for lines, want := range map[string]string{
		"    kv_tokens: 5000\n    engine: {scheduler: vllm-v1, num_blocks: 100}\n": `engine.num_blocks: value "100": expected no number of blocks beside kv_tokens, which is 5000`,
		"    engine: {scheduler: vllm-v1, block_size: 300000}\n":                   `engine.block_size: value "300000": expected blocks of at most the 219089 tokens`,
		"    kv_tokens: 10\n    engine: {scheduler: vllm-v1}\n":                    "engine.block_size: missing: expected blocks of at most the 10 tokens",
	} {
		if _, err := planned(t, hardwareLine, hardwareLine+lines); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %q", lines, err, want)
		}
	}
}
