package main

import (
	"fmt"
	"strconv"
	"strings"

	"switchyard/pipeline/experiments"
	"switchyard/sim/engine"
	"switchyard/sim/hardware"
	"switchyard/sim/param"
	"switchyard/sim/queueing"
	"switchyard/sim/router"
	"switchyard/sim/workload"
	"switchyard/stages/expect"
	"switchyard/stages/experiment"
	"switchyard/stages/generate"
	models "switchyard/stages/queueing"
	"switchyard/stages/simulate"
	"switchyard/stages/trace"
)

func experimentItems() (items []item) {
	for _, name := range experiments.Names() {
		flags := ""
		if needs := experiments.Needs(name); needs != "" {
			flags = " " + needs
		}
		items = append(items, item{named: named{name, experiments.Summary(name)}, facts: []named{
			{"run it", invoked() + " run " + name + flags},
			{"see it", invoked() + " config " + name + flags},
		}})
	}
	return items
}

// replications is the one parameter of the file's head that is no plain value.
type replications struct {
	Replications string `yaml:"replications" default:"1..10" doc:"a range, a list [1, 2, 5], or a number n for 1..n; flag --seeds"`
}

func headItems() []item {
	return []item{{named{"experiment", "what stands at the top of an experiment file"}, nil, []any{experiment.Head(), new(replications)}, headExample}}
}

func expectationItems() []item {
	return []item{{named{"expectations", "what a result should be: published figures, or regression tests of your own"}, []named{
		{"relation", "one of its keys, with a reason; what is left out is not asked"},
		{"verdicts", "agrees, differs, cannot be judged; with an interval (lo, hi) it has to lie on one side of a bound"},
		{"saturated", "only an order is judged past saturation, or fixed_requests: true"},
		{"functions", "for the SQL, of one row a replication: ci_lo(x), ci_hi(x), ratio_lo(a, b), ratio_hi(a, b)"},
	}, []any{expect.Settings()}, expectationExample}}
}

func traceItems() []item {
	return []item{{named{"traces", "a workload that is a recorded trace"}, []named{{"formats", "list formats"}}, generate.TraceParams(), traceExample}}
}

func clusterItems() []item {
	return []item{{named{"clusters", "replicas behind a router"}, []named{
		{"engine", "how a replica forms batches; list schedulers"},
		{"step", "how long a step takes, in place of mfu, mbu and overheads; list steps"},
		{"events", "what happens to replicas: they fail, drain, join or are slow; list events"},
	}, simulate.ClusterParts(), clusterExample}}
}

func ballsItems() []item {
	return []item{{named{"balls", "balls thrown into bins"}, nil, []any{new(queueing.Balls)}, ballsExample}}
}

func dispatchItems() []item {
	return []item{{named{"dispatch", "plain servers behind a dispatcher"}, []named{
		{"arrivals", "when requests arrive; list processes"}, {"sizes", "how long they take; list sizes"},
		{"information", "what the dispatcher sees, how old; list information"},
		{"policies", "who gets them, a section beside dispatch; list policies"},
	}, []any{new(queueing.System), new(queueing.Traffic), new(models.DispatchParams)}, dispatchExample}}
}

func workloadItems() (items []item) {
	for _, g := range workload.Generators() {
		facts, params := []named{{"source", g.Source}, {"arrivals", "when requests arrive; list arrivals"}}, generate.GeneratedParams()
		if own := g.New(); len(param.Fields(own)) > 0 {
			params = append(params, own)
		} else {
			facts = append(facts, named{"components", "by name: a generator with its parameters, share, tags"})
		}
		items = append(items, item{named{g.Name, g.Summary}, facts, params, ""})
	}
	return items
}

func arrivalItems() (items []item) {
	for _, p := range workload.Processes() {
		items = append(items, item{named{p.Name, p.Summary}, []named{{"source", p.Source}}, []any{p.New()}, ""})
	}
	return items
}

func formatItems() (items []item) {
	for _, f := range trace.Formats() {
		facts := []named{{"source", f.Source}, {"columns", f.Columns}, {"empty records", f.Empty}}
		if f.BlockTokens > 0 {
			facts = append(facts, named{"tokens a block", strconv.Itoa(int(f.BlockTokens))})
		}
		items = append(items, item{named: named{f.Name, f.Summary}, facts: facts})
	}
	return items
}

func eventItems() []item {
	return []item{{named{"events", "what happens to replicas while requests run, by name"}, nil, []any{new(simulate.EventParams)}, eventExample}}
}

func viewItems() []item {
	return []item{{named{"view", "what routers see of the cluster, whatever their policy"}, nil, []any{new(router.Sight)}, viewExample}}
}

func routerItems() (items []item) {
	for _, p := range router.Policies() {
		facts := []named{{"needs", p.Needs}}
		for _, f := range []named{{"formula", p.Formula}, {"believes", p.Belief}, {"how fresh", p.Staleness}, {"terms", strings.Join(p.Terms, ", ")}} {
			if f.summary != "" {
				facts = append(facts, f)
			}
		}
		facts = append(facts, named{"ties", p.TieBreak}, named{"source", p.Source})
		items = append(items, item{named{p.Name, p.Summary}, facts, []any{p.New()}, ""})
	}
	return items
}

func policyItems() (items []item) {
	for _, p := range queueing.Policies() {
		items = append(items, item{named{p.Name, p.Summary}, []named{
			{"must know", p.Needs}, {"how fresh", p.Freshness}, {"breaks", p.Breaks},
			{"ties", p.TieBreak}, {"speeds", p.Speeds}, {"source", p.Source},
		}, []any{p.New()}, ""})
	}
	return items
}

func processItems() (items []item) {
	for _, p := range queueing.Processes() {
		items = append(items, item{named{p.Name, p.Summary}, []named{{"source", p.Source}}, []any{p.New()}, ""})
	}
	return append(items, item{named{"trace", "the times of a recorded trace: arrivals.trace, without a process"}, []named{{"formats", "list formats"}}, []any{new(models.RecordedArrivals)}, ""})
}

// informationItems are the values of information.model.
func informationItems() (items []item) {
	for _, m := range queueing.InformationModels() {
		items = append(items, item{named{m.Name, m.Summary}, []named{{"source", m.Source}}, []any{new(queueing.Information)}, ""})
	}
	return items
}

func sizeItems() (items []item) {
	for _, l := range queueing.SizeLaws() {
		items = append(items, item{named{l.Name, l.Summary}, []named{{"source", l.Source}}, []any{l.New()}, ""})
	}
	return append(items, item{named{"trace", "in proportion to the tokens of a recorded trace, in its order: sizes.trace, without a law"}, []named{{"formats", "list formats"}}, []any{new(models.RecordedSizes)}, ""})
}

func schedulerItems() (items []item) {
	for _, s := range engine.Schedulers() {
		items = append(items, item{named{s.Name, s.Summary}, []named{{"source", s.Source}}, []any{s.New()}, ""})
	}
	return items
}

func stepItems() (items []item) {
	for _, s := range hardware.StepModels() {
		facts := []named{{"source", s.Source}}
		if s.Name == "table" {
			facts = append(facts, tableFacts...)
		}
		items = append(items, item{named{s.Name, s.Summary}, facts, []any{s.New()}, ""})
	}
	return items
}

// tableFacts say what a table of steps does with its rows.
var tableFacts = []named{
	{"columns", "prefill_tokens, decodes, context_tokens summed over the decodes before the step, step_us; in any order, others are left out"},
	{"must have", "rows with prefill tokens and rows with decodes, not all shorter than 10 us"},
	{"between rows", "lines over prefill tokens, at each over decodes, at each over the mean context of a decode"},
	{"beyond them", "the line through the two outermost values goes on; where there is one value the time stays; never below the shortest row"},
	{"same place", "rows of the same step count as one, with the mean of their times"},
	{"contexts", "those of prefill chunks play no part: measure prefills as they will run"},
}

// ownFigures is the name under which the parameters of hardware that is not in
// the catalogue are listed; in a file they stand without it.
const ownFigures = "custom"

func modelItems() (items []item) {
	for _, m := range hardware.Models() {
		experts := ""
		if m.Experts > 0 {
			experts = fmt.Sprintf("%d, of which a token uses %d", m.Experts, m.ActiveExperts)
		}
		items = append(items, item{named: named{m.Name, m.Title}, facts: []named{
			{"layers", strconv.Itoa(m.Layers)},
			{"hidden size", strconv.Itoa(m.Hidden)},
			{"heads, KV heads", fmt.Sprintf("%d, %d of %d", m.Heads, m.KVHeads, m.HeadDim)},
			{"feed-forward", strconv.Itoa(m.FFN)},
			{"experts", experts},
			{"vocabulary", strconv.Itoa(m.Vocab)},
			{"parameters", strconv.FormatInt(m.Parameters(), 10)},
			{"weights", fmt.Sprintf("%.2f GB in bf16", float64(m.WeightBytes())/1e9)},
			{"KV cache", fmt.Sprintf("%d bytes a token in bf16", m.KVBytes())},
			{"source", m.Source},
		}})
	}
	return append(items, item{
		named:  named{ownFigures, "a model of one's own: a section of its figures in place of a name, which may stand beside a gpu of either form"},
		facts:  []named{{"key", "clusters.model, with these below it; name is free"}},
		params: []any{new(hardware.ModelParams)},
	})
}

func gpuItems() (items []item) {
	for _, g := range hardware.GPUs() {
		fp8 := ""
		if g.FP8 > 0 {
			fp8 = fmt.Sprintf("%.4g TFLOP/s, dense fp8", g.FP8/1e12)
		}
		items = append(items, item{named: named{g.Name, g.Title}, facts: []named{
			{"peak", fmt.Sprintf("%.4g TFLOP/s, dense bf16", g.FLOPS/1e12)},
			{"fp8 peak", fp8},
			{"bandwidth", fmt.Sprintf("%.4g GB/s", g.Bandwidth/1e9)},
			{"memory", fmt.Sprintf("%.4g GB", g.Memory/1e9)},
			{"link", fmt.Sprintf("%.4g GB/s in one direction", g.Link/1e9)},
			{"source", g.Source},
		}})
	}
	return append(items, item{
		named:  named{ownFigures, "a GPU of one's own: a section of its figures in place of a name, which may stand beside a model of either form"},
		facts:  []named{{"key", "clusters.gpu, with these below it; name is free"}},
		params: []any{new(hardware.GPUParams)},
	})
}
