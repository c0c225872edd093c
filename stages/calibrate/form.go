package calibrate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"switchyard/sim/engine"
	"switchyard/sim/hardware"
	"switchyard/sim/param"
)

// Forms lists the step models that can be fitted, the one to prefer first.
func Forms() []string { return []string{"max-linear", "linear", "roofline"} }

// Engine is the server as far as it is known beforehand.
type Engine struct {
	GPU            hardware.GPU
	Model          hardware.Model
	TensorParallel int
	Scheduler      string   // of engine.Schedulers
	Set            []string // its parameters, name=value
	Utilization    float64  // share of GPU memory for weights and KV cache, where the scheduler has no number of blocks
}

// least is the least ratio of a coefficient to where the search starts.
const least = 0.001

// coefficient is one number that is fitted. The search is over its ratio to
// start: latencies are nearly linear in it.
type coefficient struct {
	name   string
	unit   string
	start  float64 // what the hardware's figures suggest
	most   float64 // greatest value, 0 without
	engine bool    // of the scheduler, not of the step model
	from   string  // where start comes from
}

// form is a step model with what is fitted of it and what is not.
type form struct {
	engine Engine
	step   hardware.StepModel
	fixed  map[string]any // step parameters that are taken as given
	coef   []coefficient
}

// begin returns the point at which the search starts.
func (f *form) begin() []float64 {
	x := make([]float64, len(f.coef))
	for i := range x {
		x[i] = 1
	}
	return x
}

// value returns coefficient i at a point of the search, to the five digits that
// are printed, so that what is pasted is what was judged.
func (f *form) value(x []float64, i int) float64 {
	c := f.coef[i]
	v := c.start * max(x[i], least)
	if c.most > 0 {
		v = min(v, c.most)
	}
	v = significant(v)
	if c.engine {
		v = math.Round(v)
	}
	return v
}

// significant rounds to five digits.
func significant(x float64) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 5, 64), 64)
	return v
}

// bound reports whether coefficient i is as small or as great as the search lets
// it be.
func (f *form) bound(x []float64, i int) bool {
	c := f.coef[i]
	return x[i] <= 1.01*least || c.most > 0 && c.start*x[i] >= c.most
}

// values returns all of them.
func (f *form) values(x []float64) []float64 {
	v := make([]float64, len(f.coef))
	for i := range v {
		v[i] = f.value(x, i)
	}
	return v
}

// parameters returns step model and scheduler at a point of the search.
func (f *form) parameters(x []float64) (hardware.StepParams, engine.Params, error) {
	step := f.step.New()
	param.Defaults(step)
	for _, name := range sortedKeys(f.fixed) {
		if err := param.Set(step, name, f.fixed[name]); err != nil {
			return nil, nil, err
		}
	}
	scheduler, err := f.engine.scheduler()
	if err != nil {
		return nil, nil, err
	}
	for i, c := range f.coef {
		var err error
		if c.engine {
			err = param.Set(scheduler, c.name, int64(f.value(x, i)))
		} else {
			err = param.Set(step, c.name, f.value(x, i))
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return step, scheduler, nil
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// server builds the server at a point of the search.
func (f *form) server(x []float64) (server, error) {
	step, params, err := f.parameters(x)
	if err != nil {
		return server{}, err
	}
	built, err := step.Build(f.engine.GPU, f.engine.Model, f.engine.TensorParallel)
	if err != nil {
		return server{}, err
	}
	return server{built, params, f.engine.kvTokens(params)}, nil
}

// scheduler returns the parameters of the scheduler that are known.
func (e *Engine) scheduler() (engine.Params, error) {
	found, ok := engine.FindScheduler(e.Scheduler)
	if !ok {
		var known []string
		for _, s := range engine.Schedulers() {
			known = append(known, s.Name)
		}
		return nil, fmt.Errorf("scheduler is %q, expected one of %s", e.Scheduler, strings.Join(known, ", "))
	}
	p := found.New()
	param.Defaults(p)
	for _, set := range e.Set {
		name, value, _ := strings.Cut(set, "=")
		if err := setText(p, name, value); err != nil {
			return nil, fmt.Errorf("engine parameter %s: %w", set, err)
		}
	}
	return p, param.Validate(p)
}

// sets reports whether a parameter of the scheduler is given.
func (e *Engine) sets(name string) bool {
	return slices.ContainsFunc(e.Set, func(s string) bool { return strings.HasPrefix(s, name+"=") })
}

// unbounded is the KV capacity where nothing is known that would bound it.
const unbounded = 1 << 40

// kvTokens returns the KV capacity.
func (e *Engine) kvTokens(p engine.Params) int64 {
	kv := int64(unbounded)
	if e.Model.Name != "" && e.GPU.Name != "" {
		kv = hardware.KVCapacity(e.GPU, e.Model, e.TensorParallel, e.Utilization)
	}
	if sized, ok := p.(engine.Sized); ok {
		kv = sized.KVTokens(kv)
	}
	return kv
}

// Shares of the peaks that a good server reaches: where the search starts.
const (
	startMFU = 0.6
	startMBU = 0.85
)

// newForm returns the form of that name for a server. It starts from what the
// hardware's figures suggest or, where these are not given, from what the
// recordings look like.
func newForm(name string, e Engine, runs []*recording) (*form, error) {
	step, ok := hardware.FindStepModel(name)
	if !ok || !slices.Contains(Forms(), name) {
		return nil, input("step model is %q, expected one of %s", name, strings.Join(Forms(), ", "))
	}
	if step.NeedsModel && e.Model.Name == "" || step.NeedsGPU && e.GPU.Name == "" {
		return nil, input("step model %s needs the model and the GPU: name them", name)
	}
	f := &form{engine: e, step: step, fixed: map[string]any{}}
	token, weights, context, from := e.suggest(runs)
	switch name {
	case "max-linear":
		f.fixed["knee"], f.fixed["tile_tokens"] = 3.0, int64(128)
		f.coef = []coefficient{
			{name: "overhead_us", unit: "us", start: 1000, from: "a guess"},
			{name: "per_request_us", unit: "us", start: 20, from: "a guess"},
			{name: "per_prefill_token_us", unit: "us", start: token, from: from},
			{name: "weights_us", unit: "us", start: weights, from: from},
			{name: "per_context_token_us", unit: "us", start: context, from: from},
		}
	case "linear":
		f.coef = []coefficient{
			{name: "base_us", unit: "us", start: 1000 + weights, from: from},
			{name: "per_request_us", unit: "us", start: 20, from: "a guess"},
			{name: "per_prefill_token_us", unit: "us", start: token, from: from},
			{name: "per_context_token_us", unit: "us", start: context, from: from},
		}
	case "roofline":
		f.coef = []coefficient{
			{name: "mfu", unit: "share", start: startMFU, most: 1, from: "a guess"},
			{name: "mbu", unit: "share", start: startMBU, most: 1, from: "a guess"},
			{name: "overhead_us", unit: "us", start: 1000, from: "a guess"},
		}
	}
	params, err := e.scheduler()
	if err != nil {
		return nil, &InputError{err}
	}
	if e.kvTokens(params) < 1 {
		return nil, input("%s has no memory for the %.1f GB of weights of %s: check the GPU and the data types, or raise the number of GPUs a replica (tensor parallel, now %d)",
			e.GPU.Name, float64(e.Model.WeightBytes())/1e9, e.Model.Name, e.TensorParallel)
	}
	for _, p := range param.Fields(params) {
		if p.Name == "front_end_us" && !e.sets(p.Name) {
			f.coef = append(f.coef, coefficient{name: p.Name, unit: "us", start: 3000, engine: true, from: "a guess"})
		}
		if p.Name == "idle_step_us" && !e.sets(p.Name) {
			f.coef = append(f.coef, coefficient{name: p.Name, unit: "us", start: 1000, engine: true, from: "a guess"})
		}
	}
	return f, nil
}

// suggest returns the time of a prefill token, of the weights and of a token of
// context, in microseconds.
func (e *Engine) suggest(runs []*recording) (token, weights, context float64, from string) {
	if g, m := e.GPU, e.Model; g.Name != "" && m.Name != "" {
		d := float64(e.TensorParallel)
		peak := g.FLOPS
		if m.Weights == hardware.FP8 && g.FP8 > 0 {
			peak = g.FP8
		}
		memory := 1e6 / (g.Bandwidth * startMBU * d)
		return 2 * float64(m.ActiveParameters()) / (peak * startMFU * d) * 1e6, float64(m.WeightBytes()) * memory, float64(m.KVBytes()) * memory,
			fmt.Sprintf("%s on %s at %v of its FLOP/s and %v of its bandwidth", m.Name, g.Name, startMFU, startMBU)
	}
	token, weights = math.Inf(1), math.Inf(1)
	for _, r := range runs {
		for i, ttft := range r.measured.ttft {
			token = min(token, ttft/float64(r.work.Prompt[i]))
			if tpot := r.measured.tpot[i]; tpot > 0 {
				weights = min(weights, tpot)
			}
		}
	}
	weights = min(weights, 1e6)
	return max(token, 1e-3), max(weights, 1), weights / 1e5, "the shortest measured latencies"
}
