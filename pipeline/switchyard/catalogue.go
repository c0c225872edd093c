package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"switchyard/pipeline/experiments"
	"switchyard/sim/engine"
	"switchyard/sim/hardware"
	"switchyard/sim/param"
	"switchyard/sim/queueing"
	"switchyard/sim/router"
	"switchyard/sim/workload"
	"switchyard/stages/trace"
)

// named is a thing with a name and one line about it.
type named struct{ name, summary string }

// item is a named thing of a registry, with what `list KIND NAME` prints.
type item struct {
	named
	facts  []named // what it is, as name and value
	params any     // pointer to its tagged struct, or nil
}

// kind is one registry.
type kind struct {
	named
	items func() []item
}

// kinds are all registries, in the order that `list` prints them.
func kinds() []kind {
	return []kind{
		{named{"experiments", "built-in experiment files, for run and config"}, experimentItems},
		{named{"workloads", "generators of requests: workloads.generator"}, workloadItems},
		{named{"arrivals", "arrival processes: workloads.arrivals.process"}, arrivalItems},
		{named{"formats", "trace files: workloads.format"}, formatItems},
		{named{"routers", "routing policies: routers.policy"}, routerItems},
		{named{"policies", "dispatch policies of servers in a queueing model: policies.policy"}, policyItems},
		{named{"processes", "arrival processes there: dispatch.arrivals.process"}, processItems},
		{named{"sizes", "laws of request sizes there: dispatch.sizes.law"}, sizeItems},
		{named{"schedulers", "rules by which a replica forms batches: clusters.engine.scheduler"}, schedulerItems},
		{named{"steps", "step models, how long a step takes: clusters.step.model"}, stepItems},
		{named{"models", "models that replicas serve: clusters.model"}, modelItems},
		{named{"gpus", "GPUs of replicas: clusters.gpu"}, gpuItems},
	}
}

func findKind(name string) (kind, error) {
	var known []string
	for _, k := range kinds() {
		if k.name == name {
			return k, nil
		}
		known = append(known, k.name)
	}
	return kind{}, fmt.Errorf("list: unknown kind %q, expected one of %s%s", name, strings.Join(known, ", "), didYouMean(name, known, ""))
}

func (k kind) find(name string) (item, error) {
	var known []string
	for _, i := range k.items() {
		if i.name == name {
			return i, nil
		}
		known = append(known, i.name)
	}
	return item{}, fmt.Errorf("list: no %q among %s, expected one of %s%s", name, k.name, strings.Join(known, ", "), didYouMean(name, known, ""))
}

// catalogue returns the names of a kind, and nothing for an unknown one.
func catalogue(name string) (all []named) {
	k, err := findKind(name)
	if err != nil {
		return nil
	}
	for _, i := range k.items() {
		all = append(all, i.named)
	}
	return all
}

func catalogueKinds() (all []named) {
	for _, k := range kinds() {
		all = append(all, k.named)
	}
	return all
}

func experimentItems() (items []item) {
	for _, name := range experiments.Names() {
		items = append(items, item{named: named{name, experiments.Summary(name)}, facts: []named{
			{"run it", programName + " run " + name},
			{"see it", programName + " config " + name},
		}})
	}
	return items
}

func workloadItems() (items []item) {
	for _, g := range workload.Generators() {
		items = append(items, item{named{g.Name, g.Summary}, []named{{"source", g.Source}}, g.New()})
	}
	return items
}

func arrivalItems() (items []item) {
	for _, p := range workload.Processes() {
		items = append(items, item{named{p.Name, p.Summary}, []named{{"source", p.Source}}, p.New()})
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

func routerItems() (items []item) {
	for _, p := range router.Policies() {
		items = append(items, item{named{p.Name, p.Summary}, []named{
			{"needs", p.Needs}, {"ties", p.TieBreak}, {"source", p.Source},
		}, p.New()})
	}
	return items
}

func policyItems() (items []item) {
	for _, p := range queueing.Policies() {
		items = append(items, item{named{p.Name, p.Summary}, []named{
			{"must know", p.Needs}, {"how fresh", p.Freshness}, {"breaks", p.Breaks},
			{"ties", p.TieBreak}, {"speeds", p.Speeds}, {"source", p.Source},
		}, p.New()})
	}
	return items
}

func processItems() (items []item) {
	for _, p := range queueing.Processes() {
		items = append(items, item{named{p.Name, p.Summary}, []named{{"source", p.Source}}, p.New()})
	}
	return items
}

func sizeItems() (items []item) {
	for _, l := range queueing.SizeLaws() {
		items = append(items, item{named{l.Name, l.Summary}, []named{{"source", l.Source}}, l.New()})
	}
	return items
}

func schedulerItems() (items []item) {
	for _, s := range engine.Schedulers() {
		items = append(items, item{named{s.Name, s.Summary}, []named{{"source", s.Source}}, s.New()})
	}
	return items
}

func stepItems() (items []item) {
	for _, s := range hardware.StepModels() {
		items = append(items, item{named{s.Name, s.Summary}, []named{{"source", s.Source}}, s.New()})
	}
	return items
}

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
	return items
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
	return items
}

// aligned writes rows as columns, two spaces apart.
func aligned(w io.Writer, indent string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, indent+strings.TrimRight(strings.Join(row, "\t"), "\t"))
	}
	return t.Flush()
}

// describe writes what an item is and its parameters.
func (i item) describe(w io.Writer) error {
	fmt.Fprintf(w, "%s: %s\n", i.name, i.summary)
	var facts [][]string
	for _, f := range i.facts {
		if f.summary != "" {
			facts = append(facts, []string{f.name, f.summary})
		}
	}
	if err := aligned(w, "  ", facts); err != nil || i.params == nil {
		return err
	}
	fields := param.Fields(i.params)
	if len(fields) == 0 {
		_, err := fmt.Fprintln(w, "\nIt has no parameters.")
		return err
	}
	rows := [][]string{{"parameter", "default", "expected", "meaning"}}
	for _, f := range fields {
		given := f.Default
		switch {
		case f.Required:
			given = "(required)"
		case given == "":
			given = `""`
		}
		doc := f.Doc
		if f.PerReplica {
			doc += "; per_replica multiplies it by the replicas"
		}
		rows = append(rows, []string{f.Name, given, f.Expected(), doc})
	}
	fmt.Fprintln(w)
	return aligned(w, "  ", rows)
}
