package workload

import (
	"math"

	"switchyard/sim/dist"
	"switchyard/sim/rng"
)

// Chat is conversations in several turns: one of some system prompts, then the
// user's messages and the answers in turn, each prompt holding all that was
// said before. The number of turns is geometric. All lengths are free
// parameters; the defaults are of the order of public chat traces.
//
// Sessions last turns × (answer + think time), so a run reaches its rate only
// with many times rate × that length of requests; see Rate.
type Chat struct {
	Systems   int     `yaml:"groups" default:"10" min:"1" max:"10000000" per_replica:"true" doc:"system prompts"`
	Zipf      float64 `yaml:"zipf" default:"1" min:"0" max:"10" doc:"exponent of their popularity"`
	System    float64 `yaml:"system_tokens" default:"400" min:"1" max:"1000000" unit:"token" doc:"mean length of a system prompt"`
	SystemSD  float64 `yaml:"system_tokens_sd" default:"200" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Message   float64 `yaml:"message_tokens" default:"100" min:"1" max:"1000000" unit:"token" doc:"mean length of a user's message"`
	MessageSD float64 `yaml:"message_tokens_sd" default:"150" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	Output    float64 `yaml:"output_tokens" default:"211" min:"1" max:"1000000" unit:"token" doc:"mean length of an answer"`
	OutputSD  float64 `yaml:"output_tokens_sd" default:"163" min:"0" max:"1000000" unit:"token" doc:"its standard deviation"`
	MeanTurns float64 `yaml:"turns" default:"5" min:"1" max:"100000" doc:"mean number of turns of a conversation, before max_tokens"`
	MaxTokens int32   `yaml:"max_tokens" default:"8192" min:"0" max:"10000000" unit:"token" doc:"a conversation ends before its prompt and answer exceed this; 0 for never"`
	Turns     string  `yaml:"pace" default:"closed" enum:"closed|open" doc:"closed: a turn arrives when the one before has ended and the think time is over; open: at the time that 25 ms an output token would give, whatever happens"`
	Think     float64 `yaml:"think_s" default:"10" min:"0" max:"86400" unit:"s" doc:"mean think time between the turns, exponential"`
}

func (p *Chat) Source(e *Env) (*Source, error) {
	groups, lens, turns := e.Stream("groups"), e.Stream("lengths"), e.Stream("turns")
	message := lengths(p.Message, p.MessageSD)
	c := chains{
		observation: message,
		output:      lengths(p.Output, p.OutputSD),
		lengths:     lens,
		pace:        Pace{p.Turns, p.Think}.over(e),
		answers:     true,
		limit:       p.MaxTokens,
	}
	system := lengths(p.System, p.SystemSD)
	systems := make([][]Segment, p.Systems)
	for i := range systems {
		systems[i] = c.ids.under(nil, dist.Tokens(system, groups, 1))
	}
	pick := byZipf(e.Stream("popularity"), p.Systems, p.Zipf)
	c.next = func() attempt {
		first := c.ids.under(systems[pick()], dist.Tokens(message, lens, 1))
		return attempt{first, geometric(turns, p.MeanTurns)}
	}
	return c.source(), nil
}

// geometric draws a number of trials, at least 1, with that mean, by
// inversion: P(k > n) = (1 - 1/mean)^n.
func geometric(s *rng.Stream, mean float64) int {
	u := 1 - s.Float64()
	if mean <= 1 {
		return 1
	}
	return 1 + int(math.Min(math.Log(u)/math.Log1p(-1/mean), 1e6))
}
