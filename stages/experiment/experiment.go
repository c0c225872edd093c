package experiment

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"switchyard/sim/param"
)

// Experiment is a file with its grid.
type Experiment struct {
	Name         string
	Seed         uint64
	Replications []int // distinct, in the order of the file, from 1
	WarmUp       float64
	Baseline     string // the name of a router variant
	SLO          SLO
	Tables       Tables
	File         string  // as given to Load; "" for one that is built in
	Points       []Point // the grid without replications, in order

	doc   *document
	parts []part // in the order of the file
}

// SLO bounds what counts as goodput; 0 is no bound.
type SLO struct {
	TTFTMs float64 `yaml:"ttft_ms" default:"0" min:"0" unit:"ms" doc:"longest time to first token; 0 = no bound"`
	TPOTMs float64 `yaml:"tpot_ms" default:"0" min:"0" unit:"ms" doc:"longest time per output token; 0 = no bound"`
	E2EMs  float64 `yaml:"e2e_ms" default:"0" min:"0" unit:"ms" doc:"longest end-to-end latency; 0 = no bound"`
}

// Tables says what is kept beside the table of cells. All requests are kept by
// default, since only they can be cut and summed anew; an experiment of more
// than about a hundred million requests wants a sample or none.
type Tables struct {
	Workload bool    `yaml:"workload" default:"true" doc:"keep table workload"`
	Requests string  `yaml:"requests" default:"all" enum:"all|sample|none" doc:"which rows of table requests to keep"`
	Sample   float64 `yaml:"sample" default:"0.01" min:"0" max:"1" unit:"share" doc:"share of requests kept with requests: sample"`
	Replicas bool    `yaml:"replicas" default:"true" doc:"keep table replicas"`
}

// Point is one configuration: a cell without its replication.
type Point struct {
	Index                     int // in Points
	Workload, Cluster, Router Instance
	Factors                   []Factor // every swept value and nested variant, in the order of the file
}

// Instance is one variant of a section with every choice made.
type Instance struct {
	Name    string // the variant's, without swept values
	Section Section
}

// Factor is a swept value, or the name of a variant below the top.
type Factor struct {
	Name  string // rate_rps, or workload.rate_rps where a cluster has one too
	Value string // as written, numbers in their shortest form, per_replica not applied
	Part  string // workload, cluster or router
}

// Label names a point for people: "tool rate_rps=4 / a6000x4 / cache-aware".
func (p Point) Label() string {
	var parts []string
	for _, part := range []struct{ name, variant string }{
		{"workload", p.Workload.Name}, {"cluster", p.Cluster.Name}, {"router", p.Router.Name},
	} {
		text := part.variant
		for _, f := range p.Factors {
			if f.Part == part.name {
				text += " " + f.Name + "=" + f.Value
			}
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " / ")
}

// Options change what a file says.
type Options struct {
	Set          []string // path=value, applied in order
	Replications string   // such as 1..30; "" leaves the file's
}

// head is what the file says once. The sections and the replications stand
// beside it.
type head struct {
	Name     string  `yaml:"name" doc:"names the folder of results; the file's by default"`
	Seed     uint64  `yaml:"seed" default:"1" doc:"of all random streams"`
	WarmUp   float64 `yaml:"warm_up" default:"0.2" min:"0" max:"0.9" unit:"share" doc:"share of arrivals cut, by index"`
	Baseline string  `yaml:"baseline" doc:"router that others are compared with; the first by default"`
	SLO      SLO     `yaml:"slo"`
	Tables   Tables  `yaml:"tables"`
}

// sections are the keys of the three crossed lists.
var sections = []string{"workloads", "clusters", "routers"}

// Load reads an experiment and expands its grid. The error joins an *Error for
// everything that is wrong, in the order of the file. What only the stages
// know, such as the names of generators, is checked when they decode.
func Load(file string, data []byte, options Options) (*Experiment, error) {
	root, errs := parse(file, data, false)
	if errs != nil {
		return nil, Join(errs...)
	}
	if root.kind != mapping {
		if root.value == nil && root.kind == scalar {
			return nil, root.missing("workloads", "an experiment: "+strings.Join(sections, ", "))
		}
		return nil, root.wrong("an experiment: keys and values, " + strings.Join(sections, ", ") + " among them")
	}
	expandRouters(root)
	for _, option := range options.Set {
		errs = append(errs, override(root, option)...)
		expandRouters(root)
	}
	if options.Replications != "" {
		text := options.Replications
		root.put("replications", &node{value: resolve(text), raw: text, at: position{file: "--replications " + text}})
	}
	root.place("")
	e := &Experiment{File: file, doc: &document{}}
	if file != "" {
		e.doc.dir = filepath.Dir(file)
	}
	errs = append(errs, e.readHead(root)...)
	errs = append(errs, e.readSections(root)...)
	if err := Join(errs...); err != nil {
		return nil, err
	}
	return e, nil
}

// expandRouters writes a router that is only a policy's name as a mapping.
func expandRouters(root *node) {
	routers := root.get("routers")
	if routers == nil {
		return
	}
	for i, item := range routers.items {
		if item.kind == scalar && item.value != nil {
			named := &node{kind: mapping, at: item.at}
			named.put("name", item)
			named.put("policy", item.copy())
			routers.items[i] = named
		}
	}
}

// readHead decodes what is not in the crossed sections.
func (e *Experiment) readHead(root *node) []error {
	c, errs := headChoice(root)
	var h head
	s := Section{choice: c, doc: new(document)}
	errs = append(errs, s.decode(1, append([]string{"replications"}, sections...), &h)...)
	e.Name, e.Seed, e.WarmUp, e.Baseline, e.SLO, e.Tables = h.Name, h.Seed, h.WarmUp, h.Baseline, h.SLO, h.Tables

	name := root.get("name")
	if name == nil {
		e.Name = strings.TrimSuffix(filepath.Base(e.File), filepath.Ext(e.File))
		if !namePattern.MatchString(e.Name) {
			errs = append(errs, root.missing("name", nameExpected))
		}
	} else if text, isText := name.value.(string); isText && !namePattern.MatchString(text) {
		errs = append(errs, name.wrong(nameExpected))
	}
	var err error
	if e.Replications, err = replications(root.get("replications")); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// headChoice takes the head's part of the file, which has no axes.
func headChoice(root *node) (*choice, []error) {
	var errs []error
	var take func(n *node) *choice
	take = func(n *node) *choice {
		c := &choice{source: n}
		for _, en := range n.entries {
			switch {
			case n == root && (en.key == "replications" || slices.Contains(sections, en.key)):
			case en.value.isForm() || en.value.maps():
				errs = append(errs, en.value.wrong("a value: axes and variants stand in "+strings.Join(sections, ", ")))
			case en.value.kind == mapping:
				c.entries = append(c.entries, chosen{key: en.key, below: take(en.value)})
			default:
				c.entries = append(c.entries, chosen{key: en.key, value: en.value})
			}
		}
		return c
	}
	return take(root), errs
}

// readSections expands the grid, and checks the baseline against the routers.
func (e *Experiment) readSections(root *node) []error {
	var errs []error
	for _, en := range root.entries {
		if !slices.Contains(sections, en.key) {
			continue
		}
		name := strings.TrimSuffix(en.key, "s")
		if en.value.kind != list || len(en.value.items) == 0 {
			errs = append(errs, en.value.wrong(fmt.Sprintf("a list of one or more %ss, each a mapping with a name", name)))
			continue
		}
		e.parts = append(e.parts, part{name: name, variants: en.value})
	}
	for _, key := range sections {
		if root.get(key) == nil {
			errs = append(errs, root.missing(key, fmt.Sprintf("a list of one or more %s, each a mapping with a name", key)))
		}
	}
	points, wrong := expand(e.doc, e.parts, len(errs) == 0)
	errs = append(errs, wrong...)
	e.Points = points
	return append(errs, e.checkBaseline(root)...)
}

func (e *Experiment) checkBaseline(root *node) []error {
	var names []string
	for _, p := range e.parts {
		if p.name != "router" {
			continue
		}
		for _, item := range p.variants.items {
			if name := item.get("name"); name != nil && name.raw != "" {
				names = append(names, name.raw)
			}
		}
	}
	given := root.get("baseline")
	switch {
	case len(names) == 0 || slices.Contains(names, e.Baseline):
	case given == nil:
		e.Baseline = names[0]
	default:
		if text, ok := given.value.(string); ok {
			err := given.wrong("the name of a router: " + strings.Join(names, ", "))
			err.Nearest = param.Nearest(text, names)
			return []error{err}
		}
	}
	return nil
}
