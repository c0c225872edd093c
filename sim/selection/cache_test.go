package selection

import (
	"testing"

	"switchyard/sim/rng"
)

// What the cache holds costs no allocation: neither evaluating nor voting.
func TestNoAllocation(t *testing.T) {
	w := fixture()
	l, err := open("test", Problem{World: w, Diagnoser: diagnoser(t, w, .8, "fixed", 1), Start: []int32{C, C}}, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.begin("test"); err != nil {
		t.Fatal(err)
	}
	c, err := NewCache(w)
	if err != nil {
		t.Fatal(err)
	}
	l.Diagnoser = diagnoser(t, c, .8, "fixed", 1)
	b := newBallot(l, 1, 1)
	hold := func() {
		for m := range 2 {
			if err := b.hold(m); err != nil {
				t.Fatal(err)
			}
			b.winner("inserted", l.current[m])
		}
	}
	hold()
	if n := testing.AllocsPerRun(100, hold); n != 0 {
		t.Errorf("two rounds allocate %g times", n)
	}
}

// A world that fails once leaves no trace in the cache.
func TestCacheAfterAnError(t *testing.T) {
	w := &poor{tabled: randomTable(rng.New(20, 0, "cache"), 2, 3, 40, 4, false), limit: 1e6}
	afterAnError(t, w, w)
	w = &poor{tabled: randomTable(rng.New(20, 0, "cache"), 2, 3, 40, 1, false), limit: 1e6}
	afterAnError(t, w, poorSets{w})
}

// poorSets is a poor world of right and wrong answers.
type poorSets struct{ *poor }

func (w poorSets) Right(a []int32, dst []uint64) error {
	if err := sets.Right(sets{w.tabled}, a, dst); err != nil {
		return err
	}
	return w.pay(a, w.all())
}

func afterAnError(t *testing.T, w *poor, world World) {
	t.Helper()
	c, err := NewCache(world)
	if err != nil {
		t.Fatal(err)
	}
	got, want := make([]float32, 40), make([]float32, 40)
	for i := range uint64(9) {
		alloc := make([]int32, 2)
		c.space.At(i, alloc)
		w.broken = errBroken
		if err := c.Scores(alloc, got); err == nil {
			t.Fatal("a broken world answered")
		}
		w.broken = nil
		if err := c.Scores(alloc, got); err != nil {
			t.Fatal(err)
		}
		_ = w.tabled.Scores(alloc, want)
		for q := range want {
			if got[q] != want[q] {
				t.Fatalf("%v answers %v, want %v", alloc, got, want)
			}
		}
	}
}
