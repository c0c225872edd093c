package router

import "switchyard/sim/rng"

var sglangManualPolicy = Policy{
	Name:      "sglang-manual",
	Summary:   "SGLang's manual routing: a session stays with the replica that it was first given, and has a second one for when that is down",
	Formula:   "the first of the session's up to 2 candidates that is up; else a new one: random, argmin l, or argmin sessions",
	Needs:     "the session (the routing key); its own dispatches in flight with assignment: min_load",
	Belief:    "none",
	Staleness: "loads are exact, of this router alone",
	TieBreak:  "random; the first index under min_load and min_group",
	Source:    "sglang sgl-model-gateway/src/policies, policy manual, at 01f6c92a; how min_load and min_group break ties, and that min_group counts every candidate, is not verified against code",
	New:       func() Params { return new(SGLangManual) },
}

// SGLangManual keeps sessions where they are.
type SGLangManual struct {
	Assignment string  `yaml:"assignment" default:"random" enum:"random|min_load|min_group" doc:"where a new session goes: anywhere, to the least loaded replica, or to the one with the fewest sessions"`
	TTLS       float64 `yaml:"ttl_s" default:"14400" min:"0" max:"10000000" unit:"s" doc:"a session that has not been seen for longer is forgotten at a sweep"`
	SweepS     float64 `yaml:"sweep_s" default:"60" min:"0" max:"1000000" unit:"s" doc:"time between sweeps; 0 = never"`
}

// Build implements Params.
func (p *SGLangManual) Build(e Env) Router {
	m := &sglangManual{assignment: p.Assignment, stream: e.Random, sessions: newStickySessions(e.Work, p.TTLS, p.SweepS, 0), groups: make([]int32, e.Replicas)}
	m.candidates = make([][2]int32, len(m.sessions.seenNs))
	for i := range m.candidates {
		m.candidates[i] = [2]int32{none, none}
	}
	return m
}

type sglangManual struct {
	assignment string
	stream     *rng.Stream
	sessions   stickySessions
	candidates [][2]int32 // by session, older first
	groups     []int32    // by replica: sessions of which it is a candidate
}

func (m *sglangManual) Route(id int32, v *View) int {
	v.Believed = none
	for s := m.sessions.expired(v.NowNs); s != none; s = m.sessions.expired(v.NowNs) {
		m.release(s)
	}
	session := m.sessions.of[id]
	if session == none {
		m.explain(v, "no-session")
		return int(v.Up[m.stream.IntN(len(v.Up))])
	}
	m.sessions.see(session, v.NowNs)
	for _, c := range m.candidates[session] {
		if c != none && v.IsUp(int(c)) {
			m.explain(v, "session")
			return int(c)
		}
	}
	m.explain(v, "new")
	chosen := m.assign(v)
	m.push(session, int32(chosen))
	return chosen
}

func (m *sglangManual) assign(v *View) int {
	switch m.assignment {
	case "min_load":
		return firstLeast(v.Up, v.Requests)
	case "min_group":
		return firstLeast(v.Up, m.groups)
	}
	return int(v.Up[m.stream.IntN(len(v.Up))])
}

// push gives a session a candidate more; of two the older one goes.
func (m *sglangManual) push(session, replica int32) {
	c := &m.candidates[session]
	m.groups[replica]++
	switch {
	case c[0] == none:
		c[0] = replica
	case c[1] == none:
		c[1] = replica
	default:
		m.groups[c[0]]--
		c[0], c[1] = c[1], replica
	}
}

// release takes a session's candidates away.
func (m *sglangManual) release(session int32) {
	for i, c := range m.candidates[session] {
		if c != none {
			m.groups[c]--
			m.candidates[session][i] = none
		}
	}
}

func (m *sglangManual) explain(v *View, rule string) {
	d := v.Decide(rule)
	if d == nil {
		return
	}
	for _, i := range v.Up {
		d.Score[i] = float64(v.Requests[i])
		if m.assignment == "min_group" {
			d.Score[i] = float64(m.groups[i])
		}
	}
}

// firstLeast returns the first of the replicas with the smallest load.
func firstLeast[T int32 | int64 | float64](up []int32, load []T) int {
	best := up[0]
	for _, i := range up[1:] {
		if load[i] < load[best] {
			best = i
		}
	}
	return int(best)
}
