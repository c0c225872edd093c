package serve

import (
	"fmt"
	"slices"
	"strings"

	"switchyard/sim/cascade"
	"switchyard/sim/param"
	"switchyard/sim/router"
	"switchyard/sim/serving"
	"switchyard/stages/choose"
	"switchyard/stages/experiment"
	"switchyard/stages/generate"
	"switchyard/stages/simulate"
)

// Params are the parameters of an item of `serving`, beside its sections.
type Params struct {
	GPUs        int    `yaml:"gpus" required:"true" min:"1" max:"4096" unit:"gpus" doc:"budget: GPUs for the replicas of all models"`
	Questions   int    `yaml:"questions" default:"400" min:"10" max:"1000000" unit:"questions" doc:"questions that are served, in an order drawn anew; where the world has fewer they come around again"`
	SLO         SLO    `yaml:"slo"`
	Objective   string `yaml:"objective" default:"p99" enum:"mean|p50|p95|p99|within" doc:"what the split of the GPUs is chosen by: a latency of questions, or the share of them within slo.latency_ms"`
	Splits      int    `yaml:"splits" default:"64" min:"1" max:"100000" unit:"splits" doc:"splits tried for an assignment; where there are more, exchanges from the one in proportion to the load"`
	Assignments int    `yaml:"assignments" default:"64" min:"0" max:"100000" doc:"all assignments are served where there are no more, rules counted as candidates; else the best for their cost in training, those that optimisers choose, and single models"`
}

// routes says whether the policy can route what modules call, of which nothing
// was recorded.
func routes(s experiment.Section, r *simulate.Router) error {
	if _, ok := r.Params.(router.Checked); ok {
		return s.Errorf("router", "a policy that chooses: which replicas served the calls is in no trace", nil)
	}
	return nil
}

// SLO is the objective for a question.
type SLO struct {
	LatencyMs float64 `yaml:"latency_ms" default:"0" min:"0" max:"86400000" unit:"ms" doc:"bound on a question's latency; 0 = none"`
	Share     float64 `yaml:"share" default:"0.99" min:"0" max:"1" unit:"share" doc:"share of the questions that must be within it"`
}

// RuleParams is what every item of `rules` has; the rule's parameters stand
// beside it.
type RuleParams struct {
	Rule string `yaml:"rule" required:"true" doc:"how a model is chosen for each question; see list optimisers, those for each question"`
	choose.Route
}

// Rules lists what can stand at a module: all that chooses for each question but
// the oracle, whose settings are of the outcomes that it knows.
func Rules() []cascade.Entry {
	return slices.DeleteFunc(cascade.Routers(), func(e cascade.Entry) bool { return e.Name == "oracle" })
}

// LengthParams are the sections that lengths can have.
func LengthParams() []any { return []any{new(serving.Lengths)} }

// way is a decoded item of `serving`.
type way struct {
	params   Params
	names    []string // of models, in the order of the file
	servers  []*simulate.Server
	router   *simulate.Router
	engine   *simulate.Scheduler
	arrivals *generate.Arrivals
	lengths  serving.Lengths
	rules    []rule
	parts    []string // all that decides what happens
	at       experiment.Section
}

// rule stands in for a model at a module.
type rule struct {
	module string
	name   string
	params cascade.Params
	route  choose.Route
	at     experiment.Section
}

// decode decodes an item of `serving`.
func decode(in experiment.Instance, traces *generate.Decoder) (*way, error) {
	w := &way{at: in.Section}
	var section struct {
		Models   experiment.Section `yaml:"models" doc:"replicas of the world's models, by name"`
		Engine   experiment.Section `yaml:"engine" doc:"scheduler of every replica"`
		Arrivals experiment.Section `yaml:"arrivals" doc:"when questions arrive"`
		Lengths  experiment.Section `yaml:"lengths" doc:"how long calls are"`
		Rules    experiment.Section `yaml:"rules" doc:"cascades and learned routers, by module"`
	}
	s := in.Section
	err := s.Decode(1, &w.params, &section, simulate.GPUForm(s), simulate.RouterForm(s))
	if err != nil { // what can be told in spite of it
		section.Models, _ = s.Section("models")
		section.Engine, _ = s.Section("engine")
		section.Lengths, _ = s.Section("lengths")
		section.Rules, _ = s.Section("rules")
	}
	var wrong error
	if w.engine, wrong = simulate.DecodeScheduler(section.Engine); wrong != nil {
		return nil, experiment.Join(err, wrong)
	}
	err = experiment.Join(err, w.decodeModels(s, section.Models), w.decodeLengths(section.Lengths, traces), w.decodeRules(section.Rules))
	if w.router, wrong = simulate.DecodeRouter(s); wrong == nil {
		wrong = routes(s, w.router)
	}
	err = experiment.Join(err, wrong)
	if below, ok := s.Section("arrivals"); ok {
		w.arrivals, wrong = traces.Arrivals(below)
	} else {
		wrong = s.Errorf("arrivals", "a section with a process: {process: poisson, rate_rps: 2}, in questions a second; see list arrivals", nil)
	}
	if err = experiment.Join(err, wrong); err != nil {
		return nil, err
	}
	if n := w.arrivals.Times; n > 0 && n < w.params.Questions {
		return nil, s.Errorf("questions", fmt.Sprintf("at most the %d arrivals of the trace", n), nil)
	}
	w.parts = append(w.parts, strings.Join(param.Canonical(&w.params), "\n"), w.router.Key(), strings.Join(w.arrivals.Parameters, "\n"))
	return w, nil
}

// decodeModels decodes the replicas of each model.
func (w *way) decodeModels(s, models experiment.Section) error {
	if len(models.Keys()) == 0 {
		return s.Errorf("models", "the world's models by name, each with what serves it: A: {model: llama-3.1-8b}", nil)
	}
	var errs []error
	for _, name := range models.Keys() {
		below, ok := models.Section(name)
		if !ok {
			errs = append(errs, models.Errorf(name, "a mapping that says what serves it: {model: llama-3.1-8b}", nil))
			continue
		}
		server, err := simulate.DecodeServer(below, s, w.engine)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		w.names, w.servers = append(w.names, name), append(w.servers, server)
		w.parts = append(w.parts, name, server.Key())
	}
	return experiment.Join(errs...)
}

// decodeLengths decodes the lengths, and the records where a trace has them.
func (w *way) decodeLengths(s experiment.Section, traces *generate.Decoder) error {
	if _, traced := s.String("trace"); !traced {
		err := s.Decode(1, &w.lengths)
		w.parts = append(w.parts, strings.Join(param.Canonical(&w.lengths), "\n"))
		return err
	}
	prompt, output, parameters, err := traces.Recorded(s, &w.lengths)
	for i := range prompt {
		w.lengths.Records = append(w.lengths.Records, serving.Record{Prompt: float64(prompt[i]), Output: float64(output[i])})
	}
	w.parts = append(w.parts, strings.Join(append(param.Canonical(&w.lengths), parameters...), "\n"))
	return err
}

// decodeRules decodes what stands in for models.
func (w *way) decodeRules(s experiment.Section) error {
	var errs []error
	for _, module := range s.Keys() {
		below, ok := s.Section(module)
		if !ok {
			errs = append(errs, s.Errorf(module, "a mapping that names a rule: {rule: cascade}", nil))
			continue
		}
		name, _ := below.String("rule")
		var entry *cascade.Entry
		var known []string
		for _, e := range Rules() {
			if known = append(known, e.Name); e.Name == name {
				entry = &e
			}
		}
		if entry == nil {
			errs = append(errs, below.Errorf("rule", "one of "+strings.Join(known, ", "), known))
			continue
		}
		var own RuleParams
		r := rule{module: module, name: name, params: entry.New(), at: below}
		if err := below.Decode(1, &own, r.params); err != nil {
			errs = append(errs, err)
			continue
		}
		r.route = own.Route
		w.rules = append(w.rules, r)
		w.parts = append(w.parts, module+" "+name, strings.Join(param.Canonical(&own), "\n"), strings.Join(param.Canonical(r.params), "\n"))
	}
	return experiment.Join(errs...)
}

// fleet is what the models are served on.
func (w *way) fleet() *serving.Fleet {
	f := &serving.Fleet{Engine: w.engine.Params(), Policy: w.router.Policy.Name, Router: w.router.Params, Sight: w.router.Sight}
	for _, s := range w.servers {
		f.Models = append(f.Models, serving.Model{GPUs: s.GPUs(), Step: s.Step(), KVTokens: s.KVTokens()})
	}
	return f
}

// place finds the models of a ground's candidates among those that are served;
// -1 for one that is not. A candidate is a model, or a model/prompt.
func (w *way) place(g choose.Ground) (pools [][]int32, err error) {
	modules, candidates := g.Candidates()
	met := make([]bool, len(w.names))
	for m, list := range candidates {
		pools = append(pools, nil)
		served := false
		for _, name := range list {
			at := slices.Index(w.names, name)
			if cut := strings.LastIndexByte(name, '/'); at < 0 && cut > 0 {
				at = slices.Index(w.names, name[:cut])
			}
			if at >= 0 {
				met[at], served = true, true
			}
			pools[m] = append(pools[m], int32(at))
		}
		if !served {
			return nil, w.at.Errorf("models", fmt.Sprintf("one of %s, the candidates of module %s in %s", strings.Join(list, ", "), modules[m], g.Name()), nil)
		}
	}
	for i, name := range w.names {
		if !met[i] {
			return nil, w.at.Errorf("models."+name, fmt.Sprintf("a model that %s has: %s", g.Name(), strings.Join(slices.Compact(slices.Concat(candidates...)), ", ")), nil)
		}
	}
	for _, r := range w.rules {
		switch {
		case !slices.Contains(modules, r.module):
			err = experiment.Join(err, w.at.Errorf("rules."+r.module, "a module with a language model: one of "+strings.Join(modules, ", ")+near(r.module, modules), nil))
		case !g.RulesWork():
			err = experiment.Join(err, r.at.Errorf("rule", "no rules in "+g.Name()+": they choose for each question, and the world does not know what each model scores on it", nil))
		}
	}
	return pools, err
}

// near ends an error about a name that is a key.
func near(name string, known []string) string {
	if n := param.Nearest(name, known); n != "" {
		return fmt.Sprintf("; did you mean %q?", n)
	}
	return ""
}
