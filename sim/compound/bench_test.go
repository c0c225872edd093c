package compound

import (
	"fmt"
	"testing"
)

func debateWorld(t testing.TB, models, questions int) *World {
	t.Helper()
	toy := NewToy()
	toy.Models, toy.Train, toy.Test = models, questions, 1
	split, err := toy.Build(system(t, "debate"), Env{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return split.Train
}

// BenchmarkSweepDebate answers 500 questions with each of the 10^6 allocations
// of a debate of ten models.
func BenchmarkSweepDebate(b *testing.B) {
	w := debateWorld(b, 10, 500)
	counts := make([]int32, w.Allocations())
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Counts(counts); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(counts)), "ns/allocation")
}

// BenchmarkSweepVoters answers 500 questions with 10^5 allocations of a vote
// whose voters are too many for the shortcut of three.
func BenchmarkSweepVoters(b *testing.B) {
	for _, voters := range []int{5, 9, 15} {
		b.Run(fmt.Sprint(voters), func(b *testing.B) {
			toy := NewToy()
			toy.Models, toy.Train, toy.Test = 10, 500, 1
			split, err := toy.Build(system(b, "majority-vote", func(p SystemParams) { p.(*MajorityVote).Voters = voters }), Env{Seed: 1})
			if err != nil {
				b.Fatal(err)
			}
			counts := make([]int32, 100_000)
			for b.Loop() {
				if err := split.Train.CountRange(0, counts); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(counts)), "ns/allocation")
		})
	}
}

// BenchmarkRight answers 500 questions with one allocation.
func BenchmarkRight(b *testing.B) {
	for _, name := range []string{"locate-solve", "self-refine", "debate"} {
		b.Run(name, func(b *testing.B) {
			toy := NewToy()
			toy.Train = 500
			split, err := toy.Build(system(b, name), Env{Seed: 1})
			if err != nil {
				b.Fatal(err)
			}
			w := split.Train
			alloc, dst := make([]int32, w.Modules()), make([]uint64, w.words)
			b.ReportAllocs()
			for n := int64(0); b.Loop(); n++ {
				w.Allocation(n%w.Allocations(), alloc)
				if err := w.Right(alloc, dst); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBuild draws a pool and has it answer 200 and 500 questions.
func BenchmarkBuild(b *testing.B) {
	for _, models := range []int{5, 10} {
		b.Run(fmt.Sprint(models), func(b *testing.B) {
			toy := NewToy()
			toy.Models = models
			g := system(b, "debate")
			for pool := 0; b.Loop(); pool++ {
				if _, err := toy.Build(g, Env{Seed: 1, Pool: pool}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
