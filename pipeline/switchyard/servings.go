package main

import (
	"fmt"
	"strings"

	"switchyard/stages/experiment"
	"switchyard/stages/serve"
	"switchyard/stages/simulate"
)

// What list says of the job serve.

func servingItems() []item {
	return []item{{named{"serving", "compound systems on GPUs"}, []named{
		{"who", "sections systems, worlds and optimisers beside it"},
		{"models", "the world's models by name; list replicas"},
		{"arrivals", "when questions arrive, rates in questions a second; list arrivals"},
		{"lengths", "how long calls are, and what they share; list lengths"},
		{"engine", "how a replica forms batches; list schedulers"},
		{"rules", "by module: a cascade or a router in place of a model; list rules"},
	}, []any{new(serve.Params), simulate.GPUForm(experiment.Section{}), simulate.RouterForm(experiment.Section{})}, servingExample(wholeServing)}}
}

func replicaItems() []item {
	return []item{{named{"replicas", "what serves a model"}, []named{
		{"step", "how long a step takes, in place of mfu, mbu and overheads; list steps"},
	}, simulate.ServerParts(), servingExample(wholeServing)}}
}

func lengthItems() []item {
	return []item{{named{"lengths", "prompts and outputs of calls"}, []named{
		{"means", "prompt_tokens and output_tokens of systems"},
		{"trace", "a recorded trace in place of the lognormal, scaled to those means; list traces"},
	}, serve.LengthParams(), servingExample(wholeServing)}}
}

func ruleItems() (items []item) {
	for _, e := range serve.Rules() {
		items = append(items, item{named{e.Name, e.Summary}, []named{{"source", e.Source}}, []any{new(serve.RuleParams), e.New()}, ""})
	}
	return items
}

func ruleExample(i item) string {
	return servingExample("\n    rules:\n      solve: {rule: " + i.name + "}")
}

const wholeServing = `
    lengths: {template: 0.5, spread: 1}
    rules:
      solve: {rule: cascade, models: [B, A]}`

// servingExample is an experiment with some lines of its own.
func servingExample(own string) string {
	return strings.TrimSpace(fmt.Sprintf(`
systems: [locate-solve]
worlds: [{name: pair, world: toy, models: 2, pools: 1, prices: [5, 1]}]
optimisers: [single, exhaustive]
serving:
  - name: mine
    gpu: h100
    gpus: 8
    models:
      A: {model: llama-3.1-70b, tensor_parallel: 4}
      B: {model: llama-3.1-8b}
    arrivals: {process: poisson, rate_rps: {sweep: [1, 2]}}
    slo: {latency_ms: 10000, share: 0.99}%s
`, own))
}
