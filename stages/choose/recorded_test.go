package choose

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"switchyard/stages/experiment"
)

// write makes a file and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// wholeTable has 40 questions and assignments of models x and y to two modules;
// x then y is right on all questions, the others on one in three, at a dollar for
// x and two for y.
func wholeTable(skip string) string {
	var b strings.Builder
	b.WriteString("question,module0,module1,correct,cost\n")
	for q := range 40 {
		for _, pair := range []string{"x,x", "x,y", "y,x", "y,y"} {
			right := 0
			if pair == "x,y" || q%3 == 0 {
				right = 1
			}
			if row := fmt.Sprintf("q%d,%s", q, pair); row != skip {
				fmt.Fprintf(&b, "%s,%d,%d\n", row, right, 2+strings.Count(pair, "y"))
			}
		}
	}
	return b.String()
}

const recordedHead = "name: f\nreplications: 1..2\nsystems: [locate-solve]\noptimisers: [single, exhaustive, {name: greedy, optimiser: greedy}, {name: code, optimiser: llmselector, alpha: 0}]\nworlds: [{name: w, world: recorded, starts: 0, "

func TestRecordedAssignments(t *testing.T) {
	p, err := planOf(recordedHead + "file: " + write(t, "table.csv", wholeTable("")) + ", train_share: 0.25}]\n")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	execute(t, p, dir, 2)
	for _, r := range read(t, Selections, dir) {
		if r.Train != 10 || r.Test != 30 {
			t.Fatalf("%d questions to choose on and %d to test on, expected a quarter of 40 and the rest", r.Train, r.Test)
		}
		if r.Optimiser == "greedy" && r.From == "locate=y solve=x" {
			if r.Assignment != r.From || *r.AtOptimum { // no single change helps there
				t.Errorf("greedy went from %s to %s", r.From, r.Assignment)
			}
			continue
		}
		if r.Optimiser != "single" && (r.Assignment != "locate=x solve=y" || r.AccuracyTest != 1 || *r.Cost != 3) {
			t.Errorf("%s chose %s from %s: %v at %v $", r.Optimiser, r.Assignment, r.From, r.AccuracyTest, *r.Cost)
		}
		if r.Optimiser == "single" && (*r.Cost != 2 || *r.Regret < 50) {
			t.Errorf("single: %s at %v $, %v points behind", r.Assignment, *r.Cost, *r.Regret)
		}
	}
	worlds := read(t, Worlds, dir)
	if len(worlds) != 2 || worlds[0].Within != nil || worlds[0].Answers == nil || *worlds[0].SingleTrain == *worlds[1].SingleTrain && *worlds[0].SingleTest == *worlds[1].SingleTest {
		t.Errorf("worlds, of two different halves: %+v", worlds)
	}
}

func TestRecordedErrors(t *testing.T) {
	whole, lacking := write(t, "table.csv", wholeTable("")), write(t, "lacking.csv", wholeTable("q7,x,y"))
	questions := write(t, "answers.csv", "question,dataset,a,b\n1,m,0,1\n2,m,1,1\n3,n,1,0\n")
	swapped := write(t, "swapped.csv", strings.Replace(wholeTable(""), "module0,module1", "solve,locate", 1))
	lonely := write(t, "lonely.csv", strings.Join(strings.SplitAfter(wholeTable(""), "\n")[:5], ""))
	if _, err := planOf(recordedHead + "file: " + swapped + ", modules: [locate, solve]}]\n"); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		recordedHead + "file: " + lacking + "}]":                                                                           "(missing: 1): the table has no outcome of question q7 for ",
		recordedHead + "file: " + questions + "}]":                                                                         "for a system of one such as direct",
		judgedHead(questions, "weak: aa"):                                                                                  `optimisers[0].weak: value "aa": expected one of a, b; did you mean a?`,
		judgedHead(questions, "features: [b]"):                                                                             "optimisers[0].features: value \"[b]\": expected none: the table has no such column",
		judgedHead(questions, "groups: [datset]"):                                                                          "optimisers[0].groups: value \"[datset]\": expected one of dataset; did you mean dataset?",
		judgedHead(questions, "score: given, column: length"):                                                              "optimisers[0].column: value \"length\": expected none: the table has no such column",
		recordedHead + "file: " + swapped + "}]":                                                                           "columns in the order of the system's modules, locate, solve: these are solve, locate; for the file's own order say modules: [locate, solve]",
		recordedHead + "file: " + swapped + ", modules: [solve, locate]}]":                                                 `worlds[0].modules: value "[solve, locate]": expected columns in the order`,
		recordedHead + "file: " + lonely + "}]":                                                                            "two questions or more",
		judgedWorld(questions, "prices: [a=1, c=2]"):                                                                       `worlds[0].prices: value "[a=1, c=2]": expected what goes with the outcomes: `,
		judgedWorld(questions, "features: [datset]"):                                                                       `worlds[0].features: value "[datset]": expected what goes with the outcomes: `,
		judgedWorld(questions, "format: plian"):                                                                            `worlds[0].format: value "plian": expected what goes with the outcomes: `,
		recordedHead + "file: nowhere.csv}]":                                                                               "no such file",
		recordedHead + "file: " + whole + ", where: a=b}]":                                                                 "where is for files of single models' answers",
		strings.Replace(recordedHead, "locate-solve", "debate", 1) + "file: " + whole + "}]":                               "as debate has, 6: these are of 2, module0, module1",
		recordedHead + "file: " + whole + ", pools: 3}]":                                                                   "pools: unknown key",
		strings.Replace(recordedHead, "alpha: 0", "gamma: 1", 1) + "file: " + whole + "}]":                                 "asks no diagnoser",
		strings.Replace(recordedHead, "locate-solve", "direct", 1) + "file: " + questions + ", where: dataset=o}]":         "a label that the file has",
		strings.Replace(recordedHead, "locate-solve", "direct", 1) + "file: " + questions + ", test_file: " + whole + "}]": "outcomes of the same models",
	} {
		_, err := planOf(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", text, err, want)
		}
	}
}

// judgedHead is an experiment with a threshold of these parameters.
func judgedHead(file, parameters string) string {
	return "name: f\nreplications: 1\nsystems: [direct]\nworlds: [{name: w, world: recorded, file: " + file + ", prices: [a=1, b=2]}]\n" +
		"optimisers: [{name: t, optimiser: threshold, " + parameters + "}]\n"
}

// judgedWorld is an experiment with a recorded world of these parameters.
func judgedWorld(file, parameters string) string {
	return "name: f\nreplications: 1\nsystems: [direct]\nworlds: [{name: w, world: recorded, file: " + file + ", " + parameters + "}]\noptimisers: [single]\n"
}

// TestRules: what chooses for each question anew, on answers whose oracle and
// whose best single model are known.
func TestRules(t *testing.T) {
	var b strings.Builder
	b.WriteString("question,question_chars,small,large\n")
	for q := range 400 { // small is right on the short half, large on three in four
		short, large := 1-q%2, 1
		if q%4 == 0 {
			large = 0
		}
		fmt.Fprintf(&b, "%d,%d,%d,%d\n", q, 100+900*(q%2), short, large)
	}
	path := write(t, "answers.csv", b.String())
	e, err := experiment.Load("f.yaml", []byte("name: f\nreplications: 1..2\nsystems: [direct]\nworlds: [{name: w, world: recorded, file: "+path+", prices: [small=1, large=3]}]\n"+
		"optimisers: [single, oracle, {name: learned, optimiser: logistic}, {name: cheap, optimiser: logistic, dollars: 1}, {name: judged, optimiser: cascade, length: 2}]\n"), experiment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(e)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	execute(t, p, dir, 2)
	for _, r := range read(t, Selections, dir) {
		switch {
		case r.Optimiser == "single" && r.Assignment != "answer=large",
			r.Optimiser == "oracle" && r.AccuracyTest != 1,
			r.Optimiser == "learned" && (r.AccuracyTest != 1 || *r.Cost < 1.8 || *r.Cost > 2.2), // the length tells
			r.Optimiser == "judged" && r.AccuracyTest != 1,
			r.Optimiser == "cheap" && (*r.Cost != 1 || r.AccuracyTest > .6),
			r.Optimiser != "single" && (r.AIQ == nil || *r.AIQ < .7):
			t.Errorf("%s: %s has %v at %v $, AIQ %v", r.Optimiser, r.Assignment, r.AccuracyTest, *r.Cost, r.AIQ)
		}
	}
	for _, row := range read(t, Pareto, dir) {
		if row.Front && (*row.Lo > row.AccuracyTest || *row.Hi < row.AccuracyTest || row.CostTest < 1) {
			t.Errorf("point %+v", row)
		}
	}
}
