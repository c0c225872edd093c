package workload

import "switchyard/sim/dist"

// VideoQA is questions about videos after NExT-QA: a tiny system prompt, the
// tokens of a video, and a question with its answers to choose from.
//
// Published are the lengths of prompt and output and the number of sharers.
// Fitted are the share of requests whose video no other request has (a shared
// share of 88 % with a deviation of 32 % leaves hardly another reading than
// nothing for one request in nine and 99 % for the rest) and the question: a
// key portion of 99 % with a deviation of .2 % beside prompts that vary by
// 60 % means that questions grow with their videos.
type VideoQA struct {
	System     int32   `yaml:"system_tokens" default:"13" min:"0" max:"100000" unit:"token" doc:"system prompt common to all requests"`
	Video      float64 `yaml:"video_tokens" default:"9752" min:"1" max:"1000000" unit:"token" doc:"mean length of a video"`
	VideoSD    float64 `yaml:"video_tokens_sd" default:"5916" min:"0" max:"1000000" unit:"token" doc:"its standard deviation over videos"`
	Question   float64 `yaml:"question_share" default:"0.0101" min:"0" max:"10" unit:"share" doc:"mean length of the private question over that of its video"`
	QuestionSD float64 `yaml:"question_share_sd" default:"0.002" min:"0" max:"10" unit:"share" doc:"its standard deviation"`
	Output     float64 `yaml:"output_tokens" default:"4" min:"1" max:"1000000" unit:"token" doc:"mean length of the output"`
	OutputSD   float64 `yaml:"output_tokens_sd" default:"1.5" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Sharers    float64 `yaml:"sharers" default:"8.6" min:"2" max:"1000000" doc:"mean number of requests that share a video"`
	SharersSD  float64 `yaml:"sharers_sd" default:"2" min:"0" max:"1000000" doc:"its standard deviation over videos"`
	Alone      float64 `yaml:"alone" default:"0.111" min:"0" max:"1" unit:"share" doc:"requests whose video no other request has"`
	Videos     int     `yaml:"groups" default:"0" min:"0" max:"10000000" per_replica:"true" doc:"videos that are shared; 0 for requests over sharers"`
}

func (p *VideoQA) Source(e *Env) (*Source, error) {
	popularity, groups, lens := e.Stream("popularity"), e.Stream("groups"), e.Stream("lengths")
	sizes := crowd{p.Sharers, p.SharersSD, p.Alone, p.Videos}.sizes(popularity, e.Requests)
	var ids numbers
	root := ids.root(p.System)
	video, question := lengths(p.Video, p.VideoSD), lengths(p.Question, p.QuestionSD)
	paths, length := make([][]Segment, len(sizes)), make([]float64, len(sizes))
	for i := range paths {
		n := dist.Tokens(video, groups, 1)
		paths[i], length[i] = ids.under(root, n), float64(n)
	}
	g := grouped{
		paths: paths,
		pick:  byDeck(popularity, sizes),
		private: func(i int) int32 {
			return dist.Whole(length[i]*question.Draw(lens), 0)
		},
		output: draws(lengths(p.Output, p.OutputSD), lens, 1),
	}
	return g.source(), nil
}
