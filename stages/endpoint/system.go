package endpoint

import (
	"context"
	"fmt"
	"slices"

	"switchyard/sim/compound"
	"switchyard/sim/param"
)

// candidate is a model with a prompt, by place.
type candidate struct{ model, prompt int }

// system is a graph whose modules ask live models.
type system struct {
	graph      *compound.Graph
	models     []Model
	prompts    [][]*prompt   // by module; none of a vote
	candidates [][]candidate // by decision
	samples    []int         // by module: which of several answers to the same question it takes
	decision   []int         // by module: its place among the decisions
	extract    Extractor
	metric     Metric
	passText   bool // a vote passes the winner's text on, not its answer
}

// newSystem joins a graph with the live models and prompts.
func (l *Live) newSystem(g *compound.Graph) (*system, error) {
	s := &system{graph: g, models: l.models, extract: l.extract, metric: l.metric, passText: l.passText,
		prompts: make([][]*prompt, g.Len()), samples: make([]int, g.Len()), decision: make([]int, g.Len())}
	for d, i := range g.Decisions() {
		s.decision[i] = d
	}
	alike := map[string]int{}
	for i := range g.Len() {
		m := g.Module(i)
		switch {
		case m.Rule == compound.Vote:
			continue
		case !m.Rule.LLM():
			return nil, fmt.Errorf("module %s: rule %s knows right from wrong, which live answers do not say: take %s", m.Name, m.Rule, compound.Vote)
		}
		s.samples[i] = alike[m.Skill]
		alike[m.Skill]++
		texts, err := l.promptsOf(g, i)
		if err != nil {
			return nil, err
		}
		for _, text := range texts {
			p, err := compile(text)
			if err != nil {
				return nil, fmt.Errorf("prompt %s of module %s: %w", text.Name, m.Name, err)
			}
			s.prompts[i] = append(s.prompts[i], p)
		}
		list, err := l.candidatesOf(m, len(texts))
		if err != nil {
			return nil, err
		}
		s.candidates = append(s.candidates, list)
	}
	return s, nil
}

// candidatesOf crosses the models that a module may have with its prompts.
func (l *Live) candidatesOf(m compound.Module, prompts int) (list []candidate, err error) {
	known := make([]string, len(l.models))
	for k := range l.models {
		known[k] = l.models[k].Name
	}
	for _, name := range m.Models {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("module %s: the world has no model %q; did you mean %q?", m.Name, name, param.Nearest(name, known))
		}
	}
	for k, name := range known {
		for p := range prompts {
			if len(m.Models) == 0 || slices.Contains(m.Models, name) {
				list = append(list, candidate{k, p})
			}
		}
	}
	return list, nil
}

// promptsOf finds the prompts of a module by its name, its skill or its rule,
// in this order.
func (l *Live) promptsOf(g *compound.Graph, i int) ([]PromptText, error) {
	m := g.Module(i)
	for _, name := range []string{m.Name, m.Skill, string(m.Rule)} {
		if texts := l.prompts[name]; len(texts) > 0 {
			return texts, nil
		}
	}
	return []PromptText{plain(g, i, endings[l.ending])}, nil
}

// label names a candidate of a decision.
func (s *system) label(d, k int) string {
	c := s.candidates[d][k]
	if prompts := s.prompts[s.graph.Decisions()[d]]; len(prompts) > 1 {
		return s.models[c.model].Name + "/" + prompts[c.prompt].Name
	}
	return s.models[c.model].Name
}

// Trace is what a system made of a question.
type Trace struct {
	Outputs   []string // by module, in the order of the graph
	Score     float32
	Dollars   float64
	LatencyUs int64 // along the slowest path, with what each answer took when it was asked
	Counted   int   // calls whose tokens were counted here, 4 characters each
	Cut       int   // calls that ended at max_tokens
	Calls     int
}

// run answers a question under an allocation.
func (s *system) run(ctx context.Context, c *Client, alloc []int32, q *Question) (Trace, error) {
	g := s.graph
	t := Trace{Outputs: make([]string, g.Len())}
	ends := make([]int64, g.Len())
	for i := range g.Len() {
		for _, r := range g.Reads(i) {
			ends[i] = max(ends[i], ends[r])
		}
		if !g.Module(i).Rule.LLM() {
			t.Outputs[i] = s.merge(i, t.Outputs)
			continue
		}
		took := t.LatencyUs
		if err := s.step(ctx, c, i, alloc[s.decision[i]], q, &t); err != nil {
			return t, fmt.Errorf("module %s: %w", g.Module(i).Name, err)
		}
		ends[i] += t.LatencyUs - took
	}
	t.LatencyUs = ends[g.Output()]
	t.Score = s.metric.Score(t.Outputs[g.Output()], q.Gold, s.extract)
	return t, nil
}

// step asks the model of module i, and adds what that took to the trace.
func (s *system) step(ctx context.Context, c *Client, i int, k int32, q *Question, t *Trace) error {
	of := s.candidates[s.decision[i]][k]
	m, p := &s.models[of.model], s.prompts[i][of.prompt]
	in := inputs(s.graph, i, q, t.Outputs)
	ask := func(messages []Message, err error) (string, error) {
		if err != nil {
			return "", err
		}
		a, err := c.Ask(ctx, m, messages, s.samples[i])
		if err != nil {
			return "", err
		}
		t.Calls++
		t.Dollars += m.price(a.InputTokens, a.OutputTokens)
		t.LatencyUs += a.LatencyUs
		t.Counted += one(a.Counted)
		t.Cut += one(a.Cut)
		return a.Text, nil
	}
	text, err := ask(p.messages(p.user, in))
	if err == nil && p.then != nil {
		in["previous"] = text
		text, err = ask(p.messages(p.then, in))
	}
	if err != nil {
		return err
	}
	if reads := s.graph.Reads(i); p.Reply == "selection" {
		text = t.Outputs[reads[selected(text, len(reads))]]
	}
	t.Outputs[i] = text
	return nil
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// merge votes on the outputs that module i reads.
func (s *system) merge(i int, outputs []string) string {
	var texts, answers []string
	for _, r := range s.graph.Reads(i) {
		texts = append(texts, outputs[r])
		answers = append(answers, s.extract.Find(outputs[r]))
	}
	if s.passText {
		return texts[vote(answers)]
	}
	return answers[vote(answers)]
}
