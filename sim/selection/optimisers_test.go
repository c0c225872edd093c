package selection

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"switchyard/sim/param"
	"switchyard/sim/rng"
)

// Every entry has sound tags and defaults, runs on a plain world, and returns
// what it says: the accuracy of its assignment, and accounts that agree.
func TestEveryOptimiser(t *testing.T) {
	s := rng.New(5, 0, "every")
	for _, e := range Optimisers() {
		if e.Summary == "" || e.Ties == "" || e.Stop == "" || e.Source == "" {
			t.Errorf("%s lacks a description", e.Name)
		}
		for range 20 {
			w := sets{randomTable(s, 1+s.IntN(3), 1+s.IntN(4), 1+s.IntN(150), 1, false)}
			for _, budget := range []int{0, 9, 70} {
				if size := w.space.total; e.Name == "exhaustive" && budget > 0 && size > uint64(budget) {
					continue // it refuses
				}
				o := e.New()
				param.Defaults(o)
				if err := param.Validate(o); err != nil {
					t.Fatalf("%s: %v", e.Name, err)
				}
				p := Problem{World: w, Diagnoser: w, Budget: budget, Stream: rng.New(s.Uint64(), 0, "run")}
				checkOutcome(t, e.Name, w, budget, run(t, o, p))
			}
		}
	}
}

// An entry says what its optimiser needs: without it the run is refused, with it
// alone it is not.
func TestNeeds(t *testing.T) {
	w := sets{randomTable(rng.New(25, 0, "needs"), 2, 3, 40, 1, false)}
	for _, e := range Optimisers() {
		o := e.New()
		param.Defaults(o)
		asker, asks := o.(Asker)
		asks = asks && asker.Asks()
		p := Problem{World: w}
		if asks {
			p.Diagnoser = w
		}
		if e.Starts {
			p.Start = []int32{0, 1}
		}
		if e.Draws {
			p.Stream = rng.New(1, 0, "run")
		}
		run(t, o, p)
		for what, less := range map[string]func(*Problem) bool{
			"a diagnoser":        func(p *Problem) bool { p.Diagnoser = nil; return asks },
			"a stream":           func(p *Problem) bool { p.Stream = nil; return e.Draws },
			"a start and stream": func(p *Problem) bool { p.Start, p.Stream = nil, nil; return e.Starts || e.Draws },
		} {
			q := p
			needed := less(&q)
			if _, err := o.Run(q); (err != nil) != needed {
				t.Errorf("%s without %s: %v", e.Name, what, err)
			}
		}
	}
}

func checkOutcome(t *testing.T, name string, w World, budget int, o Outcome) {
	t.Helper()
	if got := accuracyOf(t, w, o.Assignment); math.Abs(got-o.Accuracy) > 1e-12 {
		t.Errorf("%s: says %g of an assignment that has %g", name, o.Accuracy, got)
	}
	if budget > 0 && o.CodeBudget > budget {
		t.Errorf("%s: spent %d of a budget of %d", name, o.CodeBudget, budget)
	}
	n := int64(w.Questions())
	if o.FirstHit > o.Evaluations || o.QuestionRuns > int64(o.Evaluations)*n || o.QuestionRuns > int64(o.Distinct)*n {
		t.Errorf("%s: first hit %d, evaluations %d, distinct %d, answers %d of %d questions", name, o.FirstHit, o.Evaluations, o.Distinct, o.QuestionRuns, n)
	}
	if o.Dollars > o.DollarsNoCache+1e-9 || o.Converged != (o.Stop == StopConverged || o.Stop == StopComplete) {
		t.Errorf("%s: dollars %g and %g, ended by %s, converged %t", name, o.Dollars, o.DollarsNoCache, o.Stop, o.Converged)
	}
}

// A shared cache changes the work and nothing else.
func TestSharedCache(t *testing.T) {
	s := rng.New(7, 0, "cache")
	for range 10 {
		w := sets{randomTable(s, 3, 3, 100, 1, false)}
		shared, err := NewCache(w)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range Optimisers() {
			seed := s.Uint64()
			at := func(world World) Outcome {
				o := e.New()
				param.Defaults(o)
				return run(t, o, Problem{World: world, Diagnoser: w, Budget: 60, Stream: rng.New(seed, 0, "run")})
			}
			if alone, again := at(w), at(shared); !reflect.DeepEqual(alone, again) {
				t.Errorf("%s: %+v alone, %+v with a shared cache", e.Name, alone, again)
			}
		}
	}
}

// Spaces past the dense limit are hashed.
func TestLargeSpace(t *testing.T) {
	w := &chain{questions: 70, ok: make([][][]bool, 8)}
	s := rng.New(8, 0, "large")
	for m := range w.ok {
		w.ok[m] = make([][]bool, 8)
		for k := range w.ok[m] {
			w.ok[m][k] = make([]bool, w.questions)
			for q := range w.ok[m][k] {
				w.ok[m][k][q] = s.IntN(8) <= k
			}
		}
	}
	c, err := NewCache(w)
	if err != nil || c.dense != nil {
		t.Fatal("a space of 8^8 is not hashed", err)
	}
	o := run(t, new(Random), Problem{World: c, Budget: 5000, Stream: s})
	if o.Distinct != 5000 || o.Evaluations != 5000 || len(c.accuracy) != 5000 {
		t.Errorf("%d distinct of %d evaluations, %d held", o.Distinct, o.Evaluations, len(c.accuracy))
	}
	for _, p := range c.Seen() {
		if got := accuracyOf(t, w, p.Assignment); got != p.Accuracy || got > o.Accuracy {
			t.Fatalf("%v is held as %g, is %g, best %g", p.Assignment, p.Accuracy, got, o.Accuracy)
		}
	}
	if _, err := new(Exhaustive).Run(Problem{World: c}); err == nil || !strings.Contains(err.Error(), "random") {
		t.Errorf("exhaustive search of 8^8 allocations: %v", err)
	}
}

func TestSpace(t *testing.T) {
	s := Space{sizes: []int32{2, 3, 4}, total: 24}
	alloc, other := make([]int32, 3), make([]int32, 3)
	for i := range uint64(24) {
		if s.Index(alloc) != i {
			t.Fatalf("%v has number %d, want %d", alloc, s.Index(alloc), i)
		}
		if s.At(i, other); !slices.Equal(alloc, other) {
			t.Fatalf("number %d is %v, want %v", i, other, alloc)
		}
		if more := s.Next(alloc); more != (i < 23) {
			t.Fatalf("after %d there is more: %t", i, more)
		}
	}
}

// Random search at a budget of the whole space is exhaustive search.
func TestRandomDrawsEachOnce(t *testing.T) {
	w := fixture()
	for _, budget := range []int{3, 10, 24, 25, 100} {
		o := run(t, new(Random), Problem{World: w, Budget: budget, Stream: rng.New(1, 0, "random")})
		if want := min(25, budget); o.Evaluations != want || o.Distinct != want {
			t.Errorf("budget %d: %d evaluations of %d allocations", budget, o.Evaluations, o.Distinct)
		}
		if budget >= 25 && (names(o.Assignment) != "AB" || o.Stop != StopComplete) {
			t.Errorf("the whole space drawn: %s by %s", names(o.Assignment), o.Stop)
		}
	}
}

func TestSingle(t *testing.T) {
	o := run(t, new(Single), Problem{World: fixture()})
	if names(o.Assignment) != "CC" || o.Accuracy != .45 || o.Evaluations != 5 || o.FirstHit != 3 {
		t.Errorf("best single model %s at %g after %d of %d", names(o.Assignment), o.Accuracy, o.FirstHit, o.Evaluations)
	}
}

// The rungs of 64 allocations: 64 answer N/32, 32 as many again, ..., 2 the
// other half: 64 + 32 + 2*16 + 4*8 + 8*4 + 16*2 thirty-seconds of N.
func TestHalvingPrice(t *testing.T) {
	h := defaults(t, new(Halving))
	if got := h.price(320, 64); got != 224*10 {
		t.Errorf("64 allocations on 320 questions ask %d, want 2240", got)
	}
	s := rng.New(11, 0, "halving")
	w := sets{randomTable(s, 3, 5, 320, 1, false)}
	o := run(t, h, Problem{World: w, Stream: s})
	if o.QuestionRuns != 2240 || o.Evaluations != 7 || o.Distinct != 64 {
		t.Errorf("%d answers, %d evaluations, %d allocations; want 2240, 7, 64", o.QuestionRuns, o.Evaluations, o.Distinct)
	}
	h.Arms = 0
	for budget := 2; budget < 12; budget++ {
		o := run(t, h, Problem{World: w, Budget: budget, Stream: s})
		if o.Evaluations > budget || o.Distinct < 125 && 2*o.Evaluations < budget {
			t.Errorf("what %d evaluations buy took %d, with %d allocations", budget, o.Evaluations, o.Distinct)
		}
	}
}

// A race drops what is clearly worse early, and rarely the best.
func TestBanditSparesAnswers(t *testing.T) {
	w := &chain{questions: 1000, ok: make([][][]bool, 1)}
	s := rng.New(12, 0, "bandit")
	for k := range 5 {
		row := make([]bool, w.questions)
		for q := range row {
			row[q] = s.Float64() < []float64{.1, .2, .9, .3, .1}[k]
		}
		w.ok[0] = append(w.ok[0], row)
	}
	missed := 0
	for range 100 {
		o := run(t, defaults(t, new(Bandit)), Problem{World: w, Start: []int32{2}, Stream: s})
		if o.Assignment[0] != 2 {
			missed++
		}
		if o.QuestionRuns > 1500 {
			t.Fatalf("%d of 5000 answers, want far fewer", o.QuestionRuns)
		}
	}
	if missed > 10 {
		t.Errorf("dropped the best in %d of 100 races at delta .1", missed)
	}
}

// With candidates that lie close together, batches mislead; the bound waits.
func TestBanditKeepsTheBest(t *testing.T) {
	s := rng.New(22, 0, "bandit")
	missed := 0
	for range 50 {
		w := &chain{questions: 500, ok: [][][]bool{make([][]bool, 4)}}
		for k := range w.ok[0] {
			w.ok[0][k] = make([]bool, w.questions)
			for q := range w.ok[0][k] {
				w.ok[0][k][q] = s.Float64() < []float64{.48, .5, .56, .5}[k]
			}
		}
		e := run(t, new(Exhaustive), Problem{World: w})
		o := run(t, defaults(t, new(Bandit)), Problem{World: w, Start: []int32{0}, Stream: s})
		missed += int(oneIf(o.Accuracy < e.Accuracy))
	}
	if missed > 5 {
		t.Errorf("missed the best in %d of 50 races at delta .1", missed)
	}
}

// Where all allocations are as good, the one drawn first wins.
func TestHalvingTies(t *testing.T) {
	w := sets{randomTable(rng.New(23, 0, "ties"), 3, 5, 64, 1, false)}
	for i := range w.scores {
		clear(w.scores[i])
	}
	l, err := open("test", Problem{World: w, Stream: rng.New(24, 0, "run")}, true)
	if err != nil {
		t.Fatal(err)
	}
	first := make([]int32, 3)
	newSample(l, 30).next(first)
	o := run(t, defaults(t, new(Halving), "arms", int64(30)), Problem{World: w, Stream: rng.New(24, 0, "run")})
	if !slices.Equal(o.Assignment, first) {
		t.Errorf("%v won, want %v, drawn first", o.Assignment, first)
	}
}

func TestWrongProblems(t *testing.T) {
	w := fixture()
	for want, p := range map[string]Problem{
		"no diagnoser":  {World: w, Start: []int32{0, 0}},
		"2 modules":     {World: w, Start: []int32{0}},
		"candidate 5":   {World: w, Start: []int32{0, 5}},
		"a stream":      {World: w},
		"at least 0":    {World: w, Lambda: -1},
		"no questions":  {World: &chain{ok: w.ok}},
		"nothing to ch": {World: &chain{questions: 1}},
	} {
		if _, err := defaults(t, new(LLMSelector)).Run(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	if _, err := Find("llm-selector"); err == nil || !strings.Contains(err.Error(), `"llmselector"`) {
		t.Errorf("a near name gives %v", err)
	}
}
