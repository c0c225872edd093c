package cascade

import "math"

// logistic is a logistic regression of a target y in [0, 1] on encoded
// questions,
//
//	p = 1 / (1 + exp(-(w0 + sum w_f x_f + sum v_label)))
//
// fitted to the least cross-entropy plus ridge/2 times the squared weights
// (all but w0) by Newton's method. The loss is strictly convex, so the fit is a
// function of the data alone. A question with an unknown label gets no v, which
// the ridge makes that of an average label.
type logistic struct{ w []float64 } // w0, numbers, labels

// newtonSteps bounds the iterations; some ten do.
const newtonSteps = 50

func fitLogistic(c *coded, labels int, y []float64, ridge float64) *logistic {
	d := 1 + c.width + labels
	l := &logistic{w: make([]float64, d)}
	grad, hess, next := make([]float64, d), make([]float64, d*d), &logistic{w: make([]float64, d)}
	loss := l.loss(c, y, ridge)
	for range newtonSteps {
		l.derive(c, y, ridge, grad, hess)
		if !solve(hess, grad) {
			break
		}
		scale, better := 1.0, false
		for range 30 { // halve a step that overshoots
			for i := range next.w {
				next.w[i] = l.w[i] - float64(scale*grad[i])
			}
			if now := next.loss(c, y, ridge); now < loss {
				better = loss-now > 1e-10*(1+loss)
				loss = now
				l.w, next.w = next.w, l.w
				break
			}
			scale /= 2
		}
		if !better {
			break
		}
	}
	return l
}

// linear is the log-odds of a question.
func (l *logistic) linear(c *coded, q int) float64 {
	z := l.w[0]
	for f, x := range c.x[q*c.width : (q+1)*c.width] {
		z += float64(l.w[1+f] * x)
	}
	for _, label := range c.label[q*c.groups : (q+1)*c.groups] {
		if label >= 0 {
			z += l.w[1+c.width+int(label)]
		}
	}
	return z
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

func (l *logistic) loss(c *coded, y []float64, ridge float64) float64 {
	sum := 0.0
	for q := range c.n {
		z := l.linear(c, q)
		// ln(1+e^z) - y z, without overflow
		sum += max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) - float64(y[q]*z)
	}
	for _, w := range l.w[1:] {
		sum += float64(ridge / 2 * w * w)
	}
	return sum
}

// derive fills gradient and lower half of the Hessian. Of the labels only the
// question's own are not 0.
func (l *logistic) derive(c *coded, y []float64, ridge float64, grad, hess []float64) {
	d := len(l.w)
	clear(grad)
	clear(hess)
	at, value := make([]int, 0, 1+c.width+c.groups), make([]float64, 0, 1+c.width+c.groups)
	for q := range c.n {
		at, value = append(at[:0], 0), append(value[:0], 1)
		for f, x := range c.x[q*c.width : (q+1)*c.width] {
			at, value = append(at, 1+f), append(value, x)
		}
		for _, label := range c.label[q*c.groups : (q+1)*c.groups] {
			if label >= 0 {
				at, value = append(at, 1+c.width+int(label)), append(value, 1)
			}
		}
		p := sigmoid(l.linear(c, q))
		slope := p * (1 - p)
		for i, a := range at {
			grad[a] += float64((p - y[q]) * value[i])
			scaled := slope * value[i]
			for j, b := range at[:i+1] {
				hess[a*d+b] += float64(scaled * value[j])
			}
		}
	}
	for i := 1; i < d; i++ {
		grad[i] += float64(ridge * l.w[i])
		hess[i*d+i] += ridge
	}
	hess[0] += 1e-9 // where all targets are 0 or 1 the slope vanishes
}

// solve puts the solution of a x = b into b, by Cholesky's factors of the
// symmetric matrix whose lower half a holds; false where it is not positive.
func solve(a, b []float64) bool {
	n := len(b)
	for i := range n {
		for j := range i + 1 {
			s := a[i*n+j]
			for k := range j {
				s -= float64(a[i*n+k] * a[j*n+k])
			}
			if i > j {
				a[i*n+j] = s / a[j*n+j]
			} else if s > 0 {
				a[i*n+i] = math.Sqrt(s)
			} else {
				return false
			}
		}
	}
	for i := range n {
		for k := range i {
			b[i] -= float64(a[i*n+k] * b[k])
		}
		b[i] /= a[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			b[i] -= float64(a[k*n+i] * b[k])
		}
		b[i] /= a[i*n+i]
	}
	return true
}
