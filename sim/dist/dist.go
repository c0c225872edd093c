// Package dist holds the distributions that workloads and services are drawn
// from, one a file.
//
// A distribution is a small struct of its parameters; a draw takes the stream
// as its argument, so that one distribution serves any number of streams. All
// transforms are written here, on top of rng.Stream, so that a draw is a
// function of the stream and the parameters alone and the same everywhere.
//
// Draws by inversion (all but Normal, Lognormal, Gamma, Erlang and
// Hyperexponential) take one uniform and grow with it, so that two settings of
// a parameter that share their uniforms are as alike as they can be. Normal,
// Lognormal and Hyperexponential take two uniforms a draw, Erlang one a stage.
// Gamma rejects and takes as many as it needs, which no other stream notices.
//
// A Law also knows its partial moments, for the theory of queues.
//
//	prompt := dist.NewLognormal(1835, 742)
//	x := prompt.Draw(rng.New(1, 1, "lengths"))
package dist

import "switchyard/sim/rng"

// Dist is a distribution of real numbers.
type Dist interface {
	Draw(s *rng.Stream) float64
	Mean() float64
	SD() float64
}
