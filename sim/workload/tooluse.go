package workload

import "switchyard/sim/dist"

// ToolUse is tool use after ToolBench: a system prompt common to all, the
// instructions of a tool, the description of those of its interfaces that are
// offered, and a question.
//
// Published are the system prompt's 355 tokens (measured by Preble's authors
// on the prepared data), the output's length and the number of sharers. Fitted
// to the table's other columns are the lengths of tool, offer and question,
// the requests that share an offer, and the share of requests that are alone
// with their tool. A tool is longer than the system prompt: were the system
// prompt the key portion of some requests, the deviation of the sharers would
// be many times the published 64.
type ToolUse struct {
	System      int32   `yaml:"system_tokens" default:"355" min:"0" max:"100000" unit:"token" doc:"system prompt common to all requests"`
	Tool        float64 `yaml:"tool_tokens" default:"1030" min:"1" max:"1000000" unit:"token" doc:"mean length of a tool's instructions"`
	ToolSD      float64 `yaml:"tool_tokens_sd" default:"650" min:"0" max:"1000000" unit:"token" doc:"its standard deviation over tools"`
	API         float64 `yaml:"api_tokens" default:"200" min:"0" max:"1000000" unit:"token" doc:"mean length of the description of the interfaces offered"`
	APISD       float64 `yaml:"api_tokens_sd" default:"100" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	APISharers  int     `yaml:"api_sharers" default:"8" min:"1" max:"1000000" doc:"requests that share an offer of interfaces, about"`
	Question    float64 `yaml:"question_tokens" default:"200" min:"0" max:"1000000" unit:"token" doc:"mean length of the private question"`
	QuestionSD  float64 `yaml:"question_tokens_sd" default:"80" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Output      float64 `yaml:"output_tokens" default:"43" min:"1" max:"1000000" unit:"token" doc:"mean length of the output"`
	OutputSD    float64 `yaml:"output_tokens_sd" default:"16" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Sharers     float64 `yaml:"sharers" default:"39" min:"2" max:"1000000" doc:"mean number of requests that share a tool"`
	SharersSD   float64 `yaml:"sharers_sd" default:"64" min:"0" max:"1000000" doc:"its standard deviation over tools"`
	Alone       float64 `yaml:"alone" default:"0.03" min:"0" max:"1" unit:"share" doc:"requests whose tool no other request uses"`
	SharedTools int     `yaml:"groups" default:"0" min:"0" max:"10000000" per_replica:"true" doc:"tools that are shared; 0 for requests over sharers"`
}

func (p *ToolUse) Source(e *Env) (*Source, error) {
	popularity, groups, lens := e.Stream("popularity"), e.Stream("groups"), e.Stream("lengths")
	tools := crowd{p.Sharers, p.SharersSD, p.Alone, p.SharedTools}.sizes(popularity, e.Requests)
	var ids numbers
	root := ids.root(p.System)
	tool, api := lengths(p.Tool, p.ToolSD), lengths(p.API, p.APISD)
	var paths [][]Segment
	var sizes []int
	for _, size := range tools {
		instructions := ids.under(root, dist.Tokens(tool, groups, p.System+1))
		offers := make([]float64, max(1, size/p.APISharers))
		for _, n := range apportion(size, offers, 0) {
			paths = append(paths, ids.under(instructions, dist.Tokens(api, groups, 0)))
			sizes = append(sizes, n)
		}
	}
	g := grouped{
		paths:   paths,
		pick:    byDeck(popularity, sizes),
		private: draws(lengths(p.Question, p.QuestionSD), lens, 0),
		output:  draws(lengths(p.Output, p.OutputSD), lens, 1),
	}
	return g.source(), nil
}
