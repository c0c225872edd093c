package selection

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"switchyard/sim/rng"
)

// favourites is the first stage, question by question: each walks through the
// modules, remembers all models that are not blamed, and goes on with the last.
func (n *naive) favourites(init []string) []string {
	modules := n.world.Modules()
	chosen := append([]string(nil), init...)
	counters := make([]*counter, modules)
	for m := range counters {
		counters[m] = &counter{count: map[string]int{}}
	}
	for q := range n.world.n {
		walk := append([]string(nil), init...)
		for m := range modules {
			stand := walk[m]
			for _, model := range n.models {
				walk[m] = model
				if n.blame(walk, m, q) == 0 {
					counters[m].add(model)
					stand = model
				}
			}
			walk[m] = stand
		}
	}
	for m, c := range counters {
		if len(c.order) > 0 {
			chosen[m] = c.mostCommon()
		}
	}
	return chosen
}

func (n *naive) blame(allocation []string, node, q int) float32 {
	alloc := make([]int32, n.world.Modules())
	for m := range alloc {
		_, err := fmt.Sscanf(allocation[m], "model-%d", &alloc[m])
		if err != nil {
			panic(err)
		}
	}
	blame := make([]float32, n.world.n)
	_ = n.world.Blame(alloc, node, blame)
	return blame[q]
}

// bestChange is the second stage.
func (n *naive) bestChange(from []string) []string {
	var best []string
	most := -1.0
	for m := range n.world.Modules() {
		for _, model := range n.models {
			next := append([]string(nil), from...)
			next[m] = model
			var sum float64
			for q := range n.world.n {
				sum += n.score(strings.Join(next, ","), m, q)
			}
			if sum > most {
				most, best = sum, next
			}
		}
	}
	return best
}

func TestTwoStageAgreesWithNaive(t *testing.T) {
	s := rng.New(21, 0, "naive")
	for i := range 200 {
		modules, models := 1+s.IntN(3), 2+s.IntN(3)
		w := randomTable(s, modules, models, 1+s.IntN(60), []int{1, 2, 4}[s.IntN(3)], i%2 == 0)
		n := &naive{world: w, beta: 1, budget: DefaultBudget, equal: func(nodes int) int { return nodes + 1 }}
		for k := range models {
			n.models = append(n.models, fmt.Sprintf("model-%d", k))
		}
		start, init := make([]int32, modules), make([]string, modules)
		for m := range init {
			start[m] = int32(s.IntN(models))
			init[m] = n.models[start[m]]
		}
		begin := n.bestChange(n.favourites(init))
		for range w.idle {
			begin = append(begin, n.models[0])
		}
		// Coordinate ascent may go in circles over equal counts: 30 rounds.
		n.budget = 30 * (models - 1)
		want, _ := n.optimize(begin)
		o := run(t, defaults(t, new(TwoStage), "sample", 1.0, "rounds", int64(30)), Problem{World: w, Diagnoser: w, Start: start, Stream: s})
		got := []string{strings.Join(begin, ",")}
		for _, r := range o.Rounds {
			parts := strings.Split(got[len(got)-1], ",")
			parts[r.Module] = n.models[r.Winner]
			got = append(got, strings.Join(parts, ","))
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("case %d of %d models, %d questions: went by %v, want %v", i, models, w.n, got, want)
		}
	}
}
