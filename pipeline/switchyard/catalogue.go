package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"switchyard/sim/param"
)

// named is a thing with a name and one line about it.
type named struct{ name, summary string }

// item is a named thing of a registry, with what `list KIND NAME` prints.
type item struct {
	named
	facts   []named // what it is, as name and value
	params  []any   // pointers to its tagged structs
	example string  // a section of an experiment file that names it, or ""
}

// kind is one registry, or the parameters of one section of the file.
type kind struct {
	named
	items   func() []item
	example func(i item) string // of every item; nil where items bring their own
}

// single reports whether the kind is one thing, which list describes at once.
func (k kind) single() bool {
	items := k.items()
	return len(items) == 1 && items[0].name == k.name
}

// all returns the kind's items with their examples.
func (k kind) all() []item {
	items := k.items()
	for i := range items {
		if k.example != nil {
			items[i].example = k.example(items[i])
		}
	}
	return items
}

// kinds are all registries, in the order that `list` prints them.
func kinds() []kind {
	return []kind{
		{named{"experiments", "built-in experiment files, for run and config"}, experimentItems, nil},
		{named{"experiment", "what stands at the top of an experiment file, slo and tables among it"}, headItems, nil},
		{named{"expectations", "what results should be, checked after a run: expectations"}, expectationItems, nil},
		{named{"workloads", "generators of requests: workloads.generator"}, workloadItems, workloadExample},
		{named{"arrivals", "arrival processes: workloads.arrivals.process"}, arrivalItems, arrivalExample},
		{named{"traces", "what a workload takes that is a recorded trace: workloads.trace"}, traceItems, nil},
		{named{"formats", "trace files: workloads.format"}, formatItems, formatExample},
		{named{"clusters", "what a cluster takes: clusters"}, clusterItems, nil},
		{named{"events", "what can happen to a cluster's replicas: clusters, events"}, eventItems, nil},
		{named{"models", "models that replicas serve: clusters.model"}, modelItems, modelExample},
		{named{"gpus", "GPUs of replicas: clusters.gpu"}, gpuItems, gpuExample},
		{named{"schedulers", "rules by which a replica forms batches: clusters.engine.scheduler"}, schedulerItems, schedulerExample},
		{named{"steps", "step models, how long a step takes: clusters.step.model"}, stepItems, stepExample},
		{named{"routers", "routing policies: routers.policy"}, routerItems, routerExample},
		{named{"view", "what routers see: routers, view"}, viewItems, nil},
		{named{"balls", "what an experiment of balls and bins takes: balls"}, ballsItems, nil},
		{named{"dispatch", "what a system of plain servers takes: dispatch"}, dispatchItems, nil},
		{named{"policies", "policies that dispatch to plain servers: policies.policy"}, policyItems, policyExample},
		{named{"processes", "arrival processes there: dispatch.arrivals.process"}, processItems, processExample},
		{named{"information", "what dispatchers see of the servers, and how old: dispatch.information.model"}, informationItems, informationExample},
		{named{"sizes", "laws of request sizes there: dispatch.sizes.law"}, sizeItems, sizeExample},
		{named{"systems", "compound systems, whose modules need a model each: systems.system"}, systemItems, systemExample},
		{named{"worlds", "who answers in them, drawn, recorded or live: worlds.world"}, worldItems, worldExample},
		{named{"optimisers", "how a model for each module is looked for: optimisers.optimiser"}, optimiserItems, optimiserExample},
		{named{"live", "the sections of a live world: worlds.endpoints and so on, with world: live"}, liveItems, liveSections},
		{named{"metrics", "how a live answer is scored: worlds.metric"}, metricItems, liveSections},
		{named{"extractors", "where a live answer is found in a text: worlds.extract"}, extractorItems, liveSections},
		{named{"serving", "what serving them on GPUs takes: serving"}, servingItems, nil},
		{named{"replicas", "what a model takes there: serving.models"}, replicaItems, nil},
		{named{"lengths", "how long calls are there: serving.lengths"}, lengthItems, nil},
		{named{"rules", "cascades and routers between models, which may stand at modules there: serving.rules"}, ruleItems, ruleExample},
		{named{"outcomes", "files of recorded outcomes: worlds.file, with world: recorded"}, outcomeItems, outcomeExample},
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
	for _, i := range k.all() {
		if i.name == name {
			return i, nil
		}
		known = append(known, i.name)
	}
	if k.single() {
		return item{}, fmt.Errorf("list: %s is one thing, with all its parameters in: switchyard list %s", k.name, k.name)
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
	if err := aligned(w, "  ", facts); err != nil {
		return err
	}
	if err := i.parameters(w); err != nil || i.example == "" {
		return err
	}
	_, err := fmt.Fprintf(w, "\nFor example:\n\n  %s\n", strings.ReplaceAll(strings.TrimSpace(i.example), "\n", "\n  "))
	return err
}

// parameters writes the table of an item's parameters.
func (i item) parameters(w io.Writer) error {
	var fields []param.Field
	for _, ptr := range i.params {
		fields = append(fields, param.Fields(ptr)...)
	}
	if len(fields) == 0 {
		return nil
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
