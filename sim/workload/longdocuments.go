package workload

import "switchyard/sim/dist"

// LongDocuments is questions about long documents after LooGLE: a system
// prompt of 13 tokens, a document, and a question.
//
// Published are the system prompt, the lengths of prompt and output and the
// number of sharers. Fitted are the question, the share of requests whose
// document no other request has, and what those look like: the table's key
// portion (94 %, deviation 15 %) varies far more than a question beside a
// shared document does, so theirs is a short document before a long private
// rest.
type LongDocuments struct {
	System        int32   `yaml:"system_tokens" default:"13" min:"0" max:"100000" unit:"token" doc:"system prompt common to all requests"`
	Document      float64 `yaml:"document_tokens" default:"22830" min:"1" max:"1000000" unit:"token" doc:"mean length of a document"`
	DocumentSD    float64 `yaml:"document_tokens_sd" default:"6080" min:"0" max:"1000000" unit:"token" doc:"its standard deviation over documents"`
	Question      float64 `yaml:"question_tokens" default:"630" min:"0" max:"1000000" unit:"token" doc:"mean length of the private question"`
	QuestionSD    float64 `yaml:"question_tokens_sd" default:"200" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Output        float64 `yaml:"output_tokens" default:"16" min:"1" max:"1000000" unit:"token" doc:"mean length of the output"`
	OutputSD      float64 `yaml:"output_tokens_sd" default:"9.9" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Sharers       float64 `yaml:"sharers" default:"18" min:"2" max:"1000000" doc:"mean number of requests that share a document"`
	SharersSD     float64 `yaml:"sharers_sd" default:"8.6" min:"0" max:"1000000" doc:"its standard deviation over documents"`
	Alone         float64 `yaml:"alone" default:"0.062" min:"0" max:"1" unit:"share" doc:"requests whose document no other request has"`
	AloneDocument float64 `yaml:"alone_document_share" default:"0.37" min:"0" max:"1" unit:"share" doc:"what of such a request's length the document is; the rest is private"`
	Documents     int     `yaml:"groups" default:"0" min:"0" max:"10000000" per_replica:"true" doc:"documents that are shared; 0 for requests over sharers"`
}

func (p *LongDocuments) Source(e *Env) (*Source, error) {
	popularity, groups, lens := e.Stream("popularity"), e.Stream("groups"), e.Stream("lengths")
	sizes := crowd{p.Sharers, p.SharersSD, p.Alone, p.Documents}.sizes(popularity, e.Requests)
	var ids numbers
	root := ids.root(p.System)
	document, question := lengths(p.Document, p.DocumentSD), lengths(p.Question, p.QuestionSD)
	paths, rest := make([][]Segment, len(sizes)), make([]int32, len(sizes))
	for i, size := range sizes {
		whole := dist.Tokens(document, groups, 1)
		own := whole
		if size == 1 {
			own = dist.Whole(float64(whole)*p.AloneDocument, 0)
		}
		paths[i], rest[i] = ids.under(root, own), whole-own
	}
	g := grouped{
		paths: paths,
		pick:  byDeck(popularity, sizes),
		private: func(i int) int32 {
			return rest[i] + dist.Tokens(question, lens, 0)
		},
		output: draws(lengths(p.Output, p.OutputSD), lens, 1),
	}
	return g.source(), nil
}
