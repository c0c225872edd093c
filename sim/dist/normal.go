package dist

import "switchyard/sim/rng"

// Normal is the normal distribution with mean Mu and standard deviation Sigma.
type Normal struct{ Mu, Sigma float64 }

func (n Normal) Draw(s *rng.Stream) float64 { return n.Mu + float64(n.Sigma*s.Normal()) }
func (n Normal) Mean() float64              { return n.Mu }
func (n Normal) SD() float64                { return n.Sigma }
