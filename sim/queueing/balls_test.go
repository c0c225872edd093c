package queueing

import (
	"math"
	"testing"

	"switchyard/sim/rng"
)

// fullest returns the mean maximum over runs and its standard error.
func fullest(t *testing.T, b Balls, runs int) (mean, se float64) {
	t.Helper()
	var xs []float64
	for r := range runs {
		result, err := b.Run(1, r+1)
		if err != nil {
			t.Fatal(err)
		}
		xs = append(xs, float64(result.Max))
		mean += float64(result.Max) / float64(runs)
	}
	for _, x := range xs {
		se += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(se/float64(runs-1)) / math.Sqrt(float64(runs))
}

// Means of the fullest bin, n balls into n bins.
func TestFullestBin(t *testing.T) {
	for _, c := range []struct {
		bins      int64
		choices   int
		runs      int
		want, tol float64
	}{
		{1000, 1, 200, 5.50, 0.2}, {1000, 2, 200, 3.01, 0.05},
		{100000, 1, 40, 7.88, 0.4}, {100000, 2, 40, 3.50, 0.25},
		{1000000, 1, 5, 8.6, 0.9}, {1000000, 2, 5, 4.0, 0.1},
		{16, 1, 2000, 3.00, 0.08}, {16, 2, 2000, 2.12, 0.03}, {16, 3, 2000, 2.00, 0.03},
		{256, 1, 1000, 4.76, 0.1}, {256, 2, 1000, 2.89, 0.06}, {256, 3, 1000, 2.15, 0.06},
		{1024, 1, 400, 5.51, 0.15}, {1024, 3, 400, 2.34, 0.1},
		{16384, 1, 100, 6.70, 0.3}, {16384, 2, 100, 3.10, 0.12}, {16384, 3, 100, 3.00, 0.02},
	} {
		mean, _ := fullest(t, Balls{Bins: c.bins, Choices: c.choices, Replacement: true}, c.runs)
		if math.Abs(mean-c.want) > c.tol {
			t.Errorf("%d bins, %d choices: the fullest holds %.3f, expected %.2f +- %.2f", c.bins, c.choices, mean, c.want, c.tol)
		}
	}
}

func TestGrowth(t *testing.T) {
	for _, c := range []struct {
		bins    int64
		choices int
		want    float64
	}{{1e5, 1, 4.71}, {1e5, 2, 3.53}, {1e6, 1, 5.26}, {1e6, 2, 3.79}} {
		printed(t, "growth", (&Balls{Bins: c.bins, Choices: c.choices}).Growth(), c.want, 2)
	}
	if g := (&Balls{Bins: 1000, Balls: 10, Choices: 1}).Growth(); !math.IsNaN(g) {
		t.Errorf("10 balls into 1000 bins have the growth %g", g)
	}
}

// Every ball lies where the naive rule puts it, with bins that overflow a byte
// too.
func TestBallsAgreeWithNaive(t *testing.T) {
	s := rng.New(3, 1, "balls configs")
	for trial := range 300 {
		b := Balls{Bins: int64(1 + s.IntN(20)), Choices: 1 + s.IntN(5), Replacement: s.IntN(2) == 0}
		b.Balls = int64(pickOf(s, 0, 1, 30, 900, 9000))
		if b.Check() != nil {
			continue
		}
		got, err := b.Run(3, trial)
		if err != nil {
			t.Fatal(err)
		}
		draws := rng.New(3, trial, "balls")
		bins := make([]int, b.Bins)
		for range b.Thrown() {
			var rest []int
			for i := range bins {
				rest = append(rest, i)
			}
			least := -1
			for range b.Choices {
				r := draws.IntN(len(rest))
				if i := rest[r]; least < 0 || bins[i] < bins[least] {
					least = i
				}
				if !b.Replacement {
					rest = append(rest[:r], rest[r+1:]...)
				}
			}
			bins[least]++
		}
		loads := make([]int64, got.Max+1)
		for _, n := range bins {
			if n > got.Max {
				t.Fatalf("%+v: the fullest holds %d, expected %d", b, got.Max, n)
			}
			loads[n]++
		}
		for i, n := range loads {
			if got.Loads[i] != n || loads[got.Max] == 0 {
				t.Fatalf("%+v: loads are %v, expected %v", b, got.Loads, loads)
			}
		}
	}
}

func TestBallsRefuse(t *testing.T) {
	for _, b := range []Balls{{Bins: 0, Choices: 1}, {Bins: 3, Choices: 4}, {Bins: 3, Choices: 0}} {
		if _, err := b.Run(1, 1); err == nil {
			t.Errorf("%+v ran", b)
		}
	}
}

// TestEmpty: closed forms, and throws.
func TestEmpty(t *testing.T) {
	for _, b := range []Balls{
		{Bins: 20000, Choices: 1}, {Bins: 20000, Choices: 2, Replacement: true}, {Bins: 20000, Choices: 2, Balls: 30000},
		{Bins: 20000, Choices: 5, Replacement: true}, {Bins: 20000, Choices: 3, Balls: 10000, Replacement: true},
	} {
		b.Replacement = b.Replacement || b.Choices == 1
		share, kind := b.Empty()
		load := float64(b.Thrown()) / float64(b.Bins)
		if want := map[int]float64{1: math.Exp(-load), 2: 1 - math.Tanh(load)}[b.Choices]; want > 0 && math.Abs(share-want) > 1e-4 {
			t.Errorf("%+v: %v of the bins stay empty, want %v", b, share, want)
		}
		if (kind == Exact) != (b.Choices == 1) {
			t.Errorf("%+v is %s", b, kind)
		}
		r, err := b.Run(1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(r.Loads[0]) / float64(b.Bins); math.Abs(got-share) > 0.012 {
			t.Errorf("%+v: %v of the bins are empty, in theory %v", b, got, share)
		}
	}
}
