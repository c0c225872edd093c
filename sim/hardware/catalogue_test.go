package hardware

import (
	"math"
	"slices"
	"strings"
	"testing"

	"switchyard/sim/param"
)

// published are parameter counts as the models' publishers count them: the
// total of the weight files of the repositories. The small Qwen3 models store
// their tied head a second time; here are the counts without it.
var published = map[string]int64{
	"mistral-7b": 7241732096, "mistral-nemo-12b": 12247782400, "mistral-small-24b": 23572403200,
	"mixtral-8x7b": 46702792704, "mixtral-8x22b": 140620634112,
	"llama-2-7b": 6738415616, "llama-2-13b": 13015864320, "llama-2-70b": 68976648192, "codellama-34b": 33743970304,
	"llama-3-8b": 8030261248, "llama-3-70b": 70553706496,
	"llama-3.1-8b": 8030261248, "llama-3.1-70b": 70553706496, "llama-3.1-405b": 405853388800,
	"llama-3.2-1b": 1235814400, "llama-3.2-3b": 3212749824,
	"qwen2.5-7b": 7615616512, "qwen2.5-14b": 14770033664, "qwen2.5-32b": 32763876352, "qwen2.5-72b": 72706203648,
	"qwen3-0.6b": 596049920, "qwen3-1.7b": 1720574976, "qwen3-4b": 4022468096,
	"qwen3-8b": 8190735360, "qwen3-14b": 14768307200, "qwen3-32b": 32762123264,
	"qwen3-30b-a3b": 30532122624, "qwen3-235b-a22b": 235093634560,
}

func TestParameters(t *testing.T) {
	if len(models) != len(published) {
		t.Errorf("%d models and %d published counts", len(models), len(published))
	}
	for _, m := range models {
		if got, want := m.Parameters(), published[m.Name]; got != want {
			t.Errorf("%s has %d parameters, want %d", m.Name, got, want)
		}
	}
	if _, m := find(t, "a6000", "mistral-7b"); m.BlockParameters() != 6979321856 || m.ActiveParameters() != 6979321856 {
		t.Errorf("mistral-7b has %d parameters in its blocks, %d of them active, want 6,979,321,856", m.BlockParameters(), m.ActiveParameters())
	}
}

// The publishers say how many parameters a token uses, in rounded billions,
// embedding and head included.
func TestActive(t *testing.T) {
	for name, want := range map[string]float64{"mixtral-8x7b": 12.9, "mixtral-8x22b": 39, "qwen3-30b-a3b": 3.3, "qwen3-235b-a22b": 22} {
		m, _ := FindModel(name)
		active := m.Parameters() - m.BlockParameters() + m.ActiveParameters()
		if got := float64(active) / 1e9; math.Abs(got/want-1) > .02 {
			t.Errorf("%s uses %.2f billion parameters a token, want %v", name, got, want)
		}
	}
}

func TestCatalogue(t *testing.T) {
	var names []string
	for _, g := range GPUs() {
		names = append(names, g.Name)
		if g.FLOPS < 1e13 || g.Bandwidth < 1e11 || g.Memory < 1e10 || g.Link < 1e10 || g.Source == "" || g.Title == "" {
			t.Errorf("%s lacks a figure: %+v", g.Name, g)
		}
		if g.FP8 != 0 && math.Abs(g.FP8/g.FLOPS-2) > .03 {
			t.Errorf("%s has an fp8 peak of %.3g and a bf16 peak of %.3g, expected twice", g.Name, g.FP8, g.FLOPS)
		}
	}
	for _, want := range []string{"a6000", "a100-40gb", "a100-80gb", "h100", "h200", "b200", "l4", "l40s", "mi300x"} {
		if !slices.Contains(names, want) {
			t.Errorf("there is no %s", want)
		}
	}
	for _, m := range Models() {
		names = append(names, m.Name)
		if m.Heads%m.KVHeads != 0 || !strings.HasPrefix(m.Source, "config.json of ") || m.Title == "" {
			t.Errorf("%s is no model: %+v", m.Name, m)
		}
	}
	for _, s := range StepModels() {
		names = append(names, s.Name)
		if s.Summary == "" || s.Source == "" {
			t.Errorf("step model %s lacks a summary or a source", s.Name)
		}
		for _, f := range param.Fields(s.New()) {
			if f.Doc == "" {
				t.Errorf("parameter %s of %s lacks a doc", f.Name, s.Name)
			}
		}
	}
	slices.Sort(names)
	if again := slices.Compact(slices.Clone(names)); len(again) != len(names) {
		t.Errorf("a name is there twice: %v", names)
	}
}

func TestCustom(t *testing.T) {
	g := GPUParams{Name: "mine", TFLOPS: 154.8, BandwidthGBs: 768, MemoryGB: 48, LinkGBs: 56.25}.GPU()
	want, m := find(t, "a6000", "mistral-7b")
	g.Name, g.Title, g.Source = want.Name, want.Title, want.Source
	if g != want {
		t.Errorf("an A6000 of one's own is %+v, want %+v", g, want)
	}
	p := ModelParams{Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 8, FFN: 14336, Vocab: 32000}
	own := p.Model()
	own.Name, own.Title, own.Source = m.Name, m.Title, m.Source
	if own != m {
		t.Errorf("a Mistral of one's own is %+v, want %+v", own, m)
	}
	for field, bad := range map[string]ModelParams{
		"kv_heads":       {Layers: 1, Hidden: 64, Heads: 8, KVHeads: 3, FFN: 1, Vocab: 1},
		"head_dim":       {Layers: 1, Hidden: 65, Heads: 8, KVHeads: 8, FFN: 1, Vocab: 1},
		"experts":        {Layers: 1, Hidden: 64, Heads: 8, KVHeads: 8, FFN: 1, Vocab: 1, ActiveExperts: 1},
		"active_experts": {Layers: 1, Hidden: 64, Heads: 8, KVHeads: 8, FFN: 1, Vocab: 1, Experts: 4, ActiveExperts: 5},
	} {
		if err := param.Validate(&bad); err == nil || !strings.HasPrefix(err.Error(), field+":") {
			t.Errorf("a model with a wrong %s gives %v", field, err)
		}
	}
}
