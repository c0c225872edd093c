package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// near fails unless got is within a relative (or, near zero, absolute)
// tolerance of want.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(want) != math.IsNaN(got) || math.Abs(got-want) > tolerance*max(1, math.Abs(want)) {
		t.Errorf("%s = %.12g, expected %.12g", what, got, want)
	}
}

func normals(r *rand.Rand, n int, mean, sd float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = mean + sd*r.NormFloat64()
	}
	return x
}

// Student's table as printed in textbooks.
func TestTQuantileAgainstTheTable(t *testing.T) {
	for _, row := range []struct{ q, nu, want float64 }{
		{0.975, 1, 12.706}, {0.975, 2, 4.303}, {0.975, 4, 2.776}, {0.975, 9, 2.262},
		{0.975, 29, 2.045}, {0.95, 1, 6.314}, {0.95, 9, 1.833}, {0.995, 4, 4.604}, {0.975, 1000, 1.962},
	} {
		if got := TQuantile(row.q, row.nu); math.Abs(got-row.want) > 0.0006 {
			t.Errorf("t(%v, %v) = %v, expected %v", row.q, row.nu, got, row.want)
		}
	}
	// Two degrees of freedom have a closed form.
	for _, q := range []float64{0.6, 0.9, 0.975, 0.9999} {
		near(t, "t with nu = 2", TQuantile(q, 2), (2*q-1)*math.Sqrt(2/(4*q*(1-q))), 1e-9)
	}
}

// NumAcc4 of NIST's Statistical Reference Datasets: 1,001 values around 10^7
// with a standard deviation of exactly 0.1.
func TestMeanAndVarianceOfNumAcc4(t *testing.T) {
	x := []float64{10000000.2}
	for range 500 {
		x = append(x, 10000000.1, 10000000.3)
	}
	near(t, "mean", Mean(x), 10000000.2, 1e-15)
	near(t, "sd", math.Sqrt(Variance(x)), 0.1, 1e-8)
}

func TestMeanOfEqualValuesIsTheValue(t *testing.T) {
	for _, v := range []float64{0.1, 1.0 / 3, 1e-300, 123456.789} {
		for n := 1; n < 40; n++ {
			x := make([]float64, n)
			for i := range x {
				x[i] = v
			}
			if got := Mean(x); got != v {
				t.Fatalf("mean of %d times %v = %v", n, v, got)
			}
		}
	}
}

func TestIntervalOfTheDocExample(t *testing.T) {
	mean, in := Interval([]float64{9.8, 10.4, 10.1, 9.9, 10.6}, 0.95)
	near(t, "mean", mean, 10.16, 1e-12)
	near(t, "lo", in.Lo, 9.74261, 1e-4)
	near(t, "hi", in.Hi, 10.57739, 1e-4)
}

func TestOneValueHasNoInterval(t *testing.T) {
	mean, in := Interval([]float64{3}, 0.95)
	if mean != 3 || in.Exists() {
		t.Errorf("got %v %v, expected mean 3 and no interval", mean, in)
	}
	if !math.IsNaN(LowerBound([]float64{3}, 0.95)) {
		t.Error("one value has a lower bound, expected NaN")
	}
	if m, _ := Interval(nil, 0.95); !math.IsNaN(m) {
		t.Errorf("mean of nothing is %v, expected NaN", m)
	}
}

func TestQuantileIsType7(t *testing.T) {
	x := []float64{7, 1, 10, 2, 5, 3, 9, 4, 8, 6}
	for _, row := range []struct{ q, want float64 }{ // numpy.quantile(range(1, 11), q)
		{0, 1}, {0.25, 3.25}, {0.5, 5.5}, {0.9, 9.1}, {0.99, 9.91}, {1, 10},
	} {
		near(t, "quantile", Quantile(x, row.q), row.want, 1e-14)
	}
	if x[0] != 7 {
		t.Error("Quantile sorted its argument")
	}
	if !math.IsNaN(Quantile(nil, 0.5)) || !math.IsNaN(Quantile([]float64{1, math.NaN()}, 0.5)) {
		t.Error("a quantile of nothing or of NaN is a number, expected NaN")
	}
	if got := Quantile([]float64{math.Inf(1), math.Inf(1)}, 0.5); !math.IsInf(got, 1) {
		t.Errorf("median of infinities is %v", got)
	}
}

// Student's own sleep data (1908) as R's t.test(paired = TRUE) prints it.
func TestPairedOnStudentsSleepData(t *testing.T) {
	a := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	b := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	d := Paired(a, b, 0.95)
	near(t, "mean", d.Mean, -1.58, 1e-12)
	near(t, "lo", d.Lo, -2.4598858, 1e-7)
	near(t, "hi", d.Hi, -0.7001142, 1e-7)
	near(t, "p", d.P, 0.00283289, 1e-6)
}

func TestPairedWithoutVariance(t *testing.T) {
	a, b := []float64{1, 2, 3}, []float64{1, 2, 3}
	if d := Paired(a, b, 0.95); d.P != 1 || d.Lo != 0 || d.Hi != 0 {
		t.Errorf("equal sides give %+v, expected p = 1 and [0, 0]", d)
	}
	if d := Paired([]float64{2, 3, 4}, b, 0.95); d.P != 0 || d.Lo != 1 || d.Hi != 1 {
		t.Errorf("a constant shift gives %+v, expected p = 0 and [1, 1]", d)
	}
	if d := Paired([]float64{2}, []float64{1}, 0.95); d.Mean != 1 || !math.IsNaN(d.P) || d.Exists() {
		t.Errorf("one pair gives %+v, expected a mean alone", d)
	}
}

func TestHolm(t *testing.T) {
	nan := math.NaN()
	for _, row := range []struct{ p, want []float64 }{
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{[]float64{0.5, 0.9}, []float64{1, 1}},
		{[]float64{0.02, nan, 0.03}, []float64{0.04, nan, 0.04}},
		{[]float64{0.02}, []float64{0.02}},
		{nil, nil},
	} {
		for i, got := range Holm(row.p) {
			near(t, "holm", got, row.want[i], 1e-15)
		}
	}
}

// Anscombe's first set (1973).
func TestFitOnAnscombe(t *testing.T) {
	x := []float64{10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5}
	y := []float64{8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68}
	line := Fit(x, y, 0.95)
	near(t, "slope", line.Slope, 0.50009, 1e-5)
	near(t, "intercept", line.Intercept, 3.00009, 1e-5)
	near(t, "standard error", (line.Hi-line.Slope)/TQuantile(0.975, 9), 0.1179055, 1e-6)
	if l := Fit([]float64{1, 1}, []float64{1, 2}, 0.95); !math.IsNaN(l.Slope) {
		t.Errorf("slope over one x is %v, expected NaN", l.Slope)
	}
	if l := Fit([]float64{1, 2}, []float64{1, 3}, 0.95); l.Slope != 2 || l.Exists() {
		t.Errorf("two points give %+v, expected slope 2 without an interval", l)
	}
}

func TestMSER5AgainstTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		x := normals(r, 30+n, 10, 1)
		for i := range min(n, len(x)) {
			x[i] -= float64(max(0, n/3-i)) / 5 // a warm-up of n/3 observations
		}
		cut, _ := MSER5(x)
		want, _ := naiveMSER5(x)
		if len(x) >= 50 && cut != want {
			t.Fatalf("n = %d: cut %d, expected %d", n, cut, want)
		}
	}
}

func naiveMSER5(x []float64) (int, float64) {
	var y []float64
	for i := 0; i+5 <= len(x); i += 5 {
		y = append(y, (x[i]+x[i+1]+x[i+2]+x[i+3]+x[i+4])/5)
	}
	at, best := 0, math.Inf(1)
	for d := 0; d <= len(y)/2; d++ {
		rest := y[d:]
		v := 0.0
		for _, b := range rest {
			v += (b - Mean(rest)) * (b - Mean(rest))
		}
		if v /= float64(len(rest) * len(rest)); v < best {
			at, best = d, v
		}
	}
	return at * 5, best
}

func TestMSER5FindsAStepAndDoubtsATrend(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	step, trend := normals(r, 1000, 10, 1), normals(r, 1000, 0, 1)
	for i := range step {
		if i < 200 {
			step[i] = 0
		}
		trend[i] += float64(i)
	}
	if cut, settled := MSER5(step); cut != 200 || !settled {
		t.Errorf("a step at 200 gives cut %d, settled %v", cut, settled)
	}
	if _, settled := MSER5(trend); settled {
		t.Error("a trend without end counts as settled")
	}
	if cut, settled := MSER5(make([]float64, 20)); cut != 0 || settled {
		t.Error("a series too short counts as settled")
	}
}

func TestPoolExactAndSketch(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	exact, sketch := Pool{}, Pool{limit: 100}
	x := make([]float64, 20_000)
	for i := range x {
		x[i] = math.Exp(3 * r.NormFloat64())
		if i%50 == 0 {
			x[i] = 0
		}
		exact.Add(x[i])
		sketch.Add(x[i])
	}
	exact.Add(math.NaN())
	if !exact.Exact() || sketch.Exact() || exact.Len() != len(x) {
		t.Fatalf("exact %v, sketch %v, %d values", exact.Exact(), sketch.Exact(), exact.Len())
	}
	for _, q := range []float64{0, 0.01, 0.1, 0.5, 0.9, 0.99, 0.9999, 1} {
		want := Quantile(x, q)
		if got := exact.Quantile(q); got != want {
			t.Errorf("exact quantile %v = %v, expected %v", q, got, want)
		}
		// The sketch answers an order statistic, not the interpolation.
		low := Quantile(x, math.Floor(q*float64(len(x)-1))/float64(len(x)-1))
		if got := sketch.Quantile(q); math.Abs(got-low) > 1.001*PoolError*low {
			t.Errorf("sketch quantile %v = %v, expected %v within %v", q, got, low, PoolError)
		}
	}
	sketch.Reset()
	if sketch.Add(2); sketch.Quantile(0.5) != 2 || sketch.Len() != 1 {
		t.Error("a reset pool remembers")
	}
	if empty := (&Pool{}).Quantile(0.5); !math.IsNaN(empty) {
		t.Errorf("quantile of an empty pool is %v", empty)
	}
}
