package compound_test

import (
	"fmt"

	"switchyard/sim/compound"
)

// The case study: of 25 pairs of models the best locates with A and solves with
// B, and no single change leads away from C at both.
func Example() {
	g, err := compound.NewGraph([]compound.Module{
		{Name: "locate", Reads: []string{compound.Query}},
		{Name: "solve", Reads: []string{"locate"}},
	}, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	split, err := new(compound.CaseStudy).Build(g, compound.Env{})
	if err != nil {
		fmt.Println(err)
		return
	}
	w := split.Train
	counts := make([]int32, w.Allocations())
	if err := w.Counts(counts); err != nil {
		fmt.Println(err)
		return
	}
	for _, alloc := range [][]int32{{2, 2}, {0, 2}, {2, 1}, {0, 1}} {
		cost, _ := w.Cost(alloc)
		fmt.Printf("%s+%s %d of %d, %g dollars\n", w.Label(0, alloc[0]), w.Label(1, alloc[1]), counts[w.Number(alloc)], w.Questions(), cost)
	}
	// Output:
	// C+C 45 of 100, 2 dollars
	// A+C 44 of 100, 6 dollars
	// C+B 44 of 100, 4 dollars
	// A+B 98 of 100, 8 dollars
}
