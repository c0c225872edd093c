package selection

import (
	"reflect"
	"slices"
	"testing"

	"switchyard/sim/rng"
)

// path is what a run decided, round by round.
func path(o Outcome) (steps []string) {
	for _, r := range o.Rounds {
		steps = append(steps, names(r.Assignment))
	}
	return steps
}

// On right and wrong answers, with a diagnoser that never blames for a right
// one, scores are 1+gamma, 1 and 0: every gamma > 0 orders them alike. Gamma 0
// merges the first two, and that does make a difference.
func TestEveryGammaGivesTheSameRun(t *testing.T) {
	s := rng.New(2, 0, "gamma")
	differs := false
	for i := range 200 {
		w := sets{randomTable(s, 1+s.IntN(3), 2+s.IntN(3), 1+s.IntN(80), 1, false)}
		start := make([]int32, w.Modules())
		at := func(gamma float64, ties string) Outcome {
			return run(t, defaults(t, new(LLMSelector), "gamma", gamma, "ties", ties),
				Problem{World: w, Diagnoser: w, Start: start, Budget: 200})
		}
		for _, ties := range []string{"inserted", "listed", "incumbent"} {
			want := at(1, ties)
			for _, gamma := range []float64{1e-6, .5, 7} {
				if got := at(gamma, ties); !reflect.DeepEqual(got, want) {
					t.Fatalf("world %d: gamma %g went by %v, gamma 1 by %v", i, gamma, path(got), path(want))
				}
			}
			differs = differs || !reflect.DeepEqual(path(at(0, ties)), path(want))
		}
	}
	if !differs {
		t.Error("gamma 0 gave the same runs too, so that the worlds show nothing")
	}
}

// Gamma matters once right answers can be blamed.
func TestGammaMattersWhenRightAnswersAreBlamed(t *testing.T) {
	s := rng.New(3, 0, "gamma")
	for range 50 {
		w := sets{randomTable(s, 2, 3, 30, 1, true)}
		at := func(gamma float64) []string {
			return path(run(t, defaults(t, new(LLMSelector), "gamma", gamma), Problem{World: w, Diagnoser: w, Start: []int32{0, 0}}))
		}
		if !reflect.DeepEqual(at(.5), at(2)) {
			return
		}
	}
	t.Error("gamma .5 and 2 gave the same run in 50 worlds where right answers are blamed")
}

// Without a diagnoser the winner is the candidate with the most right answers:
// the run is greedy's, under the same rule of ties and with the same accounts.
func TestAlphaZeroIsCoordinateAscent(t *testing.T) {
	s := rng.New(4, 0, "alpha")
	for i := range 300 {
		w := sets{randomTable(s, 1+s.IntN(3), 1+s.IntN(4), 1+s.IntN(80), 1, true)}
		start := make([]int32, w.Modules())
		p := Problem{World: w, Start: start, Budget: 150}
		a := run(t, defaults(t, new(LLMSelector), "alpha", 0.0, "ties", "listed"), p)
		g := run(t, defaults(t, new(Greedy), "ties", "listed"), p)
		if !reflect.DeepEqual(path(a), path(g)) || a.FirstHit != g.FirstHit || a.Evaluations != g.Evaluations ||
			a.CodeBudget != g.CodeBudget || a.Accuracy != g.Accuracy || a.Stop != g.Stop {
			t.Fatalf("world %d: alpha 0 went by %v, greedy by %v", i, path(a), path(g))
		}
		for _, ties := range []string{"inserted", "incumbent"} { // the code's default alpha
			s := defaults(t, new(LLMSelector), "compat", []string{"feb2025", "sept2025"}[i%2], "nominate", "decisions", "ties", ties)
			for _, r := range run(t, s, p).Rounds {
				top, tied := highest(r.Values)
				stays := ties == "incumbent" && r.Values[r.Incumbent] == r.Values[top]
				if r.Values[r.Winner] != r.Values[top] || tied != r.Tied || stays && r.Winner != r.Incumbent {
					t.Fatalf("world %d, ties %s: accuracies %v and votes %v went from %d to %d", i, ties, r.Values, r.Votes, r.Incumbent, r.Winner)
				}
			}
		}
	}
}

// The voting node is nominated in the code alone; it moves to the head of the
// list, and costs a round.
func TestIdleModules(t *testing.T) {
	w := fixture()
	w.idle = 1
	d := diagnoser(t, w, 1, "", 0)
	p := Problem{World: w, Diagnoser: d, Start: []int32{A, B}}
	o := run(t, defaults(t, new(LLMSelector), "compat", "sept2025", "alpha", 1.0), p)
	if o.Evaluations != 15 || o.CodeBudget != 12 || len(o.Rounds) != 3 || o.Rounds[2].Module != 2 || o.Rounds[2].Tied != 5 {
		t.Errorf("with the vote nominated: %d and %d evaluations, rounds %+v", o.Evaluations, o.CodeBudget, o.Rounds)
	}
	if o.Distinct != 9 {
		t.Errorf("%d different allocations, want 9: the vote adds none", o.Distinct)
	}
	o = run(t, defaults(t, new(LLMSelector)), p)
	if o.Evaluations != 10 {
		t.Errorf("the paper's run takes %d evaluations, want 10", o.Evaluations)
	}
	p.Start, p.Stream = nil, rng.New(1, 0, "start")
	moved := 0
	for range 20 {
		o = run(t, defaults(t, new(LLMSelector), "compat", "sept2025", "alpha", 1.0), p)
		for _, r := range o.Rounds {
			if r.Module == 2 && r.Winner != 0 {
				t.Fatalf("the vote went to candidate %d, want the first of the list", r.Winner)
			}
			if r.Module == 2 && r.Incumbent != 0 {
				moved++
			}
		}
	}
	if moved == 0 {
		t.Error("in 20 random starts the vote always began at the head of the list")
	}
}

func TestPatienceAndCaps(t *testing.T) {
	s, lost := rng.New(13, 0, "patience"), 0
	for range 50 {
		w := sets{randomTable(s, 3, 3, 60, 1, true)}
		p := Problem{World: w, Diagnoser: w, Start: []int32{0, 0, 0}}
		o := run(t, defaults(t, new(LLMSelector), "patience", int64(6), "rounds", int64(0)), p)
		if o.Stop != StopPatience {
			continue
		}
		lost++
		best, at := -1.0, 0
		for i, r := range o.Rounds {
			if top := slices.Max(r.Values); top > best {
				best, at = top, i
			}
		}
		if best != o.Accuracy || at != len(o.Rounds)-1-6 {
			t.Errorf("returned %g after %d rounds; the best was %g, of round %d", o.Accuracy, len(o.Rounds), best, at)
		}
		if o.FirstHit != o.Rounds[at].Evaluations {
			t.Errorf("first hit at %d evaluations, want %d", o.FirstHit, o.Rounds[at].Evaluations)
		}
	}
	if lost == 0 {
		t.Error("no run of 50 lost its patience")
	}
	w := fixture()
	p := Problem{World: w, Diagnoser: diagnoser(t, w, 1, "", 0), Start: []int32{C, C}}
	var o Outcome
	if o = run(t, defaults(t, new(LLMSelector), "rounds", int64(3)), p); len(o.Rounds) != 3 || o.Stop != StopRounds || o.Converged {
		t.Errorf("%d rounds, ended by %s", len(o.Rounds), o.Stop)
	}
	p.Budget = 12
	if o = run(t, defaults(t, new(LLMSelector)), p); o.Evaluations != 10 || o.Stop != StopBudget {
		t.Errorf("paper with a budget of 12: %d evaluations, ended by %s", o.Evaluations, o.Stop)
	}
	if o = run(t, defaults(t, new(LLMSelector), "compat", "sept2025", "alpha", 1.0), p); o.Evaluations != 15 || o.CodeBudget != 12 {
		t.Errorf("code with a budget of 12: %d and %d evaluations, want 15 and 12", o.Evaluations, o.CodeBudget)
	}
}
