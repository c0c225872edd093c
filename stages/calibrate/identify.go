package calibrate

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"switchyard/sim/cluster"
)

// curve is what the data say about coefficients near a fit.
type curve struct {
	singular []float64 // of the Jacobian by the coefficients' relative change, in units of the noise, falling
	weakest  []float64 // direction in which the data say least
	alone    []float64 // relative change of each that the data notice, the others fixed
	together []float64 // the same, with the others compensating as well as they can
}

// faint is a singular value below which the data say nothing: a change of ten
// times the coefficient would not be noticed.
const faint = 0.1

// identify returns the curvature of the summary at a fit. A change is noticed
// when it moves the summary by its noise, for which what the fit leaves of it is
// taken.
//
// Differences of plays hold chance, and the product of a difference with itself
// would take that for slope. Products are therefore of derivatives over one half
// of the echoes with those over the other half.
func identify(fit fitted, runs []*recording) (*curve, error) {
	sim := new(cluster.Sim)
	g := newGroups(data{runs, -1})
	one := make([]float64, len(fit.x))
	for i := range one {
		one[i] = 1
	}
	var j [2]*mat.Dense
	noise := 0.0
	width := make([]float64, len(one))
	for i := range width {
		width[i] = firstWidth
	}
	for k := range j {
		relative := func(x []float64) ([]float64, error) { // by relative changes
			at := make([]float64, len(x))
			for i := range at {
				at[i] = max(least, fit.x[i]*x[i])
			}
			simulated, err := simulateEchoes(sim, fit.form, at, runs, k*moreEchoes/2, (k+1)*moreEchoes/2)
			if err != nil {
				return nil, err
			}
			return g.residuals(simulated), nil
		}
		r, err := relative(one)
		if err != nil {
			return nil, err
		}
		for _, v := range r {
			noise += v * v / float64(2*len(r))
		}
		for range 2 { // for good widths
			if j[k], err = jacobian(relative, one, width); err != nil {
				return nil, err
			}
			if k == 1 {
				break
			}
			width = widths(j[k])
		}
	}
	var product mat.Dense
	product.Mul(j[0].T(), j[1])
	n := len(one)
	normal := mat.NewSymDense(n, nil)
	for a := range n {
		for b := a; b < n; b++ {
			normal.SetSym(a, b, (product.At(a, b)+product.At(b, a))/2/max(noise, 1e-12)/kinds)
		}
	}
	return newCurve(normal), nil
}

// newCurve reads the product of a Jacobian with itself, for residuals with a
// deviation of one.
func newCurve(normal *mat.SymDense) *curve {
	n := normal.SymmetricDim()
	c := &curve{alone: make([]float64, n), together: make([]float64, n), weakest: make([]float64, n), singular: make([]float64, n)}
	var e mat.EigenSym
	if !e.Factorize(normal, true) {
		return c
	}
	var v mat.Dense
	e.VectorsTo(&v)
	for k, value := range e.Values(nil) { // rising
		c.singular[n-1-k] = math.Sqrt(max(0, value))
	}
	for i := range n {
		c.alone[i] = 1 / max(faint, math.Sqrt(max(0, normal.At(i, i))))
		for k := range n {
			s := max(faint, c.singular[n-1-k])
			c.together[i] += v.At(i, k) * v.At(i, k) / (s * s)
		}
		c.together[i] = math.Sqrt(c.together[i])
		c.weakest[i] = v.At(i, 0)
	}
	return c
}
