package dist

import "switchyard/sim/rng"

// Exponential has the density e^(-x/m)/m for x >= 0 with m = MeanValue; its
// standard deviation is its mean.
type Exponential struct{ MeanValue float64 }

func (e Exponential) Draw(s *rng.Stream) float64 { return e.MeanValue * s.Exp() }
func (e Exponential) Mean() float64              { return e.MeanValue }
func (e Exponential) SD() float64                { return e.MeanValue }
