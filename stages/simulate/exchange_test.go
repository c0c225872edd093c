package simulate

import (
	"os"
	"path/filepath"
	"testing"

	"switchyard/stages/experiment"
)

// A requests file and a few lines suffice for an exact comparison with another
// simulator of vLLM's scheduler: the worked transcript of its rules. A (prompt
// 6, output 4) and B (prompt 5, output 3) come at once, blocks of 4, budget 8.
func TestExchange(t *testing.T) {
	dir := t.TempDir()
	requests := "arrival_us,prefix_group,prefix_tokens,prompt_tokens,output_tokens\n0,,,6,4\n0,,,5,3\n"
	if err := os.WriteFile(filepath.Join(dir, "requests.csv"), []byte(requests), 0o666); err != nil {
		t.Fatal(err)
	}
	for blocks, want := range map[string][4]int64{"5": {1080, 4147, 2117, 4147}, "4": {1080, 4140, 2117, 5170}} {
		e, err := experiment.Load(filepath.Join(dir, "x.yaml"), []byte(`
name: exchange
warm_up: 0
workloads: [{name: w, trace: requests.csv}]
clusters:
  - name: c
    replicas: 1
    step: {model: linear, base_us: 1000, per_prefill_token_us: 10, per_context_token_us: 1, whole_us: true}
    engine: {scheduler: vllm-v1, block_size: 4, num_blocks: `+blocks+`, max_num_batched_tokens: 8, max_num_seqs: 2}
routers: [round-robin]
`), experiment.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPlan(e)
		if err != nil {
			t.Fatal(err)
		}
		out := t.TempDir()
		execute(t, p, Options{}, out, 1)
		rows, err := Requests.Read(out)
		if err != nil || len(rows) != 2 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		if got := [4]int64{*rows[0].TTFTUs, *rows[0].E2EUs, *rows[1].TTFTUs, *rows[1].E2EUs}; got != want {
			t.Errorf("with %s blocks TTFT and E2E are %v, want %v", blocks, got, want)
		}
	}
}
