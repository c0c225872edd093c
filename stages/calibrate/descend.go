package calibrate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"switchyard/stages/stats"
)

// Derivatives are differences: wide enough that the change stands out from the
// chance in it, and no wider, since latencies bend. A coefficient moves by so
// much that residuals change by about visible, within bounds in units of where
// the search started.
const (
	firstWidth = 0.1
	leastWidth = 0.01
	mostWidth  = 0.3
	visible    = 8.0
)

// widths returns how far coefficients move for the derivatives after those that
// are known.
func widths(j *mat.Dense) []float64 {
	rows, n := j.Dims()
	w := make([]float64, n)
	for c := range w {
		size := mat.Norm(j.ColView(c), 2) / math.Sqrt(float64(rows))
		w[c] = min(max(visible/max(size, 1e-9), leastWidth), mostWidth)
	}
	return w
}

// A descent ends when so many steps in a row have not gained this share.
const (
	patience = 2
	gain     = 0.005
)

// evaluator returns the residuals at a point.
type evaluator func(x []float64) ([]float64, error)

// descend goes downhill from x by Gauss and Newton's steps, damped after
// Levenberg and Marquardt, for residuals whose large ones count by their size
// and not its square (Huber, 1964). It returns the best point that it has come
// to.
func descend(at evaluator, x []float64, most int) ([]float64, error) {
	r, err := at(x)
	if err != nil {
		return x, err
	}
	damping, idle := 0.01, 0
	width := make([]float64, len(x))
	for c := range width {
		width[c] = firstWidth
	}
	for i := 0; i < most && idle < patience; i++ {
		j, err := jacobian(at, x, width)
		if err != nil {
			return x, err
		}
		width = widths(j)
		bound := 3 * typical(r)
		before := huber(r, bound)
		normal, right := normalEquations(j, r, bound)
		idle++
		for range 6 {
			next, ok := newtonStep(normal, right, x, damping)
			if !ok {
				break
			}
			nr, err := at(next)
			if err != nil {
				return x, err
			}
			if after := huber(nr, bound); after < before {
				if after < before*(1-gain) {
					idle = 0
				}
				x, r = next, nr
				damping = max(damping/4, 1e-4)
				break
			}
			damping *= 6
		}
	}
	return x, nil
}

// jacobian returns the derivatives by central differences of these widths; no
// coefficient goes below its least.
func jacobian(at evaluator, x, width []float64) (*mat.Dense, error) {
	var j *mat.Dense
	for c := range x {
		up, down := slices.Clone(x), slices.Clone(x)
		up[c] += width[c]
		down[c] = max(least, down[c]-width[c])
		a, err := at(up)
		if err != nil {
			return nil, err
		}
		b, err := at(down)
		if err != nil {
			return nil, err
		}
		if j == nil {
			j = mat.NewDense(len(a), len(x), nil)
		}
		for i := range a {
			j.Set(i, c, (a[i]-b[i])/(up[c]-down[c]))
		}
	}
	return j, nil
}

// normalEquations returns the matrix and the right side that give the step.
func normalEquations(j *mat.Dense, r []float64, bound float64) (*mat.SymDense, *mat.VecDense) {
	_, n := j.Dims()
	normal, right := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i, v := range r {
		weight := min(1, bound/max(math.Abs(v), 1e-300))
		for a := range n {
			right.SetVec(a, right.AtVec(a)-weight*j.At(i, a)*v)
			for b := a; b < n; b++ {
				normal.SetSym(a, b, normal.At(a, b)+weight*j.At(i, a)*j.At(i, b))
			}
		}
	}
	return normal, right
}

// typical returns the median of the residuals' sizes.
func typical(r []float64) float64 {
	size := make([]float64, len(r))
	for i, v := range r {
		size[i] = math.Abs(v)
	}
	return max(1e-9, stats.Median(size))
}

// huber returns the mean of squares of residuals, beyond the bound of the
// tangents there.
func huber(r []float64, bound float64) float64 {
	sum := 0.0
	for _, v := range r {
		if v = math.Abs(v); v <= bound {
			sum += v * v
		} else {
			sum += bound * (2*v - bound)
		}
	}
	return sum / float64(max(1, len(r)))
}

// newtonStep returns x moved by the damped step.
func newtonStep(normal *mat.SymDense, right *mat.VecDense, x []float64, damping float64) ([]float64, bool) {
	n := len(x)
	damped := mat.NewSymDense(n, nil)
	damped.CopySym(normal)
	for a := range n {
		damped.SetSym(a, a, normal.At(a, a)*(1+damping)+1e-9)
	}
	var c mat.Cholesky
	if !c.Factorize(damped) {
		return nil, false
	}
	var step mat.VecDense
	if c.SolveVecTo(&step, right) != nil {
		return nil, false
	}
	next := slices.Clone(x)
	for a := range n {
		next[a] = max(least, next[a]+step.AtVec(a))
	}
	return next, true
}
