package workload

import (
	"math"

	"switchyard/sim/dist"
	"switchyard/sim/rng"
)

// PrebleProgramming is samples of APPS problems as Preble's scripts take them.
// Published are the number of problems (100 for two GPUs), the synthetic system
// prompt of 2,400 tokens, the uuid behind each prompt, the cap of 512 on the
// output, and samples in the natural number of solutions. The problems'
// lengths are table 1's prompts less the system prompt; the deviation of the
// number of solutions is assumed.
type PrebleProgramming struct {
	Groups      int     `yaml:"groups" default:"100" min:"1" max:"10000000" per_replica:"true" doc:"problems"`
	System      int32   `yaml:"system_tokens" default:"2400" min:"0" max:"100000" unit:"token" doc:"system prompt common to all requests"`
	Problem     float64 `yaml:"problem_tokens" default:"1447" min:"1" max:"1000000" unit:"token" doc:"mean length of a problem with its inputs and outputs"`
	ProblemSD   float64 `yaml:"problem_tokens_sd" default:"1656" min:"0" max:"1000000" unit:"token" doc:"its standard deviation over problems"`
	UUID        int32   `yaml:"uuid_tokens" default:"24" min:"0" max:"1000000" unit:"token" doc:"length of the private uuid"`
	Output      float64 `yaml:"output_tokens" default:"190" min:"1" max:"1000000" unit:"token" doc:"mean length of the output, before the cap"`
	OutputSD    float64 `yaml:"output_tokens_sd" default:"343" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	OutputMost  int32   `yaml:"output_tokens_max" default:"512" min:"1" max:"1000000" unit:"token" doc:"cap on the output"`
	Limit       int32   `yaml:"limit_tokens" default:"32768" min:"1" max:"10000000" unit:"token" doc:"longest prompt; problems are cut to fit"`
	Solutions   float64 `yaml:"solutions" default:"23" min:"0.001" max:"1000000" doc:"mean number of solutions of a problem, before scaling to the requests"`
	SolutionsSD float64 `yaml:"solutions_sd" default:"20" min:"0" max:"1000000" doc:"its standard deviation over problems"`
}

func (p *PrebleProgramming) Source(e *Env) (*Source, error) {
	popularity, groups, lens := e.Stream("popularity"), e.Stream("groups"), e.Stream("lengths")
	var ids numbers
	root, problem := ids.root(p.System), lengths(p.Problem, p.ProblemSD)
	natural := lengths(p.Solutions, p.SolutionsSD)
	paths, weights := make([][]Segment, p.Groups), make([]float64, p.Groups)
	for i := range paths {
		n := min(dist.Tokens(problem, groups, 1), max(1, p.Limit-p.System-p.UUID))
		paths[i], weights[i] = ids.under(root, n), natural.Draw(popularity)
	}
	output := dist.Clamped{Of: lengths(p.Output, p.OutputSD), Min: 1, Max: float64(p.OutputMost)}
	g := grouped{
		paths:   paths,
		pick:    byDeck(popularity, apportion(e.Requests, weights, 0)),
		private: func(int) int32 { return p.UUID },
		output:  draws(output, lens, 1),
	}
	return g.source(), nil
}

// PrebleEmbodied is ALFWorld's conversations as Preble's scripts replay them.
// Published are the number of conversations (200 for two GPUs), which an
// identifier in front of the prompt keeps from sharing anything, their
// stretching by one factor to the number of requests, the 14 dummy tokens by
// which a conversation grows once its recorded steps are used up, and the
// output of 26. Prompts hold the recorded actions, not what was generated, so
// that an output is not read again. Lengths are those of workload
// embodied-agent.
type PrebleEmbodied struct {
	Groups        int     `yaml:"groups" default:"200" min:"1" max:"10000000" per_replica:"true" doc:"conversations"`
	Key           float64 `yaml:"key_tokens" default:"1737" min:"1" max:"1000000" unit:"token" doc:"mean length of the first prompt"`
	KeySD         float64 `yaml:"key_tokens_sd" default:"300" min:"0" max:"1000000" unit:"token" doc:"its standard deviation over conversations"`
	Observation   float64 `yaml:"observation_tokens" default:"84" min:"1" max:"1000000" unit:"token" doc:"mean growth a recorded step"`
	ObservationSD float64 `yaml:"observation_tokens_sd" default:"36" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Steps         int     `yaml:"steps" default:"14" min:"1" max:"100000" doc:"recorded steps of a conversation"`
	Dummy         int32   `yaml:"dummy_tokens" default:"14" min:"1" max:"100000" unit:"token" doc:"growth a step behind the recorded ones"`
	Output        int32   `yaml:"output_tokens" default:"26" min:"1" max:"1000000" unit:"token" doc:"length of every output"`
	Pace
}

func (p *PrebleEmbodied) Source(e *Env) (*Source, error) {
	groups := e.Stream("groups")
	growth := &recordedGrowth{of: lengths(p.Observation, p.ObservationSD), recorded: p.Steps, dummy: float64(p.Dummy)}
	c := chains{
		observation: growth,
		output:      dist.Constant{Value: float64(p.Output)},
		lengths:     e.Stream("lengths"),
		pace:        p.Pace.over(e),
	}
	key := lengths(p.Key, p.KeySD)
	steps := apportion(e.Requests, make([]float64, p.Groups), 0)
	at := 0
	c.next = func() attempt {
		growth.steps = 0
		n := max(1, steps[at%len(steps)])
		at++
		return attempt{c.ids.under(nil, dist.Tokens(key, groups, 1)), n}
	}
	return c.source(), nil
}

// recordedGrowth draws the recorded steps' growth, then the dummy's.
type recordedGrowth struct {
	of              dist.Drawer
	recorded, steps int
	dummy           float64
}

func (g *recordedGrowth) Draw(s *rng.Stream) float64 {
	g.steps++
	if g.steps < g.recorded {
		return g.of.Draw(s)
	}
	return g.dummy
}

// PreblePercentShared is the micro-benchmark: prompts of one length whose
// first part all have in common and whose rest the requests of a group have
// in common, groups in turn. Outputs are assumed.
type PreblePercentShared struct {
	Groups  int     `yaml:"groups" default:"60" min:"1" max:"10000000" per_replica:"true" doc:"groups"`
	Prompt  int32   `yaml:"prompt_tokens" default:"8192" min:"1" max:"10000000" unit:"token" doc:"length of every prompt"`
	Percent float64 `yaml:"percent" default:"40" min:"0" max:"100" unit:"%" doc:"what all prompts have in common"`
	Output  int32   `yaml:"output_tokens" default:"16" min:"1" max:"1000000" unit:"token" doc:"length of every output"`
}

func (p *PreblePercentShared) Source(e *Env) (*Source, error) {
	var ids numbers
	common := int32(math.RoundToEven(float64(p.Prompt) * (p.Percent / 100)))
	root := ids.root(common)
	paths := make([][]Segment, p.Groups)
	for i := range paths {
		paths[i] = ids.under(root, p.Prompt-common)
	}
	g := grouped{
		paths:   paths,
		pick:    inTurn(p.Groups, 1),
		private: func(int) int32 { return 0 },
		output:  func(int) int32 { return p.Output },
	}
	return g.source(), nil
}
