package endpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"text/template"

	"switchyard/sim/compound"
	"switchyard/sim/selection"

	"golang.org/x/sync/errgroup"
)

// DiagnoserParams describe a diagnoser that is a language model.
type DiagnoserParams struct {
	Model       string  `yaml:"model" required:"true" doc:"one of models: who judges"`
	Description string  `yaml:"description" doc:"what the system is and how to tell which module failed; empty: who reads whom"`
	MaxTokens   int     `yaml:"max_tokens" default:"1000" min:"1" max:"10000000" unit:"tokens" doc:"longest judgement; one that is cut has no verdict"`
	Temperature float64 `yaml:"temperature" default:"0" min:"-1" max:"2" doc:"sampling temperature; -1 = leave it to the endpoint"`
	Asks        string  `yaml:"asks" default:"wrong" enum:"wrong|all" doc:"wrong: a right answer blames nobody and costs no call; all: right ones are judged too, as in LLMSelector's released code"`
}

// Episode is a run of a system to be judged.
type Episode struct {
	Description string
	Question    string
	Steps       []Step // in the order in which they ran
	Final       string // the system's answer
	Gold        string // the right one
}

// Step is what a module did.
type Step struct{ Module, Output string }

// The judge is asked in three parts, as LLMSelector asks it: what happened, how
// to go about it, and one of three verdicts at the end. The words are ours.
var diagnosis = template.Must(template.New("diagnosis").Funcs(template.FuncMap{"inc": func(i int) int { return i + 1 }}).Parse(
	`A system of several modules has answered a question. Judge whether one of its modules is to blame for the result.

The system:
{{.Description}}

The question:
{{.Question}}

{{range $i, $s := .Steps}}Module {{inc $i}} ({{$s.Module}}) wrote:
{{$s.Output}}

{{end}}The system's answer:
{{.Final}}

The right answer, which is certain:
{{.Gold}}

Judge module {{inc .Module}} ({{.Name}}). Do not solve the question yourself, and do not doubt the right answer. Go through the outputs step by step: where does what is wrong first come up, and does this module bring it in, or only pass on what it was given?

Then write one of these lines, and nothing like the others:
[[verdict: yes]] if this module is responsible for the wrong answer,
[[verdict: no]] if it is not,
[[verdict: correct]] if the system's answer is right.
`))

// The verdicts as they stand in a reply without all but word characters.
var verdicts = []struct {
	phrase string
	blame  float32
}{{"verdictyes", 1}, {"verdictno", 0}, {"verdictcorrect", 0}}

// unread is the blame of a reply without a verdict.
const unread = 0.5

// Verdict reads a judgement as LLMSelector's released code does: it keeps word
// characters alone, in lower case, and looks through all of the text for yes,
// then no, then correct. So a reply that quotes "[[verdict: yes]]" on its way
// is read as yes. Without any of them it is .5, and read is false.
func Verdict(reply string) (blame float32, read bool) {
	words := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return -1
	}, reply)
	for _, v := range verdicts {
		if strings.Contains(words, v.phrase) {
			return v.blame, true
		}
	}
	return unread, false
}

// Judge asks a model about episodes. It may be shared where its counts are not
// read.
type Judge struct {
	client *Client
	model  Model
}

// NewJudge returns a judge; the parameters' model is passed as m.
func NewJudge(c *Client, m Model, p *DiagnoserParams) *Judge {
	m.MaxTokens, m.Temperature = p.MaxTokens, p.Temperature
	return &Judge{c, m}
}

// Judgement is what a judge said about a module.
type Judgement struct {
	Blame   float32
	Read    bool // false: no verdict was found
	Dollars float64
	Reply   string
}

// Judge asks whether a module, by its place in the episode, is to blame.
func (j *Judge) Judge(ctx context.Context, e *Episode, module int) (Judgement, error) {
	var b strings.Builder
	err := diagnosis.Execute(&b, struct {
		*Episode
		Module int
		Name   string
	}{e, module, e.Steps[module].Module})
	if err != nil {
		return Judgement{}, err
	}
	a, err := j.client.Ask(ctx, &j.model, []Message{{"user", b.String()}}, 0)
	if err != nil {
		return Judgement{}, err
	}
	out := Judgement{Dollars: j.model.price(a.InputTokens, a.OutputTokens), Reply: a.Text}
	out.Blame, out.Read = Verdict(a.Text)
	return out, nil
}

var _ selection.Diagnoser = (*Diagnoser)(nil)

// Diagnoser judges the modules of a live world. It belongs to one goroutine.
type Diagnoser struct {
	world       *World
	judge       *Judge
	description string
	all         bool

	// Asked counts the verdicts asked for, Unread those without one, and
	// Dollars what they cost, each question once.
	Asked, Unread int
	Dollars       float64
	seen          map[string]struct{}
}

// NewDiagnoser returns the diagnoser of a world of l.
func (l *Live) NewDiagnoser(w *World) (*Diagnoser, error) {
	judge, err := l.judge(w.client)
	if err != nil {
		return nil, err
	}
	p := l.diagnoser
	d := &Diagnoser{world: w, judge: judge, description: p.Description, all: p.Asks == "all", seen: map[string]struct{}{}}
	if d.description == "" {
		d.description = describe(w.graph)
	}
	return d, nil
}

// judge is the model that the diagnoser's section names.
func (l *Live) judge(c *Client) (*Judge, error) {
	if l.diagnoser == nil {
		return nil, errors.New("the world has no diagnoser: add a section diagnoser with a model")
	}
	at := slices.IndexFunc(l.models, func(m Model) bool { return m.Name == l.diagnoser.Model })
	return NewJudge(c, l.models[at], l.diagnoser), nil // openDiagnoser has found it
}

// describe says who reads whom.
func describe(g *compound.Graph) string {
	var lines []string
	for i := range g.Len() {
		m := g.Module(i)
		kind := "a module"
		if !m.Rule.LLM() {
			kind = "a vote without a model"
		}
		lines = append(lines, fmt.Sprintf("- %s: %s that reads %s", m.Name, kind, strings.Join(m.Reads, ", ")))
	}
	return strings.Join(lines, "\n")
}

// Blame implements selection.Diagnoser.
func (d *Diagnoser) Blame(alloc []int32, module int, dst []float32) error {
	traces, err := d.world.Traces(alloc)
	if err != nil {
		return err
	}
	at := d.world.graph.Decisions()[module]
	judged := make([]Judgement, len(traces))
	errs := make([]error, len(traces))
	var stop atomic.Bool
	var group errgroup.Group
	group.SetLimit(d.world.parallel)
	for q := range traces {
		if traces[q].Score == 1 && !d.all {
			judged[q].Read = true
			continue
		}
		group.Go(func() error {
			if stop.Load() {
				return nil
			}
			var err error
			if judged[q], err = d.judge.Judge(d.world.ctx, d.episode(q, &traces[q]), at); err != nil {
				errs[q] = fmt.Errorf("diagnose question %d: %w", q+1, err)
				if !errors.Is(err, ErrMissing) {
					stop.Store(true)
				}
			}
			return nil
		})
	}
	_ = group.Wait()
	if err := first(errs); err != nil {
		return err
	}
	d.count(fmt.Sprint(alloc, module), judged)
	for q := range judged {
		dst[q] = judged[q].Blame
	}
	return nil
}

// count counts a set of judgements the first time.
func (d *Diagnoser) count(key string, judged []Judgement) {
	if _, again := d.seen[key]; again {
		return
	}
	d.seen[key] = struct{}{}
	for _, j := range judged {
		if j.Reply == "" && j.Read {
			continue // not asked
		}
		d.Asked++
		d.Unread += one(!j.Read)
		d.Dollars += j.Dollars
	}
}

// episode is a trace with names.
func (d *Diagnoser) episode(q int, t *Trace) *Episode {
	g := d.world.graph
	e := &Episode{Description: d.description, Question: d.world.questions[q].Text, Gold: d.world.questions[q].Gold, Final: t.Outputs[g.Output()]}
	for i, out := range t.Outputs {
		e.Steps = append(e.Steps, Step{g.Module(i).Name, out})
	}
	return e
}

// Doubts are what a reader of the results should know.
func (d *Diagnoser) Doubts() (doubts []string) {
	if d.Unread > 0 {
		doubts = append(doubts, fmt.Sprintf("%d of %d judgements of the diagnoser (%.1f %%) have no verdict and count as one half", d.Unread, d.Asked, 100*float64(d.Unread)/float64(d.Asked)))
	}
	if d.Dollars > 0 {
		doubts = append(doubts, fmt.Sprintf("the diagnoser's %d judgements cost $%.4f beside cost_selection", d.Asked, d.Dollars))
	}
	return doubts
}
