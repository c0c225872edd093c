package workload

import (
	"errors"
	"fmt"
	"slices"
)

// Mixture is several generators at once. Each gets its share of the requests,
// rounded, and its own streams, so that one component's parameters disturb no
// other; their sessions are shuffled into one order, so that all are equally
// frequent at any time. One arrival process starts all sessions.
type Mixture struct {
	Components []Component `yaml:"-"`
}

// Component is one part of a mixture.
type Component struct {
	Name      string // of its streams; distinct in a mixture
	Share     float64
	Tags      []string // of all its requests, before those of its own
	Generator Generator
}

// Check reports what is wrong with the components.
func (m *Mixture) Check() error {
	if len(m.Components) == 0 {
		return errors.New("mixture has no components, expected at least one")
	}
	var sum float64
	for i, c := range m.Components {
		if !(c.Share >= 0) {
			return fmt.Errorf("component %s has the share %g, expected at least 0", c.Name, c.Share)
		}
		if slices.ContainsFunc(m.Components[:i], func(o Component) bool { return o.Name == c.Name }) {
			return fmt.Errorf("two components are named %s", c.Name)
		}
		sum += c.Share
	}
	if sum <= 0 {
		return errors.New("shares of the components are all 0, expected a positive one")
	}
	return nil
}

func (m *Mixture) Source(e *Env) (*Source, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	weights := make([]float64, len(m.Components))
	for i, c := range m.Components {
		weights[i] = c.Share
	}
	var sessions []Session
	single := true
	for i, n := range apportion(e.Requests, weights, 0) {
		if n == 0 {
			continue
		}
		c := &m.Components[i]
		source, err := c.Generator.Source(&Env{Seed: e.Seed, Replication: e.Replication, Requests: n, scope: e.scope + c.Name + "/"})
		if err != nil {
			return nil, fmt.Errorf("component %s: %w", c.Name, err)
		}
		single = single && source.Single
		sessions = c.pull(sessions, source, n, int64(i), int64(len(m.Components)))
	}
	shuffle(e.Stream("mixture"), sessions)
	at := 0
	return &Source{Single: single, Next: func(s *Session) {
		*s = sessions[at%len(sessions)]
		at++
	}}, nil
}

// pull appends copies of sessions with n requests in total. Segment ids of
// different components are kept apart by their remainder.
func (c *Component) pull(sessions []Session, source *Source, n int, index, count int64) []Session {
	tags := map[string][]string{} // a source has few lists of tags
	var s Session
	for n > 0 {
		source.Next(&s)
		turns := slices.Clone(s.Turns[:min(n, len(s.Turns))])
		n -= len(turns)
		for i := range turns {
			t := &turns[i]
			t.Segments = slices.Clone(t.Segments) // no shared memory: the ids change
			for j := range t.Segments {
				t.Segments[j].ID = t.Segments[j].ID*count + index
			}
			if t.OutputID != None {
				t.OutputID = t.OutputID*count + index
			}
		}
		key := fmt.Sprintf("%q", s.Tags)
		if _, ok := tags[key]; !ok {
			tags[key] = append(slices.Clone(c.Tags), s.Tags...)
		}
		sessions = append(sessions, Session{Turns: turns, Tags: tags[key], Open: s.Open})
	}
	return sessions
}
