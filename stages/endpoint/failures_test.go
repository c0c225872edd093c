package endpoint

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"switchyard/stages/stats"
)

const whoWhen = `{"is_correct": false, "question": "How many?", "ground_truth": "4", "mistake_agent": "Coder", "mistake_step": "1", "mistake_reason": "x",
 "history": [{"content": "plan", "role": "assistant", "name": "Planner"}, {"content": "wrong code", "role": "Coder (thought)"}, {"content": "5", "name": "Planner", "role": "user"}]}`

const failureTable = `run,question,answer,module,output,mistaken
r1,q,4,plan,do this,0
r1,q,4,solve,5,1
r2,q,4,plan,do that,1
r2,q,4,solve,6,0
`

// TestFailures reads both forms, and measures a judge by hand: it blames
// whoever wrote a number, and gives no verdict on the planner of Who&When.
func TestFailures(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"1.json": whoWhen, "f.csv": failureTable})
	one, err := ReadFailures(dir)
	if err != nil || len(one) != 1 || one[0].At != 1 || one[0].Mistaken != "Coder" || strings.Join(one[0].agents(), " ") != "Planner Coder" || one[0].Final != "5" {
		t.Fatalf("%+v, %v", one, err)
	}
	table, err := ReadFailures(filepath.Join(dir, "f.csv"))
	if err != nil || len(table) != 2 || table[0].Mistaken != "solve" || table[1].At != 0 {
		t.Fatalf("%+v, %v", table, err)
	}
	f := newFake(t, func(a *asked) string {
		switch text := a.text(); {
		case strings.Contains(text, "Judge module 3 (Planner)"):
			return "I cannot tell"
		case strings.Contains(text, "Judge module 2 (Coder)"), strings.Contains(text, "Judge module 2 (solve)"):
			return "[[verdict: yes]]"
		}
		return "[[verdict: no]]"
	})
	j := NewJudge(aClient(t, f.aServer()), aModel(), &DiagnoserParams{MaxTokens: 50})
	got, err := Measure(t.Context(), j, append(one, table...), 3)
	if err != nil {
		t.Fatal(err)
	}
	// Runs: half and whole right of two; both; none of two.
	mean, in := stats.Interval([]float64{0.75, 1, 0}, 0.95)
	want := Accuracy{Failures: 3, Verdicts: 6, Unread: 1, P: mean, Lo: max(0, in.Lo), Hi: min(1, in.Hi), Blamed: 2. / 3, Spared: 1.5 / 3, Named: 1. / 3}
	got.NamedLo, got.NamedHi = 0, 0
	if math.Abs(got.P-want.P) > 1e-12 || got != want {
		t.Errorf("%+v, expected %+v", got, want)
	}
}

func TestFailuresErrors(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"a.json":  {strings.Replace(whoWhen, `"Coder"`, `"Nobody"`, 1), "one of the history's: Planner, Coder"},
		"b.json":  {`{"history": []}`, "a list of steps"},
		"c.json":  {`[`, "no such JSON"},
		"d.csv":   {strings.Replace(failureTable, "5,1", "5,0", 1), "run r1 has no step that failed"},
		"e.csv":   {strings.Replace(failureTable, "this,0", "this,1", 1), "e.csv:3"},
		"f.csv":   {strings.Replace(failureTable, "5,1", "5,2", 1), "expected 0 or 1"},
		"g.csv":   {strings.Replace(failureTable, "module", "agent", 1), "a column of that name"},
		"h.jsonl": {"", "no rows"},
	} {
		write(t, dir, map[string]string{name: c.text})
		if _, err := ReadFailures(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %s", name, err, c.want)
		}
	}
	if _, err := Measure(t.Context(), nil, nil, 1); err == nil {
		t.Error("nothing was measured without an error")
	}
}

func FuzzWhoWhen(f *testing.F) {
	f.Add([]byte(whoWhen))
	f.Add([]byte(`{"history": [{}], "mistake_agent": "", "mistake_step": 0}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := parseWhoWhen("f", data)
		if err != nil {
			return
		}
		for _, agent := range l.agents() {
			if at := l.last(agent); l.Steps[at].Module != agent {
				t.Errorf("step %d of %q is another's", at, agent)
			}
		}
	})
}
