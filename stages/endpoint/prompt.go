package endpoint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"switchyard/sim/compound"
)

// PromptText is a prompt as the experiment file has it.
type PromptText struct {
	Name   string `yaml:"-"`
	User   string `yaml:"user" required:"true" doc:"what the model is asked, a Go template: {{.question}} and the context columns, where the module reads query; each module that it reads by name; .reads, all of them, each with .Name and .Text; .own, the first, and .others"`
	System string `yaml:"system" doc:"what stands before it as the system's message"`
	Then   string `yaml:"then" doc:"a second call of the same model, whose reply is the output; it may read {{.previous}}, the reply to the first"`
	Reply  string `yaml:"reply" default:"text" enum:"text|selection" doc:"text: the reply is the output; selection: the output is the one of the texts read whose number stands behind the reply's \"final selection:\", from 0; the first where there is none"`
}

// prompt is a PromptText that can be filled in.
type prompt struct {
	PromptText
	system, user, then *template.Template // nil where there is none
}

// part is an output that a module reads.
type part struct{ Name, Text string }

func compile(p PromptText) (*prompt, error) {
	c := &prompt{PromptText: p}
	for _, each := range []struct {
		field, text string
		to          **template.Template
	}{{"system", p.System, &c.system}, {"user", p.User, &c.user}, {"then", p.Then, &c.then}} {
		if each.text == "" {
			continue
		}
		t, err := template.New(each.field).Option("missingkey=error").Parse(each.text)
		if err != nil {
			return nil, fmt.Errorf("a template that can be read: %w", err)
		}
		*each.to = t
	}
	return c, nil
}

// inputs are what the prompt of module i may name.
func inputs(g *compound.Graph, i int, q *Question, outputs []string) map[string]any {
	in := map[string]any{}
	if slices.Contains(g.Module(i).Reads, compound.Query) {
		for name, text := range q.Context {
			in[name] = text
		}
		in["question"] = q.Text
	}
	reads := []part{}
	for _, r := range g.Reads(i) {
		name := g.Module(r).Name
		reads = append(reads, part{name, outputs[r]})
		in[name] = outputs[r]
	}
	in["reads"] = reads
	if len(reads) > 0 {
		in["own"], in["others"] = reads[0].Text, reads[1:]
	}
	return in
}

func fill(t *template.Template, in map[string]any) (string, error) {
	var b strings.Builder
	if err := t.Execute(&b, in); err != nil {
		return "", err
	}
	return b.String(), nil
}

// messages fills the prompt in, for its first call or the second.
func (p *prompt) messages(user *template.Template, in map[string]any) (all []Message, err error) {
	add := func(role string, t *template.Template) {
		if t == nil || err != nil {
			return
		}
		var text string
		if text, err = fill(t, in); err == nil {
			all = append(all, Message{role, text})
		}
	}
	add("system", p.system)
	add("user", user)
	return all, err
}

// check tries the prompt on a question.
func (p *prompt) check(g *compound.Graph, i int, q *Question) error {
	in := inputs(g, i, q, make([]string, g.Len()))
	names := []string{}
	for name := range in {
		names = append(names, name)
	}
	slices.Sort(names)
	if _, err := p.messages(p.user, in); err != nil {
		return fmt.Errorf("one that names what module %s reads, which is %s: %w", g.Module(i).Name, strings.Join(names, ", "), err)
	}
	in["previous"] = ""
	if p.then != nil {
		if _, err := p.messages(p.then, in); err != nil {
			return fmt.Errorf("one that names what module %s reads, which is %s: %w", g.Module(i).Name, strings.Join(names, ", "), err)
		}
	}
	if p.Reply == "selection" && len(g.Reads(i)) == 0 {
		return fmt.Errorf("reply: text: module %s reads no output to select", g.Module(i).Name)
	}
	return nil
}

// selected returns the place of the output that a reply names; the first where
// it names none.
func selected(reply string, of int) int {
	said, ok := behind("final selection:")(reply)
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(numeral.FindString(said))
	if err != nil || n < 0 || n >= of {
		return 0
	}
	return n
}

// endings ask for the answer in the form that the metric reads.
var endings = map[string]string{
	"parentheses": `End with the answer alone in parentheses.`,
	"final":       `End with "final answer: " and the answer.`,
	"answer-is":   `End with "The answer is " and the answer.`,
	"number":      `End with the number.`,
	"letter":      `End with the letter of the answer in parentheses.`,
	"whole":       `Give the answer alone.`,
}

// plain is the prompt of a module that is given none.
func plain(g *compound.Graph, i int, ending string) PromptText {
	m := g.Module(i)
	text := ""
	if slices.Contains(m.Reads, compound.Query) {
		text = "Question:\n{{.question}}\n\n"
	}
	text += "{{range .reads}}{{.Name}}:\n{{.Text}}\n\n{{end}}"
	switch m.Rule {
	case compound.Critic:
		text += "Check the answer above. Say what is wrong with it, or that nothing is. Do not give another answer."
	case compound.Refine:
		text += "Where the criticism above is right, correct the answer; else repeat it. " + ending
	case compound.Judge:
		text += "Above are answers to the question, the first of which is yours. Weigh them and settle for one. " + ending
	default:
		text += "Answer as well as you can. " + ending
	}
	return PromptText{Name: "plain", User: text, Reply: "text"}
}
