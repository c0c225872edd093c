package compound

import (
	"math"
	"testing"

	"switchyard/sim/param"
)

// TestAbilityIsWhatSucceedsSamples: what a candidate does on many questions is a
// sample of its ability.
func TestAbilityIsWhatSucceedsSamples(t *testing.T) {
	debate := new(Debate)
	param.Defaults(debate)
	g, err := debate.Graph()
	if err != nil {
		t.Fatal(err)
	}
	toy := NewToy()
	toy.Train, toy.Prices = 20_000, []float64{5, 4, 3, 2, 1}
	split, err := toy.Build(g, Env{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	w := split.Train
	if w.Skill(0) != "generate" || w.Skill(5) != "judge" || !w.Priced() || w.CostOf(5, 1) != 4 {
		t.Errorf("skills %s and %s, cost %v", w.Skill(0), w.Skill(5), w.CostOf(5, 1))
	}
	for m := range w.Modules() {
		for c := range w.Candidates(m) {
			ability, ok := w.Ability(m, int32(c))
			if got := w.Succeeds(m, int32(c)); !ok || math.Abs(got-ability) > 0.02 {
				t.Errorf("module %d, candidate %d succeeds on %v of the questions, ability %v", m, c, got, ability)
			}
		}
	}
}
