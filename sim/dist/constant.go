package dist

import "switchyard/sim/rng"

// Constant is always Value. It draws nothing from the stream.
type Constant struct{ Value float64 }

func (c Constant) Draw(*rng.Stream) float64 { return c.Value }
func (c Constant) Mean() float64            { return c.Value }
func (c Constant) SD() float64              { return 0 }
