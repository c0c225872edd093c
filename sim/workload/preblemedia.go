package workload

import (
	"math"

	"switchyard/sim/dist"
)

// PrebleLoogle is questions about LooGLE's documents as Preble's scripts ask
// them. Published are the number of documents (24 for two GPUs), the cut to
// 32,768 tokens less the output, the output of 45, questions in their natural
// number a document, and the uuid before each question, which keeps whole
// prompts from being equal. The question's length is assumed.
type PrebleLoogle struct {
	Groups     int     `yaml:"groups" default:"24" min:"1" max:"10000000" per_replica:"true" doc:"documents"`
	System     int32   `yaml:"system_tokens" default:"13" min:"0" max:"100000" unit:"token" doc:"system prompt common to all requests"`
	Document   float64 `yaml:"document_tokens" default:"22830" min:"1" max:"1000000" unit:"token" doc:"mean length of a document, before the limit"`
	DocumentSD float64 `yaml:"document_tokens_sd" default:"6080" min:"0" max:"1000000" unit:"token" doc:"its standard deviation over documents"`
	Question   float64 `yaml:"question_tokens" default:"64" min:"0" max:"1000000" unit:"token" doc:"mean length of uuid and question, private"`
	QuestionSD float64 `yaml:"question_tokens_sd" default:"20" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Output     int32   `yaml:"output_tokens" default:"45" min:"1" max:"1000000" unit:"token" doc:"length of every output"`
	Limit      int32   `yaml:"limit_tokens" default:"32768" min:"1" max:"10000000" unit:"token" doc:"longest prompt and output together; documents are cut to fit"`
	Sharers    float64 `yaml:"sharers" default:"18" min:"0.001" max:"1000000" doc:"mean number of questions about a document, before scaling to the requests"`
	SharersSD  float64 `yaml:"sharers_sd" default:"8.6" min:"0" max:"1000000" doc:"its standard deviation over documents"`
}

func (p *PrebleLoogle) Source(e *Env) (*Source, error) {
	popularity, groups, lens := e.Stream("popularity"), e.Stream("groups"), e.Stream("lengths")
	var ids numbers
	root, document := ids.root(p.System), lengths(p.Document, p.DocumentSD)
	natural := lengths(p.Sharers, p.SharersSD)
	paths, room, weights := make([][]Segment, p.Groups), make([]int32, p.Groups), make([]float64, p.Groups)
	for i := range paths {
		most := max(1, p.Limit-p.Output-p.System-int32(math.Round(p.Question+3*p.QuestionSD)))
		n := min(dist.Tokens(document, groups, 1), most)
		paths[i], room[i] = ids.under(root, n), max(0, p.Limit-p.Output-p.System-n)
		weights[i] = natural.Draw(popularity)
	}
	question := lengths(p.Question, p.QuestionSD)
	g := grouped{
		paths:   paths,
		pick:    byDeck(popularity, apportion(e.Requests, weights, 0)),
		private: func(i int) int32 { return min(room[i], dist.Tokens(question, lens, 0)) },
		output:  func(int) int32 { return p.Output },
	}
	return g.source(), nil
}

// PrebleVideo is questions about videos as Preble's scripts ask them. Published
// are the number of videos (100 to 150 for two GPUs), 256 tokens for each 30
// frames, the crop to 8,192 tokens with the system prompt, and popularity in
// proportion to the cropped length. The lengths before the crop are those of
// table 1, the question's is assumed.
type PrebleVideo struct {
	Groups     int     `yaml:"groups" default:"100" min:"1" max:"10000000" per_replica:"true" doc:"videos"`
	System     int32   `yaml:"system_tokens" default:"13" min:"0" max:"100000" unit:"token" doc:"system prompt common to all requests"`
	Video      float64 `yaml:"video_tokens" default:"9752" min:"1" max:"1000000" unit:"token" doc:"mean length of a video, before the crop"`
	VideoSD    float64 `yaml:"video_tokens_sd" default:"5916" min:"0" max:"1000000" unit:"token" doc:"its standard deviation over videos"`
	Frames     int32   `yaml:"frames_tokens" default:"256" min:"1" max:"100000" unit:"token" doc:"videos are multiples of this, the tokens of 30 frames"`
	Crop       int32   `yaml:"crop_tokens" default:"8192" min:"1" max:"10000000" unit:"token" doc:"longest system prompt and video together"`
	Question   float64 `yaml:"question_tokens" default:"100" min:"0" max:"1000000" unit:"token" doc:"mean length of uuid, question and options, private"`
	QuestionSD float64 `yaml:"question_tokens_sd" default:"20" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Output     float64 `yaml:"output_tokens" default:"4" min:"1" max:"1000000" unit:"token" doc:"mean length of the output"`
	OutputSD   float64 `yaml:"output_tokens_sd" default:"1.5" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
}

func (p *PrebleVideo) Source(e *Env) (*Source, error) {
	popularity, groups, lens := e.Stream("popularity"), e.Stream("groups"), e.Stream("lengths")
	var ids numbers
	root, video := ids.root(p.System), lengths(p.Video, p.VideoSD)
	paths, weights := make([][]Segment, p.Groups), make([]float64, p.Groups)
	for i := range paths {
		frames := max(1, math.Round(video.Draw(groups)/float64(p.Frames)))
		n := dist.Whole(frames*float64(p.Frames), 1)
		n = min(n, max(1, p.Crop-p.System))
		paths[i], weights[i] = ids.under(root, n), float64(n+p.System)
	}
	g := grouped{
		paths:   paths,
		pick:    byDeck(popularity, apportion(e.Requests, weights, 0)),
		private: draws(lengths(p.Question, p.QuestionSD), lens, 0),
		output:  draws(lengths(p.Output, p.OutputSD), lens, 1),
	}
	return g.source(), nil
}
