package workload

import "switchyard/sim/dist"

// LectureAgent is the lecture's embodied agent: chains of steps over groups
// that have no prompt in common. Of its lengths only the means are known;
// outputs are those of Preble's table 1 and part of the growth.
type LectureAgent struct {
	Groups        int     `yaml:"groups" default:"20" min:"1" max:"10000000" per_replica:"true" doc:"groups of chains, equally popular"`
	Key           float64 `yaml:"key_tokens" default:"1737" min:"1" max:"1000000" unit:"token" doc:"mean length of the part that a group shares"`
	KeySD         float64 `yaml:"key_tokens_sd" default:"300" min:"0" max:"1000000" unit:"token" doc:"its standard deviation over groups"`
	Observation   float64 `yaml:"observation_tokens" default:"54" min:"1" max:"1000000" unit:"token" doc:"mean length of what a step adds behind the output"`
	ObservationSD float64 `yaml:"observation_tokens_sd" default:"27" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Output        float64 `yaml:"output_tokens" default:"16" min:"1" max:"1000000" unit:"token" doc:"mean length of the output"`
	OutputSD      float64 `yaml:"output_tokens_sd" default:"13" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Steps         int     `yaml:"steps" default:"14" min:"1" max:"100000" doc:"steps of a chain"`
	Pace
}

func (p *LectureAgent) Source(e *Env) (*Source, error) {
	popularity, groups := e.Stream("popularity"), e.Stream("groups")
	c := chains{
		observation: lengths(p.Observation, p.ObservationSD),
		output:      lengths(p.Output, p.OutputSD),
		lengths:     e.Stream("lengths"),
		pace:        p.Pace.over(e),
		answers:     true,
	}
	key := lengths(p.Key, p.KeySD)
	bases := make([][]Segment, p.Groups)
	for i := range bases {
		bases[i] = c.ids.under(nil, dist.Tokens(key, groups, 1))
	}
	c.next = func() attempt { return attempt{bases[popularity.IntN(len(bases))], p.Steps} }
	return c.source(), nil
}

// LectureProgramming is the lecture's programming: a system prompt common to
// all, a part that the problems of a group share, the problem, whose samples
// arrive one after the other, and something private. How many groups there are
// and how popular is not known.
type LectureProgramming struct {
	System    int32   `yaml:"system_tokens" default:"1000" min:"0" max:"100000" unit:"token" doc:"system prompt common to all requests"`
	Key       float64 `yaml:"key_tokens" default:"1000" min:"1" max:"1000000" unit:"token" doc:"mean length of the part that a group of problems shares"`
	KeySD     float64 `yaml:"key_tokens_sd" default:"300" min:"0" max:"1000000" unit:"token" doc:"its standard deviation over groups"`
	Groups    int     `yaml:"groups" default:"100" min:"1" max:"10000000" per_replica:"true" doc:"groups of problems"`
	Zipf      float64 `yaml:"zipf" default:"1.1" min:"0" max:"10" doc:"exponent of their popularity"`
	Problem   float64 `yaml:"problem_tokens" default:"1750" min:"1" max:"1000000" unit:"token" doc:"mean length of a problem"`
	ProblemSD float64 `yaml:"problem_tokens_sd" default:"1000" min:"0" max:"1000000" unit:"token" doc:"its standard deviation over problems"`
	Own       float64 `yaml:"own_tokens" default:"116" min:"0" max:"1000000" unit:"token" doc:"mean length of the private rest"`
	OwnSD     float64 `yaml:"own_tokens_sd" default:"40" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Output    float64 `yaml:"output_tokens" default:"190" min:"1" max:"1000000" unit:"token" doc:"mean length of the output"`
	OutputSD  float64 `yaml:"output_tokens_sd" default:"343" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Samples   int     `yaml:"samples" default:"8" min:"1" max:"1000000" doc:"samples of a problem"`
}

func (p *LectureProgramming) Source(e *Env) (*Source, error) {
	groups, lens := e.Stream("groups"), e.Stream("lengths")
	pick := byZipf(e.Stream("popularity"), p.Groups, p.Zipf)
	var ids numbers
	root := ids.root(p.System)
	key, problem := lengths(p.Key, p.KeySD), lengths(p.Problem, p.ProblemSD)
	keys := make([][]Segment, p.Groups)
	for i := range keys {
		keys[i] = ids.under(root, dist.Tokens(key, groups, 1))
	}
	problems := make([][]Segment, (e.Requests+p.Samples-1)/p.Samples)
	for i := range problems {
		problems[i] = ids.under(keys[pick()], dist.Tokens(problem, groups, 1))
	}
	g := grouped{
		paths:   problems,
		pick:    inTurn(len(problems), p.Samples),
		private: draws(lengths(p.Own, p.OwnSD), lens, 0),
		output:  draws(lengths(p.Output, p.OutputSD), lens, 1),
	}
	return g.source(), nil
}

// inTurn picks group 0 each times, then group 1, and starts again behind the
// last.
func inTurn(groups, each int) func() int {
	k := -1
	return func() int {
		k++
		return k / each % groups
	}
}
