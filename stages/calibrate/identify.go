package calibrate

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"switchyard/sim/cluster"
)

// curve is what the data say about coefficients near a fit.
type curve struct {
	singular []float64 // of the Jacobian by coefficients' logarithms, in units of the noise, falling
	weakest  []float64 // direction in which the data say least
	alone    []float64 // relative change of each that the data notice, the others fixed
	together []float64 // the same, with the others compensating as well as they can
}

// Identification compares means over parts of the recordings, of log TTFT and
// log E2E, rather than requests: these jump where a request just misses a step.
// Coefficients move by this share for the derivative, and a change is noticed
// when it moves the means by their noise.
const nudge = 0.1

// identify returns the curvature at a fit.
func identify(fit fitted, runs []*recording) (*curve, error) {
	sim := new(cluster.Sim)
	n := len(fit.x)
	at, err := blockMeans(sim, fit, fit.x, runs)
	if err != nil {
		return nil, err
	}
	noise := [2]float64{}
	rows := len(at) / 2
	for k := range noise { // of TTFT and of E2E, how far the fit is off
		for i := range rows {
			d := at[2*i+k]
			noise[k] += d * d / float64(rows)
		}
		noise[k] = math.Sqrt(max(noise[k], 1e-8))
	}
	j := mat.NewDense(len(at), n, nil)
	for c := range n {
		up, down := append([]float64(nil), fit.x...), append([]float64(nil), fit.x...)
		up[c] += nudge
		down[c] -= nudge
		a, err := blockMeans(sim, fit, up, runs)
		if err != nil {
			return nil, err
		}
		b, err := blockMeans(sim, fit, down, runs)
		if err != nil {
			return nil, err
		}
		for i := range a {
			j.Set(i, c, (a[i]-b[i])/(2*nudge)/noise[i%2])
		}
	}
	return newCurve(j), nil
}

// blockMeans returns, by part of each recording, the mean of log TTFT and of log
// E2E over what was measured.
func blockMeans(sim *cluster.Sim, fit fitted, x []float64, runs []*recording) ([]float64, error) {
	simulated, err := simulateAll(sim, fit.form, x, runs)
	if err != nil {
		return nil, err
	}
	var means []float64
	for k, r := range runs {
		sums := make([]float64, 2*folds)
		var counts [folds]float64
		for i := range r.measured.ttft {
			p := r.part(i)
			counts[p]++
			sums[2*p] += math.Log(simulated[k].ttft[i] / r.measured.ttft[i])
			sums[2*p+1] += math.Log(simulated[k].e2e[i] / r.measured.e2e[i])
		}
		for i := range sums {
			sums[i] /= max(1, counts[i/2])
		}
		means = append(means, sums...)
	}
	return means, nil
}

// newCurve reads a Jacobian, whose residuals have a deviation of one.
func newCurve(j *mat.Dense) *curve {
	_, n := j.Dims()
	c := &curve{alone: make([]float64, n), together: make([]float64, n), weakest: make([]float64, n)}
	var svd mat.SVD
	if !svd.Factorize(j, mat.SVDThin) {
		return c
	}
	c.singular = svd.Values(nil)
	var v mat.Dense
	svd.VTo(&v)
	for i := range n {
		column := mat.Col(nil, i, j)
		c.alone[i] = 1 / mat.Norm(mat.NewVecDense(len(column), column), 2)
		for k, s := range c.singular {
			c.together[i] += v.At(i, k) * v.At(i, k) / (s * s)
		}
		c.together[i] = math.Sqrt(c.together[i])
		c.weakest[i] = v.At(i, len(c.singular)-1)
	}
	return c
}
