package serve

import (
	"strings"
	"testing"
)

// TestPlanErrors: what is wrong is said where it stands, before anything runs.
func TestPlanErrors(t *testing.T) {
	for change, want := range map[[2]string]string{
		{"gpus: 4", "gpus: 0"}:                                              "serving[0].gpus",
		{"A: {model", "C: {model"}:                                          `expected a model that refine / toy has: A, B`,
		{"qwen2.5-14b", "qwen2.5-14"}:                                       `did you mean "qwen2.5-14b"?`,
		{"gpu: a100-80gb", "gpu: a100"}:                                     "serving[0].gpu",
		{"refine: {rule", "refin: {rule"}:                                   `did you mean "refine"?`,
		{"rule: cascade", "rule: cascad"}:                                   `did you mean "cascade"?`,
		{"rule: cascade", "rule: oracle"}:                                   "serving[0].rules.refine.rule",
		{"models: [B, A]}", "models: [B, X]}"}:                              "serving[0].rules.refine",
		{"question_tokens: 50", "question_tokens: 500"}:                     "lengths.question_tokens",
		{"process: poisson", "process: poison"}:                             "arrivals.process",
		{"questions: 100", "questions: 100\n    router: random-"}:           `did you mean "random"?`,
		{"questions: 100", "questions: 100\n    router: recorded"}:          `serving[0].router: value "recorded": expected a policy that chooses`,
		{"model: qwen2.5-14b, tensor_parallel: 2", "model: llama-3.1-405b"}: "raise tensor_parallel",
		{"questions: 100", "questions: 100\n    engine: {scheduler: vllm}"}: "scheduler",
		{"serving:\n", "serving:\n  - {name: none, gpus: 1, gpu: h100, arrivals: {process: poisson, rate_rps: 1}}\n"}: "the world's models by name",
		{"arrivals: {process: poisson, rate_rps: 6}\n", "\n"}:                                                         "serving[0].arrivals: missing",
		{"optimisers: [single, llmselector]\n", ""}:                                                                   "optimisers: missing",
	} {
		_, err := planOf(strings.Replace(small, change[0], change[1], 1))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "f.yaml:") {
			t.Errorf("%s: %v, expected %s", change[1], err, want)
		}
	}
}

// TestKeys: what decides a cell's rows is in its key, and nothing else is.
func TestKeys(t *testing.T) {
	keyOf := func(changes ...string) string { return mustPlan(t, changes...).Runs[0].Key }
	same := keyOf()
	for _, change := range [][]string{
		{"gpus: 4", "gpus: 5"}, {"rate_rps: 6", "rate_rps: 7"}, {"spread: 0.4", "spread: 0.5"}, {"latency_ms: 1500", "latency_ms: 1600"},
		{"llama-3.2-3b", "llama-3.2-1b"}, {"seed: 7", "seed: 8"}, {"train: 70", "train: 71"}, {"models: [B, A]", "models: [A, B]"},
		{"output_tokens: [30", "output_tokens: [31"}, {"seed: 7", "seed: 7\nwarm_up: 0.1"}, {"[single, llmselector]", "[single]"},
		{"questions: 100", "questions: 100\n    router: round-robin"}, {"questions: 100", "questions: 100\n    engine: {scheduler: vllm-v1}"},
	} {
		if keyOf(change...) == same {
			t.Errorf("%v leaves the key", change)
		}
	}
	for _, change := range [][]string{{"name: toy,", "name: other,"}, {"name: four", "name: some"}, {"questions: 100", "questions: 100\n    router: {policy: least-requests}"}} {
		if keyOf(change...) != same {
			t.Errorf("%v changes the key", change)
		}
	}
}
