package choose

import "testing"

// BenchmarkMillionAssignments evaluates all assignments of ten models to the six
// modules of a debate on 500 questions, and writes the table of them.
func BenchmarkMillionAssignments(b *testing.B) {
	p, err := planOf("name: f\nreplications: 1\ntables: {assignments: all}\nsystems: [debate]\n" +
		"worlds: [{name: toy, world: toy, models: 10, pools: 1, train: 500, test: 1, contexts: 0}]\noptimisers: [single]\n")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		execute(b, p, b.TempDir(), 2)
	}
	b.ReportMetric(1e6*float64(b.N)/b.Elapsed().Seconds(), "assignments/s")
}

// BenchmarkPool runs every optimiser from 25 starts on a pool of each system.
func BenchmarkPool(b *testing.B) {
	p, err := planOf("name: f\nreplications: 1\ntables: {assignments: none}\nsystems: [locate-solve, self-refine, debate]\n" +
		"worlds: [{name: toy, world: toy, pools: 1, starts: 25, contexts: 0}]\n" +
		"optimisers: [single, llmselector, two-stage, greedy, {name: random, optimiser: random, budget: 60}, halving, bandit, exhaustive]\n")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		execute(b, p, b.TempDir(), 2)
	}
}
