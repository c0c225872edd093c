package endpoint

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"switchyard/sim/compound"
	"switchyard/sim/param"
)

// write makes the files of a test folder.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// plainSection is a world of models a and b at a fake.
func plainSection(f *fake, more string) string {
	return fmt.Sprintf("    endpoints: {fake: {base_url: %q}}\n    models: {a: {input_price: 1000, output_price: 2000}, b: {}}\n    questions: q.csv\n    split: file\n    answers: answers.jsonl\n%s", f.URL+"/v1", more)
}

func graphOf(t testing.TB, p compound.SystemParams, change func()) *compound.Graph {
	t.Helper()
	param.Defaults(p)
	if change != nil {
		change()
	}
	g, err := p.Graph()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

const someQuestions = "question,answer,hint\n1+1,2,low\n2+3,5,mid\n4+5,9,high\n7+8,15,top\n"

// TestDebate follows a debate by hand: who is shown what, which samples are
// asked, what the vote passes on, and what it costs and takes.
func TestDebate(t *testing.T) {
	f := newFake(t, func(a *asked) string {
		text := a.text()
		switch {
		case strings.HasPrefix(text, "generate"):
			return "from " + a.Model + " (" + a.Model + ")"
		case strings.Contains(text, "own from a"):
			return "I say (2)"
		}
		return "I say (3)"
	})
	f.delay = 5 * time.Millisecond
	dir := t.TempDir()
	write(t, dir, map[string]string{"q.csv": someQuestions})
	l := openLive(t, dir, plainSection(f, `    context_columns: [hint]
    prompts:
      generate: "generate {{.question}} {{.hint}}"
      judge: {system: "be fair", user: "own {{.own}}{{range .others}}, {{.Name}} {{.Text}}{{end}}"}
`))
	debate := new(compound.Debate)
	g := graphOf(t, debate, nil)
	train, test, err := l.Worlds(t.Context(), g, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if train.Questions() != 2 || test.Questions() != 2 || train.Modules() != 6 || train.Idle() != 1 {
		t.Fatalf("%d and %d questions, %d modules, %d idle", train.Questions(), test.Questions(), train.Modules(), train.Idle())
	}
	scores := make([]float32, 2)
	alloc := []int32{0, 0, 1, 0, 1, 0} // the third debater's own is from b
	if err := train.Scores(alloc, scores); err != nil {
		t.Fatal(err)
	}
	if scores[0] != 1 || scores[1] != 0 { // two of three say 2
		t.Errorf("scores %v, expected 1 and 0", scores)
	}
	traces, err := train.Traces(alloc)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(traces[0].Outputs, "|"); got != "from a (a)|from a (a)|from b (b)|I say (2)|I say (2)|I say (3)|2" {
		t.Errorf("outputs %s", got)
	}
	if n := f.calls.Load(); n != 9 {
		t.Errorf("%d calls, expected 3 generators for each question, and 3 debaters, who are shown the same in both", n)
	}
	shown := 0
	for _, a := range f.seen {
		if len(a.Messages) == 2 && a.Messages[0] == (Message{"system", "be fair"}) && a.Messages[1].Content == "own from b (b), generate1 from a (a), generate2 from a (a)" && a.Model == "a" {
			shown++
		}
	}
	if shown != 1 {
		t.Errorf("the third debater was shown its prompt %d times", shown)
	}
	// Of a: two generators with 3 words in and 3 out, two debaters with 14 and 3.
	got, err := train.Cost(alloc)
	if err != nil || math.Abs(got-(1000*34+2000*12)/1e6) > 1e-12 {
		t.Errorf("a question costs $%g, expected $.058: %v", got, err)
	}
	seconds, err := train.Latency(alloc)
	if err != nil || seconds < 0.010 || seconds > 1 {
		t.Errorf("a question takes %g s, expected two calls of 5 ms, one behind the other: %v", seconds, err)
	}
}

// TestPartsOfPrompts: two calls in a row, a choice among what is read, and the
// plain prompts of modules that have none.
func TestPartsOfPrompts(t *testing.T) {
	f := newFake(t, func(a *asked) string {
		switch text := a.text(); {
		case strings.HasPrefix(text, "rewrite"):
			return "table"
		case text == "task of table":
			return "the task"
		case strings.HasPrefix(text, "choose"):
			return "I like the last. Final selection: 1"
		case strings.Contains(text, "locate:\nthe task"):
			return "final answer: 2"
		}
		return "(" + a.Model + ")"
	})
	dir := t.TempDir()
	write(t, dir, map[string]string{"q.csv": someQuestions})
	l := openLive(t, dir, plainSection(f, "    metric: numeric_match\n    prompts:\n      locate: {user: \"rewrite {{.question}}\", then: \"task of {{.previous}}\"}\n      judge: {user: \"choose {{len .reads}}\", reply: selection}\n"))
	train, _, err := l.Worlds(t.Context(), graphOf(t, new(compound.LocateSolve), nil), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	traces, err := train.Traces([]int32{0, 1})
	if err != nil || traces[0].Outputs[0] != "the task" || traces[0].Score != 1 || traces[0].Calls != 3 {
		t.Errorf("%+v, %v", traces, err)
	}
	best := new(compound.BestOf)
	train, _, err = l.Worlds(t.Context(), graphOf(t, best, func() { best.Generators = 2 }), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	traces, err = train.Traces([]int32{0, 1, 0})
	if err != nil || traces[0].Outputs[2] != "(b)" {
		t.Errorf("%+v, %v", traces, err)
	}
	for reply, want := range map[string]int{"final selection: 1": 1, "Final Selection: 2": 0, "none": 0, "final selection: -1": 0, "final selection: x": 0} {
		if got := selected(reply, 2); got != want {
			t.Errorf("%q selects %d, expected %d", reply, got, want)
		}
	}
}

// TestCandidates: models by prompts, a module's own models, and one model, with
// one prompt, everywhere.
func TestCandidates(t *testing.T) {
	f := newFake(t, echo)
	dir := t.TempDir()
	write(t, dir, map[string]string{"q.csv": someQuestions})
	l := openLive(t, dir, plainSection(f, "    prompts: {solve: {short: \"s {{.locate}}\", long: {user: \"l {{.locate}}\"}}}\n"))
	g := graphOf(t, new(compound.LocateSolve), nil)
	labels, models := l.Labels(g)
	if fmt.Sprint(labels, models) != "[[a b] [a/short a/long b/short b/long]] [[0 1] [0 0 1 1]]" {
		t.Errorf("candidates %v of models %v", labels, models)
	}
	train, _, err := l.Worlds(t.Context(), g, 1, 1)
	if err != nil || fmt.Sprint(train.Singles()) != "[[0 0] [0 1] [1 2] [1 3]]" {
		t.Errorf("singles %v, %v", train.Singles(), err)
	}
	few := &compound.Custom{Modules: []compound.NamedStep{{Name: "x", Step: compound.Step{Rule: "answer", Reads: []string{"query"}, Models: []string{"b"}, Calls: 1}}}}
	one, err := few.Graph()
	if err != nil {
		t.Fatal(err)
	}
	if labels, _ := l.Labels(one); fmt.Sprint(labels) != "[[b]]" {
		t.Errorf("candidates %v", labels)
	}
	scores := []float32{9}
	if err := train.ScoresOf([]int32{0, 0}, []int32{1}, scores); err != nil || f.calls.Load() != 2 || scores[0] != 0 {
		t.Errorf("one question: %d calls, score %v, %v", f.calls.Load(), scores, err)
	}
	if err := train.Scores([]int32{0, 4}, make([]float32, 2)); err == nil {
		t.Error("a candidate that is not there was asked")
	}
}

// TestSplits: a shuffled split is another one in each replication, without
// loss; that of the file is the file's.
func TestSplits(t *testing.T) {
	f := newFake(t, echo)
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("question,answer\n")
	for i := range 40 {
		fmt.Fprintf(&b, "q%d,%d\n", i, i)
	}
	write(t, dir, map[string]string{"q.csv": b.String()})
	g := graphOf(t, new(compound.LocateSolve), nil)
	seen := map[string]bool{}
	for r := 1; r <= 3; r++ {
		l := openLive(t, dir, strings.Replace(plainSection(f, "    train: 15\n    test: 20\n"), "split: file", "split: shuffled", 1))
		train, test, err := l.Worlds(t.Context(), g, 1, r)
		if err != nil || train.Questions() != 15 || test.Questions() != 20 || !l.Drawn() {
			t.Fatalf("%d and %d questions, %v", train.Questions(), test.Questions(), err)
		}
		distinct := map[string]bool{}
		for _, q := range append(append([]Question(nil), train.questions...), test.questions...) {
			distinct[q.Text] = true
		}
		seen[fmt.Sprint(train.questions)] = true
		if len(distinct) != 35 {
			t.Errorf("%d different questions, expected 35", len(distinct))
		}
	}
	if len(seen) != 3 {
		t.Errorf("three replications have %d splits", len(seen))
	}
}

// TestOpenErrors: what is wrong is said before anything is asked.
func TestOpenErrors(t *testing.T) {
	f := newFake(t, echo)
	dir := t.TempDir()
	write(t, dir, map[string]string{"q.csv": someQuestions, "empty.csv": "question,answer\n", "q.txt": "", "bad.jsonl": "{}\n[1]\n", "hole.csv": "question,answer\na,b\n,c\n"})
	const fine = "endpoints: {fake:"
	for change, want := range map[[2]string]string{
		{"endpoints:", "endpoint:"}:                              `did you mean "endpoints"?`,
		{"{a: {", "{a: {endpoint: fke, "}:                        `did you mean "fake"?`,
		{"b: {}", "b: {body: '[1]'}"}:                            "a JSON object",
		{"b: {}", "b: {body: '{\"model\": \"x\"}'}"}:             "no model in it",
		{"b: {}", "b: {temperature: 3}"}:                         "temperature",
		{"q.csv", "none.csv"}:                                    "no such file",
		{"q.csv", "q.txt"}:                                       `the name ends in ".txt"`,
		{"q.csv", "empty.csv"}:                                   "file has no rows",
		{"q.csv", "bad.jsonl"}:                                   "bad.jsonl:2: line is no JSON object",
		{"q.csv", "hole.csv"}:                                    "hole.csv:3",
		{"q.csv", "q.csv\n    answer_column: reply"}:             "there are answer, hint, question",
		{"split: file", "train: 4"}:                              "from 1 to 3",
		{"split: file", "train: 2\n    test: 3"}:                 "a number up to 2",
		{"split: file", "prompts: {x: \"{{.\"}"}:                 "a template that can be read",
		{"split: file", "prompts: {x: {user: [a]}}"}:             "user",
		{"split: file", "diagnoser: {model: c}"}:                 "one of a, b",
		{"split: file", "diagnoser: {}\n    metric: e"}:          "metric",
		{fine, "endpoints: {x: {base_url: 'ftp://h'}, fake:"}:    "an address such as http://localhost:8000/v1",
		{fine, "endpoints: {x: {base_url: '${NO_SUCH}'}, fake:"}: "the environment variable NO_SUCH to be set",
	} {
		text := plainSection(f, "")
		if !strings.Contains(text, change[0]) {
			t.Fatalf("nothing to change: %s", change[0])
		}
		_, err := tryOpen(t, dir, strings.Replace(text, change[0], change[1], 1))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, expected %s", change, err, want)
		}
	}
	l := openLive(t, dir, plainSection(f, "    prompts: {locate: \"{{.solve}}\"}\n"))
	err := l.Check(graphOf(t, new(compound.LocateSolve), nil))
	if err == nil || !strings.Contains(err.Error(), "what module locate reads, which is question, reads") {
		t.Error(err)
	}
	all := &compound.Custom{Modules: []compound.NamedStep{{Name: "x", Step: compound.Step{Reads: []string{"query"}, Calls: 1}}, {Name: "y", Step: compound.Step{Rule: "all", Reads: []string{"x"}, Calls: 1}}}}
	g, err := all.Graph()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Check(g); err == nil || !strings.Contains(err.Error(), "rule all knows right from wrong") {
		t.Error(err)
	}
	if f.calls.Load() > 0 {
		t.Errorf("%d calls", f.calls.Load())
	}
}

// TestKeysOfWorlds: what decides an answer or a cost is part of the key, how it
// is got is not.
func TestKeysOfWorlds(t *testing.T) {
	f := newFake(t, echo)
	dir := t.TempDir()
	write(t, dir, map[string]string{"q.csv": someQuestions, "other.csv": strings.Replace(someQuestions, "15", "16", 1)})
	keyOf := func(old, new string) string {
		return openLive(t, dir, strings.Replace(plainSection(f, "    prompts: {solve: \"x {{.locate}}\"}\n"), old, new, 1)).Key()
	}
	same := keyOf("", "")
	for _, change := range [][2]string{{"b: {}", "b: {temperature: 0}"}, {"b: {}", "b: {model: c}"}, {"1000", "1001"}, {"q.csv", "other.csv"}, {"x {{", "y {{"}, {"split: file", "split: shuffled"}, {"split: file", "split: file\n    metric: em"}, {"split: file", "split: file\n    extract: final"}} {
		if keyOf(change[0], change[1]) == same {
			t.Errorf("%v leaves the key", change)
		}
	}
	for _, change := range [][2]string{{"base_url", "timeout_s: 3, base_url"}, {"base_url", "key_env: K, stream: true, base_url"}, {"split: file", "split: file\n    calls_limit: 4\n    offline: true"}, {"answers.jsonl", "others.jsonl"}} {
		if keyOf(change[0], change[1]) != same {
			t.Errorf("%v changes the key", change)
		}
	}
}
