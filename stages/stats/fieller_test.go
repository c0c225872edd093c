package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// inSet is Fieller's set by its definition: r is in it where the paired t test
// of a against r b does not reject.
func inSet(a, b []float64, r, level float64) bool {
	scaled := make([]float64, len(b))
	for i := range b {
		scaled[i] = r * b[i]
	}
	return Paired(a, scaled, level).P > 1-level
}

func holds(ratio Ratio, r float64) bool {
	switch ratio.Shape {
	case Outside:
		return r <= ratio.Lo || r >= ratio.Hi
	case Unknown:
		return false
	}
	return ratio.Contains(r)
}

// The set's shape and ends agree with inverting the t test, whatever the
// denominator does.
func TestFiellerInvertsThePairedTest(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	shapes := map[Shape]int{}
	for range 3000 {
		n := 2 + r.IntN(8)
		a, b := normals(r, n, 3*r.NormFloat64(), 1), normals(r, n, 3*r.NormFloat64(), 1)
		shared := 2 * r.Float64()
		for i := range a {
			x := r.NormFloat64() * shared
			a[i] += x
			b[i] += x
		}
		ratio := Fieller(a, b, 0.95)
		shapes[ratio.Shape]++
		if !holds(ratio, ratio.Value) {
			t.Fatalf("%+v does not hold its own ratio", ratio)
		}
		for range 30 {
			x := math.Tan(math.Pi * (r.Float64() - 0.5)) // Cauchy: the whole line
			if edge := min(math.Abs(x-ratio.Lo), math.Abs(x-ratio.Hi)); edge < 1e-6*(1+math.Abs(x)) {
				continue
			}
			if holds(ratio, x) != inSet(a, b, x, 0.95) {
				t.Fatalf("%+v: membership of %v differs from the t test's\na=%v\nb=%v", ratio, x, a, b)
			}
		}
	}
	for _, s := range []Shape{Bounded, Outside, Whole} {
		if shapes[s] < 50 {
			t.Errorf("shape %v came up %d times, expected at least 50", s, shapes[s])
		}
	}
}

func TestFiellerBoundary(t *testing.T) {
	for _, c := range []struct {
		name  string
		a, b  []float64
		shape Shape
		value float64
	}{
		{"equal sides", []float64{10, 11, 12}, []float64{10, 11, 12}, Bounded, 1},
		{"proportional sides", []float64{30, 33, 36}, []float64{10, 11, 12}, Bounded, 3},
		{"equal sides near zero", []float64{1, 2, 4}, []float64{1, 2, 4}, Whole, 1},
		{"proportional sides near zero", []float64{3, 6, 12}, []float64{1, 2, 4}, Whole, 3},
		{"no variance", []float64{6, 6}, []float64{4, 4}, Bounded, 1.5},
		{"no variance below", []float64{5, 7}, []float64{4, 4}, Bounded, 1.5},
		{"denominator zero", []float64{5, 7}, []float64{-1, 1}, Outside, math.NaN()},
		{"denominator constantly zero", []float64{6, 6}, []float64{0, 0}, Unknown, math.NaN()},
		{"zero over zero", []float64{0, 0}, []float64{0, 0}, Whole, math.NaN()},
		{"one pair", []float64{6}, []float64{4}, Unknown, 1.5},
		{"nothing", nil, nil, Unknown, math.NaN()},
	} {
		got := Fieller(c.a, c.b, 0.95)
		if got.Shape != c.shape {
			t.Errorf("%s: shape %v, expected %v (%+v)", c.name, got.Shape, c.shape, got)
		}
		near(t, c.name, got.Value, c.value, 1e-15)
	}
	// Sides that are proportional are known exactly, whatever they vary.
	r := Fieller([]float64{9, 9.9, 10.2, 9.3}, []float64{3, 3.3, 3.4, 3.1}, 0.95)
	if r.Shape != Bounded || math.Abs(r.Hi-r.Lo) > 1e-7 {
		t.Errorf("proportional sides give %+v, expected a point at 3", r)
	}
}

func TestHalfLine(t *testing.T) {
	if r := halfLine(4, 2); r.Lo != 1 || !math.IsInf(r.Hi, 1) {
		t.Errorf("4 - 4r <= 0 gives %v, expected [1, inf)", r)
	}
	if r := halfLine(4, -2); r.Hi != -1 || !math.IsInf(r.Lo, -1) {
		t.Errorf("4 + 4r <= 0 gives %v, expected (-inf, -1]", r)
	}
}

// Over many studies of ten replications each, the intervals hold the truth
// 95 times in a hundred. 4,000 studies put two standard errors at 0.7 %.
func TestCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	const studies, n = 4000, 10
	var mean, bound, diff, ratio, slope, reject int
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	for range studies {
		shared := normals(r, n, 0, 2)
		a, b := normals(r, n, 12, 1), normals(r, n, 10, 1)
		null, y := normals(r, n, 10, 1), normals(r, n, 0, 1)
		for i := range shared {
			a[i] += shared[i]
			b[i] += shared[i]
			null[i] += shared[i]
			y[i] += 0.3 * x[i]
		}
		_, in := Interval(a, 0.95)
		mean += count(in.Contains(12))
		bound += count(LowerBound(a, 0.95) <= 12)
		diff += count(Paired(a, b, 0.95).Contains(2))
		f := Fieller(a, b, 0.95)
		ratio += count(holds(f, 1.2))
		slope += count(Fit(x, y, 0.95).Contains(0.3))
		reject += count(Paired(null, b, 0.95).P <= 0.05)
	}
	for name, got := range map[string]int{"mean": mean, "lower bound": bound, "difference": diff, "ratio": ratio, "slope": slope, "null kept": studies - reject} {
		if share := float64(got) / studies; math.Abs(share-0.95) > 0.012 {
			t.Errorf("%s: the truth is held in %.4f of the studies, expected 0.95", name, share)
		}
	}
}

// Under a family of ten true hypotheses Holm rejects any in at most 5 % of the
// families; uncorrected, 40 % would.
func TestHolmHoldsTheFamily(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	const families = 4000
	any, naive := 0, 0
	for range families {
		p := make([]float64, 10)
		rejected, raw := false, false
		for i := range p {
			p[i] = r.Float64()
			raw = raw || p[i] <= 0.05
		}
		for _, v := range Holm(p) {
			rejected = rejected || v <= 0.05
		}
		any += count(rejected)
		naive += count(raw)
	}
	if share := float64(any) / families; share > 0.062 || share < 0.035 {
		t.Errorf("%.4f of the families have a false rejection, expected about 0.049", share)
	}
	if share := float64(naive) / families; share < 0.3 {
		t.Errorf("uncorrected only %.4f of the families reject: the test tests nothing", share)
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
