package serving

import (
	"slices"

	"switchyard/sim/compound"
)

// Module is a module with an LLM as its traffic sees it.
type Module struct {
	Name     string
	Usage    compound.Usage
	Reads    []int // the modules with an LLM that it waits for, rising
	Query    bool  // whether it reads the question
	Template int   // modules of the same number have the same template
}

// Modules lists the modules of a system that make calls: its decisions, in
// their order.
func Modules(g *compound.Graph) []Module {
	all := make([]Module, 0, len(g.Decisions()))
	decision := make([]int, g.Len())
	templates := map[string]int{}
	for d, i := range g.Decisions() {
		decision[i] = d
		m := g.Module(i)
		kind := string(m.Rule) + " " + m.Skill
		if _, known := templates[kind]; !known {
			templates[kind] = len(templates)
		}
		all = append(all, Module{
			Name: m.Name, Usage: m.Usage, Query: slices.Contains(m.Reads, compound.Query), Template: templates[kind],
		})
	}
	for d, i := range g.Decisions() {
		all[d].Reads = waits(g, i, decision, nil)
		slices.Sort(all[d].Reads)
		all[d].Reads = slices.Compact(all[d].Reads)
	}
	return all
}

// waits appends the decisions that module i reads, through those without an LLM.
func waits(g *compound.Graph, i int, decision []int, to []int) []int {
	for _, r := range g.Reads(i) {
		if g.Module(r).Rule.LLM() {
			to = append(to, decision[r])
		} else {
			to = waits(g, r, decision, to)
		}
	}
	return to
}
