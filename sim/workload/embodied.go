package workload

import (
	"math"

	"switchyard/sim/dist"
)

// Embodied is an embodied agent after ALFWorld: environments, each with a
// description, a task and a demonstration; attempts at the task; and steps of
// an attempt, each prompt being the one before with the output and what the
// agent then observed.
//
// Published are the lengths of prompt (by key portion and growth) and output
// and the number of sharers. Fitted are the description's deviation, the
// growth a step, the steps of an attempt, and the share of requests that are
// the only one of their environment.
type Embodied struct {
	Key           float64 `yaml:"key_tokens" default:"1737" min:"1" max:"1000000" unit:"token" doc:"mean length of environment, task and demonstration"`
	KeySD         float64 `yaml:"key_tokens_sd" default:"300" min:"0" max:"1000000" unit:"token" doc:"its standard deviation over environments"`
	Observation   float64 `yaml:"observation_tokens" default:"68" min:"1" max:"1000000" unit:"token" doc:"mean length of what a step adds behind the output"`
	ObservationSD float64 `yaml:"observation_tokens_sd" default:"34" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Output        float64 `yaml:"output_tokens" default:"16" min:"1" max:"1000000" unit:"token" doc:"mean length of the output"`
	OutputSD      float64 `yaml:"output_tokens_sd" default:"13" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Steps         int     `yaml:"steps" default:"14" min:"1" max:"100000" doc:"steps of an attempt, about"`
	Sharers       float64 `yaml:"sharers" default:"48" min:"2" max:"1000000" doc:"mean number of requests that share an environment"`
	SharersSD     float64 `yaml:"sharers_sd" default:"8" min:"0" max:"1000000" doc:"its standard deviation over environments"`
	Alone         float64 `yaml:"alone" default:"0.02" min:"0" max:"1" unit:"share" doc:"requests that are the only one of their environment"`
	Environments  int     `yaml:"groups" default:"0" min:"0" max:"10000000" per_replica:"true" doc:"environments that are shared; 0 for requests over sharers"`
	Pace
}

func (p *Embodied) Source(e *Env) (*Source, error) {
	popularity, groups := e.Stream("popularity"), e.Stream("groups")
	environments := crowd{p.Sharers, p.SharersSD, p.Alone, p.Environments}.sizes(popularity, e.Requests)
	c := chains{
		observation: lengths(p.Observation, p.ObservationSD),
		output:      lengths(p.Output, p.OutputSD),
		lengths:     e.Stream("lengths"),
		pace:        p.Pace.over(e),
		answers:     true,
	}
	key := lengths(p.Key, p.KeySD)
	var attempts []attempt
	for _, size := range environments {
		base := c.ids.under(nil, dist.Tokens(key, groups, 1))
		n := max(1, int(math.RoundToEven(float64(size)/float64(p.Steps))))
		for _, steps := range apportion(size, make([]float64, n), 1) {
			attempts = append(attempts, attempt{base, steps})
		}
	}
	pick := byDeck(popularity, ones(len(attempts)))
	c.next = func() attempt { return attempts[pick()] }
	return c.source(), nil
}

// ones returns n sizes of one.
func ones(n int) []int {
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = 1
	}
	return sizes
}
