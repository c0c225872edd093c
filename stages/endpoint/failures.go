package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"switchyard/stages/stats"
	"switchyard/stages/trace"

	"golang.org/x/sync/errgroup"
)

// Labelled is a failed run of which people know the module that is to blame.
type Labelled struct {
	Name string // of the file or the run
	Episode
	Mistaken string // the module to blame
	At       int    // the step at which it failed, from 0; -1 where that is not known
}

// ReadFailures reads labelled failures from a .json file, a folder of these, or
// a .csv table. JSON is that of Who&When (Zhang et al., 2025, arXiv:2505.00212):
// question, ground_truth, history (a list with content and name or role),
// mistake_agent, mistake_step. A table has a row a step: run, question, answer,
// module, output, and mistaken (1 in the rows of the step that failed, else 0).
func ReadFailures(path string) ([]Labelled, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		files, err := filepath.Glob(filepath.Join(path, "*.json"))
		if err != nil || len(files) == 0 {
			return nil, &trace.Error{File: path, Problem: "folder has no .json file", Expected: "one a failure"}
		}
		var all []Labelled
		for _, file := range files {
			one, err := readWhoWhen(file)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
		return all, nil
	case strings.EqualFold(filepath.Ext(path), ".json"):
		one, err := readWhoWhen(path)
		return []Labelled{one}, err
	}
	return readFailureTable(path)
}

func readWhoWhen(path string) (Labelled, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Labelled{}, err
	}
	return parseWhoWhen(path, data)
}

// aside is what a role has behind the agent's name: "Orchestrator (thought)".
var aside = regexp.MustCompile(`\s*[(-].*$`)

func parseWhoWhen(path string, data []byte) (Labelled, error) {
	var w struct {
		Question string          `json:"question"`
		Gold     json.RawMessage `json:"ground_truth"`
		History  []struct {
			Content string `json:"content"`
			Role    string `json:"role"`
			Name    string `json:"name"`
		} `json:"history"`
		Agent string          `json:"mistake_agent"`
		Step  json.RawMessage `json:"mistake_step"`
	}
	fail := func(field, problem, expected string) (Labelled, error) {
		return Labelled{}, &trace.Error{File: path, Field: field, Problem: problem, Expected: expected}
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return fail("", "file is no such JSON ("+err.Error()+")", "an object with question, ground_truth, history, mistake_agent and mistake_step")
	}
	if len(w.History) == 0 {
		return fail("history", "empty", "a list of steps with content, and name or role")
	}
	l := Labelled{Name: filepath.Base(path), Mistaken: w.Agent, At: -1}
	l.Question, l.Gold = w.Question, strings.Trim(string(w.Gold), `"`)
	if n, err := strconv.Atoi(strings.Trim(string(w.Step), `" `)); err == nil && n >= 0 && n < len(w.History) {
		l.At = n
	}
	for _, h := range w.History {
		agent := h.Name
		if agent == "" {
			agent = aside.ReplaceAllString(h.Role, "")
		}
		l.Steps = append(l.Steps, Step{agent, h.Content})
	}
	l.Final = l.Steps[len(l.Steps)-1].Output
	if !slices.Contains(l.agents(), w.Agent) {
		return fail("mistake_agent", strconv.Quote(w.Agent), "one of the history's: "+strings.Join(l.agents(), ", "))
	}
	return l, nil
}

// readFailureTable reads a .csv, .jsonl or .parquet table.
func readFailureTable(path string) (all []Labelled, err error) {
	rows, err := readTexts(path)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		for _, name := range []string{"run", "question", "answer", "module", "output", "mistaken"} {
			if _, ok := r.fields[name]; !ok {
				return nil, &trace.Error{File: path, Line: r.line, Field: name, Problem: "missing", Expected: "a column of that name; there are " + r.names()}
			}
		}
		if len(all) == 0 || all[len(all)-1].Name != r.fields["run"] {
			all = append(all, Labelled{Name: r.fields["run"], At: -1, Episode: Episode{Question: r.fields["question"], Gold: r.fields["answer"]}})
		}
		l := &all[len(all)-1]
		switch r.fields["mistaken"] {
		case "1", "true", "True":
			if l.At >= 0 {
				return nil, &trace.Error{File: path, Line: r.line, Field: "mistaken", Problem: "run " + l.Name + " has two steps that failed", Expected: "one"}
			}
			l.At, l.Mistaken = len(l.Steps), r.fields["module"]
		case "0", "false", "False", "":
		default:
			return nil, &trace.Error{File: path, Line: r.line, Field: "mistaken", Problem: strconv.Quote(r.fields["mistaken"]), Expected: "0 or 1"}
		}
		l.Steps = append(l.Steps, Step{r.fields["module"], r.fields["output"]})
		l.Final = r.fields["output"]
	}
	for i := range all {
		if all[i].At < 0 {
			return nil, &trace.Error{File: path, Field: "mistaken", Problem: "run " + all[i].Name + " has no step that failed", Expected: "one with 1"}
		}
	}
	if len(all) == 0 {
		return nil, &trace.Error{File: path, Problem: "file has no rows", Expected: "one a step"}
	}
	return all, nil
}

// agents are the modules of a failure, in order of their first step.
func (l *Labelled) agents() (names []string) {
	for _, s := range l.Steps {
		if !slices.Contains(names, s.Module) {
			names = append(names, s.Module)
		}
	}
	return names
}

// Accuracy is how well a judge does on labelled failures.
type Accuracy struct {
	Failures int // runs
	Verdicts int // one an agent and run
	Unread   int // of these without a verdict; they count as half right

	// P is the mean over runs of the share of verdicts that are right, with its
	// Student t interval of 95 % over runs: the accuracy of an oracle with noise.
	P      float64
	Lo, Hi float64

	Blamed float64 // share of the agents to blame that it blames
	Spared float64 // share of the others that it does not

	// Named is the share of runs in which the agent to blame is blamed and no
	// other is: what the literature calls agent-level accuracy. The best
	// published method has 53.5 % on Who&When.
	Named            float64
	NamedLo, NamedHi float64 // its Wilson interval of 95 %

	Dollars float64
}

// Measure asks a judge about each agent of each failure, at its last step.
// Calls run in parallel, as many as given.
func Measure(ctx context.Context, j *Judge, failures []Labelled, parallel int) (Accuracy, error) {
	if len(failures) == 0 {
		return Accuracy{}, errors.New("there are no failures to measure the diagnoser on")
	}
	verdicts := make([][]Judgement, len(failures))
	var group errgroup.Group
	group.SetLimit(max(1, parallel))
	for i := range failures {
		l := &failures[i]
		agents := l.agents()
		verdicts[i] = make([]Judgement, len(agents))
		for a, agent := range agents {
			group.Go(func() (err error) {
				if verdicts[i][a], err = j.Judge(ctx, l.described(), l.last(agent)); err != nil {
					return fmt.Errorf("%s, agent %s: %w", l.Name, agent, err)
				}
				return nil
			})
		}
	}
	if err := group.Wait(); err != nil {
		return Accuracy{}, err
	}
	return measure(failures, verdicts), nil
}

// last is the last step of an agent; the one that failed, of the one to blame.
func (l *Labelled) last(agent string) int {
	if agent == l.Mistaken && l.At >= 0 && l.Steps[l.At].Module == agent {
		return l.At
	}
	at := 0
	for i, s := range l.Steps {
		if s.Module == agent {
			at = i
		}
	}
	return at
}

// described is the episode, with its agents as the description where it has
// none.
func (l *Labelled) described() *Episode {
	e := l.Episode
	if e.Description == "" {
		e.Description = "Agents that speak in turn: " + strings.Join(l.agents(), ", ") + "."
	}
	return &e
}

func measure(failures []Labelled, verdicts [][]Judgement) Accuracy {
	out := Accuracy{Failures: len(failures)}
	shares := make([]float64, len(failures))
	var guilty, innocent, blamed, spared, named float64
	for i := range failures {
		right, only := 0.0, true
		for a, agent := range failures[i].agents() {
			v := verdicts[i][a]
			out.Verdicts++
			out.Unread += one(!v.Read)
			out.Dollars += v.Dollars
			blame := float64(v.Blame)
			if agent == failures[i].Mistaken {
				guilty++
				blamed += blame
				right += blame
				only = only && blame == 1
			} else {
				innocent++
				spared += 1 - blame
				right += 1 - blame
				only = only && blame == 0
			}
		}
		shares[i] = right / float64(len(verdicts[i]))
		named += float64(one(only))
	}
	mean, in := stats.Interval(shares, 0.95)
	out.P, out.Lo, out.Hi = mean, max(0, in.Lo), min(1, in.Hi)
	out.Blamed, out.Spared = blamed/guilty, spared/innocent
	n := float64(len(failures))
	wilson := stats.Wilson(named/n, n, 0.95)
	out.Named, out.NamedLo, out.NamedHi = named/n, wilson.Lo, wilson.Hi
	return out
}

// Measure measures the world's diagnoser on labelled failures, whose answers
// are kept beside those of the world.
func (l *Live) Measure(ctx context.Context, seed uint64, failures []Labelled) (Accuracy, error) {
	client, err := l.Client(seed)
	if err != nil {
		return Accuracy{}, err
	}
	judge, err := l.judge(client)
	if err != nil {
		return Accuracy{}, err
	}
	return Measure(ctx, judge, failures, l.parallel())
}
