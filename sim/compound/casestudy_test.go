package compound

import (
	"math"
	"slices"
	"testing"

	"switchyard/sim/param"
)

func locateSolve(t testing.TB) *Graph {
	t.Helper()
	return system(t, "locate-solve")
}

// system builds a system with defaults but for what set gives.
func system(t testing.TB, name string, set ...func(SystemParams)) *Graph {
	t.Helper()
	s, ok := FindSystem(name)
	if !ok {
		t.Fatalf("no system %s", name)
	}
	p := s.New()
	param.Defaults(p)
	for _, f := range set {
		f(p)
	}
	g, err := p.Graph()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestCaseStudyCells holds the 25 pairs against the table worked out by hand.
func TestCaseStudyCells(t *testing.T) {
	want := []int32{ // locate A to E, solve A to E
		30, 98, 44, 24, 65,
		19, 29, 24, 19, 5,
		30, 44, 45, 15, 10,
		10, 24, 15, 25, 10,
		0, 20, 0, 0, 20,
	}
	split, err := new(CaseStudy).Build(locateSolve(t), Env{})
	if err != nil {
		t.Fatal(err)
	}
	w := split.Train
	got := make([]int32, w.Allocations())
	if err := w.Counts(got); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("pairs\n got %v\nwant %v", got, want)
	}
	for _, c := range []struct {
		alloc []int32
		want  float64
	}{{[]int32{0, 1}, 8}, {[]int32{2, 2}, 2}} {
		if cost, err := w.Cost(c.alloc); err != nil || cost != c.want {
			t.Errorf("%v costs %v (%v), want %v dollars", c.alloc, cost, err, c.want)
		}
	}
}

// TestCaseStudyRandomAbilities wants every pair within four standard errors of
// what the abilities say: latents are shared, so both succeed with the lesser.
func TestCaseStudyRandomAbilities(t *testing.T) {
	p := new(CaseStudyRandom)
	param.Defaults(p)
	p.Train = 200_000
	split, err := p.Build(locateSolve(t), Env{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	locate, solve := []float64{.995, .30, .48, .25, .20}, []float64{.30, .995, .48, .25, .65}
	counts := make([]int32, 25)
	if err := split.Train.Counts(counts); err != nil {
		t.Fatal(err)
	}
	for i, a := range locate {
		for j, b := range solve {
			want := a * b
			if i == j {
				want = min(a, b)
			}
			near(t, float64(counts[i*5+j])/float64(p.Train), want, p.Train)
		}
	}
}

// near wants a share of n within four and a half standard errors.
func near(t *testing.T, got, want float64, n int) {
	t.Helper()
	if se := math.Sqrt(want * (1 - want) / float64(n)); math.Abs(got-want) > 4.5*se {
		t.Errorf("share %.5f, want %.5f +- %.5f", got, want, 4.5*se)
	}
}
