package main

import (
	"fmt"
	"strings"

	"switchyard/sim/hardware"
	"switchyard/sim/param"
)

// Examples that list prints: sections of an experiment file. Those of single
// kinds stand here as they are, the others are made for an item of a registry.

const headExample = `
name: mine
seed: 1
replications: 1..10
warm_up: 0.2
baseline: round-robin
slo: {ttft_ms: 2000, tpot_ms: 100}
tables: {requests: sample, sample: 0.05}
`

const expectationExample = `
workloads: [{name: documents, generator: lecture-documents, requests: 300, arrivals: {process: poisson, rate_rps: 1}}]
clusters: [{name: a6000x4, replicas: 4, model: mistral-7b, gpu: a6000}]
routers: [round-robin, cache-aware]
expectations:
  hits:
    published: our objective for the cluster
    sql: |
      select mean as value, lo, hi from summary
      where router = 'cache-aware' and metric = 'prefix_hit_rate'
    relation: {greater_than: 0.5}
    reason: below that the GPUs that we have do not suffice
  faster-than-round-robin:
    published: our objective for the cluster
    sql: |
      select ratio as value, ratio_lo as lo, ratio_hi as hi from comparisons
      where router = 'cache-aware' and metric = 'e2e_mean_us'
    relation: {less_than: 0.9}
    reason: a tenth pays for the change
`

const traceExample = `
workloads:
  - name: mine
    trace: conversation.jsonl       # from this file's folder; ${VAR} is replaced
    format: mooncake
    speed: {sweep: [1, 2, 4]}
`

const clusterExample = `
clusters:
  - name: a6000x4
    replicas: 4
    model: mistral-7b
    gpu: a6000
    engine: {scheduler: lecture, chunk_tokens: {sweep: [512, 2048]}}
`

const eventExample = `
clusters:
  - name: a6000x4
    replicas: 4
    model: mistral-7b
    gpu: a6000
    events:
      crash: {event: fail, replica: 3, at_s: 60, back_s: 90}
      lame: {event: slow, replica: 0, factor: 2}
`

const viewExample = `
routers:
  - {name: herd, policy: least-requests, view: {loads: polled, poll_ms: {sweep: [100, 1000]}}}
  - {name: cured, policy: least-requests, view: {loads: corrected, poll_ms: 1000}}
`

const ballsExample = `
balls:
  - {name: mine, bins: {sweep: [1000, 100000]}, choices: {sweep: [1, 2]}}
`

const dispatchExample = `
dispatch:
  - name: mine
    servers: 16
    load: {sweep: [0.5, 0.9]}
    sizes: {law: lognormal, c2: 8}
    information: {model: periodic, age: 2}
policies: [random, jsq]
`

// mixtureExample has its parts in a mapping by name, since a list would be
// variants to choose from.
const mixtureExample = `
workloads:
  - name: mine
    generator: mixture
    requests: 2000
    arrivals: {process: poisson, rate_rps: {value: 4, per_replica: true}}
    components:                     # by name: a generator, its share, its parameters
      tools: {generator: tool-use, share: 0.7, question_tokens: 300}
      chats: {generator: chat, share: 0.3}
`

func workloadExample(i item) string {
	if i.name == "mixture" {
		return mixtureExample
	}
	return fmt.Sprintf(`
workloads:
  - name: mine
    generator: %s
    requests: 2000
    arrivals: {process: poisson, rate_rps: {sweep: [2, 4], per_replica: true}}
%s`, i.name, i.settings(1, 1, "    ", "\n"))
}

func arrivalExample(i item) string {
	parameters := i.settings(0, 1, ", ", "")
	if i.name == "trace" { // its parameters are those of a trace
		parameters = ", trace: conversation.jsonl"
	}
	return fmt.Sprintf(`
workloads:
  - name: mine
    generator: tool-use
    requests: 2000
    arrivals: {process: %s%s}
`, i.name, parameters)
}

func formatExample(i item) string {
	return fmt.Sprintf("workloads:\n  - {name: mine, trace: my-file, format: %s}", i.name)
}

// ownExample has the figures of Mistral-7B and of an A6000.
const ownExample = `
clusters:
  - name: mine
    replicas: 4
    model: {name: my-7b, layers: 32, hidden: 4096, heads: 32, kv_heads: 8, ffn: 14336, vocab: 32000}
    gpu: {name: my-gpu, tflops: 154.8, bandwidth_gbs: 768, memory_gb: 48, link_gbs: 56.25}
`

// modelExample is a cluster in which the model fits: on the fewest GPUs, with
// its weights in 8 bits where 16 fit on none.
func modelExample(i item) string {
	m, known := hardware.FindModel(i.name)
	if !known {
		return ownExample
	}
	gpu, _ := hardware.FindGPU("h100")
	for _, bits := range []string{"bf16", "fp8"} {
		weights, _ := hardware.FindDType(bits)
		cut := m.With(weights, hardware.BF16)
		for degree := 1; degree <= 8; degree *= 2 {
			if m.CheckDegree(degree) != nil || hardware.KVCapacity(gpu, cut, degree, 0.9) < 1 {
				continue
			}
			return fmt.Sprintf("clusters:\n  - {name: mine, replicas: 4, model: %s, gpu: h100, tensor_parallel: %d, weight_dtype: %s}", i.name, degree, bits)
		}
	}
	return ""
}

func gpuExample(i item) string {
	if _, known := hardware.FindGPU(i.name); !known {
		return ownExample
	}
	return fmt.Sprintf("clusters:\n  - {name: mine, replicas: 4, model: mistral-7b, gpu: %s, tensor_parallel: 2}", i.name)
}

func schedulerExample(i item) string {
	return clusterWith(fmt.Sprintf("engine: {scheduler: %s%s}", i.name, i.settings(0, 2, ", ", "")))
}

func stepExample(i item) string {
	return clusterWith(fmt.Sprintf("step: {model: %s%s}", i.name, i.settings(0, 1, ", ", "")))
}

func clusterWith(line string) string {
	return "clusters:\n  - name: mine\n    replicas: 4\n    model: mistral-7b\n    gpu: a6000\n    " + line
}

// playedExample is a router that only goes with some traces.
const playedExample = `
workloads:
  - {name: mine, trace: measured.csv, format: requests}     # with a column replica
routers:
  - recorded
`

func routerExample(i item) string {
	if i.name == "recorded" {
		return playedExample
	}
	return i.among("routers")
}

func policyExample(i item) string {
	return i.among("policies")
}

// among is a policy in a section, short where it has no parameters.
func (i item) among(section string) string {
	settings := i.settings(0, 2, ", ", "")
	if settings == "" {
		return fmt.Sprintf("%s:\n  - %s", section, i.name)
	}
	return fmt.Sprintf("%s:\n  - {name: mine, policy: %s%s}     # or only: %s", section, i.name, settings, i.name)
}

func processExample(i item) string {
	if i.name == "trace" {
		return recordedExample
	}
	return fmt.Sprintf("dispatch:\n  - {name: mine, servers: 8, load: 0.8, arrivals: {process: %s%s}}\npolicies: [random, jsq]",
		i.name, i.settings(0, 1, ", ", ""))
}

// recordedExample plays a trace on plain servers, all of it.
const recordedExample = `
dispatch:
  - name: mine
    servers: 8
    load: {sweep: [0.5, 0.8]}                                      # scales the times, or keep_rate: true and no load
    arrivals: {trace: conversation.jsonl, format: mooncake}
    sizes: {trace: conversation.jsonl, format: mooncake, of: total}   # in proportion to its tokens
policies: [random, jsq]
`

func informationExample(i item) string {
	age := ", age: {sweep: [0.5, 2, 8]}"
	if i.name == "live" || i.name == "own" {
		age = ""
	}
	return fmt.Sprintf("dispatch:\n  - {name: mine, servers: 8, load: 0.8, information: {model: %s%s}}\npolicies: [random, jsq]", i.name, age)
}

func sizeExample(i item) string {
	if i.name == "trace" {
		return recordedExample
	}
	return fmt.Sprintf("dispatch:\n  - {name: mine, servers: 8, load: 0.8, sizes: {law: %s%s}}\npolicies: [random, jsq]", i.name, i.settings(0, 1, ", ", ""))
}

// required are values for parameters that have no default.
var required = map[string]string{
	"rate_rps": "{value: 4, per_replica: true}", "users": "{value: 8, per_replica: true}",
	"times": "[0, 0.5, 2, 2.5, 4]", "values": "[0.5, 1, 3]", "file": "steps.csv",
	"base_us": "6000", "overhead_us": "500", "weights_us": "15000",
	"per_prefill_token_us": "90", "per_context_token_us": "0.2", "per_decode_us": "20",
}

// settings are the item's required parameters and, up to a number of others,
// those at their defaults, each with a text before and after it. The first
// structs of params are skipped.
func (i item) settings(skip, others int, before, after string) string {
	var b strings.Builder
	for _, ptr := range i.params[skip:] {
		for _, f := range param.Fields(ptr) {
			value := required[f.Name]
			if !f.Required {
				if others == 0 || f.Default == "" || strings.HasPrefix(f.Kind, "list") {
					continue
				}
				value, others = f.Default, others-1
			}
			b.WriteString(before + f.Name + ": " + value + after)
		}
	}
	return b.String()
}
