package workload

import "switchyard/sim/dist"

// Programming is code generation after APPS: a system prompt with a
// demonstration, common to all requests, a problem, and several samples of the
// very same prompt. Where the problem is longer than the system prompt it is
// the key portion; elsewhere the system prompt is.
//
// Published are the output's length and the prompt's (system prompt and
// problem together). Fitted are the system prompt's share of it, the number of
// samples and the share of problems with one sample.
type Programming struct {
	System    int32   `yaml:"system_tokens" default:"2500" min:"0" max:"100000" unit:"token" doc:"system prompt common to all requests"`
	Problem   float64 `yaml:"problem_tokens" default:"1371" min:"1" max:"1000000" unit:"token" doc:"mean length of a problem"`
	ProblemSD float64 `yaml:"problem_tokens_sd" default:"1656" min:"0" max:"1000000" unit:"token" doc:"its standard deviation over problems"`
	Output    float64 `yaml:"output_tokens" default:"190" min:"1" max:"1000000" unit:"token" doc:"mean length of the output"`
	OutputSD  float64 `yaml:"output_tokens_sd" default:"343" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Samples   float64 `yaml:"samples" default:"16" min:"2" max:"1000000" doc:"mean number of samples of a problem that has several"`
	SamplesSD float64 `yaml:"samples_sd" default:"5" min:"0" max:"1000000" doc:"its standard deviation over problems"`
	Alone     float64 `yaml:"alone" default:"0.055" min:"0" max:"1" unit:"share" doc:"requests that are the only sample of their problem"`
	Problems  int     `yaml:"groups" default:"0" min:"0" max:"10000000" per_replica:"true" doc:"problems with several samples; 0 for requests over samples"`
}

func (p *Programming) Source(e *Env) (*Source, error) {
	popularity, groups, lens := e.Stream("popularity"), e.Stream("groups"), e.Stream("lengths")
	sizes := crowd{p.Samples, p.SamplesSD, p.Alone, p.Problems}.sizes(popularity, e.Requests)
	var ids numbers
	root := ids.root(p.System)
	problem := lengths(p.Problem, p.ProblemSD)
	paths := make([][]Segment, len(sizes))
	for i := range paths {
		paths[i] = ids.under(root, dist.Tokens(problem, groups, 1))
	}
	g := grouped{
		paths:   paths,
		pick:    byDeck(popularity, sizes),
		private: func(int) int32 { return 0 },
		output:  draws(lengths(p.Output, p.OutputSD), lens, 1),
	}
	return g.source(), nil
}
