package compound

import (
	"slices"
	"testing"

	"switchyard/sim/rng"
)

// world is what the search of this file needs.
type world interface {
	Modules() int
	Candidates(module int) int
	Questions() int
	Scores(alloc []int32, dst []float32) error
}

// ascend is L rounds of LLMSelector with one allocation for all questions, an
// exact diagnoser (none where the world has no culprits), and the incumbent on
// ties, by numbers and loops.
func ascend(t *testing.T, w world, start []int32) []int32 {
	t.Helper()
	alloc := slices.Clone(start)
	for m := range w.Modules() {
		value := make([][]float32, w.Candidates(m))
		for c := range value {
			alloc[m], value[c] = int32(c), make([]float32, w.Questions())
			if err := w.Scores(alloc, value[c]); err != nil {
				t.Fatal(err)
			}
			if table, ok := w.(*Table); ok {
				culprits := make([]uint64, wordsOf(w.Questions()))
				if err := table.Culprits(alloc, m, culprits); err != nil {
					t.Fatal(err)
				}
				for q := range value[c] {
					if !bit(culprits, q) {
						value[c][q]++
					}
				}
			}
		}
		votes := make([]int, len(value))
		for q := range w.Questions() {
			best := float32(-1)
			for c := range value {
				best = max(best, value[c][q])
			}
			for c := range value {
				if value[c][q] == best {
					votes[c]++
				}
			}
		}
		alloc[m] = start[m]
		for c := range votes {
			if votes[c] > votes[alloc[m]] {
				alloc[m] = int32(c)
			}
		}
	}
	return alloc
}

// best returns the allocations with the highest accuracy.
func best(t *testing.T, w world) (list [][]int32) {
	t.Helper()
	var s space
	for m := range w.Modules() {
		s.sizes = append(s.sizes, w.Candidates(m))
	}
	most := -1.
	scores := make([]float32, w.Questions())
	for n := range s.allocations() {
		alloc := make([]int32, len(s.sizes))
		for m := len(alloc) - 1; m >= 0; m-- {
			alloc[m] = int32(n % int64(s.sizes[m]))
			n /= int64(s.sizes[m])
		}
		if err := w.Scores(alloc, scores); err != nil {
			t.Fatal(err)
		}
		sum := 0.
		for _, score := range scores {
			sum += float64(score)
		}
		if sum > most {
			most, list = sum, nil
		}
		if sum == most {
			list = append(list, alloc)
		}
	}
	return list
}

// violations counts, over all pairs of allocations that differ in one module,
// broken assumptions, and the questions without a single best allocation.
func violations(t *testing.T, w *Table) (within, between, unique int) {
	t.Helper()
	sizes := w.space.sizes
	for q := range w.questions {
		rights := 0
		for _, right := range w.right {
			if bit(right, q) {
				rights++
			}
		}
		if rights != 1 {
			unique++
		}
		for m := range sizes {
			for a := range int32(sizes[m]) {
				for b := range int32(sizes[m]) {
					var better, worse, betweenBroken bool
					for n := range w.right {
						alloc := make([]int32, len(sizes))
						rest := n
						for i := len(alloc) - 1; i >= 0; i-- {
							alloc[i] = int32(rest % sizes[i])
							rest /= sizes[i]
						}
						if alloc[m] != a {
							continue
						}
						alloc[m] = b
						o, err := w.space.number(alloc)
						if err != nil {
							t.Fatal(err)
						}
						wellA, wellB := !bit(w.failed[m][n], q), !bit(w.failed[m][o], q)
						better = better || wellA && !wellB
						worse = worse || wellB && !wellA
						betweenBroken = betweenBroken || wellA && !wellB && !bit(w.right[n], q) && bit(w.right[o], q)
					}
					if better && worse {
						within++
					}
					if betweenBroken {
						between++
					}
				}
			}
		}
	}
	return within, between, unique
}

// TestTheorem: on worlds that meet the assumptions, L rounds from anywhere end
// at the one best allocation.
func TestTheorem(t *testing.T) {
	s := rng.New(1, 1, "worlds")
	for i := range 400 {
		sizes := make([]int, 1+s.IntN(4))
		for m := range sizes {
			sizes[m] = 1 + s.IntN(4)
		}
		var w *Table
		var want []int32
		var err error
		if i%2 == 0 {
			w, want, err = Lawful(sizes, 1+s.IntN(70), .5+s.Float64()/2, s)
		} else {
			w, want, err = Dominated(sizes, 1+s.IntN(70), s)
		}
		if err != nil {
			t.Fatal(err)
		}
		within, between, unique := violations(t, w)
		if within+between > 0 || i%2 == 0 && unique > 0 {
			t.Fatalf("world %d: %d within, %d between, %d unique", i, within, between, unique)
		}
		if got := best(t, w); len(got) != 1 && len(sizes) > 0 && w.Allocations() > 1 || !slices.Equal(got[0], want) {
			t.Fatalf("world %d: best %v, want %v", i, got, want)
		}
		start := anyAllocation(sizes, s)
		if got := ascend(t, w, start); !slices.Equal(got, want) {
			t.Fatalf("world %d of sizes %v: from %v to %v, best is %v", i, sizes, start, got, want)
		}
	}
}

// TestCounterexamples: each world breaks what it says alone, and the search
// ends where it says, which is not the best.
func TestCounterexamples(t *testing.T) {
	for _, c := range Counterexamples() {
		var w world = c.Recorded
		if c.Table != nil {
			w = c.Table
			within, between, unique := violations(t, c.Table)
			for what, broken := range map[string]int{"within": within, "between": between, "unique": unique} {
				if (broken > 0) != (what == c.Breaks) {
					t.Errorf("%s: %d violations of %s", c.Breaks, broken, what)
				}
			}
		}
		if got := best(t, w); len(got) != 1 || !slices.Equal(got[0], c.Best) {
			t.Errorf("%s: best %v, want %v alone", c.Breaks, got, c.Best)
		}
		got := ascend(t, w, c.Start)
		if again := ascend(t, w, got); !slices.Equal(got, c.Stuck) || !slices.Equal(again, got) {
			t.Errorf("%s: from %v to %v, then %v, want %v", c.Breaks, c.Start, got, again, c.Stuck)
		}
	}
}

// TestTableHoldsWhatItWasTold compares a table with its function.
func TestTableHoldsWhatItWasTold(t *testing.T) {
	right := func(a []int32, q int) bool { return (int(a[0])+2*int(a[1])+q)%3 == 0 }
	w, err := NewTable([]int{2, 3}, 70, func(a []int32, q int, well []bool) bool {
		well[0], well[1] = q%2 == 0, a[1] == 1
		return right(a, q)
	})
	if err != nil {
		t.Fatal(err)
	}
	counts, dst := make([]int32, 6), make([]uint64, 2)
	if err := w.Counts(counts); err != nil {
		t.Fatal(err)
	}
	for n := range int32(6) {
		alloc := []int32{n / 3, n % 3}
		count := int32(0)
		for m := range 2 {
			if err := w.Culprits(alloc, m, dst); err != nil {
				t.Fatal(err)
			}
			for q := range 70 {
				well := m == 0 && q%2 == 0 || m == 1 && alloc[1] == 1
				if bit(dst, q) != (!well && !right(alloc, q)) {
					t.Fatalf("%v module %d question %d", alloc, m, q)
				}
				if m == 0 && right(alloc, q) {
					count++
				}
			}
		}
		if counts[n] != count {
			t.Errorf("%v: %d right, want %d", alloc, counts[n], count)
		}
	}
	if _, err := NewTable([]int{10_000, 10_000}, 1, nil); err == nil {
		t.Error("a table of 10^8 outcomes is made")
	}
}
