package main

import (
	"fmt"

	"switchyard/sim/compound"
	"switchyard/stages/choose"
	"switchyard/stages/outcomes"
)

// What list says of the jobs choose and serve.

func outcomeItems() (items []item) {
	for _, f := range outcomes.Formats() {
		items = append(items, item{named: named{f.Name, f.Summary}, facts: []named{{"level", f.Level}, {"source", f.Source}, {"columns", f.Columns}}})
	}
	return items
}

func outcomeExample(i item) string {
	of := "direct"
	for _, f := range outcomes.Formats() {
		if f.Name == i.name && f.Level == "module" {
			of = "locate-solve"
		}
	}
	return fmt.Sprintf("systems: [%s]\nworlds: [{name: mine, world: recorded, file: my-file, format: %s}]\noptimisers: [single, exhaustive]", of, i.name)
}

func systemItems() (items []item) {
	for _, s := range compound.Systems() {
		params := []any{s.New()}
		var facts []named
		if _, custom := params[0].(*compound.Custom); custom {
			facts = append(facts, named{"modules", "by name, in any order: a mapping with the parameters below output"})
			params = append(params, new(compound.Step))
		}
		items = append(items, item{named{s.Name, s.Summary}, append(facts, named{"source", s.Source}), params, ""})
	}
	return items
}

func worldItems() (items []item) {
	for _, w := range choose.WorldKinds() {
		items = append(items, item{named{w.Name, w.Summary}, []named{{"source", w.Source}}, []any{w.New(), new(choose.Use), new(choose.Examine)}, ""})
	}
	return items
}

func optimiserItems() (items []item) {
	for _, r := range choose.Rules() {
		params := []any{r.New(), new(choose.Search)}
		if r.PerQuestion() {
			params[1] = new(choose.Route)
		}
		items = append(items, item{named{r.Name, r.Summary}, []named{{"ties", r.Ties}, {"ends", r.Stop}, {"source", r.Source}}, params, ""})
	}
	return items
}

func systemExample(i item) string {
	if i.name == "graph" {
		return `
systems:
  - name: mine
    system: graph
    modules:
      plan: {reads: [query]}
      solve: {reads: [query, plan]}
      check: {rule: critic, reads: [query, solve]}
      mend: {rule: refine, reads: [query, solve, check]}
worlds: [toy]
optimisers: [single, llmselector]
`
	}
	return fmt.Sprintf("systems:\n  - {name: mine, system: %s%s}     # or only: %s\nworlds: [toy]\noptimisers: [single, llmselector]", i.name, i.settings(0, 1, ", ", ""), i.name)
}

func worldExample(i item) string {
	if i.name == "recorded" {
		return `
systems: [direct]
worlds:
  - {name: mine, world: recorded, file: outcomes.csv}     # list outcomes
optimisers: [single, oracle, logistic, cascade]
`
	}
	if i.name == "live" {
		return liveExample
	}
	return fmt.Sprintf("systems: [locate-solve]\nworlds:\n  - {name: mine, world: %s%s}\noptimisers: [single, llmselector]", i.name, i.settings(0, 1, ", ", ""))
}

func optimiserExample(i item) string {
	if i.name == "single" {
		return "systems: [locate-solve]\nworlds: [toy]\noptimisers: [single, greedy]"
	}
	for _, r := range choose.Rules() {
		if r.Name == i.name && r.PerQuestion() {
			return fmt.Sprintf("systems: [direct]\nworlds:\n  - {name: toy, world: toy, prices: [5, 3, 1, 0.5, 0.2]}\noptimisers:\n  - single\n  - {name: mine, optimiser: %s%s}", i.name, i.settings(0, 1, ", ", ""))
		}
	}
	return fmt.Sprintf("systems: [locate-solve]\nworlds: [toy]\noptimisers:\n  - single\n  - {name: mine, optimiser: %s%s}", i.name, i.settings(0, 1, ", ", ""))
}
