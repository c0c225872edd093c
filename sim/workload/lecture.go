package workload

import "switchyard/sim/dist"

// zipfGroups is the shape of the lecture's workloads: a system prompt common to
// all requests, a part that a group of requests shares, groups being picked
// independently by Zipf's law, and a private question. Its public twins
// differ in their defaults alone.
type zipfGroups struct {
	System     int32
	Part       float64
	PartSD     float64
	Groups     int
	Zipf       float64
	Question   float64
	QuestionSD float64
	Output     float64
	OutputSD   float64
}

func (p *zipfGroups) Source(e *Env) (*Source, error) {
	groups, lens := e.Stream("groups"), e.Stream("lengths")
	var ids numbers
	root, part := ids.root(p.System), lengths(p.Part, p.PartSD)
	paths := make([][]Segment, p.Groups)
	for i := range paths {
		paths[i] = ids.under(root, dist.Tokens(part, groups, 1))
	}
	g := grouped{
		paths:   paths,
		pick:    byZipf(e.Stream("popularity"), p.Groups, p.Zipf),
		private: draws(lengths(p.Question, p.QuestionSD), lens, 0),
		output:  draws(lengths(p.Output, p.OutputSD), lens, 1),
	}
	return g.source(), nil
}

// LectureDocuments is the lecture's questions about long documents.
type LectureDocuments struct {
	System     int32   `yaml:"system_tokens" default:"13" min:"0" max:"100000" unit:"token" doc:"system prompt common to all requests"`
	Part       float64 `yaml:"part_tokens" default:"21000" min:"1" max:"1000000" unit:"token" doc:"mean length of a document"`
	PartSD     float64 `yaml:"part_tokens_sd" default:"6000" min:"0" max:"1000000" unit:"token" doc:"its standard deviation over documents"`
	Groups     int     `yaml:"groups" default:"300" min:"1" max:"10000000" per_replica:"true" doc:"documents"`
	Zipf       float64 `yaml:"zipf" default:"1.1" min:"0" max:"10" doc:"exponent of their popularity"`
	Question   float64 `yaml:"question_tokens" default:"2100" min:"0" max:"1000000" unit:"token" doc:"mean length of the private question"`
	QuestionSD float64 `yaml:"question_tokens_sd" default:"600" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Output     float64 `yaml:"output_tokens" default:"16" min:"1" max:"1000000" unit:"token" doc:"mean length of the output"`
	OutputSD   float64 `yaml:"output_tokens_sd" default:"9.9" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
}

func (p *LectureDocuments) Source(e *Env) (*Source, error) { return (*zipfGroups)(p).Source(e) }

// LectureVideo is the lecture's questions about videos.
type LectureVideo struct {
	System     int32   `yaml:"system_tokens" default:"13" min:"0" max:"100000" unit:"token" doc:"system prompt common to all requests"`
	Part       float64 `yaml:"part_tokens" default:"8680" min:"1" max:"1000000" unit:"token" doc:"mean length of a video"`
	PartSD     float64 `yaml:"part_tokens_sd" default:"5000" min:"0" max:"1000000" unit:"token" doc:"its standard deviation over videos"`
	Groups     int     `yaml:"groups" default:"600" min:"1" max:"10000000" per_replica:"true" doc:"videos"`
	Zipf       float64 `yaml:"zipf" default:"1.1" min:"0" max:"10" doc:"exponent of their popularity"`
	Question   float64 `yaml:"question_tokens" default:"1170" min:"0" max:"1000000" unit:"token" doc:"mean length of the private question"`
	QuestionSD float64 `yaml:"question_tokens_sd" default:"400" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Output     float64 `yaml:"output_tokens" default:"4" min:"1" max:"1000000" unit:"token" doc:"mean length of the output"`
	OutputSD   float64 `yaml:"output_tokens_sd" default:"1.5" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
}

func (p *LectureVideo) Source(e *Env) (*Source, error) { return (*zipfGroups)(p).Source(e) }

// LectureTool is the lecture's tool use.
type LectureTool struct {
	System     int32   `yaml:"system_tokens" default:"355" min:"0" max:"100000" unit:"token" doc:"system prompt common to all requests"`
	Part       float64 `yaml:"part_tokens" default:"1205" min:"1" max:"1000000" unit:"token" doc:"mean length of a tool's instructions"`
	PartSD     float64 `yaml:"part_tokens_sd" default:"500" min:"0" max:"1000000" unit:"token" doc:"its standard deviation over tools"`
	Groups     int     `yaml:"groups" default:"100" min:"1" max:"10000000" per_replica:"true" doc:"tools"`
	Zipf       float64 `yaml:"zipf" default:"1.1" min:"0" max:"10" doc:"exponent of their popularity"`
	Question   float64 `yaml:"question_tokens" default:"275" min:"0" max:"1000000" unit:"token" doc:"mean length of the private question"`
	QuestionSD float64 `yaml:"question_tokens_sd" default:"100" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Output     float64 `yaml:"output_tokens" default:"43" min:"1" max:"1000000" unit:"token" doc:"mean length of the output"`
	OutputSD   float64 `yaml:"output_tokens_sd" default:"16" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
}

func (p *LectureTool) Source(e *Env) (*Source, error) { return (*zipfGroups)(p).Source(e) }

// LectureHotTool is LectureTool with one tool that 41 % of the requests use.
type LectureHotTool struct {
	System     int32   `yaml:"system_tokens" default:"355" min:"0" max:"100000" unit:"token" doc:"system prompt common to all requests"`
	Part       float64 `yaml:"part_tokens" default:"1205" min:"1" max:"1000000" unit:"token" doc:"mean length of a tool's instructions"`
	PartSD     float64 `yaml:"part_tokens_sd" default:"500" min:"0" max:"1000000" unit:"token" doc:"its standard deviation over tools"`
	Groups     int     `yaml:"groups" default:"100" min:"1" max:"10000000" per_replica:"true" doc:"tools"`
	Zipf       float64 `yaml:"zipf" default:"1.5" min:"0" max:"10" doc:"exponent of their popularity"`
	Question   float64 `yaml:"question_tokens" default:"275" min:"0" max:"1000000" unit:"token" doc:"mean length of the private question"`
	QuestionSD float64 `yaml:"question_tokens_sd" default:"100" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Output     float64 `yaml:"output_tokens" default:"43" min:"1" max:"1000000" unit:"token" doc:"mean length of the output"`
	OutputSD   float64 `yaml:"output_tokens_sd" default:"16" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
}

func (p *LectureHotTool) Source(e *Env) (*Source, error) { return (*zipfGroups)(p).Source(e) }
