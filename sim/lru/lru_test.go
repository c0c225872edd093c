package lru

import (
	"math"
	"slices"
	"testing"

	"switchyard/sim/dist"
	"switchyard/sim/rng"
)

func TestZipf(t *testing.T) {
	p := Zipf(300, 1.1)
	for k, want := range []float64{0.2027, 0.0946, 0.0606} { // 20.27 %, 9.46 %, 6.06 %
		if math.Abs(p[k]-want) > 5e-5 {
			t.Errorf("share of document %d is %v, expected %v", k+1, p[k], want)
		}
	}
	d := dist.NewZipf(300, 1.1)
	for k := range p {
		if math.Abs(p[k]-d.Share(k)) > 1e-12 {
			t.Fatalf("share %d is %v, the generator's %v", k, p[k], d.Share(k))
		}
	}
}

// Items that are alike are held with probability c / n each, whatever t is.
func TestEqualItems(t *testing.T) {
	for _, n := range []int{2, 10, 1000} {
		p := Zipf(n, 0)
		for c := 1; c < n; c += 1 + n/7 {
			if got, want := HitRate(p, float64(c)), float64(c)/float64(n); math.Abs(got-want) > 1e-12 {
				t.Errorf("%d of %d items: hit rate %v, expected %v", c, n, got, want)
			}
		}
	}
}

func TestEdges(t *testing.T) {
	p := []float64{0.5, 0.5, 0}
	for c, want := range map[float64]float64{-1: 0, 0: 0, 2: 1, 3: 1, 1e9: 1} {
		if got := HitRate(p, c); got != want {
			t.Errorf("a cache of %v items hits %v, expected %v", c, got, want)
		}
	}
	if got := CharacteristicTime(p, 1); math.Abs(got-2*math.Ln2) > 1e-12 { // 2 (1 - exp(-t/2)) = 1
		t.Errorf("characteristic time %v, expected 2 ln 2", got)
	}
}

// The token hit rates of the lecture's documents, which are .91 of a prompt.
func TestDocuments(t *testing.T) {
	p := Zipf(300, 1.1)
	for c, want := range map[float64]float64{9.5: 0.329, 10: 0.339, 20: 0.462, 38: 0.573, 40: 0.581, 80: 0.698} {
		if got := 0.91 * HitRate(p, c); math.Abs(got-want) > 0.002 {
			t.Errorf("%v documents: %.4f of the tokens, expected %v", c, got, want)
		}
	}
}

// TestAgainstExact holds it against the exact rate of two items (King, 1971):
// the cache is (i, j) with probability p_i p_j / (1 - p_i).
func TestAgainstExact(t *testing.T) {
	p := Zipf(300, 0.8)
	exact := 0.0
	for i, a := range p {
		for j, b := range p {
			if i != j {
				exact += a * b / (1 - a) * (a + b)
			}
		}
	}
	if got := HitRate(p, 2); math.Abs(got/exact-1) > 0.03 {
		t.Errorf("two items: hit rate %v, exactly %v", got, exact)
	}
}

// TestAgainstNaive holds it against a list that moves what is asked for to its
// front.
func TestAgainstNaive(t *testing.T) {
	const requests = 200_000
	p := Zipf(300, 1.1)
	d := dist.NewZipf(300, 1.1)
	for _, c := range []int{10, 40, 150} {
		s := rng.New(1, c, "lru")
		var list []int
		hits := 0
		for i := range requests {
			item := d.Draw(s)
			at := slices.Index(list, item)
			switch {
			case at >= 0:
				list = slices.Delete(list, at, at+1)
				if i >= requests/2 {
					hits++
				}
			case len(list) == c:
				list = list[:c-1]
			}
			list = slices.Insert(list, 0, item)
		}
		got, want := HitRate(p, float64(c)), float64(hits)/(requests/2)
		if se := math.Sqrt(want * (1 - want) / (requests / 2)); math.Abs(got-want) > 0.002+3*se {
			t.Errorf("%d items: hit rate %v, simulated %v", c, got, want)
		}
	}
}
