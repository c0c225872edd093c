package serving

import (
	"errors"
	"math"
	"slices"

	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// Traffic is the questions of a run, before anyone is assigned to answer them.
// It is not written to after Draw.
type Traffic struct {
	modules []Module
	prefix  string
	drawn   *lengths
	starts  []workload.Start
}

// Draw draws so many questions with their starts. stream returns the stream of
// a name.
func Draw(modules []Module, l *Lengths, questions int, starts func() workload.Start, stream func(name string) *rng.Stream) (*Traffic, error) {
	if questions < 1 || len(modules) == 0 {
		return nil, errors.New("traffic needs at least one question and one module with an LLM")
	}
	if err := l.Check(modules); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(modules, func(m Module) bool { return m.Usage.Calls >= 1 }) {
		return nil, errors.New("no module is called for every question, so that some would take no time: give one at least one call")
	}
	t := &Traffic{modules: modules, prefix: l.Prefix, drawn: l.draw(modules, questions, stream)}
	for range questions {
		t.starts = append(t.starts, starts())
	}
	return t, nil
}

// Questions returns their number.
func (t *Traffic) Questions() int { return len(t.starts) }

// Who appends the models that a module calls for a question, in order: one, or
// several of which the last answers. Models are numbers of pools.
type Who func(question, module int, to []int32) []int32

// Calls is the traffic of an assignment: one request a call.
type Calls struct {
	Workload *workload.Workload
	From     []int32 // by question, and one more: its first request
	Module   []int32 // by request
	// Load is, by model, the tokens that it has to read and, in proportion to
	// what they cost an engine, to write.
	Load []float64
}

// outputWeight is what a token of output counts for as load beside one of the
// prompt. Decoding reads all weights for a batch, prefilling once for a whole
// prompt; splits begin with this guess, and simulation decides.
const outputWeight = 10

// Calls makes the requests of the questions under an assignment to so many
// models.
func (t *Traffic) Calls(models int, who Who) (*Calls, error) {
	w := &writer{Traffic: t, Calls: &Calls{Load: make([]float64, models)}, who: who,
		ends: make([][]int32, len(t.modules)), sinks: t.sinks()}
	for q := range t.starts {
		if err := w.question(q); err != nil {
			return nil, err
		}
	}
	w.From = append(w.From, int32(len(w.Module)))
	var err error
	w.Workload, err = w.builder.Build()
	return w.Calls, err
}

// sinks lists the modules for which no other waits.
func (t *Traffic) sinks() (sinks []int) {
	read := make([]bool, len(t.modules))
	for i := range t.modules {
		for _, r := range t.modules[i].Reads {
			read[r] = true
		}
	}
	for i := range read {
		if !read[i] {
			sinks = append(sinks, i)
		}
	}
	return sinks
}

// writer writes requests, question by question.
type writer struct {
	*Traffic
	*Calls
	who      Who
	builder  workload.Builder
	ends     [][]int32 // by module: the requests of the question with whose ends it is done
	sinks    []int
	final    workload.Lists // by question: the requests with whose ends it is done
	waits    []int32
	models   []int32
	segments []workload.Segment
}

// question writes the calls of a question.
func (w *writer) question(q int) error {
	w.From = append(w.From, int32(len(w.Module)))
	for m := range w.modules {
		w.waits = w.waits[:0]
		for _, r := range w.modules[m].Reads {
			w.waits = append(w.waits, w.ends[r]...)
		}
		if err := w.module(q, m); err != nil {
			return err
		}
	}
	w.final.From = append(w.final.From, int32(len(w.final.Items)))
	for _, m := range w.sinks {
		w.final.Items = append(w.final.Items, w.ends[m]...)
	}
	return nil
}

// module writes the calls of a module, which wait for those in waits. Where it
// makes none, whoever reads it waits for the same.
func (w *writer) module(q, m int) error {
	r := workload.Request{After: workload.None, Session: int64(q), OutputID: workload.None}
	waits := append(w.ends[m][:0], w.waits...)
	calls := w.drawn.calls[q*len(w.modules)+m]
	if len(waits) == 0 && calls > 0 {
		start := &w.starts[q]
		r.ArrivalUs, r.ThinkUs = start.ArrivalUs, start.ThinkUs
		if start.After != workload.None {
			waits = append(waits, w.ended(start.After)...)
		}
	}
	w.models = w.who(q, m, w.models[:0])
	for k := range calls {
		for _, model := range w.models {
			if len(waits) > 0 {
				r.After, r.Also = waits[0], waits[1:]
			}
			r.Pool, r.Turn = model, int32(len(w.Module))-w.From[q]
			w.lengths(&r, q, m, int(k))
			if err := w.builder.Add(&r); err != nil {
				return err
			}
			waits = append(waits[:0], int32(len(w.Module)))
			w.Module = append(w.Module, int32(m))
			w.Load[model] += float64(r.Prompt) + outputWeight*float64(r.Output)
			r.ThinkUs = 0
		}
	}
	w.ends[m] = waits
	return nil
}

// ended lists the requests with whose ends an earlier question is done.
func (w *writer) ended(q int32) []int32 {
	to := int32(len(w.final.Items))
	if int(q)+1 < len(w.final.From) {
		to = w.final.From[q+1]
	}
	return w.final.Items[w.final.From[q]:to]
}

// Identities of segments.
const (
	templates int64 = 0
	questions       = math.MaxInt32
)

// lengths fills in the prompt and the output of a call.
func (w *writer) lengths(r *workload.Request, q, m, k int) {
	d, module := w.drawn, &w.modules[m]
	at := q*d.each + d.from[m] + k
	template := workload.Segment{ID: templates + int64(module.Template), Tokens: d.template[m]}
	question := workload.Segment{ID: questions + int64(q)}
	if module.Query {
		question.Tokens = d.question[q]
	}
	r.Prompt, r.Output = max(1, template.Tokens+question.Tokens+d.rest[at]), d.output[at]
	w.segments = w.segments[:0]
	order := [...]workload.Segment{template, question}
	if w.prefix == "question" {
		order[0], order[1] = question, template
	}
	for _, s := range order {
		if s.Tokens > 0 && w.prefix != "none" {
			w.segments = append(w.segments, s)
		}
	}
	r.Segments = w.segments
}
