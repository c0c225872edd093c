package selection

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"switchyard/sim/rng"
)

// naive is OptimizerLLMDiagnoser's behaviour with its own means: models are
// names, an allocation is a text, and votes lie in a counter that remembers
// who came first. It nominates the voting node too, where there is one.
type naive struct {
	world       *tabled
	models      []string
	alpha, beta float64
	equal       func(nodes int) int // T
	budget      int
}

// counter is Python's: most_common(1) is the first inserted of the highest.
type counter struct {
	count map[string]int
	order []string
}

func (c *counter) add(key string) {
	if _, ok := c.count[key]; !ok {
		c.order = append(c.order, key)
	}
	c.count[key]++
}

func (c *counter) mostCommon() string {
	best := c.order[0]
	for _, key := range c.order {
		if c.count[key] > c.count[best] {
			best = key
		}
	}
	return best
}

// score runs the system on one question and asks the diagnoser.
func (n *naive) score(allocation string, node, q int) float64 {
	alloc := make([]int32, n.world.Modules())
	for m, model := range strings.Split(allocation, ",")[:len(alloc)] {
		for k, name := range n.models {
			if name == model {
				alloc[m] = int32(k)
			}
		}
	}
	scores := make([]float32, n.world.n)
	_ = n.world.Scores(alloc, scores)
	score := float64(scores[q]) * n.beta
	if n.alpha == 0 {
		return score
	}
	blame := make([]float32, n.world.n) // the voting node is never to blame
	if node < n.world.Modules() {
		_ = n.world.Blame(alloc, node, blame)
	}
	return score + n.alpha*(1-float64(blame[q]))
}

func (n *naive) optimize(init []string) (trace []string, spent int) {
	trace = []string{strings.Join(init, ",")}
	nodes := len(init)
	K := len(n.models)
	for i := 0; spent <= n.budget-(K-1); i++ {
		node := i % nodes
		votes := &counter{count: map[string]int{}}
		for q := range n.world.n {
			scored := map[string]float64{}
			var tried []string
			for _, model := range n.models {
				parts := strings.Split(trace[len(trace)-1], ",")
				parts[node] = model
				key := strings.Join(parts, ",")
				tried = append(tried, key)
				scored[key] = n.score(key, node, q)
			}
			best := scored[tried[0]]
			for _, key := range tried {
				best = max(best, scored[key])
			}
			for _, key := range tried {
				if scored[key] == best {
					votes.add(key)
				}
			}
		}
		trace = append(trace, votes.mostCommon())
		spent += K - 1
		if T := n.equal(nodes); len(trace) >= T {
			tail := map[string]bool{}
			for _, key := range trace[len(trace)-T:] {
				tail[key] = true
			}
			if len(tail) == 1 {
				break
			}
		}
	}
	return trace, spent
}

// The clever implementation, in words of bits and in numbers, takes the naive
// one's every step.
func TestAgreesWithNaive(t *testing.T) {
	s := rng.New(1, 0, "naive")
	for i := range 400 {
		modules, models, questions := 1+s.IntN(3), 1+s.IntN(4), 1+s.IntN(90)
		grain := []int{1, 1, 2, 4}[s.IntN(4)]
		w := randomTable(s, modules, models, questions, grain, i%3 == 0)
		n := &naive{world: w, budget: s.IntN(80), alpha: []float64{0, .3, 1, 2}[s.IntN(4)], beta: []float64{.5, 1, 1.7}[s.IntN(3)]}
		compat := "feb2025"
		n.equal = func(nodes int) int { return nodes }
		if s.IntN(2) == 0 {
			compat = "sept2025"
			n.equal = func(nodes int) int { return nodes + 1 }
		}
		for k := range models {
			n.models = append(n.models, fmt.Sprintf("model-%d", k))
		}
		start, init := make([]int32, modules), make([]string, modules+w.idle)
		for m := range init {
			init[m] = n.models[0] // where the voting node starts under a given start
			if m < modules {
				start[m] = int32(s.IntN(models))
				init[m] = n.models[start[m]]
			}
		}
		if n.budget == 0 {
			continue // would mean the default
		}
		trace, spent := n.optimize(init)
		worlds := []World{w}
		if grain == 1 {
			worlds = append(worlds, sets{w})
		}
		for _, world := range worlds {
			o := run(t, &LLMSelector{Compat: compat, Alpha: n.alpha, Gamma: n.beta}, Problem{
				World: world, Diagnoser: world.(Diagnoser), Start: start, Budget: n.budget})
			got := []string{strings.Join(init, ",")}
			for _, r := range o.Rounds {
				parts := strings.Split(got[len(got)-1], ",")
				parts[r.Module] = n.models[r.Winner]
				got = append(got, strings.Join(parts, ","))
			}
			if models == 1 { // a free round never spends the budget
				break
			}
			if !reflect.DeepEqual(got, trace) || o.CodeBudget != spent {
				t.Fatalf("case %d, %T, %s: went by %v for %d, want %v for %d", i, world, compat, got, o.CodeBudget, trace, spent)
			}
		}
	}
}
