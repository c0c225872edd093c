package calibrate

import (
	"context"

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
		return g.residuals(simulated), nil
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
