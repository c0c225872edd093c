package workload

import (
	"slices"

	"switchyard/sim/dist"
	"switchyard/sim/rng"
)

// Pace says how the turns of a session follow each other: the parameters that
// generators of sessions have in common.
type Pace struct {
	Turns string  `yaml:"pace" default:"closed" enum:"closed|open" doc:"closed: a turn arrives when the one before has ended and the think time is over; open: at the time that 25 ms an output token would give, whatever happens"`
	Think float64 `yaml:"think_s" default:"0" min:"0" max:"86400" unit:"s" doc:"mean think time between the turns, exponential"`
}

// pacing is a Pace with its stream.
type pacing struct {
	open    bool
	think   dist.Exponential
	thought *rng.Stream
}

func (p Pace) over(e *Env) pacing {
	return pacing{p.Turns == "open", dist.Exponential{MeanValue: p.Think * 1e6}, e.Stream("think")}
}

// attempt is a chain of steps over a path that other chains may have as well.
type attempt struct {
	base  []Segment
	steps int
}

// chains makes sessions in which each prompt is the one before, its output
// where answers is set, and what followed.
type chains struct {
	next        func() attempt
	output      dist.Drawer
	observation dist.Drawer
	answers     bool  // prompts hold the outputs before them
	limit       int32 // a session ends before its prompt and output exceed it; 0 for never
	lengths     *rng.Stream
	pace        pacing
	ids         numbers

	path []Segment // of the session's last turn; all its turns' paths lie in it
}

func (c *chains) source() *Source {
	var turns []Turn
	return &Source{Next: func(s *Session) {
		turns = c.session(turns[:0])
		*s = Session{Turns: turns, Open: c.pace.open}
	}}
}

// session appends the turns of the next session.
func (c *chains) session(turns []Turn) []Turn {
	a := c.next()
	c.path = slices.Grow(append(c.path[:0], a.base...), 2*a.steps)
	prompt := int32(0)
	for _, segment := range c.path {
		prompt += segment.Tokens
	}
	for step := range a.steps {
		t := Turn{Segments: c.path[:len(c.path):len(c.path)], Prompt: prompt, Output: dist.Tokens(c.output, c.lengths, 1), OutputID: None}
		if step > 0 {
			t.ThinkUs = int64(c.pace.think.Draw(c.pace.thought))
			if c.limit > 0 && t.Prompt+t.Output > c.limit {
				turns[len(turns)-1].OutputID = None // nobody reads it
				break
			}
		}
		if step+1 < a.steps {
			if c.answers {
				answer := c.ids.segment(t.Output)
				c.path = append(c.path, answer)
				t.OutputID = answer.ID
				prompt += t.Output
			}
			observed := dist.Tokens(c.observation, c.lengths, 1)
			c.path = append(c.path, c.ids.segment(observed))
			prompt += observed
		}
		turns = append(turns, t)
	}
	return turns
}
