package compound

import "fmt"

var directSystem = System{
	Name:    "direct",
	Summary: "one module answers: which model, or which for each question",
	Source:  "what single models and routers between them are compared by",
	New:     func() SystemParams { return new(Direct) },
}

var locateSolveSystem = System{
	Name:    "locate-solve",
	Summary: "locate what the question is about, then solve that alone",
	Source:  "LLMSelector (Chen et al., 2025, arXiv:2502.14815), its table tasks; the released locator makes two calls: calls: [2, 1]",
	New:     func() SystemParams { return new(LocateSolve) },
}

var selfRefineSystem = System{
	Name:    "self-refine",
	Summary: "generate, criticise, refine; the last two any number of rounds",
	Source:  "Self-Refine (Madaan et al., 2023) as in LLMSelector",
	New:     func() SystemParams { return new(SelfRefine) },
}

var debateSystem = System{
	Name:    "debate",
	Summary: "generators answer, debaters read all answers and settle for one, a vote decides",
	Source:  "multi-agent debate (Du et al., 2023) as in LLMSelector: three generators, three debaters, one round",
	New:     func() SystemParams { return new(Debate) },
}

var majorityVoteSystem = System{
	Name:    "majority-vote",
	Summary: "voters answer, the most frequent answer is taken",
	Source:  "LLMSelector's released code, class of majority votes; of equals the first seen",
	New:     func() SystemParams { return new(MajorityVote) },
}

var bestOfSystem = System{
	Name:    "best-of",
	Summary: "generators answer, a judge chooses one of the answers",
	Source:  "LLMSelector's released code; a judge that fails takes the first",
	New:     func() SystemParams { return new(BestOf) },
}

var graphSystem = System{
	Name:    "graph",
	Summary: "any modules without a circle: each says its rule and what it reads",
	Source:  "the rules of toy worlds are this house's",
	New:     func() SystemParams { return new(Custom) },
}

// Direct is a single module.
type Direct struct {
	PerModule
}

// Graph implements SystemParams.
func (s *Direct) Graph() (*Graph, error) {
	return s.graph([]Module{{Name: "answer", Rule: Answer, Reads: []string{Query}}}, "answer")
}

// LocateSolve is a chain of two modules; the solver never sees what the locator
// read.
type LocateSolve struct {
	PerModule
}

// SelfRefine is a generator with rounds of a critic and a refiner.
type SelfRefine struct {
	Rounds int `yaml:"rounds" default:"1" min:"1" max:"100" unit:"rounds" doc:"how often the answer is criticised and refined"`
	PerModule
}

// Debate is a debate that ends in a vote. Debater i begins with the answer of
// generator i, around where there are fewer generators, and keeps its own from
// round to round.
type Debate struct {
	Generators int    `yaml:"generators" default:"3" min:"1" max:"100" unit:"modules" doc:"modules that answer first"`
	Debaters   int    `yaml:"debaters" default:"3" min:"1" max:"100" unit:"modules" doc:"modules that read all answers, each its own first"`
	Rounds     int    `yaml:"rounds" default:"1" min:"0" max:"100" unit:"rounds" doc:"rounds of debate, with other modules each; without any the generators vote"`
	Knowledge  string `yaml:"knowledge" default:"initial" enum:"initial|own" doc:"initial: debaters choose among the answers that they read; own: one that succeeds is right even where all of those are wrong"`
	PerModule
}

// MajorityVote is a vote of independent answers.
type MajorityVote struct {
	Voters int `yaml:"voters" default:"3" min:"1" max:"100" unit:"modules" doc:"modules that answer"`
	PerModule
}

// BestOf is a judge's choice of independent answers.
type BestOf struct {
	Generators int `yaml:"generators" default:"3" min:"1" max:"100" unit:"modules" doc:"modules that answer"`
	PerModule
}

// Custom is a graph of its user's. The modules stand in Modules, not in tags.
type Custom struct {
	Output  string      `yaml:"output" doc:"the module whose answer is the system's; by default the only one that no other reads"`
	Modules []NamedStep `yaml:"-"`
}

// NamedStep is a module of a Custom graph.
type NamedStep struct {
	Name string
	Step Step
}

// Step is a module as an experiment file describes it.
type Step struct {
	Rule         string   `yaml:"rule" default:"answer" enum:"answer|critic|refine|judge|vote|all|any" doc:"answer: right if all answers that it reads are and it succeeds; critic, refine: as in self-refine; judge: chooses one of the answers; vote, all, any: no LLM"`
	Reads        []string `yaml:"reads" required:"true" doc:"query and the modules that it reads, in order; a judge's own answer first"`
	Skill        string   `yaml:"skill" doc:"modules with the same skill share a model's ability and luck; by default the rule's name for critic, refine and judge, else the module's"`
	Models       []string `yaml:"models" doc:"the models that it may have; by default all of the world"`
	Own          bool     `yaml:"own_knowledge" default:"false" doc:"a judge that succeeds is right even where all that it reads is wrong"`
	Calls        float64  `yaml:"calls" default:"1" min:"0.001" max:"1000000" unit:"calls" doc:"calls a question"`
	PromptTokens float64  `yaml:"prompt_tokens" default:"1000" min:"0" max:"1000000000" unit:"tokens" doc:"prompt tokens a call"`
	OutputTokens float64  `yaml:"output_tokens" default:"200" min:"0" max:"1000000000" unit:"tokens" doc:"output tokens a call"`
}

// Graph implements SystemParams.
func (s *LocateSolve) Graph() (*Graph, error) {
	return s.graph([]Module{
		{Name: "locate", Rule: Answer, Reads: []string{Query}},
		{Name: "solve", Rule: Answer, Reads: []string{"locate"}},
	}, "solve")
}

// Graph implements SystemParams.
func (s *SelfRefine) Graph() (*Graph, error) {
	modules := []Module{{Name: "generate", Rule: Answer, Reads: []string{Query}}}
	answer := "generate"
	for r := range s.Rounds {
		critic, refine := "critic", "refine"
		if s.Rounds > 1 {
			critic, refine = fmt.Sprintf("critic%d", r+1), fmt.Sprintf("refine%d", r+1)
		}
		modules = append(modules,
			Module{Name: critic, Rule: Critic, Reads: []string{Query, answer}},
			Module{Name: refine, Rule: Refine, Reads: []string{Query, answer, critic}})
		answer = refine
	}
	return s.graph(modules, answer)
}

// Graph implements SystemParams.
func (s *Debate) Graph() (*Graph, error) {
	modules, before := answering("generate", s.Generators)
	for r := range s.Rounds {
		names := numbered("debate", s.Debaters)
		for i := range names {
			if s.Rounds > 1 {
				names[i] = fmt.Sprintf("debate%d.%d", r+1, i+1)
			}
			modules = append(modules, Module{Name: names[i], Rule: Judge, Own: s.Knowledge == "own", Reads: ownFirst(before, i%len(before))})
		}
		before = names
	}
	modules = append(modules, Module{Name: "vote", Rule: Vote, Reads: before})
	return s.graph(modules, "vote")
}

// ownFirst is the question, then answer own, then the others in order.
func ownFirst(answers []string, own int) []string {
	reads := []string{Query, answers[own]}
	reads = append(reads, answers[:own]...)
	return append(reads, answers[own+1:]...)
}

// answering returns modules that answer the question, with one skill.
func answering(name string, n int) (modules []Module, names []string) {
	names = numbered(name, n)
	for _, each := range names {
		modules = append(modules, Module{Name: each, Rule: Answer, Skill: name, Reads: []string{Query}})
	}
	return modules, names
}

// Graph implements SystemParams.
func (s *MajorityVote) Graph() (*Graph, error) {
	modules, names := answering("generate", s.Voters)
	return s.graph(append(modules, Module{Name: "vote", Rule: Vote, Reads: names}), "vote")
}

// Graph implements SystemParams.
func (s *BestOf) Graph() (*Graph, error) {
	modules, names := answering("generate", s.Generators)
	judge := Module{Name: "judge", Rule: Judge, Reads: append([]string{Query}, names...)}
	return s.graph(append(modules, judge), "judge")
}

// Graph implements SystemParams.
func (s *Custom) Graph() (*Graph, error) {
	var modules []Module
	for _, n := range s.Modules {
		modules = append(modules, Module{
			Name: n.Name, Rule: Rule(n.Step.Rule), Reads: n.Step.Reads, Skill: n.Step.Skill, Own: n.Step.Own, Models: n.Step.Models,
			Usage: Usage{Calls: n.Step.Calls, PromptTokens: n.Step.PromptTokens, OutputTokens: n.Step.OutputTokens},
		})
	}
	return NewGraph(modules, s.Output)
}
