// Package toyserver lets the models of a toy world answer over the OpenAI
// protocol, so that all that is done with live models can be tried, and tested,
// against answers that are known.
//
// Its questions are "train-0", "train-1", ..., then "test-0", ...; the right
// answer to one is a number. A reply reads
//
//	[train-17 by B] final answer: 1017
//
// It carries all that a later module, or a diagnoser, may need to know: a module
// of rule answer is right iff all that it reads is right and its model succeeds
// there in the toy world, one of rule judge iff some of it is and its model
// succeeds, else it repeats the first. A diagnoser is told the truth of the toy
// world: yes iff the answer is wrong and the module failed itself. So a system
// whose modules have these two rules scores over HTTP exactly what it scores in
// memory.
//
// Prompts have the lines "module: NAME", "question: ID" where the module reads
// the query, and what it reads; Prompts makes them. The handler keeps nothing
// between calls, and goroutines may share it.
//
//	server, err := toyserver.New(split)
//	http.ListenAndServe("localhost:8000", server)
package toyserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"switchyard/sim/compound"
)

// Server is a toy world behind HTTP.
type Server struct {
	graph  *compound.Graph
	models []string
	sets   map[string]*set // by name: train, test
}

// set is what the models can do on a set of questions.
type set struct {
	questions int
	base      int               // of its right answers
	succeeds  map[string][]bool // by module and model: by question
}

// New serves the models of a pool.
func New(split compound.Split) (*Server, error) {
	w := split.Train
	s := &Server{graph: w.Graph(), sets: map[string]*set{}}
	for k := range w.Candidates(0) {
		s.models = append(s.models, w.Label(0, int32(k)))
	}
	for name, world := range map[string]*compound.World{"train": split.Train, "test": split.Test} {
		of := &set{questions: world.Questions(), base: len(name) * 1000, succeeds: map[string][]bool{}}
		for d, i := range s.graph.Decisions() {
			m := s.graph.Module(i)
			if m.Rule != compound.Answer && m.Rule != compound.Judge {
				return nil, fmt.Errorf("module %s has rule %s: a toy server knows %s and %s", m.Name, m.Rule, compound.Answer, compound.Judge)
			}
			for k, model := range s.models {
				succeeds, err := successes(world, d, int32(k))
				if err != nil {
					return nil, err
				}
				of.succeeds[m.Name+" "+model] = succeeds
			}
		}
		s.sets[name] = of
	}
	return s, nil
}

// successes returns where a candidate succeeds at a decision: wherever it does
// not fail, whichever model has all other modules. A judge that finds no right
// answer to choose does not fail, so all models have to be tried.
func successes(w *compound.World, decision int, candidate int32) ([]bool, error) {
	succeeds := make([]bool, w.Questions())
	for q := range succeeds {
		succeeds[q] = true
	}
	failed := make([]uint64, (w.Questions()+63)/64)
	alloc := make([]int32, w.Modules())
	for other := range w.Candidates(0) {
		for d := range alloc {
			alloc[d] = int32(other)
		}
		alloc[decision] = candidate
		if err := w.Failures(alloc, decision, failed); err != nil {
			return nil, err
		}
		for q := range succeeds {
			succeeds[q] = succeeds[q] && failed[q/64]>>(q%64)&1 == 0
		}
	}
	return succeeds, nil
}

// Models are the names of the models.
func (s *Server) Models() []string { return s.models }

// Questions are all questions and their answers as CSV, train before test.
func (s *Server) Questions() string {
	var b strings.Builder
	b.WriteString("question,answer\n")
	for _, name := range []string{"train", "test"} {
		for q := range s.sets[name].questions {
			fmt.Fprintf(&b, "%s-%d,%d\n", name, q, s.sets[name].base+q)
		}
	}
	return b.String()
}

// Prompts are those of the modules, by name.
func (s *Server) Prompts() map[string]string {
	prompts := map[string]string{}
	for _, i := range s.graph.Decisions() {
		m := s.graph.Module(i)
		text := "module: " + m.Name + "\n"
		for _, read := range m.Reads {
			if read == compound.Query {
				text += "question: {{.question}}\n"
			} else {
				text += "{{." + read + "}}\n"
			}
		}
		prompts[m.Name] = text
	}
	return prompts
}

// ServeHTTP answers a call of chat/completions, in one piece or as a stream.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call struct {
		Model    string `json:"model"`
		Messages []struct {
			Content string `json:"content"`
		} `json:"messages"`
		Stream bool `json:"stream"`
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil || len(call.Messages) == 0 || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.Error(w, "a toy server answers POST .../chat/completions alone", http.StatusNotFound)
		return
	}
	prompt := call.Messages[len(call.Messages)-1].Content
	text, err := s.Answer(call.Model, prompt)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	quoted, _ := json.Marshal(text) // a text always can be
	usage := fmt.Sprintf(`{"prompt_tokens": %d, "completion_tokens": %d}`, len(strings.Fields(prompt)), len(strings.Fields(text)))
	if !call.Stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices": [{"message": {"content": %s}, "finish_reason": "stop"}], "usage": %s}`, quoted, usage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"choices\": [{\"delta\": {\"content\": %s}}]}\n\n", quoted)
	fmt.Fprintf(w, "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}], \"usage\": %s}\n\ndata: [DONE]\n\n", usage)
}

var (
	moduleLine = regexp.MustCompile(`(?m)^module: (\S+)$`)
	queryLine  = regexp.MustCompile(`(?m)^question: (train|test)-(\d+)$`)
	said       = regexp.MustCompile(`\[(train|test)-(\d+) by (\S+)\] final answer: (-?\d+)`)
	judged     = regexp.MustCompile(`(?m)^Judge module (\d+) \((\S+)\)\.`)
)

// reading is an output that a prompt shows.
type reading struct {
	set      *set
	name     string
	question int
	model    string
	answer   int
}

func (r *reading) right() bool { return r.answer == r.set.base+r.question }

// Answer is what a model replies to a prompt.
func (s *Server) Answer(model, prompt string) (string, error) {
	var reads []reading
	for _, m := range said.FindAllStringSubmatch(prompt, -1) {
		r, err := s.reading(m[1], m[2])
		if err != nil {
			return "", err
		}
		r.model = m[3]
		r.answer, _ = strconv.Atoi(m[4]) // digits
		reads = append(reads, r)
	}
	if m := judged.FindStringSubmatch(prompt); m != nil {
		return s.verdict(m[1], m[2], reads)
	}
	m := moduleLine.FindStringSubmatch(prompt)
	if m == nil {
		return "", fmt.Errorf("the prompt has no line module: NAME")
	}
	var at reading
	if q := queryLine.FindStringSubmatch(prompt); q != nil {
		var err error
		if at, err = s.reading(q[1], q[2]); err != nil {
			return "", err
		}
	} else if len(reads) > 0 {
		at = reads[0]
	} else {
		return "", fmt.Errorf("the prompt has no line question: ID, and no output of another module")
	}
	succeeds, known := at.set.succeeds[m[1]+" "+model]
	if !known {
		return "", fmt.Errorf("there is no module %s or no model %s", m[1], model)
	}
	answer := at.set.base + at.question
	if !s.right(m[1], succeeds[at.question], reads) {
		answer = -1
		if s.rule(m[1]) == compound.Judge {
			answer = reads[0].answer
		}
	}
	return fmt.Sprintf("[%s-%d by %s] final answer: %d", at.name, at.question, model, answer), nil
}

func (s *Server) reading(name, number string) (reading, error) {
	of := s.sets[name]
	q, err := strconv.Atoi(number)
	if err != nil || q >= of.questions {
		return reading{}, fmt.Errorf("there is no question %s-%s", name, number)
	}
	return reading{set: of, name: name, question: q}, nil
}

func (s *Server) rule(module string) compound.Rule {
	for i := range s.graph.Len() {
		if m := s.graph.Module(i); m.Name == module {
			return m.Rule
		}
	}
	return ""
}

// right is the rule of package compound.
func (s *Server) right(module string, succeeds bool, reads []reading) bool {
	some, all := false, true
	for i := range reads {
		some, all = some || reads[i].right(), all && reads[i].right()
	}
	if s.rule(module) == compound.Judge {
		return some && succeeds
	}
	return all && succeeds
}

// verdict is the truth about a module: the outputs are those of all modules, in
// the order of the graph, and then the system's.
func (s *Server) verdict(number, module string, outputs []reading) (string, error) {
	at, err := strconv.Atoi(number)
	if err != nil || at < 1 || len(outputs) != s.graph.Len()+1 {
		return "", fmt.Errorf("there is no module %s, or not each has its output", number)
	}
	final, own := &outputs[len(outputs)-1], &outputs[at-1]
	if final.right() {
		return "[[verdict: correct]]", nil
	}
	failed := !own.set.succeeds[module+" "+own.model][own.question]
	if s.rule(module) == compound.Judge {
		some := false
		for _, r := range s.graph.Reads(at - 1) {
			some = some || outputs[r].right()
		}
		failed = failed && some
	}
	if failed {
		return "Its own part is wrong. [[verdict: yes]]", nil
	}
	return "It did its part. [[verdict: no]]", nil
}
