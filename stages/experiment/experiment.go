package experiment

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// Experiment is a file with its grid.
type Experiment struct {
	Name         string
	Seed         uint64 // at most 2^63-1, as tables hold it
	Replications []int  // distinct, in the order of the file, from 1
	WarmUp       float64
	Baseline     string // a router, a dispatch policy or an optimiser, by name or, where one sweeps, by LabelOf; "" where there is none
	SLO          SLO
	Tables       Tables
	File         string             // as given to Load; "" for one that is built in
	Points       map[string][]Point // the grid of each job without replications, in order

	Expectations []Expectation // in the order of the file; not part of a cell's key

	doc          *document
	parts        []part // in the order of the file
	expectations *node  // as the file has them, or nil
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
	Workload    bool    `yaml:"workload" default:"true" doc:"keep table workload"`
	Requests    string  `yaml:"requests" default:"all" enum:"all|sample|none" doc:"which rows of table requests to keep"`
	Sample      float64 `yaml:"sample" default:"0.01" min:"0" max:"1" unit:"share" doc:"share of requests kept with requests: sample"`
	Replicas    bool    `yaml:"replicas" default:"true" doc:"keep table replicas"`
	Timeline    bool    `yaml:"timeline" default:"false" doc:"keep table timeline"`
	Interval    float64 `yaml:"timeline_interval" default:"1" min:"0.000001" max:"1000000000" unit:"s" doc:"simulated time from row to row of table timeline"`
	Decisions   float64 `yaml:"decisions" default:"0" min:"0" max:"1" unit:"share" doc:"share of the decisions of routers that table decisions keeps; 0 = no table"`
	Rounds      bool    `yaml:"rounds" default:"true" doc:"keep table rounds"`
	Assignments string  `yaml:"assignments" default:"small" enum:"none|small|all" doc:"which spaces table assignments holds whole: those of at most 100,000 assignments (small), all, or none"`
}

// Point is one configuration: a cell without its replication.
type Point struct {
	Index   int        // among the points of its job
	Parts   []Instance // one of each section that the job crosses: workload, cluster, router
	Factors []Factor   // every swept value and nested variant, in the order of the file
}

// Part returns the point's variant of a section, by what one of them is:
// workload, router.
func (p Point) Part(part string) Instance {
	for _, in := range p.Parts {
		if in.Part == part {
			return in
		}
	}
	return Instance{}
}

// Instance is one variant of a section with every choice made.
type Instance struct {
	Part    string // what it is: workload, cluster, router, balls, dispatch, policy, system, world, optimiser
	Name    string // the variant's, without swept values
	Section Section
}

// Factor is a swept value, or the name of a variant below the top.
type Factor struct {
	Name  string // rate_rps, or workload.rate_rps where a cluster has one too
	Value string // as written, numbers in their shortest form, per_replica not applied
	Part  string // of the instance that it belongs to
}

// Label names a point for people: "tool rate_rps=4 / a6000x4 / cache-aware".
func (p Point) Label() string {
	labels := make([]string, len(p.Parts))
	for i, in := range p.Parts {
		labels[i] = p.LabelOf(in.Part)
	}
	return strings.Join(labels, " / ")
}

// LabelOf names one part of it, with its swept values: "tool rate_rps=4".
func (p Point) LabelOf(part string) string {
	text := p.Part(part).Name
	for _, f := range p.Factors {
		if f.Part == part {
			text += " " + f.Name + "=" + f.Value
		}
	}
	return text
}

// Options change what a file says.
type Options struct {
	// BuiltIn is what errors call an experiment that is no file.
	BuiltIn      string
	Set          []string // path=value, applied in order
	Replications string   // such as 1..30; "" leaves the file's
}

// Head returns the parameters that stand at the top of a file beside its
// sections and its replications, as a pointer to a struct.
func Head() any { return new(head) }

// head is what the file says once. The sections and the replications stand
// beside it.
type head struct {
	Name     string  `yaml:"name" doc:"names the folder of results; the file's by default"`
	Seed     int64   `yaml:"seed" default:"1" min:"0" max:"9223372036854775807" doc:"of all random streams"`
	WarmUp   float64 `yaml:"warm_up" default:"0.2" min:"0" max:"0.9" unit:"share" doc:"share of arrivals cut, by index"`
	Baseline string  `yaml:"baseline" doc:"router, dispatch policy or optimiser that others are compared with, one that sweeps with its values: sticky threshold=0.25; the first by default"`
	SLO      SLO     `yaml:"slo"`
	Tables   Tables  `yaml:"tables"`
}

// Load reads an experiment and expands the grids of its jobs. The error joins an
// *Error for everything that is wrong, in the order of the file. What only the
// stages know, such as the names of generators, is checked when they decode.
//
// With an error the experiment is nil or, where the sections are whole, what
// the rest of the file would be with defaults in the place of what is wrong:
// the stages can say what they find wrong in it too.
func Load(file string, data []byte, options Options) (*Experiment, error) {
	root, errs := parse(cmp.Or(file, options.BuiltIn), data, false)
	if errs != nil {
		return nil, Join(errs...)
	}
	if root.kind != mapping {
		if root.value == nil && root.kind == scalar {
			return nil, root.missing("workloads", anExperiment())
		}
		return nil, root.wrong(anExperiment())
	}
	expandShort(root)
	for _, option := range options.Set {
		errs = append(errs, override(root, option)...)
		expandShort(root)
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
	errs = append(errs, e.readExpectations(root)...)
	if len(errs) > 0 && e.Points == nil {
		e = nil
	}
	return e, Join(errs...)
}

// expandShort writes variants that are only a name, such as routers that are
// only a policy's, as mappings.
func expandShort(root *node) {
	for _, en := range root.entries {
		s, ok := findSection(en.key)
		if !ok || s.short == "" {
			continue
		}
		for i, item := range en.value.items {
			if item.kind == scalar && item.value != nil {
				named := &node{kind: mapping, at: item.at}
				named.put("name", item)
				named.put(s.short, item.copy())
				en.value.items[i] = named
			}
		}
	}
}

// readHead decodes what is not in the crossed sections.
func (e *Experiment) readHead(root *node) []error {
	c, errs := headChoice(root)
	var h head
	s := Section{choice: c, doc: new(document)}
	errs = append(errs, s.decode(1, append([]string{"replications", expectationsKey}, sectionKeys()...), &h)...)
	e.Name, e.Seed, e.WarmUp, e.Baseline, e.SLO, e.Tables = h.Name, uint64(h.Seed), h.WarmUp, h.Baseline, h.SLO, h.Tables

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
		e.Replications = span(1, 1)
		errs = append(errs, err)
	}
	return errs
}

// headChoice takes the head's part of the file, which has no axes.
func headChoice(root *node) (*choice, []error) {
	return onlyChoice(root, func(key string) bool {
		return key == "replications" || key == expectationsKey || isSection(key)
	})
}

// onlyChoice takes a mapping that has no axes as it stands, without those of
// its own keys that are left out.
func onlyChoice(root *node, leave func(key string) bool) (*choice, []error) {
	var errs []error
	var take func(n *node) *choice
	take = func(n *node) *choice {
		c := &choice{source: n}
		for _, en := range n.entries {
			switch {
			case n == root && leave(en.key):
			case en.value.isForm() || en.value.maps():
				errs = append(errs, en.value.wrong("a value: axes and variants stand in "+strings.Join(sectionKeys(), ", ")))
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

// readSections expands the grids, and checks the baseline against what
// competes.
func (e *Experiment) readSections(root *node) []error {
	if !slices.ContainsFunc(root.entries, func(en entry) bool { return isSection(en.key) }) {
		return []error{root.missing("workloads", anExperiment())}
	}
	var errs []error
	grids := make([][]part, len(jobs)) // of each job
	for i := range jobs {
		parts, wrong := jobs[i].partsOf(root)
		grids[i] = parts
		errs = append(errs, wrong...)
	}
	points, wrong := expand(e.doc, grids, len(errs) == 0)
	errs = append(errs, wrong...)
	e.Points = points
	for _, en := range root.entries {
		for _, p := range slices.Concat(grids...) {
			if p.variants == en.value {
				e.parts = append(e.parts, p)
			}
		}
	}
	return append(errs, e.checkBaseline(root)...)
}
