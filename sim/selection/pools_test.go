package selection_test

import (
	"fmt"
	"math"
	"os"
	"testing"

	"switchyard/sim/compound"
	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/selection"
)

func needLong(t *testing.T) {
	t.Helper()
	if os.Getenv("SWITCHYARD_LONG") == "" {
		t.Skip("long: run by ./run.sh test --long")
	}
}

// three are the systems of the study of pools.
func three() map[string]compound.SystemParams {
	refine, debate := new(compound.SelfRefine), new(compound.Debate)
	param.Defaults(refine)
	param.Defaults(debate)
	return map[string]compound.SystemParams{"locate-solve": locateSolve(), "self-refine": refine, "debate": debate}
}

// moments is a mean with its standard error.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64) { m.n++; m.sum += x; m.squares += x * x }
func (m *moments) mean() float64 { return m.sum / m.n }
func (m *moments) se() float64 {
	return math.Sqrt(max(0, m.squares/m.n-m.mean()*m.mean()) / (m.n - 1))
}

func (m *moments) String() string { return fmt.Sprintf("%.4f +- %.4f", m.mean(), m.se()) }

// agrees compares a mean with another simulator's, from a sample of the same
// size: within two standard errors of the difference.
func (m *moments) agrees(with float64) bool { return math.Abs(m.mean()-with) <= 2*math.Sqrt2*m.se() }

// Gains over the best single model, on test questions, over 80 pools of the
// configuration that compound.Toy has by default, with the points that another
// simulator gave LLMSelector and exhaustive search. Its self-refine had no
// self-agreement; with it, it gave +6.2 to exhaustive search alone.
func TestLongPools(t *testing.T) {
	needLong(t)
	systems := three()
	for _, c := range []struct {
		system               string
		agreement            float64
		selected, exhaustive float64
	}{
		{"locate-solve", 1, .010, .024},
		{"self-refine", 1, .052, .058},
		{"self-refine", .3, math.NaN(), .062},
		{"debate", 1, .036, .040},
	} {
		toy := compound.NewToy()
		toy.SelfAgreement = c.agreement
		selected, exhaustive := gains(t, systems[c.system], toy)
		t.Logf("%s, self-agreement %g: llmselector %v (want %.3f), exhaustive %v (want %.3f)", c.system, c.agreement,
			selected, c.selected, exhaustive, c.exhaustive)
		if !math.IsNaN(c.selected) && !selected.agrees(c.selected) {
			t.Errorf("%s: LLMSelector gains %v, want %.3f", c.system, selected, c.selected)
		}
		if !exhaustive.agrees(c.exhaustive) {
			t.Errorf("%s: exhaustive search gains %v, want %.3f", c.system, exhaustive, c.exhaustive)
		}
	}
}

func gains(t *testing.T, system compound.SystemParams, toy *compound.Toy) (selected, exhaustive *moments) {
	selected, exhaustive = new(moments), new(moments)
	for pool := range 80 {
		split := build(t, system, toy, compound.Env{Seed: 1, Pool: pool})
		cache, err := selection.NewCache(split.Train)
		if err != nil {
			t.Fatal(err)
		}
		p := selection.Problem{World: cache, Diagnoser: oracle(t, cache, 1, "", nil), Stream: rng.New(1, pool, "selection")}
		single := accuracy(t, split.Test, must(t, new(selection.Single), p).Assignment)
		exhaustive.add(accuracy(t, split.Test, must(t, new(selection.Exhaustive), p).Assignment) - single)
		selected.add(accuracy(t, split.Test, must(t, selector(t, "ties", "incumbent"), p).Assignment) - single)
	}
	return selected, exhaustive
}

// Evaluations and the share that converged on debates, by the diagnoser's
// accuracy, the noise and the rule of ties; 40 pools, at most 200 rounds.
func TestLongNoise(t *testing.T) {
	needLong(t)
	want := map[string][5]float64{
		"redrawn incumbent": {54, 407, 546, 603, 708}, "redrawn inserted": {64, 585, 657, 723, 825},
		"fixed incumbent": {54, 329, 471, 439, 489}, "fixed inserted": {64, 463, 534, 615, 678},
	}
	for _, noise := range []string{"redrawn", "fixed"} {
		for _, ties := range []string{"incumbent", "inserted"} {
			for i, p := range []float64{1, .9, .8, .7, .6} {
				var evaluations, converged, test moments
				for pool := range 40 {
					split := toyDebate(t, pool)
					cache, err := selection.NewCache(split.Train)
					if err != nil {
						t.Fatal(err)
					}
					d := oracle(t, cache, p, noise, rng.New(1, pool, "noise"))
					o := must(t, selector(t, "ties", ties), selection.Problem{World: cache, Diagnoser: d, Stream: rng.New(1, pool, "selection")})
					evaluations.add(float64(o.Evaluations))
					converged.add(map[bool]float64{true: 1}[o.Converged])
					test.add(accuracy(t, split.Test, o.Assignment))
				}
				target := want[noise+" "+ties][i]
				t.Logf("%s noise, ties %s, p %.1f: evaluations %v (want %.0f), converged %.2f, test %v", noise, ties, p, &evaluations, target, converged.mean(), &test)
				if !evaluations.agrees(target) {
					t.Errorf("%s noise, ties %s, p %.1f: %v evaluations, want %.0f", noise, ties, p, &evaluations, target)
				}
			}
		}
	}
}

// All optimisers from 25 starts on 80 pools and three systems.
func TestLongEverything(t *testing.T) {
	needLong(t)
	runs := 0
	for name, system := range three() {
		test := map[string]*moments{}
		for pool := range 80 {
			split := build(t, system, compound.NewToy(), compound.Env{Seed: 1, Pool: pool})
			cache, err := selection.NewCache(split.Train)
			if err != nil {
				t.Fatal(err)
			}
			for start := range 25 {
				p := selection.Problem{World: cache, Diagnoser: oracle(t, cache, .8, "fixed", rng.New(1, pool, "noise"))}
				for _, e := range selection.Optimisers() {
					o := e.New()
					param.Defaults(o)
					p.Stream = rng.New(1, start, "selection")
					p.Budget = 0
					if e.Name == "random" {
						p.Budget = 60
					}
					if test[e.Name] == nil {
						test[e.Name] = new(moments)
					}
					test[e.Name].add(accuracy(t, split.Test, must(t, o, p).Assignment))
					runs++
				}
			}
		}
		for _, e := range selection.Optimisers() {
			t.Logf("%s, %s: test accuracy %v", name, e.Name, test[e.Name])
		}
	}
	if runs != 80*3*25*len(selection.Optimisers()) {
		t.Errorf("%d runs", runs)
	}
}
