package calibrate

import (
	"context"
	"math"

	"gonum.org/v1/gonum/optimize"

	"switchyard/sim/cluster"
)

// fitted is where a search ended.
type fitted struct {
	form *form
	x    []float64
	loss float64
}

// effort bounds a search.
type effort struct {
	restarts    int
	evaluations int // of the loss, a start
	size        float64
}

// thorough is what a result is searched with, and brief what it is compared
// with: choices, and fits that begin near their end.
var (
	thorough = effort{restarts: 3, evaluations: 220, size: 0.25}
	brief    = effort{restarts: 1, evaluations: 120, size: 0.08}
)

// fit looks for the coefficients with the least loss, from a point on. The loss
// is no smooth function, since a request that just misses a step waits for
// another, so that nothing takes its derivative: the search is Nelder and
// Mead's, begun anew from where it ended until that helps no more.
func fit(ctx context.Context, f *form, d data, from []float64, e effort) (fitted, error) {
	sim := new(cluster.Sim)
	var failed error
	problem := optimize.Problem{Func: func(x []float64) float64 {
		if failed != nil || ctx.Err() != nil {
			return math.Inf(1)
		}
		simulated, err := simulateAll(sim, f, x, d.runs)
		if err != nil {
			failed = err
			return math.Inf(1)
		}
		beyond := 0.0 // keeps the simplex where coefficients are
		for _, v := range x {
			beyond += max(0, math.Abs(v)-4.5)
		}
		return d.loss(simulated) + beyond
	}}
	best := fitted{form: f, x: from, loss: problem.Func(from)}
	size := e.size
	for range e.restarts {
		result, err := optimize.Minimize(problem, best.x, &optimize.Settings{
			FuncEvaluations: e.evaluations,
			Converger:       &optimize.FunctionConverge{Absolute: 1e-3, Iterations: 60},
		}, &optimize.NelderMead{SimplexSize: size})
		if ctx.Err() != nil {
			return best, ctx.Err()
		}
		if failed != nil {
			return best, failed
		}
		if err != nil && result == nil {
			return best, err
		}
		gain := best.loss - result.F
		if result.F < best.loss {
			best.x, best.loss = result.X, result.F
		}
		if gain < 0.002*best.loss {
			break
		}
		size = max(size/2, 0.05)
	}
	return best, nil
}
