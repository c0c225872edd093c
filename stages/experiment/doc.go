// Package experiment reads the experiment file and expands its grids.
//
// This is the manual of the file. It is YAML, read strictly: unknown and
// duplicate keys, second documents, anchors, aliases, merge keys and tags are
// errors, and so is any value of another type than was asked for. Numbers have
// no units; the unit is in the parameter's name or in `switchyard list`. 1e3
// and 1_000 are numbers; infinities are not.
//
//	name: example                  # names the folder of results
//	seed: 1                        # of all random streams
//	replications: 1..10            # or a list [1, 2, 5], or a number n for 1..n
//	warm_up: 0.2                   # share of arrivals cut, by index, 0 to 0.9
//	baseline: round-robin          # a router, policy or optimiser below; the first one by default
//	slo: {ttft_ms: 1000, tpot_ms: 100, e2e_ms: 0}    # 0 = no bound
//	tables:
//	  workload: true
//	  requests: all                # or sample, or none
//	  sample: 0.01                 # with requests: sample
//	  replicas: true
//	  assignments: small           # or none, or all: also spaces of more than 100,000
//
//	workloads:
//	  - name: tool
//	    generator: lecture-tool    # its parameters stand beside it
//	    requests: 2000
//	    arrivals:
//	      process: poisson
//	      rate_rps: {sweep: [4, 8, 12], per_replica: true}
//	  - name: mine
//	    trace: traces/conversation.jsonl   # from this file's folder; ${VAR} is replaced
//	    format: mooncake
//	    speed: {sweep: [1, 2, 4]}
//
//	clusters:
//	  - name: a6000x4
//	    replicas: 4
//	    model: mistral-7b
//	    gpu: a6000
//	    engine:
//	      - {name: small, chunk_tokens: 512}
//	      - {name: large, chunk_tokens: {sweep: [1024, 2048]}}
//
//	routers:
//	  - random                     # = {name: random, policy: random}
//	  - round-robin
//	  - name: sticky
//	    policy: prefix-threshold
//	    threshold: {sweep: [.25, .5]}
//
// # The head
//
// Only the sections of a job must be there. By default the name is the file's,
// the seed 1, the replications 1..10, the warm-up 0.2, the baseline the first
// router, policy or optimiser (with its first values, where it sweeps), no bound
// is set, and all tables are kept with all requests: only all requests can be cut
// and summed anew, and only an experiment of more than about a hundred million
// wants a sample or none.
//
// # Variants and axes
//
// Sections are lists of named variants. A router or policy may be only a name,
// that of the policy; a system, a world and an optimiser too. A name has a-z,
// 0-9, dot, underscore and hyphen, and begins with a letter or a digit. Below the
// top, too, a list of mappings is a list of named variants, from which each
// configuration takes one, such as the engines above; a list of anything else is
// a value.
//
// {sweep: [...]} is an axis: each configuration takes one of the values, which
// are distinct. Axes with the same zip advance together, also across the
// sections of a job, and have as many values as each other; the values of one
// of them may repeat.
//
// per_replica: true, beside sweep or value, multiplies a number by the replicas
// of the configuration's cluster: {value: 6, per_replica: true}. Rates, numbers
// of requests and numbers of prefixes take it.
//
// # The grid
//
// Everything crosses in the order of the file, and what comes later varies
// faster; replications vary fastest. A zip varies where its first axis stands.
// An axis inside a variant exists only while the variant is chosen. In the
// example, tool has 3 rates and mine has 3 speeds, each with the small engine
// and with two large ones, each with random, round-robin and two thresholds:
// (3 + 3) x 3 x 4 = 72 configurations.
//
// Every axis is a factor of the results, named by the shortest end of its path
// that no other axis of the file has: rate_rps, speed, engine, chunk_tokens,
// threshold above; if the cluster swept a speed as well, they would be
// workload.speed and cluster.speed. A factor's value is the value as written,
// numbers in their shortest form, before per_replica.
//
// # Jobs
//
// A file asks for one job or several, by the sections that it has:
//
//	simulate   workloads x clusters x routers   LLM serving, as above
//	balls      balls                            balls thrown into bins
//	dispatch   dispatch x policies              servers behind a dispatcher
//	choose     systems x worlds x optimisers    a model for each module
//	serve      serving                          what choose chooses from, served on GPUs
//
//	balls:
//	  - {name: lecture, bins: {sweep: [1000, 100000]}, choices: {sweep: [1, 2]}}
//	dispatch:
//	  - name: sixteen
//	    servers: 16
//	    load: 0.9
//	policies: [random, jsq, {name: first, policy: jsq, ties: first}]
//	systems: [locate-solve, {name: pair, system: debate, generators: 2, debaters: 2}]
//	worlds: [{name: toy, world: toy, models: 5, pools: 10}]
//	optimisers: [single, llmselector, exhaustive]
//	serving: [{name: eight, gpu: h100, gpus: 8, models: {A: {model: llama-3.1-8b}, ...}, arrivals: {...}}]
//
// A job has a grid of its own; a file that has one of its sections has all of
// them. Serving stands beside the sections of choose, and is crossed with its
// systems and worlds. The head is for all jobs.
//
// # Expectations
//
// Section expectations says what should come out: a mapping by name that
// crosses nothing, belongs to no cell's key and may be changed without running
// anything again. Package stages/expect is its manual.
//
//	expectations:
//	  hits:
//	    published: Example et al., table 2
//	    value: 0.33
//	    sql: select mean as value, lo, hi from summary where router = 'random' and metric = 'prefix_hit_rate'
//	    relation: {plus_minus: 0.02}
//	    reason: the paper's own interval over five runs
//
// # Overrides
//
// Load takes overrides path=value, the flag --set. The items of a path are
// keys, and in lists names, indexes or * for all; the value is YAML and may be
// an axis:
//
//	seed=7
//	workloads.tool.requests=500
//	workloads.*.arrivals.rate_rps={sweep: [1, 2]}
//	clusters.0.engine.small.chunk_tokens=256
//	routers=[random, cache-aware]
//
// An override replaces what it names, a whole axis with its flags too; what is
// not there yet is made.
//
// # For stages
//
// Points hold sections; each stage decodes its own into structs with parameter
// tags (package param):
//
//	e, err := experiment.Load(file, data, experiment.Options{})
//	for _, p := range e.Points[experiment.Simulate] {
//		var c struct {
//			Replicas int                `yaml:"replicas" default:"1" min:"1" doc:"..."`
//			Engine   experiment.Section `yaml:"engine"`
//		}
//		err = p.Part("cluster").Section.Decode(1, &c) // *Error with file, line and column
//	}
//
// Join merges the errors of many points. After decoding, Resolved prints the
// experiment with every default.
package experiment
