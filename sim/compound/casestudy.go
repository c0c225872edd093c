package compound

import (
	"fmt"

	"switchyard/sim/param"
)

var caseStudyKind = Kind{
	Name:    "case-study",
	Summary: "five models and 100 fixed questions for locate-solve, from whose pair C+C no single change helps",
	Source:  "this house's, after the case study of LLMSelector (Chen et al., 2025, figure 4)",
	New:     func() WorldParams { return new(CaseStudy) },
}

var caseStudyRandomKind = Kind{
	Name:    "case-study-random",
	Summary: "five models of given abilities for locate-solve, each question a model's good or bad day",
	Source:  "this house's, after the case study of LLMSelector (Chen et al., 2025, figure 4)",
	New:     func() WorldParams { return new(CaseStudyRandom) },
}

// CaseStudy is a fixed world: model A locates best, B solves best, and the same
// model C at both is a local optimum. Train and test are the same questions.
type CaseStudy struct {
	Pricing
}

// CaseStudyRandom is a toy world with the abilities of such a case: locate,
// then solve: A .995 .30, B .30 .995, C .48 .48, D .25 .25, E .20 .65. Skills of
// one model share their luck (rq = 0, rm = 1).
type CaseStudyRandom struct {
	Train int `yaml:"train" default:"400" min:"1" max:"10000000" unit:"questions" doc:"questions that a system is chosen on"`
	Test  int `yaml:"test" default:"500" min:"1" max:"10000000" unit:"questions" doc:"questions that it is tested on"`
	Pools int `yaml:"pools" default:"1" min:"1" max:"100000" unit:"pools" doc:"how often the questions are drawn; the models are the same"`
	Pricing
}

// span is the questions from, from+1, ..., to.
type span struct{ from, to int }

// caseSkills are the questions that models A to E of the case study locate and
// solve.
var caseSkills = [2][5][]span{
	{{{0, 39}, {41, 99}}, {{20, 34}, {36, 49}}, {{0, 44}}, {{30, 54}}, {{60, 79}}},
	{{{10, 39}}, {{0, 34}, {36, 99}}, {{0, 44}}, {{30, 54}}, {{45, 99}, {0, 9}}},
}

// CasePrices are dollars a call of the models A to E in the lecture that the
// case study is taken from.
func CasePrices() []float64 { return []float64{5, 3, 1, .5, .2} }

// Many implements WorldParams.
func (c *CaseStudy) Many() int { return 1 }

// Build implements WorldParams.
func (c *CaseStudy) Build(g *Graph, _ Env) (Split, error) {
	skills, err := caseGraph(g)
	if err != nil {
		return Split{}, err
	}
	const questions = 100
	s := &sample{models: letters(5), prompts: numbered("p", 1), questions: questions, wrongs: 1, talents: map[string]*talent{}}
	every := make([]uint64, wordsOf(questions))
	for k := range every {
		every[k] = ^uint64(0)
	}
	for m := range s.models {
		s.candidates = append(s.candidates, Candidate{Model: int32(m)})
		s.wrong = append(s.wrong, every)
	}
	for i, skill := range skills {
		t := &talent{}
		for _, spans := range caseSkills[i] {
			succeeds := make([]uint64, wordsOf(questions))
			for _, sp := range spans {
				for q := sp.from; q <= sp.to; q++ {
					set(succeeds, q, true)
				}
			}
			t.succeeds = append(t.succeeds, succeeds)
		}
		s.talents[skill] = t
	}
	prices, err := c.prices()
	if err != nil {
		return Split{}, err
	}
	w, err := newWorld(g, s, prices)
	if err != nil {
		return Split{}, err
	}
	return Split{Train: w, Test: w.Fork()}, nil
}

// prices returns the given prices or the lecture's.
func (p Pricing) prices() ([]Price, error) {
	if len(p.Prices)+len(p.InputPrices)+len(p.OutputPrices) == 0 {
		p.Prices = CasePrices()
	}
	return p.Of(5)
}

// caseGraph returns the two skills of a system like locate-solve.
func caseGraph(g *Graph) ([]string, error) {
	skills := g.Skills()
	chain := g.Len() == 2 && len(skills) == 2 && len(g.reads[1]) == 1
	for _, m := range g.modules {
		chain = chain && m.Rule == Answer
	}
	if !chain {
		return nil, fmt.Errorf("the case study is made for system locate-solve, or two modules of rule %s, the second of which reads the first", Answer)
	}
	return skills, nil
}

// Many implements WorldParams.
func (c *CaseStudyRandom) Many() int { return c.Pools }

// Build implements WorldParams.
func (c *CaseStudyRandom) Build(g *Graph, env Env) (Split, error) {
	if _, err := caseGraph(g); err != nil {
		return Split{}, err
	}
	t := NewToy()
	t.Abilities = []float64{.995, .30, .48, .25, .20, .30, .995, .48, .25, .65}
	t.Difficulty, t.Luck = 0, 1
	t.Train, t.Test = c.Train, c.Test
	t.Pricing = c.Pricing
	if len(t.Prices)+len(t.InputPrices)+len(t.OutputPrices) == 0 {
		t.Prices = CasePrices()
	}
	if err := param.Validate(t); err != nil {
		return Split{}, err
	}
	return t.Build(g, env)
}
