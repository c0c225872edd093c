package experiment

import (
	"slices"
	"strings"
)

// The jobs that a file can ask for, alone or together: keys of
// Experiment.Points.
const (
	Simulate = "simulate" // workloads x clusters x routers: LLM serving
	Balls    = "balls"    // balls: balls thrown into bins
	Dispatch = "dispatch" // dispatch x policies: servers behind a dispatcher
	Choose   = "choose"   // systems x worlds x optimisers: a model for each module
	Serve    = "serve"    // serving: what choose chooses from, served on GPUs
)

// job is what crosses what.
type job struct {
	name     string
	sections []section
	beside   string // the job without which it has nothing to work on, or ""
}

// section is a list of named variants at the top of the file.
type section struct {
	key  string // workloads
	part string // what one of them is: workload
	many string // what several are, in errors

	// A text in the list stands for {name: text, short: text}; "" where there
	// is no such short form.
	short string
	// Whether its variants compete: one of them is the baseline.
	compete bool
}

// jobs lists them. One more is a line here, and a stage that decodes its parts.
var jobs = []job{
	{name: Simulate, sections: []section{
		{key: "workloads", part: "workload", many: "workloads"},
		{key: "clusters", part: "cluster", many: "clusters"},
		{key: "routers", part: "router", many: "routers", short: "policy", compete: true},
	}},
	{name: Balls, sections: []section{
		{key: "balls", part: "balls", many: "settings of balls and bins"},
	}},
	{name: Dispatch, sections: []section{
		{key: "dispatch", part: "dispatch", many: "systems of servers"},
		{key: "policies", part: "policy", many: "dispatch policies", short: "policy", compete: true},
	}},
	{name: Choose, sections: []section{
		{key: "systems", part: "system", many: "compound systems", short: "system"},
		{key: "worlds", part: "world", many: "worlds", short: "world"},
		{key: "optimisers", part: "optimiser", many: "optimisers", short: "optimiser", compete: true},
	}},
	{name: Serve, beside: Choose, sections: []section{
		{key: "serving", part: "serving", many: "ways of serving"},
	}},
}

// findSection returns the section under a key at the top of the file.
func findSection(key string) (section, bool) {
	for _, j := range jobs {
		for _, s := range j.sections {
			if s.key == key {
				return s, true
			}
		}
	}
	return section{}, false
}

func isSection(key string) bool {
	_, ok := findSection(key)
	return ok
}

// keys are those of the sections.
func (j *job) keys() []string {
	out := make([]string, len(j.sections))
	for i, s := range j.sections {
		out[i] = s.key
	}
	return out
}

// sectionKeys are those of all sections.
func sectionKeys() (out []string) {
	for _, j := range jobs {
		out = append(out, j.keys()...)
	}
	return out
}

// anExperiment says what a file must hold.
func anExperiment() string {
	var choices []string
	for _, j := range jobs {
		if j.beside == "" {
			choices = append(choices, strings.Join(j.keys(), ", "))
		}
	}
	return "an experiment: " + strings.Join(choices, "; or ")
}

// listOf says what must stand under the section's key.
func (s section) listOf() string {
	return "a list of one or more " + s.many + ", each a mapping with a name"
}

// Has reports whether the experiment asks for a job.
func (e *Experiment) Has(job string) bool { return len(e.Points[job]) > 0 }

// Jobs returns the jobs that the experiment asks for, in the house's order.
func (e *Experiment) Jobs() (names []string) {
	for _, j := range jobs {
		if e.Has(j.name) {
			names = append(names, j.name)
		}
	}
	return names
}

// part is a section as the file has it.
type part struct {
	section
	index    int // among the job's sections
	variants *node
}

// partsOf takes the sections of a job from the file, in the file's order;
// none where the file does not ask for the job.
func (j *job) partsOf(root *node) (parts []part, errs []error) {
	for _, en := range root.entries {
		i := slices.Index(j.keys(), en.key)
		if i < 0 {
			continue
		}
		s := j.sections[i]
		if en.value.kind != list || len(en.value.items) == 0 {
			errs = append(errs, en.value.wrong(s.listOf()))
			continue
		}
		parts = append(parts, part{s, i, en.value})
	}
	if len(parts)+len(errs) == 0 {
		return nil, nil
	}
	for _, s := range slices.Concat(j.sections, j.others()) {
		if root.get(s.key) == nil {
			errs = append(errs, root.missing(s.key, s.listOf()))
		}
	}
	return parts, errs
}

// others are the sections of the job beside which this one stands.
func (j *job) others() []section {
	for i := range jobs {
		if j.beside != "" && jobs[i].name == j.beside {
			return jobs[i].sections
		}
	}
	return nil
}
