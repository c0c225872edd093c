package workload

import "switchyard/sim/dist"

// PrefixGroups is the plainest workload with shared prefixes: groups of equal
// popularity, each with one prefix of the same length, and normal lengths of the
// request's own part and of its output. It is the usual one for comparing
// simulators.
type PrefixGroups struct {
	Groups   int     `yaml:"groups" default:"32" min:"1" max:"10000000" per_replica:"true" doc:"groups of requests with one prefix, picked uniformly"`
	Prefix   int32   `yaml:"prefix_tokens" default:"1024" min:"0" max:"10000000" unit:"token" doc:"length of every prefix"`
	Own      float64 `yaml:"own_tokens" default:"128" min:"0" max:"10000000" unit:"token" doc:"mean length of the private rest of the prompt, normal, at least 1"`
	OwnSD    float64 `yaml:"own_tokens_sd" default:"32" min:"0" max:"10000000" unit:"token" doc:"its standard deviation"`
	Output   float64 `yaml:"output_tokens" default:"128" min:"1" max:"10000000" unit:"token" doc:"mean length of the output, normal, at least 1"`
	OutputSD float64 `yaml:"output_tokens_sd" default:"32" min:"0" max:"10000000" unit:"token" doc:"its standard deviation"`
}

// Source implements Generator.
func (p *PrefixGroups) Source(e *Env) (*Source, error) {
	popularity, lens := e.Stream("popularity"), e.Stream("lengths")
	var ids numbers
	paths := make([][]Segment, p.Groups)
	for i := range paths {
		paths[i] = ids.root(p.Prefix)
	}
	g := grouped{
		paths:   paths,
		pick:    func() int { return popularity.IntN(p.Groups) },
		private: draws(dist.Normal{Mu: p.Own, Sigma: p.OwnSD}, lens, 1),
		output:  draws(dist.Normal{Mu: p.Output, Sigma: p.OutputSD}, lens, 1),
	}
	return g.source(), nil
}
