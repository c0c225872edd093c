package compound

import (
	"fmt"

	"switchyard/sim/param"
)

// System is one entry of the table of systems.
type System struct {
	Name, Summary string
	Source        string
	New           func() SystemParams // parameters, without defaults set
}

// SystemParams are the parameters of a system: a pointer to a tagged struct.
type SystemParams interface {
	// Graph builds the system.
	Graph() (*Graph, error)
}

// Systems lists the systems by name.
func Systems() []System {
	return []System{
		directSystem, locateSolveSystem, selfRefineSystem, debateSystem, majorityVoteSystem, bestOfSystem, graphSystem,
	}
}

// FindSystem returns the system of that name.
func FindSystem(name string) (System, bool) {
	for _, s := range Systems() {
		if s.Name == name {
			return s, true
		}
	}
	return System{}, false
}

// PerModule is what a question costs the modules of a system, each list with
// one number for all modules with an LLM, or one for each in topological order.
type PerModule struct {
	Calls        []float64 `yaml:"calls" default:"1" min:"0.001" max:"1000000" unit:"calls" doc:"calls a question, one number for all modules or one for each module with an LLM"`
	PromptTokens []float64 `yaml:"prompt_tokens" default:"1000" min:"0" max:"1000000000" unit:"tokens" doc:"prompt tokens a call, likewise"`
	OutputTokens []float64 `yaml:"output_tokens" default:"200" min:"0" max:"1000000000" unit:"tokens" doc:"output tokens a call, likewise"`
}

// graph gives each module its usage and builds the graph.
func (p PerModule) graph(modules []Module, output string) (*Graph, error) {
	decisions := 0
	for _, m := range modules {
		if m.Rule.LLM() {
			decisions++
		}
	}
	d := 0
	for i := range modules {
		if !modules[i].Rule.LLM() {
			continue
		}
		for _, list := range []struct {
			name   string
			values []float64
			dst    *float64
		}{
			{"calls", p.Calls, &modules[i].Calls},
			{"prompt_tokens", p.PromptTokens, &modules[i].PromptTokens},
			{"output_tokens", p.OutputTokens, &modules[i].OutputTokens},
		} {
			switch len(list.values) {
			case 1:
				*list.dst = list.values[0]
			case decisions:
				*list.dst = list.values[d]
			default:
				return nil, &param.Error{Field: list.name, Value: param.Format(list.values),
					Expected: fmt.Sprintf("one number, or one for each of the %d modules with an LLM", decisions)}
			}
		}
		d++
	}
	return NewGraph(modules, output)
}

// numbered returns name1, name2, ...
func numbered(name string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%d", name, i+1)
	}
	return names
}
