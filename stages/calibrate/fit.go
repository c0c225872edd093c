package calibrate

import (
	"context"
	"math"

	"switchyard/sim/cluster"
)

// fitted is where a search ended.
type fitted struct {
	form *form
	x    []float64
	loss float64
}

// Steps of a search: of one that begins with what the hardware suggests, and of
// one that begins near its end.
const (
	fromAfar = 18
	fromNear = 6
)

// fit looks for the coefficients with the least summary, from a point on. What
// it ends with is judged by the loss.
func fit(ctx context.Context, f *form, d data, from []float64, steps int) (fitted, error) {
	sim := new(cluster.Sim)
	g := newGroups(d)
	best := fitted{form: f}
	var err error
	best.x, err = descend(func(x []float64) ([]float64, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		simulated, err := simulateEchoes(sim, f, x, d.runs, 0, echoes)
		if err != nil {
			return nil, err
		}
		return append(g.residuals(simulated), prior(x)...), nil
	}, from, steps)
	if err != nil {
		return best, err
	}
	simulated, err := simulateEchoes(sim, f, best.x, d.runs, 0, echoes)
	if err != nil {
		return best, err
	}
	best.loss = d.loss(simulated)
	return best, nil
}

// doubt is the deviation that a coefficient is believed to have, in shares of
// what is suggested for it, before anything is known.
const doubt = 0.5

// prior returns residuals that hold a coefficient near what is suggested for it.
// They are of no consequence where the data say anything: in units in which
// groups of requests are off by about one, there are hundreds of those.
func prior(x []float64) []float64 {
	all := make([]float64, len(x))
	for i, v := range x {
		all[i] = (v - 1) / doubt * math.Sqrt(kinds)
	}
	return all
}
