package simulate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/hardware"
	"switchyard/stages/experiment"
)

const hardwareLine = "    model: mistral-7b\n    gpu: a6000\n"

// clusterOf plans the small experiment with other hardware.
func clusterOf(t testing.TB, lines string) *Cluster {
	t.Helper()
	return mustPlan(t, hardwareLine, lines).Configs[0].Cluster
}

// Keys decide whether finished cells are run again: these stay as they are.
func TestClusterKey(t *testing.T) {
	for lines, want := range map[string]string{
		hardwareLine: "gpu=a6000\nmodel=mistral-7b\nreplicas=2",
		hardwareLine + "    tensor_parallel: 2\n    kv_tokens: 5000\n    mfu: 0.6\n    engine: {chunk_tokens: 512}\n": "gpu=a6000\nkv_tokens=5000\nmodel=mistral-7b\nreplicas=2\ntensor_parallel=2\nmfu=0.6\nengine.chunk_tokens=512",
		// A roofline reads alike wherever it stands.
		hardwareLine + "    step: {model: roofline, mfu: 0.6}\n": "gpu=a6000\nmodel=mistral-7b\nreplicas=2\nmfu=0.6",
		hardwareLine + "    step: {}\n":                          "gpu=a6000\nmodel=mistral-7b\nreplicas=2",
		"    kv_tokens: 9000\n    step: {model: linear, base_us: 1000, per_prefill_token_us: 10, per_context_token_us: 1, whole_us: true}\n": "gpu=\"\"\nkv_tokens=9000\nmodel=\"\"\nreplicas=2\nstep.model=linear\nstep.base_us=1000\nstep.per_context_token_us=1\nstep.per_prefill_token_us=10\nstep.whole_us=true",
		"    model: mistral-7b\n    gpu: {name: mine, tflops: 100, bandwidth_gbs: 500, memory_gb: 64}\n    weight_dtype: fp8\n":              "gpu.bandwidth_gbs=500\ngpu.memory_gb=64\ngpu.tflops=100\nmodel=mistral-7b\nreplicas=2\nweight_dtype=fp8",
	} {
		if got := clusterOf(t, lines).key(); got != want {
			t.Errorf("%s has the key\n%s\nwant\n%s", lines, got, want)
		}
	}
}

// Figures of one's own that are those of the catalogue give the same replica.
func TestOwnHardware(t *testing.T) {
	known := clusterOf(t, hardwareLine)
	own := clusterOf(t, `    model: {name: seven, layers: 32, hidden: 4096, heads: 32, kv_heads: 8, ffn: 14336, vocab: 32000}
    gpu: {name: mine, tflops: 154.8, bandwidth_gbs: 768, memory_gb: 48}
`)
	if own.Config.KVTokens != 219089 || known.Config.KVTokens != 219089 {
		t.Errorf("%d and %d tokens of KV cache, want 219,089", own.Config.KVTokens, known.Config.KVTokens)
	}
	b := engine.Batch{Tokens: 1024, Prefill: 1024, Requests: 1, Attention2: 1024 * 1024}
	if a, b := own.Config.Step.StepNs(b), known.Config.Step.StepNs(b); a != b {
		t.Errorf("a step takes %d ns on one's own figures and %d on the catalogue's", a, b)
	}
	if own.Hardware.GPU.Name != "mine" || own.Hardware.Model.Name != "seven" {
		t.Errorf("they are called %s and %s", own.Hardware.GPU.Name, own.Hardware.Model.Name)
	}
	if own.key() == known.key() {
		t.Error("figures of one's own have the catalogue's key")
	}
}

// A section of figures is no axis; an axis of names and a list of sections are.
func TestHardwareAxes(t *testing.T) {
	p := mustPlan(t, "gpu: a6000", "gpu: {sweep: [a6000, l40s]}")
	if got := p.Configs[len(p.Configs)-1].Factors["gpu"]; len(p.Configs) != 12 || got != "l40s" {
		t.Errorf("%d configurations, the last on %q; expected 12 on l40s", len(p.Configs), got)
	}
	p = mustPlan(t, "gpu: a6000", `gpu:
      - {name: slow, tflops: 100, bandwidth_gbs: 500, memory_gb: 64}
      - {name: fast, tflops: 200, bandwidth_gbs: {sweep: [600, 700]}, memory_gb: 64}`,
		"model: mistral-7b\n", `model: mistral-7b
    step:
      - {name: roof, model: roofline}
      - {name: fitted, model: max-linear, overhead_us: 1000, per_prefill_token_us: 40, weights_us: 9000, per_context_token_us: 0.05}
`)
	if len(p.Configs) != 6*3*2 {
		t.Errorf("%d configurations, expected 36", len(p.Configs))
	}
}

// Blocks of the scheduler size the KV cache, so that coefficients suffice.
func TestCoefficientsOnly(t *testing.T) {
	c := clusterOf(t, "    step: {model: linear, base_us: 1, per_prefill_token_us: 1, per_context_token_us: 1}\n    engine: {scheduler: vllm-v1, num_blocks: 100, block_size: 16}\n")
	if c.Config.KVTokens != 1600 {
		t.Errorf("%d tokens of KV cache, want 1,600", c.Config.KVTokens)
	}
}

func TestFP8Capacity(t *testing.T) {
	c := clusterOf(t, hardwareLine+"    weight_dtype: fp8\n    kv_dtype: fp8\n")
	m, _ := hardware.FindModel("mistral-7b")
	want := (48_000_000_000*9/10 - (m.WeightBytes() - m.BlockParameters())) / 65536
	if c.Config.KVTokens != want {
		t.Errorf("%d tokens of KV cache, want %d", c.Config.KVTokens, want)
	}
}

func TestWrongHardware(t *testing.T) {
	for lines, wants := range map[string][]string{
		"    gpu: a6000\n":                             {"clusters[0].model: missing: expected a name of list models or a section of figures, since the KV cache has no size of its own"},
		"    gpu: a6000\n    kv_tokens: 5\n":           {"clusters[0].model: missing", "since step model roofline needs one"},
		"    kv_tokens: 5\n    step: {model: table}\n": {"clusters[0].step.file: missing"},
		hardwareLine + "    step: {model: liner}\n":    {`clusters[0].step.model: value "liner": expected one of roofline, linear, max-linear, regression, table; did you mean "linear"?`},
		hardwareLine + "    step: linear\n":            {"expected a section of keys and values"},
		hardwareLine + "    mfu: 0.5\n    step: {model: linear, base_us: 1, per_prefill_token_us: 1, per_context_token_us: 1}\n": {"clusters[0].mfu: unknown key"},
		hardwareLine + "    step: {model: linear, per_prefill_token_us: -1, per_context_token_us: 1}\n":                          {"step.base_us: missing", "step.per_prefill_token_us: value \"-1\": expected a number from 0 to 10000 (us)"},
		hardwareLine + "    tensor_parallel: 3\n":                                                       {`clusters[0].tensor_parallel: value "3": expected a divisor of the 32 heads of mistral-7b`},
		"    model: llama-3.1-70b\n    gpu: a6000\n":                                                    {"expected memory for the 141.1 GB of weights of llama-3.1-70b"},
		"    model: mistral-7b\n    gpu: {tflops: 100, bandwidth: 500, memory_gb: 64}\n":                {"gpu.bandwidth: unknown key", `did you mean "bandwidth_gbs"?`, "gpu.bandwidth_gbs: missing"},
		"    model: {layers: 2, hidden: 64, heads: 8, kv_heads: 3, ffn: 9, vocab: 9}\n    gpu: a6000\n": {`model.kv_heads: value "3": expected a divisor of the 8 heads`},
		hardwareLine + "    weight_dtype: int4\n":                                                       {"expected one of bf16, fp8"},
		hardwareLine + "    step: {model: table, file: none.csv}\n":                                     {`clusters[0].step.file: value "none.csv": expected a readable table of steps: open none.csv`},
	} {
		_, err := planned(t, hardwareLine, lines)
		if err == nil {
			t.Errorf("%s is accepted", lines)
			continue
		}
		for _, want := range wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s gives\n%v\nwithout %q", lines, err, want)
			}
		}
	}
}

const measuredSteps = `decodes,prefill_tokens,note,context_tokens,step_us
1,0,warm,100,7000
64,0,,64000,9000
0,512,,0,21000
`

// A table of steps is found by its content, wherever its file lies.
func TestMeasuredSteps(t *testing.T) {
	dir := t.TempDir()
	with := func(name, text string) *Cluster {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return clusterOf(t, "    kv_tokens: 9000\n    step: {model: table, file: "+path+"}\n")
	}
	a := with("a.csv", measuredSteps)
	if got := a.Config.Step.StepNs(engine.Batch{Tokens: 64, Requests: 64, Context: 64000, DecodeContext: 64000}); got != 9_000_000 {
		t.Errorf("a measured step takes %d ns, want 9,000 us", got)
	}
	if b := with("b.csv", measuredSteps); b.key() != a.key() {
		t.Error("the key of a table depends on its file's name")
	}
	if b := with("c.csv", strings.Replace(measuredSteps, "9000", "9001", 1)); b.key() == a.key() {
		t.Error("the key of a table does not depend on its times")
	}
}

func TestReadSteps(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "no header",
		"prefill_tokens,decodes\n": "steps.csv:1: no column context_tokens",
		"prefill_tokens,decodes,context_tokens,step_us\n":                 "no steps below the header",
		"prefill_tokens,decodes,context_tokens,step_us\n1,0,0,5\n1,0,0\n": "wrong number of fields",
		measuredSteps + "x,1,,0,5\n":                                      `steps.csv:5: decodes is "x", expected a whole number`,
		measuredSteps + "1,1,,0,\n":                                       `steps.csv:5: step_us is "", expected a number`,
		measuredSteps + "0,0,,0,5\n":                                      "steps.csv:5: 0 prefill tokens, 0 decodes",
		measuredSteps + "0,1,,0,NaN\n":                                    "steps.csv:5: a step of NaN us",
	} {
		if _, err := ReadSteps("steps.csv", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %q", text, err, want)
		}
	}
}

func FuzzReadSteps(f *testing.F) {
	f.Add([]byte(measuredSteps))
	f.Add([]byte("\ufeffprefill_tokens,decodes,context_tokens,step_us\r\n 1, 0, 0, 1e3\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		points, err := ReadSteps("steps.csv", data)
		if err != nil {
			return
		}
		table, err := hardware.NewTable(points)
		if err != nil {
			t.Fatalf("points that were read make no table: %v", err)
		}
		for _, p := range points {
			b := engine.Batch{Tokens: p.Prefill + p.Decodes, Prefill: p.Prefill, DecodeContext: p.Context}
			if table.StepNs(b) < 1 {
				t.Fatalf("the step of %+v takes no time", p)
			}
		}
	})
}

// What config prints is an experiment of the same cells, whatever the hardware.
func TestResolvedHardware(t *testing.T) {
	for _, lines := range []string{
		hardwareLine,
		hardwareLine + "    step: {}\n",
		"    kv_tokens: 9000\n    step: {model: linear, base_us: 1, per_prefill_token_us: 1, per_context_token_us: 1}\n",
		"    model: {layers: 2, hidden: 64, heads: 8, kv_heads: 4, ffn: 9, vocab: 9}\n    gpu: {tflops: 100, bandwidth_gbs: 1, memory_gb: 64}\n    step: {model: regression}\n",
	} {
		p := mustPlan(t, hardwareLine, lines)
		text := p.Experiment.Resolved()
		e, err := experiment.Load("again.yaml", text, experiment.Options{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		again, err := NewPlan(e)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for i := range p.Runs {
			if p.Runs[i].Key != again.Runs[i].Key {
				t.Fatalf("run %d has another key after config:\n%s", i, text)
			}
		}
	}
}
