package compound

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var twoModules = Names{Modules: []string{"plan", "solve"}, Candidates: [][]string{{"opus", "haiku"}, {"haiku", "opus", "qwen"}}}

func TestRecordedWorld(t *testing.T) {
	o, err := NewOutcomes(twoModules, []string{"first", "second", "third"})
	if err != nil {
		t.Fatal(err)
	}
	add := func(plan, solve int32, q int, score float64) error {
		return o.Add([]int32{plan, solve}, q, score, float64(plan+1), float64(q))
	}
	for q, score := range []float64{1, .5, 0} {
		if err := errors.Join(add(0, 2, q, score), add(1, 0, q, 1-score)); err != nil {
			t.Fatal(err)
		}
	}
	if err := add(0, 0, 1, .25); err != nil {
		t.Fatal(err)
	}
	if got := o.Missing(); got != 6*3-7 {
		t.Errorf("%d missing", got)
	}
	w, err := o.World([]int{2, 0})
	if err != nil {
		t.Fatal(err)
	}
	scores := make([]float32, 2)
	if err := w.Scores([]int32{0, 2}, scores); err != nil || !slices.Equal(scores, []float32{0, 1}) {
		t.Errorf("scores %v, %v", scores, err)
	}
	if cost, err := w.Cost([]int32{1, 0}); err != nil || cost != 2 {
		t.Errorf("cost %v, %v", cost, err)
	}
	if latency, err := w.Latency([]int32{1, 0}); err != nil || latency != 1 {
		t.Errorf("latency %v, %v", latency, err)
	}
	if got := w.Singles(); !reflect.DeepEqual(got, [][]int32{{0, 1}, {1, 0}}) {
		t.Errorf("singles %v", got)
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{w.Scores([]int32{1, 1}, scores), "no outcome of plan=haiku, solve=opus"},
		{w.Scores([]int32{0, 0}, scores), "no outcome of question third for plan=opus, solve=haiku"},
		{add(0, 2, 0, 1), "question first is recorded twice"},
		{add(0, 3, 0, 1), "candidate 3"},
		{add(0, 1, 3, 1), "question 3: there are 3"},
		{add(0, 1, 0, 1.5), "scores are 0 to 1"},
		{add(0, 1, 0, math.NaN()), "scores are 0 to 1"},
		{o.Add([]int32{0, 1}, 0, 1, -1, 0), "at least 0"},
		{o.Add([]int32{0}, 0, 1, 0, 0), "1 modules for a system with 2"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("got %v, want %s", c.err, c.want)
		}
	}
	if _, err := o.Allocation([]string{"xyz", "qwen"}); err == nil || !strings.Contains(err.Error(), `no candidate "xyz"; known are `) {
		t.Errorf("an unknown candidate: %v", err)
	}
	if _, err := o.Allocation([]string{"opsu", "qwen"}); err == nil || !strings.Contains(err.Error(), `did you mean "opus"?`) {
		t.Errorf("opsu: %v", err)
	}
	for _, bad := range []Names{
		{}, {Modules: []string{"a"}, Candidates: [][]string{{}}}, {Modules: []string{"a"}, Candidates: [][]string{{"x", "x"}}},
		{Modules: make([]string, 64), Candidates: slices.Repeat([][]string{{"x", "y"}}, 64)},
	} {
		if _, err := NewOutcomes(bad, []string{"q"}); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}

func TestAverages(t *testing.T) {
	a, err := NewAverages(twoModules, 200)
	if err != nil {
		t.Fatal(err)
	}
	alloc, err := a.Allocation([]string{"haiku", "opus"})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Add(alloc, .7427, 2.64/200, 4.97); err != nil {
		t.Fatal(err)
	}
	accuracy, err := a.Accuracy([]int32{1, 1})
	cost, _ := a.Cost([]int32{1, 1})
	latency, _ := a.Latency([]int32{1, 1})
	if err != nil || accuracy != .7427 || cost != .0132 || latency != 4.97 || a.Missing() != 5 || a.Questions() != 200 {
		t.Errorf("accuracy %v (%v), cost %v, latency %v, missing %d", accuracy, err, cost, latency, a.Missing())
	}
	if err := a.Scores(alloc, nil); !errors.Is(err, ErrNoScores) {
		t.Errorf("scores: %v", err)
	}
	if _, err := a.Accuracy([]int32{0, 0}); err == nil || !strings.Contains(err.Error(), "no plan=opus, solve=haiku") {
		t.Errorf("a missing row: %v", err)
	}
	if err := a.Add(alloc, .5, 0, 0); err == nil {
		t.Error("a row is taken twice")
	}
}
