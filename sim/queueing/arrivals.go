package queueing

import (
	"math"

	"switchyard/sim/dist"
	"switchyard/sim/param"
	"switchyard/sim/rng"
)

// Arrivals is an arrival process: a pointer to one of the structs that
// Processes lists. Its mean gap is set by the load.
type Arrivals interface {
	// gaps returns a function that overwrites its argument with the next gaps,
	// in units of the mean gap; the first is that from time 0.
	gaps(s *rng.Stream) func(xs []float64)
}

// Process is an arrival process by name.
type Process struct {
	Name, Summary, Source string
	New                   func() Arrivals
}

// Processes lists the arrival processes.
func Processes() []Process {
	return []Process{
		{"poisson", "independent exponential gaps", "textbook", func() Arrivals { return new(Poisson) }},
		{"deterministic", "equal gaps", "textbook", func() Arrivals { return new(Deterministic) }},
		{"gamma", "independent gamma gaps, burstier or smoother than Poisson's", "textbook", func() Arrivals { return new(GammaGaps) }},
		{"times", "a given list of arrival times", "the list", func() Arrivals { return new(Times) }},
	}
}

// FindProcess returns the arrival process of that name.
func FindProcess(name string) (Process, bool) { return find(Processes(), name) }

// Poisson is the Poisson process.
type Poisson struct{}

func (*Poisson) gaps(s *rng.Stream) func([]float64) {
	return func(xs []float64) { dist.FillExponential(s, xs) }
}

// Deterministic has equal gaps.
type Deterministic struct{}

func (*Deterministic) gaps(*rng.Stream) func([]float64) {
	return func(xs []float64) {
		for i := range xs {
			xs[i] = 1
		}
	}
}

// GammaGaps has independent gamma gaps: with a coefficient of variation c
// their shape is 1/c^2.
type GammaGaps struct {
	Burstiness float64 `yaml:"burstiness" default:"2" min:"0.01" max:"100" doc:"coefficient of variation of the gaps; 1 is as bursty as Poisson"`
}

func (g *GammaGaps) gaps(s *rng.Stream) func([]float64) {
	law := dist.NewGamma(1, g.Burstiness)
	return func(xs []float64) {
		for i := range xs {
			xs[i] = law.Draw(s)
		}
	}
}

// Times are given. The first request arrives at time 0, and a list of several
// starts the run with its first times.
type Times struct {
	Values   []float64 `yaml:"times" required:"true" doc:"arrival times, at least two, in order; only their differences matter"`
	KeepRate bool      `yaml:"keep_rate" doc:"true: the times are in the unit of the sizes and stay as they are; false: they are scaled so that their mean gap gives the load"`
}

// Check implements the check of sim/param.
func (t *Times) Check() error {
	for i, v := range t.Values {
		if math.IsNaN(v) || math.IsInf(v, 0) || i > 0 && v < t.Values[i-1] {
			return &param.Error{Field: "times", Value: param.Format(v), Expected: "finite times in order"}
		}
	}
	if len(t.Values) < 2 || t.meanGap() <= 0 {
		return &param.Error{Field: "times", Expected: "at least two times, not all equal"}
	}
	return nil
}

func (t *Times) meanGap() float64 {
	last := len(t.Values) - 1
	return (t.Values[last] - t.Values[0]) / float64(last)
}

func (t *Times) gaps(*rng.Stream) func([]float64) {
	next, mean := 0, t.meanGap()
	return func(xs []float64) {
		for i := range xs {
			if xs[i] = 0; next > 0 {
				xs[i] = (t.Values[next] - t.Values[next-1]) / mean
			}
			next++
		}
	}
}

// find returns the entry of that name from one of the package's tables.
func find[E interface{ name() string }](table []E, name string) (found E, ok bool) {
	for _, e := range table {
		if e.name() == name {
			return e, true
		}
	}
	return found, false
}

func (p Process) name() string { return p.Name }
