package workload

import (
	"errors"
	"fmt"

	"switchyard/sim/rng"
)

// Spec says what a generated workload is made of: requests from a generator,
// times from an arrival process, and the numbers that fix its streams. The
// workload is a function of the Spec alone.
type Spec struct {
	Seed        uint64
	Replication int
	Requests    int // how many, exactly
	Generator   Generator
	Arrivals    Process
}

// Generator makes requests without times. Its implementations are the
// parameter structs that Generators lists.
type Generator interface {
	Source(e *Env) (*Source, error)
}

// Env is what generators and arrival processes are given.
type Env struct {
	Seed        uint64
	Replication int
	Requests    int    // that will be asked for; a generator sizes its groups by it
	scope       string // prefix of the stream names inside a mixture
}

// Stream returns the stream of that name, which holds no parameter: variants
// that differ in a rate or a length share their uniforms.
func (e *Env) Stream(name string) *rng.Stream {
	return rng.New(e.Seed, e.Replication, "workload/"+e.scope+name)
}

// Source yields sessions, without end.
type Source struct {
	// Next overwrites s. What it hands out is valid until the next call.
	Next func(s *Session)
	// Single says that every session is one request that belongs to no
	// conversation.
	Single bool
}

// Session is a conversation, an agent's task, or one single request.
type Session struct {
	Turns []Turn
	Tags  []string
	// Open gives each turn its own time, by the nominal pace that order
	// explains; otherwise a turn arrives ThinkUs after the end of the turn
	// before it.
	Open bool
}

// Turn is a request without its time.
type Turn struct {
	ThinkUs  int64 // after the end of the turn before; unused in the first
	Prompt   int32
	Output   int32
	Segments []Segment
	OutputID int64 // see Request; None without
}

// Each calls emit with every request, in order. The request is valid until
// emit returns; emit's first error ends the work.
func (s *Spec) Each(emit func(*Request) error) error {
	if s.Requests < 1 {
		return fmt.Errorf("requests is %d, expected at least 1", s.Requests)
	}
	if s.Generator == nil || s.Arrivals == nil {
		return errors.New("workload has no generator or no arrival process")
	}
	e := &Env{Seed: s.Seed, Replication: s.Replication, Requests: s.Requests}
	source, err := s.Generator.Source(e)
	if err != nil {
		return err
	}
	if source.Single {
		return eachSingle(e, source, s.Arrivals, emit)
	}
	return eachTurn(e, source, s.Arrivals, emit)
}

// Build interns the requests.
func (s *Spec) Build() (*Workload, error) {
	var b Builder
	b.Grow(s.Requests)
	if err := s.Each(b.Add); err != nil {
		return nil, err
	}
	return b.Build()
}

// eachSingle emits requests that stand for themselves, without holding them.
func eachSingle(e *Env, source *Source, arrivals Process, emit func(*Request) error) error {
	starts, err := arrivals.Starts(e, e.Requests, 1)
	if err != nil {
		return err
	}
	var session Session
	var r Request
	for range e.Requests {
		source.Next(&session)
		start := starts()
		t := &session.Turns[0]
		r = Request{
			ArrivalUs: start.ArrivalUs, After: start.After, ThinkUs: start.ThinkUs,
			Session: start.User, Tags: session.Tags,
			Prompt: t.Prompt, Output: t.Output, Segments: t.Segments, OutputID: t.OutputID,
		}
		if err := emit(&r); err != nil {
			return err
		}
	}
	return nil
}
