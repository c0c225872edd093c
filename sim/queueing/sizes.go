package queueing

import (
	"math"

	"switchyard/sim/dist"
	"switchyard/sim/param"
)

// Sizes are the sizes of requests: a pointer to one of the structs that
// SizeLaws lists. A size is the time that a server of speed 1 works on it.
type Sizes interface {
	Law() dist.Law
}

// SizeLaw is a law of sizes by name.
type SizeLaw struct {
	Name, Summary, Source string
	New                   func() Sizes
}

// SizeLaws lists the laws of sizes. All have the mean that their parameter
// says, one by default; C2 is the squared coefficient of variation.
func SizeLaws() []SizeLaw {
	return []SizeLaw{
		{"exponential", "C2 = 1, memoryless", "textbook", func() Sizes { return new(ExponentialSizes) }},
		{"deterministic", "all equal, C2 = 0", "textbook", func() Sizes { return new(DeterministicSizes) }},
		{"uniform", "equally likely between two bounds", "textbook", func() Sizes { return new(UniformSizes) }},
		{"lognormal", "the logarithm is normal", "textbook", func() Sizes { return new(LognormalSizes) }},
		{"pareto", "a power tail without end; infinite variance for alpha <= 2", "textbook", func() Sizes { return new(ParetoSizes) }},
		{"bounded-pareto", "a power law between two bounds", "Harchol-Balter, Crovella and Murta, 1999, On Choosing a Task Assignment Policy", func() Sizes { return new(BoundedParetoSizes) }},
		{"hyperexponential", "a mixture of two exponentials, C2 >= 1", "textbook", func() Sizes { return new(HyperexponentialSizes) }},
		{"erlang", "a sum of exponential stages, C2 = 1/stages", "textbook", func() Sizes { return new(ErlangSizes) }},
		{"empirical", "one of given values at random, or the given values in order", "the values", func() Sizes { return new(EmpiricalSizes) }},
	}
}

// FindSizeLaw returns the law of that name.
func FindSizeLaw(name string) (SizeLaw, bool) { return find(SizeLaws(), name) }

func (l SizeLaw) name() string { return l.Name }

// Scale is the parameter that all laws have in common.
type Scale struct {
	Mean float64 `yaml:"mean" default:"1" min:"0.000000001" max:"1000000000" doc:"mean size, in the unit of time"`
}

// ExponentialSizes are exponential.
type ExponentialSizes struct{ Scale }

func (e *ExponentialSizes) Law() dist.Law { return dist.Exponential{MeanValue: e.Mean} }

// DeterministicSizes are all equal.
type DeterministicSizes struct{ Scale }

func (d *DeterministicSizes) Law() dist.Law { return dist.Constant{Value: d.Mean} }

// UniformSizes are uniform around the mean.
type UniformSizes struct {
	Scale
	Spread float64 `yaml:"spread" default:"1" min:"0.000001" max:"1" doc:"half of the width over the mean: sizes from mean(1-spread) to mean(1+spread); C2 = spread^2/3"`
}

func (u *UniformSizes) Law() dist.Law {
	return dist.Uniform{Min: u.Mean * (1 - u.Spread), Max: u.Mean * (1 + u.Spread)}
}

// LognormalSizes are lognormal.
type LognormalSizes struct {
	Scale
	C2    float64 `yaml:"c2" default:"4" min:"0.000001" max:"1000000" doc:"squared coefficient of variation, exp(sigma^2) - 1"`
	Sigma float64 `yaml:"sigma" default:"0" min:"0" max:"4" doc:"deviation of the logarithm; where it is not 0 it takes the place of c2"`
}

func (l *LognormalSizes) Law() dist.Law {
	if l.Sigma > 0 {
		return dist.LognormalOf(l.Mean, l.Sigma)
	}
	return dist.NewLognormal(l.Mean, l.Mean*math.Sqrt(l.C2))
}

// ParetoSizes have Pareto's tail.
type ParetoSizes struct {
	Scale
	Alpha float64 `yaml:"alpha" default:"1.5" min:"1.05" max:"100" doc:"exponent of the tail P(S > x) ~ x^-alpha"`
}

func (p *ParetoSizes) Law() dist.Law { return dist.NewPareto(p.Mean, p.Alpha) }

// BoundedParetoSizes have Pareto's body between two bounds.
type BoundedParetoSizes struct {
	Scale
	Alpha float64 `yaml:"alpha" default:"1.5" min:"0.05" max:"100" doc:"exponent of the tail between the bounds"`
	Ratio float64 `yaml:"ratio" default:"1000" min:"1.001" max:"1000000000" doc:"largest size over least"`
}

func (b *BoundedParetoSizes) Law() dist.Law { return dist.NewBoundedPareto(b.Mean, b.Alpha, b.Ratio) }

// HyperexponentialSizes are a mixture of two exponentials.
type HyperexponentialSizes struct {
	Scale
	C2    float64 `yaml:"c2" default:"4" min:"1" max:"1000000" doc:"squared coefficient of variation; both branches bring half of the work"`
	Share float64 `yaml:"share" default:"0" min:"0" max:"1" doc:"share of long requests; where it is not 0, share and ratio take the place of c2"`
	Ratio float64 `yaml:"ratio" default:"20" min:"0.000001" max:"1000000" doc:"with share: the long branch's mean over the short one's"`
}

func (h *HyperexponentialSizes) Law() dist.Law {
	if h.Share > 0 {
		return dist.NewMixedExponential(h.Mean, h.Share, h.Ratio)
	}
	return dist.NewHyperexponential(h.Mean, h.C2)
}

// ErlangSizes are sums of exponential stages.
type ErlangSizes struct {
	Scale
	Stages int `yaml:"stages" default:"2" min:"1" max:"10000" doc:"number of stages; C2 = 1/stages"`
}

func (e *ErlangSizes) Law() dist.Law { return dist.Erlang{Stages: e.Stages, MeanValue: e.Mean} }

// EmpiricalSizes are given.
type EmpiricalSizes struct {
	Mean    float64   `yaml:"mean" default:"1" min:"0" max:"1000000000" doc:"mean to which the values are scaled; 0 leaves them as they are"`
	Values  []float64 `yaml:"values" required:"true" min:"0" doc:"sizes, not all 0"`
	InOrder bool      `yaml:"in_order" doc:"true: the k-th request has the k-th value, as in a trace; false: each has one at random"`
}

// Check implements the check of sim/param.
func (e *EmpiricalSizes) Check() error {
	var sum float64
	for _, v := range e.Values {
		sum += v
	}
	if !(sum > 0) || sum > 1e300 {
		return &param.Error{Field: "values", Expected: "sizes with a positive mean"}
	}
	return nil
}

func (e *EmpiricalSizes) Law() dist.Law { return dist.NewEmpirical(e.scaled()) }

// scaled returns the values in order, scaled to the mean.
func (e *EmpiricalSizes) scaled() []float64 {
	var sum float64
	for _, v := range e.Values {
		sum += v
	}
	factor := 1.0
	if e.Mean > 0 {
		factor = e.Mean * float64(len(e.Values)) / sum
	}
	out := make([]float64, len(e.Values))
	for i, v := range e.Values {
		out[i] = factor * v
	}
	return out
}

// Reciprocal says whether E[1/S] is finite over sizes above 0. It is not where
// a law has a positive density at 0, as exponentials have, and a request that
// waits then has no mean slowdown.
func Reciprocal(s Sizes) bool {
	switch law := s.Law().(type) {
	case dist.Exponential, dist.Hyperexponential:
		return false
	case dist.Erlang:
		return law.Stages > 1
	case dist.Uniform:
		return law.Min > 0
	}
	return true
}
