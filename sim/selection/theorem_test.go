package selection_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"switchyard/sim/compound"
	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/selection"
)

func selector(t testing.TB, set ...any) *selection.LLMSelector {
	t.Helper()
	s := new(selection.LLMSelector)
	param.Defaults(s)
	for i := 0; i < len(set); i += 2 {
		if err := param.Set(s, set[i].(string), set[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func oracle(t testing.TB, w selection.World, accuracy float64, noise string, stream *rng.Stream) selection.Diagnoser {
	t.Helper()
	d, err := (&selection.Oracle{Accuracy: accuracy, Noise: noise}).Diagnoser(w, stream)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func must(t testing.TB, o selection.Optimiser, p selection.Problem) selection.Outcome {
	t.Helper()
	out, err := o.Run(p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The theorem as an oracle: where its assumptions hold, L rounds with an exact
// diagnoser end at the exhaustive optimum, from any start.
func TestTheorem(t *testing.T) {
	s := rng.New(1, 0, "theorem")
	for i := range 1000 {
		sizes := make([]int, 1+s.IntN(4))
		for m := range sizes {
			sizes[m] = 1 + s.IntN(4)
		}
		var w *compound.Table
		var best []int32
		var err error
		if i%2 == 0 {
			w, best, err = compound.Lawful(sizes, 1+s.IntN(60), .5, s)
		} else {
			w, best, err = compound.Dominated(sizes, 20+s.IntN(60), s)
		}
		if err != nil {
			t.Fatal(err)
		}
		start := make([]int32, len(sizes))
		for m, n := range sizes {
			start[m] = int32(s.IntN(n))
		}
		p := selection.Problem{World: w, Diagnoser: oracle(t, w, 1, "", nil), Start: start}
		exhaustive := must(t, new(selection.Exhaustive), p)
		got := must(t, selector(t, "rounds", int64(len(sizes)), "ties", []string{"inserted", "listed", "incumbent"}[i%3]), p)
		if !slices.Equal(got.Assignment, best) || !slices.Equal(exhaustive.Assignment, best) {
			t.Fatalf("world %d of sizes %v: best %v, exhaustive search %v, after L rounds %v", i, sizes, best, exhaustive.Assignment, got.Assignment)
		}
		all := must(t, selector(t), p)
		if !all.Converged || !slices.Equal(all.Assignment, best) {
			t.Fatalf("world %d: left the optimum for %v afterwards", i, all.Assignment)
		}
		if i < 60 {
			assess(t, w, selection.Within, selection.Between)
		}
	}
}

// assess checks that a world violates none of some assumptions.
func assess(t *testing.T, w selection.World, held ...string) {
	t.Helper()
	shares, err := selection.Assess(w, selection.Survey{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range shares {
		if slices.Contains(held, s.Assumption) && s.Violations != 0 {
			t.Fatalf("%g of %g cases violate %s, want none", s.Violations, s.Cases, s.Assumption)
		}
	}
}

// Each assumption broken alone: the search converges short of the optimum, and
// the survey names the assumption of order that is broken.
func TestCounterexamples(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range compound.Counterexamples() {
		seen[c.Breaks] = true
		p := selection.Problem{Start: c.Start}
		set := []any{}
		if c.Table != nil {
			p.World, p.Diagnoser = c.Table, oracle(t, c.Table, 1, "", nil)
		} else {
			p.World, set = c.Recorded, []any{"alpha", 0.0}
		}
		o := must(t, selector(t, set...), p)
		e := must(t, new(selection.Exhaustive), p)
		if !o.Converged || !slices.Equal(o.Assignment, c.Stuck) || !slices.Equal(e.Assignment, c.Best) || o.Accuracy >= e.Accuracy {
			t.Errorf("%s (%s): ended at %v (%g, %s), want %v; optimum %v (%g)", c.Breaks, c.Summary,
				o.Assignment, o.Accuracy, o.Stop, c.Stuck, e.Assignment, e.Accuracy)
		}
		if c.Table == nil {
			continue
		}
		for _, s := range surveyed(t, c.Table) {
			if s.Assumption != selection.Within && s.Assumption != selection.Between {
				continue
			}
			if broken := s.Violations > 0; broken != (c.Breaks == s.Assumption) {
				t.Errorf("the world that breaks %s: %g of %g cases violate %s", c.Breaks, s.Violations, s.Cases, s.Assumption)
			}
		}
	}
	if len(seen) != 5 {
		t.Errorf("counterexamples break %v", seen)
	}
}

func surveyed(t *testing.T, w selection.World) []selection.Share {
	t.Helper()
	shares, err := selection.Assess(w, selection.Survey{})
	if err != nil {
		t.Fatal(err)
	}
	return shares
}

// A diagnoser that errs is the sixth way: one that always says the opposite
// leads away from the optimum of a lawful world.
func TestWrongDiagnoser(t *testing.T) {
	s := rng.New(6, 0, "theorem")
	missed := 0
	for range 20 {
		w, best, err := compound.Lawful([]int{3, 3}, 40, .5, s)
		if err != nil {
			t.Fatal(err)
		}
		p := selection.Problem{World: w, Diagnoser: oracle(t, w, 0, "fixed", s), Stream: s}
		if o := must(t, selector(t), p); !slices.Equal(o.Assignment, best) {
			missed++
		}
	}
	if missed == 0 {
		t.Error("a diagnoser that is always wrong found the optimum of 20 worlds")
	}
}

func build(t testing.TB, system compound.SystemParams, world compound.WorldParams, env compound.Env) compound.Split {
	t.Helper()
	g, err := system.Graph()
	if err != nil {
		t.Fatal(err)
	}
	split, err := world.Build(g, env)
	if err != nil {
		t.Fatal(err)
	}
	return split
}

func locateSolve() compound.SystemParams {
	s := new(compound.LocateSolve)
	param.Defaults(s)
	return s
}

// The random case study: from C+C the selector finds A+B at a diagnoser of
// accuracy .8, in every one of 300 draws of questions; greedy stays.
func TestRandomCase(t *testing.T) {
	c := new(compound.CaseStudyRandom)
	param.Defaults(c)
	var stuck, found float64
	for seed := range 300 {
		split := build(t, locateSolve(), c, compound.Env{Seed: uint64(seed)})
		start := []int32{2, 2}
		for _, noise := range []string{"redrawn", "fixed"} {
			train, err := selection.NewCache(split.Train)
			if err != nil {
				t.Fatal(err)
			}
			d := oracle(t, train, .8, noise, rng.New(uint64(seed), 0, "noise"))
			o := must(t, selector(t), selection.Problem{World: train, Diagnoser: d, Start: start})
			if !slices.Equal(o.Assignment, []int32{0, 1}) || !o.Converged {
				t.Errorf("seed %d, %s noise: ended at %v by %s, want A+B", seed, noise, o.Assignment, o.Stop)
			}
			if o.FirstHit != 10 || o.Evaluations != 20 {
				t.Errorf("seed %d, %s noise: %d evaluations, %d with confirmation; want 10 and 20", seed, noise, o.FirstHit, o.Evaluations)
			}
		}
		greedy := &selection.Greedy{Ascent: "steepest"}
		o := must(t, greedy, selection.Problem{World: split.Train, Start: start})
		stuck += accuracy(t, split.Test, o.Assignment) / 300
		found += accuracy(t, split.Test, []int32{0, 1}) / 300
	}
	t.Logf("mean test accuracy over 300 seeds: greedy from C+C %.4f, A+B %.4f", stuck, found)
	if stuck < .46 || stuck > .50 || found < .985 || found > .995 {
		t.Errorf("mean test accuracies %.4f and %.4f, want about .48 and .99", stuck, found)
	}
}

func accuracy(t testing.TB, w *compound.World, alloc []int32) float64 {
	t.Helper()
	c, err := selection.NewCache(w)
	if err != nil {
		t.Fatal(err)
	}
	scores := make([]float32, w.Questions())
	if err := c.Scores(alloc, scores); err != nil {
		t.Fatal(err)
	}
	var sum float64
	for _, s := range scores {
		sum += float64(s)
	}
	return sum / float64(len(scores))
}

// plain hides that a world counts all right answers together.
type plain struct {
	selection.World
	selection.Binary
}

func TestExhaustiveByCounts(t *testing.T) {
	c := new(compound.CaseStudyRandom)
	param.Defaults(c)
	w := build(t, locateSolve(), c, compound.Env{Seed: 3}).Train
	counted := must(t, new(selection.Exhaustive), selection.Problem{World: w})
	direct := must(t, new(selection.Exhaustive), selection.Problem{World: plain{w, w}})
	if !reflect.DeepEqual(counted, direct) || counted.Dollars == 0 {
		t.Errorf("by counts %+v, one by one %+v", counted, direct)
	}
}

// From the optimum of a debate with ten models the run confirms it in L rounds
// of K: 60 evaluations of a million.
func TestDebateOfTen(t *testing.T) {
	debate := new(compound.Debate)
	param.Defaults(debate)
	toy := compound.NewToy()
	toy.Models = 10
	split := build(t, debate, toy, compound.Env{Seed: 1})
	cache, err := selection.NewCache(split.Train)
	if err != nil {
		t.Fatal(err)
	}
	p := selection.Problem{World: cache, Diagnoser: oracle(t, cache, 1, "", nil)}
	best := must(t, new(selection.Exhaustive), p)
	if best.Evaluations != 1_000_000 {
		t.Fatalf("exhaustive search took %d evaluations", best.Evaluations)
	}
	p.Start = best.Assignment
	if want := int64(1e6) * 200; best.QuestionRuns != want || best.Distinct != 1_000_000 {
		t.Errorf("exhaustive search had %d answers, want %d", best.QuestionRuns, want)
	}
	o := must(t, selector(t, "ties", "incumbent", "alpha", 0.0), p)
	if o.Evaluations != 60 || o.FirstHit != 0 || !slices.Equal(o.Assignment, best.Assignment) {
		t.Errorf("coordinate ascent from the optimum: %d evaluations, first hit %d", o.Evaluations, o.FirstHit)
	}
	o = must(t, selector(t, "ties", "incumbent"), p)
	t.Logf("with the diagnoser: %d evaluations, first hit %d, %g from %g", o.Evaluations, o.FirstHit, o.Accuracy, best.Accuracy)
	if o = must(t, &selection.LLMSelector{Compat: "sept2025", Alpha: 0, Ties: "incumbent"}, p); o.Evaluations != 70 || o.CodeBudget != 63 {
		t.Errorf("with the vote nominated: %d and %d evaluations, want 70 and 63", o.Evaluations, o.CodeBudget)
	}
}

func Example() {
	graph, _ := locateSolve().Graph()
	split, _ := new(compound.CaseStudy).Build(graph, compound.Env{})
	cache, _ := selection.NewCache(split.Train)
	diagnoser, _ := (&selection.Oracle{Accuracy: 1}).Diagnoser(cache, nil)
	entry, _ := selection.Find("llmselector")
	optimiser := entry.New()
	param.Defaults(optimiser)
	out, _ := optimiser.Run(selection.Problem{World: cache, Diagnoser: diagnoser, Start: []int32{2, 2}})
	for m, k := range out.Assignment {
		fmt.Println(graph.DecisionNames()[m], split.Train.Label(m, k))
	}
	fmt.Printf("accuracy %.2f, found at %d evaluations, confirmed at %d\n", out.Accuracy, out.FirstHit, out.Evaluations)
	// Output:
	// locate A
	// solve B
	// accuracy 0.98, found at 10 evaluations, confirmed at 20
}
