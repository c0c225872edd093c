package workload

import (
	"fmt"
	"slices"

	"switchyard/sim/dist"
	"switchyard/sim/rng"
)

// Process is an arrival process. Its implementations are the parameter
// structs that Processes lists.
type Process interface {
	// Starts returns a function that yields the starts of n sessions, in
	// order. perSession is the mean number of requests in a session: a rate
	// counts requests.
	Starts(e *Env, n int, perSession float64) (func() Start, error)
}

// Start says when a session starts: at a time, or ThinkUs after the end of the
// last request of an earlier session.
type Start struct {
	ArrivalUs int64
	After     int32 // ordinal of the earlier session; None where ArrivalUs decides
	ThinkUs   int64
	User      int64 // whose session it is; None where users are not modelled
}

// ProcessEntry is an arrival process by name.
type ProcessEntry struct {
	Name, Summary, Source string
	New                   func() Process
}

// Processes lists the arrival processes.
func Processes() []ProcessEntry { return processes }

var processes = []ProcessEntry{
	{"poisson", "independent exponential gaps", "textbook", func() Process { return new(Poisson) }},
	{"gamma", "independent gamma gaps, burstier or smoother than Poisson's", "textbook", func() Process { return new(GammaGaps) }},
	{"deterministic", "equal gaps", "textbook", func() Process { return new(Deterministic) }},
	{"closed-loop", "users who send, wait for the end, think, and send again", "textbook", func() Process { return new(ClosedLoop) }},
	{"trace", "the arrival times of a trace", "the trace", func() Process { return new(Recorded) }},
}

// FindProcess returns the arrival process of that name.
func FindProcess(name string) (ProcessEntry, bool) {
	for _, p := range processes {
		if p.Name == name {
			return p, true
		}
	}
	return ProcessEntry{}, false
}

// Rate is the parameter that processes with a mean rate have in common. Where
// sessions have several turns, which wait for each other, requests arrive at
// the rate only between the time at which the first sessions end and the time
// at which the last ones start: a short run is all rise and ebb and falls far
// short of it.
type Rate struct {
	RPS float64 `yaml:"rate_rps" required:"true" min:"0.000001" max:"1000000" unit:"1/s" per_replica:"true" doc:"mean rate of requests; sessions start at this rate over their mean number of requests, so that a run reaches it only if it is much longer than a session"`
}

// renewal yields times whose gaps are draws of mean one over the rate. The
// first is 0. Sums are scaled, not gaps, so that two rates give the same
// times up to the factor and the rounding to microseconds.
func (r Rate) renewal(e *Env, perSession float64, gap dist.Drawer) func() Start {
	s := e.Stream("arrivals")
	scale := 1e6 * perSession / r.RPS
	var sum float64
	started := false
	return func() Start {
		if started {
			sum += gap.Draw(s)
		}
		started = true
		return Start{ArrivalUs: int64(min(sum*scale, 2*float64(MaxUs))), After: None, User: None}
	}
}

// RateRps is the mean rate.
func (r Rate) RateRps() float64 { return r.RPS }

// Poisson is the Poisson process: gaps are exponential, a random number of
// requests arrives in any interval, independently of any other.
type Poisson struct{ Rate }

func (p *Poisson) Starts(e *Env, n int, perSession float64) (func() Start, error) {
	return p.renewal(e, perSession, dist.Exponential{MeanValue: 1}), nil
}

// GammaGaps has gamma gaps: with a coefficient of variation c their shape is
// 1/c^2; 1 is Poisson in law, though not draw by draw.
type GammaGaps struct {
	Rate
	Burstiness float64 `yaml:"burstiness" default:"2" min:"0.01" max:"100" doc:"coefficient of variation of the gaps; 1 is as bursty as Poisson"`
}

func (g *GammaGaps) Starts(e *Env, n int, perSession float64) (func() Start, error) {
	return g.renewal(e, perSession, dist.NewGamma(1, g.Burstiness)), nil
}

// Deterministic has equal gaps.
type Deterministic struct{ Rate }

func (d *Deterministic) Starts(e *Env, n int, perSession float64) (func() Start, error) {
	return d.renewal(e, perSession, dist.Constant{Value: 1}), nil
}

// ClosedLoop is a fixed set of users. User u takes sessions u, u+Users,
// u+2 Users and so on; each user thinks before every session, the first one
// included.
type ClosedLoop struct {
	Users    int     `yaml:"users" required:"true" min:"1" max:"1000000" per_replica:"true" doc:"users at work"`
	Think    float64 `yaml:"think_s" default:"0" min:"0" max:"86400" unit:"s" doc:"mean think time"`
	Thinking string  `yaml:"thinking" default:"exponential" enum:"exponential|constant" doc:"distribution of the think time"`
}

func (c *ClosedLoop) Starts(e *Env, n int, perSession float64) (func() Start, error) {
	var think dist.Drawer = dist.Exponential{MeanValue: c.Think * 1e6}
	if c.Thinking == "constant" {
		think = dist.Constant{Value: c.Think * 1e6}
	}
	s := e.Stream("arrivals")
	first := firstStarts(s, think, min(c.Users, n))
	k := 0
	return func() Start {
		start := Start{After: None, User: int64(k % c.Users)}
		if k < c.Users {
			start.ArrivalUs = first[k]
		} else {
			start.ArrivalUs, start.After, start.ThinkUs = None, int32(k-c.Users), int64(think.Draw(s))
		}
		k++
		return start
	}, nil
}

// firstStarts draws the users' first think times; users are numbered in the
// order in which they begin.
func firstStarts(s *rng.Stream, think dist.Drawer, users int) []int64 {
	first := make([]int64, users)
	for u := range first {
		first[u] = int64(think.Draw(s))
	}
	slices.Sort(first)
	return first
}

// Recorded replays arrival times. Whoever decodes it fills TimesUs.
type Recorded struct {
	TimesUs []int64 `yaml:"-"` // from the first on, not decreasing
}

func (r *Recorded) Starts(e *Env, n int, perSession float64) (func() Start, error) {
	if n > len(r.TimesUs) {
		return nil, fmt.Errorf("trace of arrival times has %d, expected the %d that the workload starts", len(r.TimesUs), n)
	}
	k := 0
	return func() Start {
		k++
		return Start{ArrivalUs: r.TimesUs[k-1] - r.TimesUs[0], After: None, User: None}
	}, nil
}
