package compound

import (
	"fmt"
	"math"

	"switchyard/sim/param"
)

var toyKind = Kind{
	Name:    "toy",
	Summary: "pools of random models: a general level each and specialties; difficulty and luck as latents",
	Source:  "this house's; the defaults show the effects that LLMSelector reports (Chen et al., 2025)",
	New:     func() WorldParams { return new(Toy) },
}

// Toy is a world of random models, or of models with given abilities. The
// ability of a model at a skill is
//
//	U + N(0, specialty^2) [- judge_penalty at judging] [+ N(0, prompt_spread^2) with another prompt]
//
// within [0.02, 0.98], with U uniform between general_low and general_high, one
// a model.
type Toy struct {
	Models       int       `yaml:"models" default:"5" min:"1" max:"1000" unit:"models" doc:"models of a pool, called A, B, C, ..."`
	Prompts      int       `yaml:"prompts" default:"1" min:"1" max:"1000" unit:"prompts" doc:"prompts that each model may get; each pair is a candidate"`
	Pools        int       `yaml:"pools" default:"10" min:"1" max:"100000" unit:"pools" doc:"pools of models"`
	GeneralLow   float64   `yaml:"general_low" default:"0.4" min:"0" max:"1" unit:"share" doc:"least general level of a model"`
	GeneralHigh  float64   `yaml:"general_high" default:"0.65" min:"0" max:"1" unit:"share" doc:"highest general level of a model"`
	Specialty    float64   `yaml:"specialty" default:"0.15" min:"0" max:"1" unit:"share" doc:"standard deviation of a model's ability at a skill around its level"`
	PromptSpread float64   `yaml:"prompt_spread" default:"0.05" min:"0" max:"1" unit:"share" doc:"standard deviation of what a prompt adds to a model's ability at a skill; the first adds nothing"`
	JudgePenalty float64   `yaml:"judge_penalty" default:"0.2" min:"0" max:"1" unit:"share" doc:"what judging is harder than other skills"`
	Abilities    []float64 `yaml:"abilities" min:"0" max:"1" unit:"share" doc:"abilities by skill in order of first need, then by model, then by prompt; by default they are drawn"`

	Difficulty    float64 `yaml:"difficulty" default:"0.85" min:"0" max:"1" doc:"rq: weight of the difficulty that all models share"`
	Luck          float64 `yaml:"luck" default:"0.52" min:"0" max:"1" doc:"rm: weight of a model's luck with a question whatever the skill; rq^2 + rm^2 <= 1"`
	Wrong         int     `yaml:"wrong" default:"2" min:"1" max:"1000" unit:"answers" doc:"wrong answers to a question; a model that errs always gives the same one"`
	SelfAgreement float64 `yaml:"self_agreement" default:"0.3" min:"0" max:"1" unit:"ratio" doc:"a critic's ability is multiplied by this where it reads its own model's answer"`
	FalseAlarm    float64 `yaml:"false_alarm" default:"0.1" min:"0" max:"1" unit:"share" doc:"right answers that a critic flags"`

	Train int `yaml:"train" default:"200" min:"1" max:"10000000" unit:"questions" doc:"questions that a system is chosen on"`
	Test  int `yaml:"test" default:"500" min:"1" max:"10000000" unit:"questions" doc:"questions that it is tested on"`
	Pricing
}

// Pricing is what models cost, each list with one number a model.
type Pricing struct {
	Prices       []float64 `yaml:"prices" min:"0" max:"1000000" unit:"dollars" doc:"a call, by model"`
	InputPrices  []float64 `yaml:"input_prices" min:"0" max:"1000000" unit:"dollars" doc:"a million prompt tokens, by model"`
	OutputPrices []float64 `yaml:"output_prices" min:"0" max:"1000000" unit:"dollars" doc:"a million output tokens, by model"`
}

// Of returns the prices of so many models, none where no price is given.
func (p *Pricing) Of(models int) ([]Price, error) {
	prices := make([]Price, models)
	given := false
	for _, list := range []struct {
		name   string
		values []float64
		set    func(*Price, float64)
	}{
		{"prices", p.Prices, func(to *Price, x float64) { to.Call = x }},
		{"input_prices", p.InputPrices, func(to *Price, x float64) { to.Input = x }},
		{"output_prices", p.OutputPrices, func(to *Price, x float64) { to.Output = x }},
	} {
		if len(list.values) == 0 {
			continue
		}
		if len(list.values) != models {
			return nil, &param.Error{Field: list.name, Value: param.Format(list.values),
				Expected: fmt.Sprintf("a number for each of the %d models", models)}
		}
		given = true
		for m, x := range list.values {
			list.set(&prices[m], x)
		}
	}
	if !given {
		return nil, nil
	}
	return prices, nil
}

// NewToy returns the parameters with their defaults.
func NewToy() *Toy {
	t := new(Toy)
	param.Defaults(t)
	return t
}

// Check says what bounds of single parameters cannot.
func (t *Toy) Check() error {
	if t.GeneralLow > t.GeneralHigh {
		return &param.Error{Field: "general_low", Value: param.Format(t.GeneralLow), Expected: "at most general_high"}
	}
	if weight := t.Difficulty*t.Difficulty + t.Luck*t.Luck; weight > 1+1e-9 {
		return &param.Error{Field: "luck", Value: param.Format(t.Luck),
			Expected: fmt.Sprintf("at most %.4f, so that the squares of difficulty and luck add to at most 1", math.Sqrt(1-t.Difficulty*t.Difficulty))}
	}
	return nil
}

// Many implements WorldParams.
func (t *Toy) Many() int { return t.Pools }

// Build implements WorldParams.
func (t *Toy) Build(g *Graph, env Env) (Split, error) {
	p, err := t.pool(g, env)
	if err != nil {
		return Split{}, err
	}
	prices, err := t.Pricing.Of(t.Models)
	if err != nil {
		return Split{}, err
	}
	train, err := newWorld(g, p.ask("train", t.Train), prices)
	if err != nil {
		return Split{}, err
	}
	test, err := newWorld(g, p.ask("test", t.Test), prices)
	return Split{Train: train, Test: test}, err
}
