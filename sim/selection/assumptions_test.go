package selection

import (
	"math"
	"testing"

	"switchyard/sim/rng"
)

// known is a tabled world that knows failures: its verdicts of 1.
type known struct{ sets }

func (w known) Failures(a []int32, module int, dst []uint64) error { return w.blameSet(a, module, dst) }

// cases counts violations as the definitions read: over every module, ordered
// pair of candidates, ordered pair of different contexts and question.
type cases struct{ hits, all [numberOfShares]float64 }

func (c *cases) add(share int, premise, conclusion bool) {
	if premise {
		c.all[share]++
		c.hits[share] += oneIf(!conclusion)
	}
}

func countCases(t *testing.T, w known) *cases {
	t.Helper()
	c := &cases{}
	n := w.space.total
	for m, size := range w.space.sizes {
		for f := range n {
			for g := range n {
				a, b := contextOf(w, f, m), contextOf(w, g, m)
				if a == nil || b == nil {
					continue
				}
				for k := range size {
					for l := range size {
						if k != l {
							c.pair(w, m, k, l, a, b, f != g)
						}
					}
				}
			}
		}
	}
	return c
}

// contextOf is allocation f if it has candidate 0 at module m: one a context.
func contextOf(w known, f uint64, m int) []int32 {
	alloc := make([]int32, len(w.space.sizes))
	w.space.At(f, alloc)
	if alloc[m] != 0 {
		return nil
	}
	return alloc
}

func (c *cases) pair(w known, m int, k, l int32, a, b []int32, different bool) {
	at := func(ctx []int32, k int32) uint64 {
		full := append([]int32(nil), ctx...)
		full[m] = k
		return w.space.Index(full)
	}
	ak, al, bk, bl := at(a, k), at(a, l), at(b, k), at(b, l)
	mean := func(i uint64) (sum float32) {
		for _, s := range w.scores[i] {
			sum += s
		}
		return sum
	}
	if different {
		c.add(ranking, mean(ak) > mean(al), !(mean(bk) < mean(bl)))
	}
	for q := range w.n {
		p := func(i uint64) float32 { return 1 - w.blames[i][m][q] }
		P := func(i uint64) float32 { return w.scores[i][q] }
		if !different {
			c.add(between, p(ak) > p(al), P(ak) >= P(al))
			continue
		}
		c.add(within, p(ak) >= p(al), p(bk) >= p(bl))
		c.add(reversed, p(ak) > p(al), !(p(bk) < p(bl)))
		c.add(answers, P(ak) > P(al), !(P(bk) < P(bl)))
	}
}

func TestAssessAgreesWithDefinitions(t *testing.T) {
	s := rng.New(17, 0, "assess")
	for range 20 {
		w := known{sets{randomTable(s, 1+s.IntN(3), 1+s.IntN(3), 1+s.IntN(70), 1, true)}}
		want := countCases(t, w)
		shares, err := Assess(w, Survey{})
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range shares {
			if got.Violations != want.hits[i] || got.Cases != want.all[i] {
				t.Fatalf("%s in a world of sizes %v: %g of %g, want %g of %g", got.Assumption, w.space.sizes, got.Violations, got.Cases, want.hits[i], want.all[i])
			}
			if got.Cases > 0 && i != ranking && !(got.Lo <= got.Share && got.Share <= got.Hi) {
				t.Errorf("%s: %g outside [%g, %g]", got.Assumption, got.Share, got.Lo, got.Hi)
			}
		}
	}
}

// Drawn contexts give the exhaustive share, within their interval, in about 95
// of 100 surveys.
func TestDrawnContexts(t *testing.T) {
	s := rng.New(18, 0, "assess")
	w := known{sets{randomTable(s, 3, 4, 200, 1, true)}}
	exact, err := Assess(w, Survey{})
	if err != nil {
		t.Fatal(err)
	}
	outside := [numberOfShares]int{}
	for range 40 {
		drawn, err := Assess(w, Survey{Limit: 1, Draws: 200, Stream: s})
		if err != nil {
			t.Fatal(err)
		}
		for i := range drawn {
			if i == within { // pairs of one context with itself dilute it by 1/16
				continue
			}
			if !(drawn[i].Lo <= exact[i].Share && exact[i].Share <= drawn[i].Hi) {
				outside[i]++
			}
		}
	}
	if outside[between] > 6 {
		t.Errorf("the exhaustive share lies outside the interval in %d of 40 surveys", outside[between])
	}
	if _, err := Assess(w, Survey{Limit: 1}); err == nil {
		t.Error("contexts were drawn without a stream")
	}
}

// What a world cannot tell has no cases.
func TestAssessUnknown(t *testing.T) {
	s := rng.New(19, 0, "assess")
	w := randomTable(s, 2, 3, 40, 4, false)
	for _, world := range []World{w, sums{w}} {
		shares, err := Assess(world, Survey{})
		if err != nil {
			t.Fatal(err)
		}
		_, blind := world.(Aggregate)
		for i, share := range shares {
			knows := i == ranking || i == answers && !blind
			if (share.Cases > 0) != knows || knows == math.IsNaN(share.Share) {
				t.Errorf("%T: %s has %g cases and share %g", world, share.Assumption, share.Cases, share.Share)
			}
		}
	}
	// A chain of modules violates nothing.
	c := fixture()
	shares, err := Assess(failing{c}, Survey{})
	if err != nil {
		t.Fatal(err)
	}
	for i, share := range shares {
		if i != ranking && share.Violations != 0 {
			t.Errorf("the fixture violates %s in %g of %g cases", share.Assumption, share.Violations, share.Cases)
		}
		if i != ranking && !near(share.Hi, 1-math.Pow(.025, .01)) {
			t.Errorf("%s: none in 100 questions, yet at most %g", share.Assumption, share.Hi)
		}
	}
	if shares[ranking].Violations == 0 {
		t.Error("the fixture's candidates rank the same in all contexts, so greedy could not fail")
	}
}

// failing is a chain that knows failures, which are its culprits unmasked.
type failing struct{ *chain }

func (w failing) Failures(a []int32, module int, dst []uint64) error {
	return w.Culprits(a, module, dst)
}
