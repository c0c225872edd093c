package dist

import (
	"fmt"
	"math"
	"testing"

	"switchyard/sim/rng"
)

// sample returns mean, standard deviation and the central fourth moment of n
// draws.
func sample(d Drawer, n int, name string) (mean, sd, m4 float64) {
	s := rng.New(11, 1, name)
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = d.Draw(s)
		mean += xs[i]
	}
	mean /= float64(n)
	for _, x := range xs {
		e := x - mean
		sd += e * e
		m4 += e * e * e * e
	}
	return mean, math.Sqrt(sd / float64(n)), m4 / float64(n)
}

// Every distribution's draws have the moments that it claims, at five
// standard errors.
func TestMoments(t *testing.T) {
	const n = 300000
	for _, d := range []Dist{
		Constant{7},
		Uniform{-2, 5},
		Exponential{3},
		Normal{-1, 2},
		NewLognormal(1835, 742),
		NewLognormal(43, 16),
		NewLognormal(5, 0),
		NewGamma(2, 0.5),
		NewGamma(2, 1),
		NewGamma(2, 1.7),
		TruncatedNormal{1, 2, 0, 3},
		TruncatedNormal{0, 1, 0, math.Inf(1)},
		TruncatedNormal{48, 8, 2, math.Inf(1)},
	} {
		t.Run(fmt.Sprintf("%T%v", d, d), func(t *testing.T) {
			mean, sd, m4 := sample(d, n, fmt.Sprintf("%T", d))
			if allowed := 5*d.SD()/math.Sqrt(n) + 1e-9; math.Abs(mean-d.Mean()) > allowed {
				t.Errorf("mean of draws is %g, expected %g +- %g", mean, d.Mean(), allowed)
			}
			se := math.Sqrt(math.Max(0, m4-sd*sd*sd*sd)/n) / (2*sd + 1e-300)
			if math.Abs(sd-d.SD()) > 5*se+1e-9 {
				t.Errorf("deviation of draws is %g, expected %g +- %g", sd, d.SD(), 5*se)
			}
		})
	}
}

func TestParametersByMoments(t *testing.T) {
	for _, c := range []struct {
		d        Dist
		mean, sd float64
	}{
		{NewLognormal(190, 343), 190, 343},
		{NewGamma(0.25, 13.2), 0.25, 3.3},
		{Uniform{0, 12}, 6, math.Sqrt(12)},
		{TruncatedNormal{0, 1, 0, math.Inf(1)}, math.Sqrt(2 / math.Pi), math.Sqrt(1 - 2/math.Pi)},
	} {
		if math.Abs(c.d.Mean()/c.mean-1) > 1e-12 || math.Abs(c.d.SD()/c.sd-1) > 1e-12 {
			t.Errorf("%T has mean %g and deviation %g, expected %g and %g", c.d, c.d.Mean(), c.d.SD(), c.mean, c.sd)
		}
	}
}

// The share of a document under Zipf's law, as printed for 300 documents at
// exponent 1.1, and of the hottest tool of 100 at 1.5; and the cumulated
// shares of the truncated law over 400 and 640 prefixes.
func TestZipfShares(t *testing.T) {
	for _, c := range []struct {
		n, top int
		a      float64
		want   float64 // per cent
		digits float64
	}{
		{300, 1, 1.1, 20.27, 0.005},
		{300, 2, 1.1, 20.27 + 9.46, 0.01},
		{300, 3, 1.1, 20.27 + 9.46 + 6.06, 0.015},
		{100, 1, 1.5, 41.4, 0.05},
		{300, 1, 1.5, 40.0, 0.05},
		{400, 1, 1.1, 19.6, 0.05},
		{400, 3, 1.1, 34.7, 0.05},
		{400, 10, 1.1, 52.6, 0.05},
		{400, 50, 1.1, 75.2, 0.05},
		{640, 50, 1.1, 71.6, 0.05},
		{320, 1, 1.07, 18.8, 0.05},
		{320, 50, 1.07, 75.3, 0.05},
	} {
		z := NewZipf(c.n, c.a)
		var sum float64
		for i := range c.top {
			sum += 100 * z.Share(i)
		}
		if math.Abs(sum-c.want) > c.digits {
			t.Errorf("zipf %g over %d: top %d hold %.3f %%, expected %g", c.a, c.n, c.top, sum, c.want)
		}
	}
}

// The guide table finds what a search from the start finds.
func TestDiscreteAgainstSearch(t *testing.T) {
	lengths := rng.New(5, 1, "weights")
	for trial := range 200 {
		weights := make([]float64, 1+lengths.IntN(40))
		for i := range weights {
			if lengths.IntN(3) > 0 {
				weights[i] = math.Pow(lengths.Float64(), 6)
			}
		}
		weights[lengths.IntN(len(weights))] = 1
		d := NewDiscrete(weights)
		a, b := rng.New(5, trial, "draws"), rng.New(5, trial, "draws")
		for range 500 {
			got, u, want := d.Draw(a), b.Float64(), 0
			for d.upTo[want] <= u {
				want++
			}
			if got != want {
				t.Fatalf("weights %v: uniform %g gave index %d, expected %d", weights, u, got, want)
			}
			if weights[got] == 0 {
				t.Fatalf("weights %v: drew index %d, whose weight is 0", weights, got)
			}
		}
	}
}

func TestDiscreteFrequencies(t *testing.T) {
	d := NewZipf(20, 1)
	s := rng.New(9, 1, "zipf")
	const n = 200000
	counts := make([]float64, d.Len())
	for range n {
		counts[d.Draw(s)]++
	}
	var chi float64
	for i, c := range counts {
		want := n * d.Share(i)
		chi += (c - want) * (c - want) / want
	}
	if chi > 52.4 { // the 99.996 % point at 19 degrees of freedom
		t.Errorf("chi square of the frequencies is %.1f at 19 degrees of freedom", chi)
	}
}

func TestClampedAndTokens(t *testing.T) {
	s := rng.New(1, 1, "tokens")
	for _, c := range []struct {
		d     Drawer
		least int32
		want  int32
	}{
		{Constant{2.4}, 1, 2}, {Constant{-3}, 1, 1}, {Constant{0.2}, 0, 0}, {Constant{1e18}, 1, math.MaxInt32},
		{Clamped{Constant{9}, 1, 4}, 1, 4}, {Clamped{Constant{-9}, 3, 4}, 1, 3},
	} {
		if got := Tokens(c.d, s, c.least); got != c.want {
			t.Errorf("Tokens(%v, %d) = %d, want %d", c.d, c.least, got, c.want)
		}
	}
}

// The golden vector pins the transforms.
func TestGolden(t *testing.T) {
	s := rng.New(1, 1, "golden")
	got := fmt.Sprintf("%.15g %.15g %.15g %.15g %d",
		NewLognormal(100, 50).Draw(s), NewGamma(1, 2).Draw(s), NewGamma(1, 0.5).Draw(s),
		TruncatedNormal{0, 1, -1, 2}.Draw(s), NewZipf(100, 1.1).Draw(s))
	const want = "320.641278791534 0.00862692677141948 0.897274313859648 0.351737920909906 9"
	if got != want {
		t.Errorf("draws = %s, want %s", got, want)
	}
}

func BenchmarkLognormal(b *testing.B) {
	s, d := rng.New(1, 1, "bench"), NewLognormal(1835, 742)
	for b.Loop() {
		d.Draw(s)
	}
}

func BenchmarkZipf(b *testing.B) {
	s, d := rng.New(1, 1, "bench"), NewZipf(1000, 1.1)
	for b.Loop() {
		d.Draw(s)
	}
}
