package choose

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"switchyard/sim/compound"
	"switchyard/sim/param"
	"switchyard/stages/experiment"
)

// SystemParams is what every item of systems has; the system's parameters stand
// beside it.
type SystemParams struct {
	System string `yaml:"system" required:"true" doc:"compound system; see list systems"`
}

// GraphParams stand beside those of system graph.
type GraphParams struct {
	Modules experiment.Section `yaml:"modules"`
}

// WorldParams is what every item of worlds has; the world's parameters stand
// beside it.
type WorldParams struct {
	World string `yaml:"world" required:"true" doc:"who answers; see list worlds"`
	Use
	Examine
}

// Examine says how closely a world is looked at for table worlds. Optimisers do
// not see it.
type Examine struct {
	Contexts int `yaml:"contexts" default:"100" min:"0" max:"1000000" doc:"assignments of the other modules in which each module's candidates are compared, for the assumptions of LLMSelector; drawn unless there are hardly more; 0 = none"`
}

// Use says where optimisers start in a world.
type Use struct {
	Starts int      `yaml:"starts" default:"1" min:"0" max:"100000" doc:"assignments drawn at random from which optimisers start in each pool; 0 = every assignment there is, at most 100,000"`
	Start  []string `yaml:"start" doc:"in place of these, the one start: a candidate for each module with a language model, in the order of the graph"`
}

// OptimiserParams is what every item of optimisers has; the optimiser's
// parameters stand beside it.
type OptimiserParams struct {
	Optimiser string `yaml:"optimiser" required:"true" doc:"how the assignment is looked for; see list optimisers"`
}

// system is a decoded item of systems.
type system struct {
	name  string // of the entry
	at    experiment.Section
	graph *compound.Graph
	key   string
}

// world is a decoded item of worlds.
type world struct {
	name    string
	use     Use
	examine Examine
	source  source
	key     string
}

// decoder decodes the points of one experiment, what they share once.
type decoder struct {
	plan       *Plan
	errs       []error
	systems    map[string]*system // by label, as the rest
	worlds     map[string]*world
	optimisers map[string]*optimiser
	settings   map[[2]string]*setting
}

func newDecoder(p *Plan) *decoder {
	return &decoder{
		plan: p, systems: map[string]*system{}, worlds: map[string]*world{},
		optimisers: map[string]*optimiser{}, settings: map[[2]string]*setting{},
	}
}

// once decodes a section the first time its label is met; nil after a failure.
// Where a section stands further inside the grid there are several of one label.
func once[T any](d *decoder, known map[string]*T, label string, s experiment.Section, decode func(experiment.Section) (*T, error)) *T {
	if t, ok := known[label]; ok {
		return t
	}
	t, err := decode(s)
	if err != nil {
		d.errs = append(d.errs, err)
		t = nil
	}
	known[label] = t
	return t
}

func (d *decoder) system(s experiment.Section) (*system, error) {
	entry, err := find(s, "system", "a compound system; see list systems", compound.Systems(), func(e compound.System) string { return e.Name })
	if err != nil {
		return nil, err
	}
	var own SystemParams
	params := entry.New()
	into := []any{&own, params}
	var graph GraphParams
	custom, isGraph := params.(*compound.Custom)
	if isGraph {
		into = append(into, &graph)
	}
	if err := s.Decode(1, into...); err != nil {
		return nil, err
	}
	key := "system " + entry.Name + "\n" + canonical(params)
	if isGraph {
		if key, err = modules(s, graph.Modules, custom, key); err != nil {
			return nil, err
		}
	}
	g, err := params.Graph()
	if err != nil {
		return nil, misfit(s, "system", err)
	}
	return &system{name: entry.Name, at: s, graph: g, key: key}, nil
}

// modules decodes those of system graph, in the order of the file.
func modules(s, under experiment.Section, custom *compound.Custom, key string) (string, error) {
	var errs []error
	for _, name := range under.Keys() {
		below, ok := under.Section(name)
		if !ok {
			errs = append(errs, under.Errorf(name, "a mapping with rule and reads", nil))
			continue
		}
		step := compound.NamedStep{Name: name}
		if err := below.Decode(1, &step.Step); err != nil {
			errs = append(errs, err)
			continue
		}
		custom.Modules = append(custom.Modules, step)
		key += "\n" + name + "\n" + canonical(&step.Step)
	}
	if len(custom.Modules)+len(errs) == 0 {
		errs = append(errs, s.Errorf("modules", "the modules by name: plan: {reads: [query]}", nil))
	}
	return key, experiment.Join(errs...)
}

// misfit is an error of parameters that are fine each for itself.
func misfit(s experiment.Section, key string, err error) error {
	var wrong *param.Error
	if errors.As(err, &wrong) {
		return s.Errorf(wrong.Field, wrong.Expected, nil)
	}
	if at, field, ok := moduleAt(s, err); ok {
		s, key = at, field
	}
	return s.Errorf(key, "one that can be built: "+err.Error(), nil)
}

// moduleAt finds the module of system graph that an error is about; a field that
// the file leaves out is looked for at the module's reads.
func moduleAt(s experiment.Section, err error) (at experiment.Section, field string, ok bool) {
	var wrong *compound.ModuleError
	modules, custom := s.Section("modules")
	if !errors.As(err, &wrong) || !custom {
		return at, "", false
	}
	if wrong.Module == "" {
		return s, wrong.Field, true
	}
	at, ok = modules.Section(wrong.Module)
	field = wrong.Field
	if !slices.Contains(at.Keys(), field) {
		field = "reads"
	}
	return at, field, ok
}

func (d *decoder) world(s experiment.Section) (*world, error) {
	entry, err := find(s, "world", "who answers; see list worlds", WorldKinds(), func(e WorldKind) string { return e.Name })
	if err != nil {
		return nil, err
	}
	var own WorldParams
	params := entry.New()
	if err := s.Decode(1, &own, params); err != nil {
		return nil, err
	}
	src, err := entry.open(s, params)
	if err != nil {
		return nil, err
	}
	return &world{name: entry.Name, use: own.Use, examine: own.Examine, source: src, key: "world " + entry.Name + "\n" + canonical(&own.Use) + "\n" + src.key()}, nil
}

// checkStart checks the names of the start.
func (w *world) checkStart(sys *system, s experiment.Section) error {
	modules, candidates := w.source.names(sys)
	if size := spaceOf(candidates); len(w.use.Start) == 0 && w.use.Starts == 0 && size > mostKnown {
		return s.Errorf("starts", fmt.Sprintf("1 or more: there are %d assignments", size), nil)
	}
	if len(w.use.Start) == 0 {
		return nil
	}
	if len(w.use.Start) != len(modules) {
		return s.Errorf("start", fmt.Sprintf("a candidate for each of %s", strings.Join(modules, ", ")), nil)
	}
	for m, name := range w.use.Start {
		if !slices.Contains(candidates[m], name) {
			return s.Errorf("start", fmt.Sprintf("for module %s one of %s", modules[m], strings.Join(candidates[m], ", ")), candidates[m])
		}
	}
	return nil
}

// find looks up the name under a key in a table.
func find[E any](s experiment.Section, key, expected string, table []E, nameOf func(E) string) (found E, err error) {
	name, ok := s.String(key)
	if !ok {
		return found, s.Errorf(key, "the name of "+expected, nil)
	}
	known := make([]string, len(table))
	for i, e := range table {
		if known[i] = nameOf(e); known[i] == name {
			return e, nil
		}
	}
	return found, s.Errorf(key, "one of "+strings.Join(known, ", "), known)
}

// longestLabel is how much of a part's parameters a row spells out.
const longestLabel = 120

// label writes the parameters that are not at their default.
func label(params any) string {
	text := strings.Join(param.Canonical(params), " ")
	if len(text) <= longestLabel {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}
