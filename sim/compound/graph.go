package compound

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"switchyard/sim/param"
)

// Query is the name by which modules read the question.
const Query = "query"

// Rule is what a module makes of what it reads; see the package doc.
type Rule string

// The rules.
const (
	Answer Rule = "answer"
	Critic Rule = "critic"
	Refine Rule = "refine"
	Judge  Rule = "judge"
	Vote   Rule = "vote"
	All    Rule = "all"
	Any    Rule = "any"
)

// Rules lists the rules by name.
func Rules() []Rule { return []Rule{Answer, Critic, Refine, Judge, Vote, All, Any} }

// LLM says whether a module of the rule asks a model.
func (r Rule) LLM() bool { return r != Vote && r != All && r != Any }

// Module is one step of a system.
type Module struct {
	Name  string
	Rule  Rule     // "" is Answer
	Reads []string // Query and modules, in the order in which the rule takes them
	Skill string   // what a model needs to be good at; "" is the rule's name for judges and critics, else the module's
	Own   bool     // a judge that may be right where nothing that it reads is
	// Models are the models among which it may choose, all where there are none.
	Models []string
	Usage
}

// Usage is what a question costs a module. Without an LLM it is nothing.
type Usage struct {
	Calls        float64 // calls a question; 0 is one
	PromptTokens float64 // a call
	OutputTokens float64 // a call
}

// Graph is a system whose modules stand in topological order: each reads only
// earlier ones. Make one with NewGraph.
type Graph struct {
	modules   []Module
	reads     [][]int // by module: the modules that it reads, in order, without the query
	decisions []int   // the modules with an LLM
	decision  []int   // by module: its place in decisions, -1 without an LLM
	output    int
}

// NewGraph checks a system and sorts its modules so that each stands behind
// those that it reads, in the given order otherwise. The output is the name of
// the module whose answer is the system's; "" is the only one that none reads.
func NewGraph(modules []Module, output string) (*Graph, error) {
	if len(modules) == 0 {
		return nil, errors.New("a system needs at least one module")
	}
	place, err := places(modules)
	if err != nil {
		return nil, err
	}
	order, err := topological(modules, place)
	if err != nil {
		return nil, err
	}
	g := &Graph{}
	for i, old := range order {
		m := modules[old]
		m.fill()
		place[m.Name] = i
		var reads []int
		for _, name := range m.Reads {
			if name != Query {
				reads = append(reads, place[name])
			}
		}
		g.modules = append(g.modules, m)
		g.reads = append(g.reads, reads)
		decision := -1
		if m.Rule.LLM() {
			decision = len(g.decisions)
			g.decisions = append(g.decisions, i)
		}
		g.decision = append(g.decision, decision)
	}
	for i := range g.modules {
		if err := g.checkRule(i); err != nil {
			return nil, wrong(g.modules[i].Name, "reads", "module %s: %v", g.modules[i].Name, err)
		}
	}
	if err := g.setOutput(output); err != nil {
		return nil, err
	}
	return g, nil
}

// fill sets what is left to defaults.
func (m *Module) fill() {
	if m.Rule == "" {
		m.Rule = Answer
	}
	if m.Skill == "" {
		m.Skill = m.Name
		if m.Rule == Judge || m.Rule == Critic || m.Rule == Refine {
			m.Skill = string(m.Rule)
		}
	}
	if m.Calls == 0 {
		m.Calls = 1
	}
	if !m.Rule.LLM() {
		m.Usage = Usage{}
	}
}

// places maps names to indexes and checks what each module says by itself.
func places(modules []Module) (map[string]int, error) {
	place := map[string]int{}
	for i, m := range modules {
		switch {
		case m.Name == "":
			return nil, fmt.Errorf("module %d has no name", i+1)
		case m.Name == Query:
			return nil, fmt.Errorf("a module cannot be called %s: that is the question; give it another name", Query)
		case strings.ContainsAny(m.Name, " \t\n,"):
			return nil, fmt.Errorf("module %q: names have no spaces or commas", m.Name)
		}
		if _, twice := place[m.Name]; twice {
			return nil, fmt.Errorf("two modules are called %s: rename one", m.Name)
		}
		if m.Rule != "" && !slices.Contains(Rules(), m.Rule) {
			return nil, wrong(m.Name, "rule", "module %s: unknown rule %q%s", m.Name, m.Rule, oneOf(string(m.Rule), ruleNames()))
		}
		if m.Calls < 0 || m.PromptTokens < 0 || m.OutputTokens < 0 {
			return nil, fmt.Errorf("module %s: calls and tokens are at least 0", m.Name)
		}
		place[m.Name] = i
	}
	known := []string{Query}
	for _, m := range modules {
		known = append(known, m.Name)
	}
	for _, m := range modules {
		for i, name := range m.Models {
			if slices.Contains(m.Models[:i], name) {
				return nil, wrong(m.Name, "models", "module %s has the model %s twice: once is enough", m.Name, name)
			}
		}
		if len(m.Reads) == 0 {
			return nil, wrong(m.Name, "reads", "module %s reads nothing: say reads: %s or which modules", m.Name, Query)
		}
		for i, name := range m.Reads {
			if !slices.Contains(known, name) {
				return nil, wrong(m.Name, "reads", "module %s reads %q, which is no module%s", m.Name, name, oneOf(name, known))
			}
			if slices.Contains(m.Reads[:i], name) {
				return nil, wrong(m.Name, "reads", "module %s reads %s twice: once is enough", m.Name, name)
			}
		}
	}
	return place, nil
}

func ruleNames() (names []string) {
	for _, r := range Rules() {
		names = append(names, string(r))
	}
	return names
}

// oneOf ends an error about an unknown name.
func oneOf(name string, known []string) string {
	if near := param.Nearest(name, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; known are " + strings.Join(known, ", ")
}

// topological sorts modules behind what they read; of those that may come next
// the first given comes first.
func topological(modules []Module, place map[string]int) ([]int, error) {
	var order []int
	done := make([]bool, len(modules))
	ready := func(m Module) bool {
		for _, name := range m.Reads {
			if name != Query && !done[place[name]] {
				return false
			}
		}
		return true
	}
	for len(order) < len(modules) {
		next := -1
		for i, m := range modules {
			if !done[i] && ready(m) {
				next = i
				break
			}
		}
		if next < 0 {
			path := circle(modules, place, done)
			return nil, wrong(path[0], "reads", "modules read each other in a circle: %s", strings.Join(path, " reads "))
		}
		done[next] = true
		order = append(order, next)
	}
	return order, nil
}

// circle lists one circle among the modules that are not done, the first of
// them at both ends.
func circle(modules []Module, place map[string]int, done []bool) []string {
	at := slices.Index(done, false)
	var path []int
	for !slices.Contains(path, at) {
		path = append(path, at)
		for _, name := range modules[at].Reads {
			if name != Query && !done[place[name]] {
				at = place[name]
				break
			}
		}
	}
	path = append(path[slices.Index(path, at):], at)
	names := make([]string, len(path))
	for i, p := range path {
		names[i] = modules[p].Name
	}
	return names
}

// mostVoters is how many votes are counted, in numbers of eight bits.
const mostVoters = 255

// checkRule checks that a module reads what its rule needs.
func (g *Graph) checkRule(i int) error {
	m := g.modules[i]
	var answers, verdicts int
	for _, r := range g.reads[i] {
		if g.modules[r].Rule == Critic {
			verdicts++
		} else {
			answers++
		}
	}
	switch {
	case m.Rule != Refine && verdicts > 0:
		return fmt.Errorf("rule %s cannot read a critic, whose output is a verdict: only rule %s can", m.Rule, Refine)
	case m.Rule == Critic && answers != 1:
		return fmt.Errorf("rule %s reads one answer, not %d", Critic, answers)
	case m.Rule == Refine && (answers != 1 || verdicts != 1):
		return fmt.Errorf("rule %s reads one answer and the critic of it, not %d and %d", Refine, answers, verdicts)
	case m.Rule == Judge && answers == 0:
		return fmt.Errorf("rule %s reads at least one answer", Judge)
	case !m.Rule.LLM() && answers == 0:
		return fmt.Errorf("rule %s reads at least one answer", m.Rule)
	case m.Rule == Vote && answers > mostVoters:
		return fmt.Errorf("rule %s reads at most %d answers, not %d", Vote, mostVoters, answers)
	}
	return nil
}

// setOutput finds the output and checks that every module matters to it.
func (g *Graph) setOutput(output string) error {
	read := make([]bool, len(g.modules))
	for _, reads := range g.reads {
		for _, r := range reads {
			read[r] = true
		}
	}
	var last, names []string
	g.output = -1
	for i, m := range g.modules {
		names = append(names, m.Name)
		if !read[i] {
			last = append(last, m.Name)
		}
		if m.Name == output || output == "" && !read[i] {
			g.output = i
		}
	}
	switch {
	case g.output < 0:
		return wrong("", "output", "the output %q is no module%s", output, oneOf(output, names))
	case output == "" && len(last) > 1:
		return fmt.Errorf("nothing reads %s: one is the output, the others are read by none; name the output or merge them", strings.Join(last, ", "))
	case g.modules[g.output].Rule == Critic:
		return wrong(g.modules[g.output].Name, "rule", "the output %s is a critic, whose output is a verdict: let a module of rule %s read it", g.modules[g.output].Name, Refine)
	}
	for _, name := range last {
		if name != g.modules[g.output].Name {
			return wrong(name, "reads", "the output %s cannot be reached from module %s, which nothing reads: leave that out or let a module read it", g.modules[g.output].Name, name)
		}
	}
	if read[g.output] {
		return wrong("", "output", "the output %s is read by another module, which cannot reach it: name another output", g.modules[g.output].Name)
	}
	if len(g.decisions) == 0 {
		return errors.New("no module has an LLM, so there is nothing to choose")
	}
	return nil
}

// Len returns the number of modules, with those that are no decisions.
func (g *Graph) Len() int { return len(g.modules) }

// Module returns module i in topological order, with its defaults filled in.
func (g *Graph) Module(i int) Module { return g.modules[i] }

// Reads returns the modules that module i reads, without the query.
func (g *Graph) Reads(i int) []int { return g.reads[i] }

// Output returns the module whose answer is the system's.
func (g *Graph) Output() int { return g.output }

// Decisions returns the modules with an LLM: decision d is about module
// Decisions()[d].
func (g *Graph) Decisions() []int { return g.decisions }

// DecisionNames returns the names of the modules with an LLM.
func (g *Graph) DecisionNames() (names []string) {
	for _, i := range g.decisions {
		names = append(names, g.modules[i].Name)
	}
	return names
}

// Skills returns the skills that the system needs, in order of first need.
func (g *Graph) Skills() (skills []string) {
	for _, i := range g.decisions {
		if s := g.modules[i].Skill; !slices.Contains(skills, s) {
			skills = append(skills, s)
		}
	}
	return skills
}
