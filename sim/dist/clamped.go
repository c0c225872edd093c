package dist

import (
	"math"

	"switchyard/sim/rng"
)

// Clamped is Of with what lies outside [Min, Max] moved to the nearer bound.
// It draws what Of draws, so a bound that moves disturbs no other number; its
// moments are those of Of only where the bounds are out of reach, which is
// why it does not claim any.
type Clamped struct {
	Of       Drawer
	Min, Max float64
}

// Drawer is a distribution whose moments are not asked for.
type Drawer interface {
	Draw(s *rng.Stream) float64
}

func (c Clamped) Draw(s *rng.Stream) float64 {
	return math.Min(math.Max(c.Of.Draw(s), c.Min), c.Max)
}

// Tokens draws a number of tokens: the nearest integer, between least and
// 2^31-1.
func Tokens(d Drawer, s *rng.Stream, least int32) int32 { return Whole(d.Draw(s), least) }

// Whole rounds to the nearest integer between least and 2^31-1.
func Whole(x float64, least int32) int32 {
	x = math.RoundToEven(x)
	if x <= float64(least) {
		return least
	}
	return int32(math.Min(x, math.MaxInt32))
}
