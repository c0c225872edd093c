package workload

import "switchyard/sim/dist"

// toolbench is the tool workload as Preble's scripts build it from ToolBench:
// whole prompts of at most 4,096 tokens, the output's true length. Published
// are the number of prefixes (200 for two GPUs), the popularity, the limit and
// the system prompt; lengths are those of the authors' own statistics (prompt
// 1,760 with a deviation of 715) and of table 1 (output).
type toolbench struct {
	Groups     int
	System     int32
	Tool       float64
	ToolSD     float64
	Question   float64
	QuestionSD float64
	Output     float64
	OutputSD   float64
	Limit      int32
}

func (p *toolbench) source(e *Env, pick func() int) *Source {
	groups, lens := e.Stream("groups"), e.Stream("lengths")
	var ids numbers
	root, tool := ids.root(p.System), lengths(p.Tool, p.ToolSD)
	paths, room := make([][]Segment, p.Groups), make([]int32, p.Groups)
	for i := range paths {
		n := min(dist.Tokens(tool, groups, 1), max(1, p.Limit-p.System))
		paths[i], room[i] = ids.under(root, n), max(0, p.Limit-p.System-n)
	}
	question := lengths(p.Question, p.QuestionSD)
	g := grouped{
		paths:   paths,
		pick:    pick,
		private: func(i int) int32 { return min(room[i], dist.Tokens(question, lens, 0)) },
		output:  draws(lengths(p.Output, p.OutputSD), lens, 1),
	}
	return g.source()
}

// PrebleToolbenchEven uses every prefix equally often.
type PrebleToolbenchEven struct {
	Groups     int     `yaml:"groups" default:"200" min:"1" max:"10000000" per_replica:"true" doc:"tools"`
	System     int32   `yaml:"system_tokens" default:"355" min:"0" max:"100000" unit:"token" doc:"system prompt common to all requests"`
	Tool       float64 `yaml:"tool_tokens" default:"1195" min:"1" max:"1000000" unit:"token" doc:"mean length of a tool's instructions, before the limit"`
	ToolSD     float64 `yaml:"tool_tokens_sd" default:"780" min:"0" max:"1000000" unit:"token" doc:"its standard deviation over tools"`
	Question   float64 `yaml:"question_tokens" default:"220" min:"0" max:"1000000" unit:"token" doc:"mean length of the private question"`
	QuestionSD float64 `yaml:"question_tokens_sd" default:"80" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Output     float64 `yaml:"output_tokens" default:"43" min:"1" max:"1000000" unit:"token" doc:"mean length of the output"`
	OutputSD   float64 `yaml:"output_tokens_sd" default:"16" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Limit      int32   `yaml:"limit_tokens" default:"4096" min:"1" max:"10000000" unit:"token" doc:"longest prompt"`
}

func (p *PrebleToolbenchEven) Source(e *Env) (*Source, error) {
	return (*toolbench)(p).source(e, byDeck(e.Stream("popularity"), ones(p.Groups))), nil
}

// PrebleToolbenchZipf picks prefixes by numpy's zipf(a) less one, rejecting
// what lies beyond the last: the finite Zipf law.
type PrebleToolbenchZipf struct {
	Groups     int     `yaml:"groups" default:"200" min:"1" max:"10000000" per_replica:"true" doc:"tools"`
	Zipf       float64 `yaml:"zipf" default:"1.1" min:"0" max:"10" doc:"exponent of their popularity"`
	System     int32   `yaml:"system_tokens" default:"355" min:"0" max:"100000" unit:"token" doc:"system prompt common to all requests"`
	Tool       float64 `yaml:"tool_tokens" default:"1195" min:"1" max:"1000000" unit:"token" doc:"mean length of a tool's instructions, before the limit"`
	ToolSD     float64 `yaml:"tool_tokens_sd" default:"780" min:"0" max:"1000000" unit:"token" doc:"its standard deviation over tools"`
	Question   float64 `yaml:"question_tokens" default:"220" min:"0" max:"1000000" unit:"token" doc:"mean length of the private question"`
	QuestionSD float64 `yaml:"question_tokens_sd" default:"80" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Output     float64 `yaml:"output_tokens" default:"43" min:"1" max:"1000000" unit:"token" doc:"mean length of the output"`
	OutputSD   float64 `yaml:"output_tokens_sd" default:"16" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Limit      int32   `yaml:"limit_tokens" default:"4096" min:"1" max:"10000000" unit:"token" doc:"longest prompt"`
}

func (p *PrebleToolbenchZipf) Source(e *Env) (*Source, error) {
	shape := toolbench{p.Groups, p.System, p.Tool, p.ToolSD, p.Question, p.QuestionSD, p.Output, p.OutputSD, p.Limit}
	return shape.source(e, byZipf(e.Stream("popularity"), p.Groups, p.Zipf)), nil
}
