package endpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"switchyard/sim/compound"
	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/stages/experiment"
)

// Params are the parameters of a live world in an experiment file.
type Params struct {
	Endpoints experiment.Section `yaml:"endpoints"`
	Models    experiment.Section `yaml:"models"`
	Prompts   experiment.Section `yaml:"prompts"`
	Diagnoser experiment.Section `yaml:"diagnoser"`

	Questions string `yaml:"questions" required:"true" doc:"file of questions: .csv, .jsonl or .parquet"`
	Columns
	Train int    `yaml:"train" default:"0" min:"0" max:"10000000" unit:"questions" doc:"questions to choose on; 0 = half of them"`
	Test  int    `yaml:"test" default:"0" min:"0" max:"10000000" unit:"questions" doc:"questions that judge the choice; 0 = all others"`
	Split string `yaml:"split" default:"shuffled" enum:"shuffled|file" doc:"shuffled: drawn anew in each replication; file: the first of the file are those to choose on"`

	Metric  string `yaml:"metric" default:"em_direct" enum:"em|em_direct|em_direct_contain|contains|numeric_match|concept|concept_share|mc|match_one|extract_match_one|fuzzy_match" doc:"how an answer is scored against the right one"`
	Extract string `yaml:"extract" default:"parentheses" enum:"parentheses|final|answer-is|number|letter|whole" doc:"where a vote, and the metrics that say so, find the answer in a text; the whole text where it is not there"`
	Passes  string `yaml:"vote_passes" default:"metric" enum:"metric|answer|text" doc:"what a vote passes on: the answer that won, the whole text of its first voter, or which of them the metric reads"`

	Answers string `yaml:"answers" required:"true" doc:"file in which every answer is kept, one a line; what it holds is not asked again"`
	Offline bool   `yaml:"offline" default:"false" doc:"answer from that file alone, and say what is missing"`
	Limits
}

// Live is a live world as an experiment file describes it: servers, models,
// prompts and questions. Goroutines may share it. It opens its file of answers,
// and reads keys, when the first of its worlds is made.
type Live struct {
	params    Params
	servers   []Server
	models    []Model
	prompts   map[string][]PromptText // by module, skill or rule
	order     []string                // of the names in prompts
	diagnoser *DiagnoserParams
	questions []Question
	path      string // of the answers
	extract   Extractor
	metric    Metric
	passText  bool
	ending    string // name of the extractor for which plain prompts ask
	key       string

	once   sync.Once
	client *Client
	err    error
}

// Open decodes the sections of p, which stands in s, and reads the questions.
func Open(s experiment.Section, p *Params) (*Live, error) {
	l := &Live{params: *p, prompts: map[string][]PromptText{}, extract: findExtractor(p.Extract), metric: findMetric(p.Metric)}
	pass := p.Passes
	if pass == "metric" {
		pass = l.metric.Passes
	}
	l.passText = pass == "text"
	l.ending = ending(p)
	errs := []error{l.openServers(s), l.openModels(s), l.openPrompts(), l.openDiagnoser(), l.openQuestions(s)}
	var err error
	l.path, err = s.Path("answers")
	if err := experiment.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	l.key = l.identity()
	return l, nil
}

// ending is how plain prompts ask for the answer.
func ending(p *Params) string {
	switch p.Metric {
	case "numeric_match":
		return "final"
	case "em":
		return "answer-is"
	}
	return p.Extract
}

// named decodes the mappings under a section, one a name.
func named[T any](under experiment.Section, expected string, each func(name string, below experiment.Section) (T, error)) (all []T, err error) {
	var errs []error
	for _, name := range under.Keys() {
		below, ok := under.Section(name)
		if !ok {
			errs = append(errs, under.Errorf(name, expected, nil))
			continue
		}
		one, err := each(name, below)
		errs = append(errs, err)
		all = append(all, one)
	}
	return all, experiment.Join(errs...)
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

func (l *Live) openServers(s experiment.Section) (err error) {
	l.servers, err = named(l.params.Endpoints, "a mapping with base_url", func(name string, below experiment.Section) (Server, error) {
		server := Server{Name: name}
		if err := below.Decode(1, &server); err != nil {
			return server, veiled(err)
		}
		for _, match := range variable.FindAllStringSubmatch(server.BaseURL, -1) {
			value, set := os.LookupEnv(match[1])
			if !set {
				return server, below.Errorf("base_url", "the environment variable "+match[1]+" to be set", nil)
			}
			server.BaseURL = strings.ReplaceAll(server.BaseURL, match[0], value)
		}
		if expected := checkURL(server.BaseURL); expected != "" {
			return server, veiled(below.Errorf("base_url", expected, nil))
		}
		return server, nil
	})
	if err == nil && len(l.servers) == 0 {
		return s.Errorf("endpoints", "the servers by name: local: {base_url: http://localhost:8000/v1}", nil)
	}
	return err
}

// veiled takes out of errors the value of what may be a secret written where
// its variable's name belongs.
func veiled(err error) error {
	var all []error
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		all = many.Unwrap()
	} else {
		all = []error{err}
	}
	for _, each := range all {
		var wrong *experiment.Error
		if errors.As(each, &wrong) {
			wrong.Value = Hidden
			if option, _, set := strings.Cut(wrong.File, "="); set && wrong.Line == 0 {
				wrong.File = option + "=" + Hidden
			}
		}
	}
	return err
}

func (l *Live) openModels(s experiment.Section) (err error) {
	var known []string
	for _, server := range l.servers {
		known = append(known, server.Name)
	}
	l.models, err = named(l.params.Models, "a mapping; {} where the defaults do", func(name string, below experiment.Section) (Model, error) {
		m := Model{Name: name}
		if err := below.Decode(1, &m); err != nil {
			return m, err
		}
		if m.Model == "" {
			m.Model = name
		}
		if m.Endpoint == "" && len(known) == 1 {
			m.Endpoint = known[0]
		}
		if len(known) > 0 && !slices.Contains(known, m.Endpoint) {
			return m, below.Errorf("endpoint", "one of "+strings.Join(known, ", "), known)
		}
		return m, nil
	})
	if err == nil && len(l.models) == 0 {
		return s.Errorf("models", "the models by name: small: {input_price: 0.1, output_price: 0.4}", nil)
	}
	return err
}

// openPrompts reads prompts by module: a text, a prompt, or prompts by name.
func (l *Live) openPrompts() error {
	var errs []error
	for _, module := range l.params.Prompts.Keys() {
		texts, err := promptsIn(l.params.Prompts, module)
		errs = append(errs, err)
		for i := range texts {
			if _, err := compile(texts[i]); err != nil {
				errs = append(errs, l.params.Prompts.Errorf(module, err.Error(), nil))
			}
		}
		l.prompts[module] = texts
		l.order = append(l.order, module)
	}
	return experiment.Join(errs...)
}

func promptsIn(under experiment.Section, key string) ([]PromptText, error) {
	if text, ok := under.String(key); ok {
		return []PromptText{{Name: "given", User: text, Reply: "text"}}, nil
	}
	below, ok := under.Section(key)
	if !ok {
		return nil, under.Errorf(key, "a prompt, a mapping with user, or prompts by name", nil)
	}
	if slices.Contains(below.Keys(), "user") {
		p := PromptText{Name: "given"}
		return []PromptText{p}, decodePrompt(below, &p)
	}
	var all []PromptText
	var errs []error
	for _, name := range below.Keys() {
		p := PromptText{Name: name, Reply: "text"}
		if text, ok := below.String(name); ok {
			p.User = text
		} else if inner, ok := below.Section(name); ok {
			errs = append(errs, decodePrompt(inner, &p))
		} else {
			errs = append(errs, below.Errorf(name, "a prompt, or a mapping with user", nil))
		}
		all = append(all, p)
	}
	return all, experiment.Join(errs...)
}

func decodePrompt(s experiment.Section, p *PromptText) error {
	name := p.Name
	err := s.Decode(1, p)
	p.Name = name
	return err
}

func (l *Live) openDiagnoser() error {
	s := l.params.Diagnoser
	if len(s.Keys()) == 0 {
		return nil
	}
	l.diagnoser = new(DiagnoserParams)
	if err := s.Decode(1, l.diagnoser); err != nil {
		return err
	}
	var known []string
	for _, m := range l.models {
		known = append(known, m.Name)
	}
	if !slices.Contains(known, l.diagnoser.Model) {
		return s.Errorf("model", "one of "+strings.Join(known, ", "), known)
	}
	return nil
}

func (l *Live) openQuestions(s experiment.Section) error {
	path, err := s.Path("questions")
	if err != nil {
		return err
	}
	if l.questions, err = ReadQuestions(path, l.params.Columns); err != nil {
		return fmt.Errorf("questions: %w", err)
	}
	n := len(l.questions)
	if l.params.Train == 0 {
		l.params.Train = n / 2
	}
	if l.params.Train < 1 || l.params.Train >= n {
		return s.Errorf("train", fmt.Sprintf("a number from 1 to %d, so that some of the %d questions are left to test on", n-1, n), nil)
	}
	if l.params.Test == 0 {
		l.params.Test = n - l.params.Train
	}
	if l.params.Train+l.params.Test > n {
		return s.Errorf("test", fmt.Sprintf("a number up to %d: there are %d questions, %d of them to choose on", n-l.params.Train, n, l.params.Train), nil)
	}
	return nil
}

// identity hashes all that decides what the world answers and what that costs;
// not how its servers are reached, what may be spent, and where answers lie.
func (l *Live) identity() string {
	h := sha256.New()
	put := func(parts ...string) {
		for _, part := range parts {
			fmt.Fprintf(h, "%d\n%s\n", len(part), part)
		}
	}
	for _, s := range l.servers {
		put("endpoint", s.Name, s.BaseURL)
	}
	for i := range l.models {
		m := &l.models[i]
		put(append([]string{"model", m.Name, m.Model}, param.Canonical(m)...)...)
	}
	for _, module := range l.order {
		for i := range l.prompts[module] {
			p := &l.prompts[module][i]
			put("prompt", module, p.Name, p.User, p.System, p.Then, p.Reply)
		}
	}
	if l.diagnoser != nil {
		put(append([]string{"diagnoser"}, param.Canonical(l.diagnoser)...)...)
	}
	for _, q := range l.questions {
		put("question", q.Text, q.Gold)
		for _, name := range l.params.Context {
			put(q.Context[name])
		}
	}
	p := &l.params
	put("questions", fmt.Sprint(p.Train, p.Test), p.Split, p.Metric, p.Extract, fmt.Sprint(l.passText))
	return hex.EncodeToString(h.Sum(nil))
}

// Key tells live worlds apart: it is part of every cell's key.
func (l *Live) Key() string { return l.key }

// Drawn reports whether replications have other questions.
func (l *Live) Drawn() bool { return l.params.Split == "shuffled" }

// Diagnoses reports whether the world has a diagnoser.
func (l *Live) Diagnoses() bool { return l.diagnoser != nil }

// Priced reports whether anything costs something.
func (l *Live) Priced() bool {
	return slices.ContainsFunc(l.models, func(m Model) bool { return m.InputPrice > 0 || m.OutputPrice > 0 })
}

// Check says whether a system can be asked, and tries its prompts.
func (l *Live) Check(g *compound.Graph) error {
	s, err := l.newSystem(g)
	if err != nil {
		return err
	}
	for i, prompts := range s.prompts {
		for _, p := range prompts {
			if err := p.check(g, i, &l.questions[0]); err != nil {
				return fmt.Errorf("prompt %s: expected %w", p.Name, err)
			}
		}
	}
	return nil
}

// Labels are the names of each decision's candidates, and the places of their
// models.
func (l *Live) Labels(g *compound.Graph) (labels [][]string, models [][]int32) {
	s, err := l.newSystem(g)
	if err != nil {
		return nil, nil // Check has said so
	}
	for d, list := range s.candidates {
		var texts []string
		var of []int32
		for k, c := range list {
			texts = append(texts, s.label(d, k))
			of = append(of, int32(c.model))
		}
		labels, models = append(labels, texts), append(models, of)
	}
	return labels, models
}

// Client returns the client that all worlds share.
func (l *Live) Client(seed uint64) (*Client, error) {
	l.once.Do(func() {
		answers, err := OpenAnswers(l.path, l.params.Offline)
		if err != nil {
			l.err = err
			return
		}
		l.client, l.err = NewClient(Options{Servers: l.servers, Limits: l.params.Limits, Answers: answers, Offline: l.params.Offline, Seed: seed})
	})
	return l.client, l.err
}

// Worlds makes the worlds of a replication: the questions to choose on, and the
// others. They belong to one goroutine.
func (l *Live) Worlds(ctx context.Context, g *compound.Graph, seed uint64, replication int) (train, test *World, err error) {
	client, err := l.Client(seed)
	if err != nil {
		return nil, nil, err
	}
	s, err := l.newSystem(g)
	if err != nil {
		return nil, nil, err
	}
	order := make([]int, len(l.questions))
	for i := range order {
		order[i] = i
	}
	if l.Drawn() {
		stream := rng.New(seed, replication, "endpoint/questions")
		for i := len(order) - 1; i > 0; i-- {
			j := stream.IntN(i + 1)
			order[i], order[j] = order[j], order[i]
		}
	}
	world := func(of []int) *World {
		w := &World{system: s, ctx: ctx, client: client, parallel: l.parallel(), runs: map[string][]Trace{}}
		slices.Sort(of) // in the order of the file
		for _, q := range of {
			w.questions = append(w.questions, l.questions[q])
		}
		return w
	}
	n := l.params.Train
	return world(order[:n]), world(order[n : n+l.params.Test]), nil
}

// parallel is how many calls may be in flight together.
func (l *Live) parallel() (n int) {
	for _, server := range l.servers {
		n += server.Concurrency
	}
	return n
}

// Doubts are what a reader of the results should know.
func (w *World) Doubts() (doubts []string) {
	var counted, cut, calls int
	for _, traces := range w.runs {
		for i := range traces {
			counted, cut, calls = counted+traces[i].Counted, cut+traces[i].Cut, calls+traces[i].Calls
		}
	}
	if counted > 0 {
		doubts = append(doubts, fmt.Sprintf("the endpoint gave no number of tokens for %d of %d calls: costs count a token for each %d characters", counted, calls, charactersAToken))
	}
	if cut > 0 {
		doubts = append(doubts, fmt.Sprintf("%d of %d answers end at max_tokens", cut, calls))
	}
	return doubts
}
