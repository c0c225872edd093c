package selection

import (
	"math"
	"reflect"
	"testing"
)

func TestFixtureTable(t *testing.T) {
	want := [5][5]float64{
		{.30, .98, .44, .24, .65},
		{.19, .29, .24, .19, .05},
		{.30, .44, .45, .15, .10},
		{.10, .24, .15, .25, .10},
		{.00, .20, .00, .00, .20},
	}
	for _, a := range pairs(5) {
		if got := accuracyOf(t, fixture(), a); math.Abs(got-want[a[0]][a[1]]) > 1e-9 {
			t.Errorf("%s answers %.2f right, want %.2f", names(a), got, want[a[0]][a[1]])
		}
	}
}

// From C+C no single change helps, so greedy stays; the diagnoser sees that
// locate fails and moves to A, after which B solves.
func TestLectureCase(t *testing.T) {
	w := fixture()
	for _, ascent := range []string{"round-robin", "steepest"} {
		o := run(t, defaults(t, new(Greedy), "ascent", ascent), Problem{World: w, Start: []int32{C, C}})
		if names(o.Assignment) != "CC" || !o.Converged || o.Accuracy != .45 || o.FirstHit != 0 {
			t.Errorf("greedy %s from C+C: %s at %g, first hit %d", ascent, names(o.Assignment), o.Accuracy, o.FirstHit)
		}
	}
	for _, compat := range []string{"paper", "sept2025"} {
		s := defaults(t, new(LLMSelector), "compat", compat, "alpha", 1.0)
		o := run(t, s, Problem{World: w, Diagnoser: diagnoser(t, w, 1, "", 0), Start: []int32{C, C}})
		if names(o.Assignment) != "AB" || o.Accuracy != .98 || !o.Converged {
			t.Fatalf("%s: %s at %g, converged %t", compat, names(o.Assignment), o.Accuracy, o.Converged)
		}
		if o.FirstHit != 10 || o.Evaluations != 20 || o.CodeBudget != 16 {
			t.Errorf("%s: %d, %d and %d evaluations, want 10, 20 and 16", compat, o.FirstHit, o.Evaluations, o.CodeBudget)
		}
		var trace []string
		for _, r := range o.Rounds {
			trace = append(trace, names(r.Assignment))
		}
		if want := []string{"AC", "AB", "AB", "AB"}; !reflect.DeepEqual(trace, want) {
			t.Errorf("%s went by %v, want %v", compat, trace, want)
		}
		if o.Distinct != 13 || o.QuestionRuns != 1300 || o.DiagnoserCalls != 2000 {
			t.Errorf("%s: %d allocations, %d answers, %d verdicts; want 13, 1300, 2000", compat, o.Distinct, o.QuestionRuns, o.DiagnoserCalls)
		}
	}
	feb := defaults(t, new(LLMSelector), "compat", "feb2025", "alpha", 1.0)
	o := run(t, feb, Problem{World: w, Diagnoser: diagnoser(t, w, 1, "", 0), Start: []int32{C, C}})
	if names(o.Assignment) != "AB" || o.Evaluations != 15 || o.CodeBudget != 12 {
		t.Errorf("February: %s, %d and %d evaluations, want AB, 15 and 12", names(o.Assignment), o.Evaluations, o.CodeBudget)
	}
}

func TestStartsThatFail(t *testing.T) {
	w := fixture()
	stuck := []string{"BC", "CA", "CC", "CD", "DC", "DD", "EC", "ED"}
	if got := failures(t, defaults(t, new(Greedy), "ascent", "steepest"), w, nil, .98); !reflect.DeepEqual(got, stuck) {
		t.Errorf("steepest ascent fails from %v, want %v", got, stuck)
	}
	if got := failures(t, defaults(t, new(Greedy)), w, nil, .98); len(got) != 11 {
		t.Errorf("round robin, ties to the incumbent, fails from %d: %v, want 11", len(got), got)
	}
	if got := failures(t, defaults(t, new(Greedy), "ties", "listed"), w, nil, .98); len(got) != 10 {
		t.Errorf("round robin, ties to the first listed, fails from %d: %v, want 10", len(got), got)
	}
	for _, ties := range []string{"inserted", "listed", "incumbent"} {
		s := defaults(t, new(LLMSelector), "ties", ties)
		if got := failures(t, s, w, diagnoser(t, w, 1, "", 0), .98); got != nil {
			t.Errorf("llmselector with ties %s fails from %v", ties, got)
		}
	}
}
