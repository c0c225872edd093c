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
// be many times the published 64. For the same reason a description is no longer
// than all that stands before it.
type ToolUse struct {
	System      int32   `yaml:"system_tokens" default:"355" min:"0" max:"100000" unit:"token" doc:"system prompt common to all requests"`
	Tool        float64 `yaml:"tool_tokens" default:"990" min:"1" max:"1000000" unit:"token" doc:"mean length of a tool's instructions"`
	ToolSD      float64 `yaml:"tool_tokens_sd" default:"650" min:"0" max:"1000000" unit:"token" doc:"its standard deviation over tools"`
	APIShare    float64 `yaml:"api_share" default:"0.4" min:"0" max:"1" unit:"share" doc:"offers that describe interfaces beyond the tool's instructions"`
	API         float64 `yaml:"api_tokens" default:"700" min:"0" max:"1000000" unit:"token" doc:"mean length of such a description"`
	APISD       float64 `yaml:"api_tokens_sd" default:"300" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	APISharers  int     `yaml:"api_sharers" default:"8" min:"1" max:"1000000" doc:"requests that share an offer of interfaces, about"`
	Question    float64 `yaml:"question_tokens" default:"220" min:"0" max:"1000000" unit:"token" doc:"mean length of the private question"`
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
		own := dist.Tokens(tool, groups, p.System+1)
		instructions := ids.under(root, own)
		offers := make([]float64, max(1, size/p.APISharers))
		for _, n := range apportion(size, offers, 0) {
			description := int32(0)
			if groups.Float64() < p.APIShare {
				description = min(p.System+own, dist.Tokens(api, groups, 1))
			}
			paths = append(paths, ids.under(instructions, description))
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
