package serving

import (
	"fmt"
	"math"

	"switchyard/sim/dist"
	"switchyard/sim/param"
	"switchyard/sim/rng"
)

// Lengths says how long prompts and outputs are, and what prompts share.
type Lengths struct {
	Prefix   string  `yaml:"prefix" default:"template" enum:"template|question|none" doc:"what a prompt begins with: the module's template and then the question, the question and then the template, or nothing that another prompt has"`
	Template float64 `yaml:"template" default:"0.3" min:"0" max:"1" unit:"share" doc:"share of a module's mean prompt that is its template"`
	Question float64 `yaml:"question_tokens" default:"100" min:"0" max:"1000000" unit:"tokens" doc:"mean length of a question, of modules that read it"`
	Spread   float64 `yaml:"spread" default:"0.5" min:"0" max:"10" doc:"standard deviation over mean of questions, of what is left of prompts, and of outputs, each lognormal; 0 = all are as long as their mean"`

	// Records, where there are any, take the place of the lognormal: each call
	// draws one, and has its prompt and output in proportion.
	Records []Record `yaml:"-"`
}

// Record is a recorded request.
type Record struct{ Prompt, Output float64 }

// Check says whether the parts of the prompts fit into their means.
func (l *Lengths) Check(modules []Module) error {
	for i := range modules {
		m := &modules[i]
		if room := m.Usage.PromptTokens - l.template(modules, m); m.Query && l.Question > room {
			return &param.Error{Field: "question_tokens", Value: param.Format(l.Question),
				Expected: fmt.Sprintf("at most %v, what the template leaves of the %v tokens of a prompt of %s", math.Floor(room), m.Usage.PromptTokens, m.Name)}
		}
	}
	return nil
}

// template returns the tokens of a module's template: the share of the shortest
// mean prompt of those that have it.
func (l *Lengths) template(modules []Module, of *Module) float64 {
	least := of.Usage.PromptTokens
	for i := range modules {
		if modules[i].Template == of.Template {
			least = min(least, modules[i].Usage.PromptTokens)
		}
	}
	return math.Floor(l.Template * least)
}

// lengths are what is drawn for the questions of a run.
type lengths struct {
	template []int32 // by module
	question []int32 // by question
	from     []int   // by module: its first place among the calls of a question
	each     int     // places a question
	calls    []int32 // [question*modules+module]
	rest     []int32 // [question*each+place]
	output   []int32
}

// draw draws the lengths of so many questions. Each module has a stream of its
// own, and each question takes as much of it as every other.
func (l *Lengths) draw(modules []Module, questions int, stream func(name string) *rng.Stream) *lengths {
	d := &lengths{question: make([]int32, questions), calls: make([]int32, questions*len(modules))}
	for i := range modules {
		d.template = append(d.template, int32(l.template(modules, &modules[i])))
		d.from = append(d.from, d.each)
		d.each += int(math.Ceil(modules[i].Usage.Calls))
	}
	d.rest, d.output = make([]int32, questions*d.each), make([]int32, questions*d.each)
	factor := dist.NewLognormal(1, l.Spread)
	s := stream("questions")
	for q := range d.question {
		d.question[q] = dist.Whole(l.Question*factor.Draw(s), 0)
	}
	prompt, output := l.means()
	for i := range modules {
		m := &modules[i]
		rest := m.Usage.PromptTokens - float64(d.template[i])
		if m.Query {
			rest -= l.Question
		}
		s := stream(fmt.Sprintf("module/%d", i))
		places := int(math.Ceil(m.Usage.Calls))
		for q := range questions {
			d.calls[q*len(modules)+i] = int32(math.Floor(m.Usage.Calls + s.Float64()))
			for k := range places {
				var p, o float64
				if len(l.Records) > 0 {
					r := l.Records[s.IntN(len(l.Records))]
					p, o = r.Prompt/prompt, r.Output/output
				} else {
					p, o = factor.Draw(s), factor.Draw(s)
				}
				at := q*d.each + d.from[i] + k
				d.rest[at], d.output[at] = dist.Whole(rest*p, 0), dist.Whole(m.Usage.OutputTokens*o, 1)
			}
		}
	}
	return d
}

// means are those of the records.
func (l *Lengths) means() (prompt, output float64) {
	for _, r := range l.Records {
		prompt += r.Prompt
		output += r.Output
	}
	n := float64(len(l.Records))
	return prompt / n, output / n
}
