package compound

import (
	"os"
	"slices"
	"strings"
	"testing"

	"switchyard/sim/rng"
)

func long() bool { return os.Getenv("SWITCHYARD_LONG") != "" }

// TestSweepOfTenModels holds the counts of 10^6 debates on 500 questions
// against 10,000 of them evaluated alone, and some of those against the naive
// evaluation, question by question; long, all of them.
func TestSweepOfTenModels(t *testing.T) {
	w := debateWorld(t, 10, 500)
	counts := make([]int32, w.Allocations())
	if len(counts) != 1_000_000 {
		t.Fatalf("%d allocations", len(counts))
	}
	if err := w.Counts(counts); err != nil {
		t.Fatal(err)
	}
	s := rng.New(1, 1, "sample")
	alloc, scores := make([]int32, 6), make([]float32, 500)
	dumb := 50
	if long() {
		dumb = 10_000
	}
	for i := range 10_000 {
		at := int64(s.IntN(len(counts)))
		w.Allocation(at, alloc)
		if err := w.Scores(alloc, scores); err != nil {
			t.Fatal(err)
		}
		var direct, want int32
		for _, score := range scores {
			direct += int32(score)
		}
		if counts[at] != direct {
			t.Fatalf("%v: %d right in the sweep, %d alone", alloc, counts[at], direct)
		}
		if i >= dumb {
			continue
		}
		n := naive{w, alloc, 0}
		for n.q = range 500 {
			if n.answer(w.graph.output) == 0 {
				want++
			}
		}
		if direct != want {
			t.Fatalf("%v: %d right, %d by the naive evaluation", alloc, direct, want)
		}
	}
}

// TestRangesMakeTheWhole: workers' ranges, in any order, on forks, say the same
// as one sweep, and other evaluations in between disturb nothing.
func TestRangesMakeTheWhole(t *testing.T) {
	w := debateWorld(t, 4, 200)
	whole := make([]int32, w.Allocations())
	if err := w.Counts(whole); err != nil {
		t.Fatal(err)
	}
	got := make([]int32, len(whole))
	scores := make([]float32, 200)
	forks := []*World{w, w.Fork(), w.Fork()}
	const size = 317
	for i := (len(whole) - 1) / size; i >= 0; i-- {
		f := forks[i%len(forks)]
		if err := f.CountRange(int64(i*size), got[i*size:min(len(got), i*size+size)]); err != nil {
			t.Fatal(err)
		}
		if err := f.Scores([]int32{3, 2, 1, 0, 1, 2}, scores); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(got, whole) {
		t.Error("ranges and whole differ")
	}
}

func TestForksAnswerAtOnce(t *testing.T) {
	w := debateWorld(t, 4, 200)
	whole := make([]int32, w.Allocations())
	if err := w.Counts(whole); err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	for range 4 {
		f := w.Fork()
		go func() {
			mine := make([]int32, len(whole))
			done <- f.Counts(mine) == nil && slices.Equal(mine, whole)
		}()
	}
	for range 4 {
		if !<-done {
			t.Error("a fork counts otherwise")
		}
	}
}

func TestMisuseIsRefused(t *testing.T) {
	w := debateWorld(t, 4, 200)
	dst := make([]uint64, 4)
	for _, c := range []struct {
		err  error
		want string
	}{
		{w.Right([]int32{0, 0}, dst), "2 modules for a system with 6"},
		{w.Right([]int32{0, 0, 0, 0, 0, 4}, dst), "candidate 4 of module debate3: it has 4"},
		{w.Right([]int32{0, 0, 0, -1, 0, 0}, dst), "candidate -1"},
		{w.Right(make([]int32, 6), dst[:2]), "wrong length"},
		{w.Culprits(make([]int32, 6), 6, dst), "module 6: there are 6"},
		{w.CountRange(4000, make([]int32, 97)), "there are 4096"},
		{w.CountRange(-1, make([]int32, 1)), "there are 4096"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("got %v, want %s", c.err, c.want)
		}
	}
	toy := NewToy()
	toy.Models, toy.Train, toy.Test = 100, 1, 1
	split, err := toy.Build(system(t, "majority-vote", func(p SystemParams) { p.(*MajorityVote).Voters = 10 }), Env{})
	if err != nil {
		t.Fatal(err)
	}
	if err := split.Train.Counts(make([]int32, 1)); split.Train.Allocations() != 0 || err == nil || !strings.Contains(err.Error(), "search instead") {
		t.Errorf("100^10 allocations: %v", err)
	}
	if _, err := new(CaseStudy).Build(system(t, "debate"), Env{}); err == nil || !strings.Contains(err.Error(), "locate-solve") {
		t.Errorf("the case study in a debate: %v", err)
	}
}

// TestOneVoterCannotChangeEqualVotes: from the same model everywhere no single
// change helps a vote, whatever the models.
func TestOneVoterCannotChangeEqualVotes(t *testing.T) {
	toy := NewToy()
	split, err := toy.Build(system(t, "majority-vote"), Env{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	w := split.Train
	right, changed := make([]uint64, w.words), make([]uint64, w.words)
	for _, alloc := range w.Singles() {
		if err := w.Right(alloc, right); err != nil {
			t.Fatal(err)
		}
		for d := range alloc {
			for c := range int32(5) {
				other := slices.Clone(alloc)
				other[d] = c
				if err := w.Right(other, changed); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(right, changed) {
					t.Errorf("%v answers otherwise than %v", other, alloc)
				}
			}
		}
	}
}
