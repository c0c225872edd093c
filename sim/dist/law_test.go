package dist

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"switchyard/sim/rng"
)

func laws() []Law {
	return []Law{
		Constant{1.5},
		Exponential{2},
		Uniform{0.5, 3},
		Uniform{0, 2},
		NewLognormal(1, 1.5),
		Erlang{1, 2},
		Erlang{4, 1},
		Erlang{60, 3},
		NewHyperexponential(1, 4),
		NewMixedExponential(1, 0.05, 20),
		NewPareto(1, 5.5),
		NewBoundedPareto(1, 1.1, 50),
		NewBoundedPareto(1, 1, 50),
		NewBoundedPareto(1, 2, 50),
		NewEmpirical([]float64{3, 1, 1, 0, 7.5}),
	}
}

// A law's partial moments are those of its draws, at five standard errors, and
// agree with the mean and deviation that it claims.
func TestPartialMoments(t *testing.T) {
	const n = 200000
	for i, l := range laws() {
		t.Run(fmt.Sprintf("%T%d", l, i), func(t *testing.T) {
			s := rng.New(3, i, "laws")
			xs := make([]float64, n)
			for i := range xs {
				xs[i] = l.Draw(s)
			}
			cuts := append([]float64{l.Mean(), math.Inf(1)}, Quantile(l, 0.1), Quantile(l, 0.9))
			for _, x := range cuts {
				for k := range 3 {
					var sum, squares float64
					for _, v := range xs {
						if v <= x {
							p := power(v, k)
							sum += p
							squares += p * p
						}
					}
					mean := sum / n
					se := math.Sqrt(math.Max(0, squares/n-mean*mean) / n)
					if got := l.Partial(k, x); math.Abs(got-mean) > 5*se+1e-9 {
						t.Errorf("Partial(%d, %g) is %g, draws have %g +- %g", k, x, got, mean, se)
					}
				}
			}
			if got := l.Partial(0, math.Inf(1)); math.Abs(got-1) > 1e-12 {
				t.Errorf("Partial(0, Inf) is %g, expected 1", got)
			}
			if got := Moment(l, 1); math.Abs(got/l.Mean()-1) > 1e-12 {
				t.Errorf("first moment is %g, mean %g", got, l.Mean())
			}
			if got, want := SCV(l), l.SD()*l.SD()/l.Mean()/l.Mean(); math.Abs(got-want) > 1e-9*(1+want) {
				t.Errorf("squared coefficient of variation is %g, expected %g", got, want)
			}
		})
	}
}

func TestQuantiles(t *testing.T) {
	if got := Quantile(Exponential{2}, 0.99); math.Abs(got-2*math.Log(100)) > 1e-12 {
		t.Errorf("exponential: P99 is %g", got)
	}
	if got := Quantile(NewEmpirical([]float64{1, 2, 3, 4}), 0.5); got != 2 {
		t.Errorf("empirical: median is %g", got)
	}
	if got := Quantile(Constant{3}, 0.2); got != 3 {
		t.Errorf("constant: quantile is %g", got)
	}
	for _, l := range laws() {
		for _, p := range []float64{0.01, 0.25, 0.5, 0.999} {
			x := LoadQuantile(l, p)
			if below := math.Nextafter(x, 0); l.Partial(1, below) >= p*l.Mean() || l.Partial(1, x) < p*l.Mean() {
				t.Errorf("%T: sizes up to %g bring %g of %g, asked for %g", l, x, l.Partial(1, x), l.Mean(), p)
			}
		}
	}
}

func TestConstructorsMeetMoments(t *testing.T) {
	for _, c := range []struct {
		l         Law
		mean, scv float64
	}{
		{NewHyperexponential(3, 4), 3, 4},
		{NewHyperexponential(1, 1), 1, 1},
		{NewMixedExponential(1, 0.05, 20), 1, 10.02},
		{Erlang{4, 2}, 2, 0.25},
		{NewPareto(1, 1.5), 1, math.Inf(1)},
		{NewPareto(2, 3), 2, 1.0 / 3},
		{BoundedPareto{1.1, 1, 1e4}, 6.621085, 109.9686},
		{Lognormal{0, 1.5}, math.Exp(1.125), 8.4877},
	} {
		if math.Abs(c.l.Mean()/c.mean-1) > 1e-6 {
			t.Errorf("%T%v has mean %.7g, expected %.7g", c.l, c.l, c.l.Mean(), c.mean)
		}
		if got := SCV(c.l); got != c.scv && math.Abs(got/c.scv-1) > 2e-3 {
			t.Errorf("%T%v has squared coefficient of variation %.7g, expected %.7g", c.l, c.l, got, c.scv)
		}
	}
}

// The ziggurat's variates follow e^-x: the Kolmogorov distance of 10^6 draws
// from it stays below the value that one sample in 10,000 exceeds, and the tail
// behind the last layer is as heavy as it should be.
func TestFillExponential(t *testing.T) {
	const n = 1000000
	xs := make([]float64, n)
	FillExponential(rng.New(1, 1, "ziggurat"), xs)
	var sum, tail float64
	for _, x := range xs {
		sum += x
		if x > tailStart {
			tail++
		}
	}
	if mean := sum / n; math.Abs(mean-1) > 5/math.Sqrt(n) {
		t.Errorf("mean is %g", mean)
	}
	if want := n * math.Exp(-tailStart); math.Abs(tail-want) > 5*math.Sqrt(want) {
		t.Errorf("%g draws lie in the tail, expected %g", tail, want)
	}
	slices.Sort(xs)
	var distance float64
	for i, x := range xs {
		p := -math.Expm1(-x)
		distance = max(distance, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
	}
	if limit := 2.23 / math.Sqrt(n); distance > limit {
		t.Errorf("Kolmogorov distance is %g, limit %g", distance, limit)
	}
}

func TestFillExponentialGolden(t *testing.T) {
	xs := make([]float64, 300)
	FillExponential(rng.New(1, 1, "golden"), xs)
	got := fmt.Sprintf("%.12g %.12g %.12g %.12g", xs[0], xs[1], xs[2], xs[299])
	if want := "4.22582028937 0.0565447998394 1.65827805306 0.0506504926218"; got != want {
		t.Errorf("draws 0, 1, 2 and 299 are %s, expected %s", got, want)
	}
}

func BenchmarkFillExponential(b *testing.B) {
	xs := make([]float64, 512)
	s := rng.New(1, 1, "bench")
	for b.Loop() {
		FillExponential(s, xs)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/512, "ns/draw")
}
