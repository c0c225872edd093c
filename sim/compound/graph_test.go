package compound

import (
	"reflect"
	"strings"
	"testing"

	"switchyard/sim/param"
)

func TestGraphErrors(t *testing.T) {
	for _, c := range []struct {
		modules []Module
		output  string
		want    string
	}{
		{nil, "", "at least one module"},
		{[]Module{{Reads: []string{Query}}}, "", "module 1 has no name"},
		{[]Module{{Name: "query", Reads: []string{Query}}}, "", "cannot be called query"},
		{[]Module{{Name: "a b", Reads: []string{Query}}}, "", "no spaces"},
		{[]Module{{Name: "a", Reads: []string{Query}}, {Name: "a", Reads: []string{Query}}}, "", "two modules are called a"},
		{[]Module{{Name: "a", Rule: "criticc", Reads: []string{Query}}}, "", `unknown rule "criticc"; did you mean "critic"?`},
		{[]Module{{Name: "a", Reads: []string{Query}, Usage: Usage{Calls: -1}}}, "", "at least 0"},
		{[]Module{{Name: "a"}}, "", "module a reads nothing"},
		{[]Module{{Name: "plan", Reads: []string{Query}}, {Name: "solve", Reads: []string{"plam"}}}, "", `solve reads "plam", which is no module; did you mean "plan"?`},
		{[]Module{{Name: "a", Reads: []string{Query, Query}}}, "", "reads query twice"},
		{[]Module{{Name: "a", Reads: []string{Query}, Models: []string{"A", "B", "A"}}}, "", "module a has the model A twice"},
		{[]Module{{Name: "q", Reads: []string{Query}}, {Name: "a", Reads: []string{"c"}}, {Name: "b", Reads: []string{"a"}}, {Name: "c", Reads: []string{"q", "b"}}},
			"", "in a circle: a reads c reads b reads a"},
		{[]Module{{Name: "a", Reads: []string{Query, "a"}}}, "", "in a circle: a reads a"},
		{[]Module{{Name: "a", Rule: Critic, Reads: []string{Query}}}, "", "module a: rule critic reads one answer, not 0"},
		{[]Module{{Name: "a", Reads: []string{Query}}, {Name: "c", Rule: Critic, Reads: []string{"a"}}}, "", "the output c is a critic"},
		{[]Module{{Name: "a", Reads: []string{Query}}, {Name: "c", Rule: Critic, Reads: []string{"a"}}, {Name: "v", Rule: Vote, Reads: []string{"a", "c"}}},
			"", "rule vote cannot read a critic"},
		{[]Module{{Name: "a", Reads: []string{Query}}, {Name: "r", Rule: Refine, Reads: []string{"a"}}}, "", "not 1 and 0"},
		{[]Module{{Name: "j", Rule: Judge, Reads: []string{Query}}}, "", "rule judge reads at least one answer"},
		{[]Module{{Name: "v", Rule: Vote, Reads: []string{Query}}}, "", "rule vote reads at least one answer"},
		{[]Module{{Name: "a", Reads: []string{Query}}, {Name: "b", Reads: []string{Query}}}, "", "nothing reads a, b"},
		{[]Module{{Name: "a", Reads: []string{Query}}, {Name: "b", Reads: []string{Query}}}, "b", "cannot be reached from module a"},
		{[]Module{{Name: "solve", Reads: []string{Query}}}, "slove", `the output "slove" is no module; did you mean "solve"?`},
		{[]Module{{Name: "a", Reads: []string{Query}}, {Name: "b", Reads: []string{"a"}}}, "a", "cannot be reached from module b"},
	} {
		_, err := NewGraph(c.modules, c.output)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v\n got %v\nwant %s", c.modules, err, c.want)
		}
	}
}

// TestGraphSorts gives modules in another order than that of reading.
func TestGraphSorts(t *testing.T) {
	g, err := NewGraph([]Module{
		{Name: "vote", Rule: Vote, Reads: []string{"b", "a"}},
		{Name: "b", Reads: []string{"a"}},
		{Name: "a", Reads: []string{Query}, Skill: "s"},
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := g.DecisionNames(); !reflect.DeepEqual(got, []string{"a", "b"}) {
		t.Errorf("decisions %v", got)
	}
	if got := g.Reads(2); !reflect.DeepEqual(got, []int{1, 0}) || g.Module(2).Name != "vote" || g.Output() != 2 {
		t.Errorf("vote reads %v, output %d", got, g.Output())
	}
	if got := g.Skills(); !reflect.DeepEqual(got, []string{"s", "b"}) {
		t.Errorf("skills %v", got)
	}
}

func TestTooManyVoters(t *testing.T) {
	modules, names := answering("a", 256)
	if _, err := NewGraph(append(modules, Module{Name: "v", Rule: Vote, Reads: names}), ""); err == nil || !strings.Contains(err.Error(), "at most 255 answers, not 256") {
		t.Errorf("256 voters: %v", err)
	}
	modules, names = answering("a", 255)
	g, err := NewGraph(append(modules, Module{Name: "v", Rule: Vote, Reads: names}), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []int{2, 300} {
		toy := NewToy()
		toy.Wrong, toy.Train, toy.Test = wrong, 70, 1
		split, err := toy.Build(g, Env{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		w := split.Train
		alloc, right := make([]int32, 255), make([]uint64, w.words)
		for i := range alloc {
			alloc[i] = int32(i % 5)
		}
		for _, alloc := range [][]int32{make([]int32, 255), alloc} {
			if err := w.Right(alloc, right); err != nil {
				t.Fatal(err)
			}
			n := naive{w, alloc, 0}
			for n.q = range 70 {
				if bit(right, n.q) != (n.answer(w.graph.output) == 0) {
					t.Fatalf("%d wrong answers, question %d", wrong, n.q)
				}
			}
		}
	}
}

func TestSystemShapes(t *testing.T) {
	for _, c := range []struct {
		name      string
		set       func(SystemParams)
		decisions string
		idle      int
	}{
		{"locate-solve", func(SystemParams) {}, "locate solve", 0},
		{"self-refine", func(SystemParams) {}, "generate critic refine", 0},
		{"self-refine", func(p SystemParams) { p.(*SelfRefine).Rounds = 2 }, "generate critic1 refine1 critic2 refine2", 0},
		{"debate", func(SystemParams) {}, "generate1 generate2 generate3 debate1 debate2 debate3", 1},
		{"debate", func(p SystemParams) { p.(*Debate).Rounds, p.(*Debate).Generators, p.(*Debate).Debaters = 2, 2, 3 },
			"generate1 generate2 debate1.1 debate1.2 debate1.3 debate2.1 debate2.2 debate2.3", 1},
		{"majority-vote", func(SystemParams) {}, "generate1 generate2 generate3", 1},
		{"best-of", func(SystemParams) {}, "generate1 generate2 generate3 judge", 0},
		{"graph", func(p SystemParams) {
			p.(*Custom).Modules = []NamedStep{{"plan", Step{Reads: []string{Query}}}, {"solve", Step{Reads: []string{Query, "plan"}}}}
		}, "plan solve", 0},
	} {
		g := system(t, c.name, c.set)
		if got := strings.Join(g.DecisionNames(), " "); got != c.decisions {
			t.Errorf("%s: decisions %s, want %s", c.name, got, c.decisions)
		}
		toy := NewToy()
		toy.Train, toy.Test = 1, 1
		split, err := toy.Build(g, Env{})
		if err != nil {
			t.Fatal(err)
		}
		if got := split.Train.Idle(); got != c.idle {
			t.Errorf("%s: %d idle modules, want %d", c.name, got, c.idle)
		}
	}
	// A debater reads its own answer first, around where there are more debaters.
	g := system(t, "debate", func(p SystemParams) { p.(*Debate).Generators, p.(*Debate).Debaters = 2, 3 })
	for i, want := range map[int]string{2: "query generate1 generate2", 3: "query generate2 generate1", 4: "query generate1 generate2"} {
		if got := strings.Join(g.Module(i).Reads, " "); got != want {
			t.Errorf("%s reads %s, want %s", g.Module(i).Name, got, want)
		}
	}
}

// TestParametersDescribeThemselves wants defaults within their own bounds.
func TestParametersDescribeThemselves(t *testing.T) {
	check := func(name string, p any) {
		param.Defaults(p)
		if err := param.Validate(p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, f := range param.Fields(p) {
			if f.Doc == "" {
				t.Errorf("%s: %s has no doc", name, f.Name)
			}
		}
	}
	for _, s := range Systems() {
		check(s.Name, s.New())
	}
	for _, k := range Kinds() {
		check(k.Name, k.New())
		if found, ok := FindKind(k.Name); !ok || found.Name != k.Name {
			t.Errorf("%s is not found", k.Name)
		}
	}
	step := &Step{Reads: []string{Query}}
	param.Defaults(step)
	step.Reads = []string{Query}
	if err := param.Validate(step); err != nil {
		t.Error(err)
	}
	toy := NewToy()
	toy.GeneralLow, toy.Luck = .7, .6
	err := param.Validate(toy)
	if err == nil || !strings.Contains(err.Error(), "general_low") {
		t.Errorf("general level from .7 to .65: %v", err)
	}
	toy.GeneralLow = .4
	if err := param.Validate(toy); err == nil || !strings.Contains(err.Error(), "at most 0.5268") {
		t.Errorf("squares of .85 and .6: %v", err)
	}
}

func TestUsageAndPrices(t *testing.T) {
	g := system(t, "locate-solve", func(p SystemParams) {
		p.(*LocateSolve).PerModule = PerModule{Calls: []float64{2, 1}, PromptTokens: []float64{4000, 500}, OutputTokens: []float64{100}}
	})
	toy := NewToy()
	toy.Models, toy.Train, toy.Test = 2, 1, 1
	toy.Prices, toy.InputPrices, toy.OutputPrices = []float64{0, 1}, []float64{2.5, .1}, []float64{10, .4}
	split, err := toy.Build(g, Env{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		alloc []int32
		want  float64
	}{
		{[]int32{0, 0}, 2*(4000*2.5+100*10)/1e6 + (500*2.5+100*10)/1e6},
		{[]int32{1, 0}, 2*(1+(4000*.1+100*.4)/1e6) + (500*2.5+100*10)/1e6},
	} {
		got, err := split.Test.Cost(c.alloc)
		if err != nil || got-c.want > 1e-12 || c.want-got > 1e-12 {
			t.Errorf("%v costs %v (%v), want %v", c.alloc, got, err, c.want)
		}
	}
	toy.Prices = []float64{1, 2, 3}
	if _, err := toy.Build(g, Env{}); err == nil || !strings.Contains(err.Error(), "each of the 2 models") {
		t.Errorf("three prices for two models: %v", err)
	}
	s := &SelfRefine{Rounds: 1, PerModule: PerModule{Calls: []float64{1, 2}, PromptTokens: []float64{1}, OutputTokens: []float64{1}}}
	if _, err := s.Graph(); err == nil || !strings.Contains(err.Error(), "one for each of the 3 modules") {
		t.Errorf("two numbers of calls for three modules: %v", err)
	}
}
