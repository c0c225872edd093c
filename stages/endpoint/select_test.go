package endpoint

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"switchyard/sim/compound"
	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/selection"
	"switchyard/stages/endpoint/toyserver"
	"switchyard/stages/experiment"
)

// liveToy is a toy world behind HTTP: its server's calls, and an experiment's
// section that describes it.
type liveToy struct {
	split compound.Split
	graph *compound.Graph
	calls atomic.Int64
	live  *Live
}

func newLiveToy(t *testing.T, dir string, g *compound.Graph, split compound.Split, more string) *liveToy {
	t.Helper()
	server, err := toyserver.New(split)
	if err != nil {
		t.Fatal(err)
	}
	toy := &liveToy{split: split, graph: g}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		toy.calls.Add(1)
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	if err := os.WriteFile(filepath.Join(dir, "questions.csv"), []byte(server.Questions()), 0o666); err != nil {
		t.Fatal(err)
	}
	toy.live = openLive(t, dir, toySection(h.URL, server, split.Train.Questions(), more))
	return toy
}

// toySection is the part of an experiment file below worlds.
func toySection(url string, server *toyserver.Server, train int, more string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "    endpoints: {toy: {base_url: %q, concurrency: 16, retry_wait_s: 0.001}}\n    models:\n", url+"/v1")
	for i, m := range server.Models() {
		fmt.Fprintf(&b, "      %s: {temperature: 0, input_price: %d, output_price: 1}\n", m, 1+i)
	}
	b.WriteString("    prompts:\n")
	prompts := server.Prompts()
	for _, name := range slices.Sorted(maps.Keys(prompts)) {
		fmt.Fprintf(&b, "      %s: %q\n", name, prompts[name])
	}
	fmt.Fprintf(&b, "    questions: questions.csv\n    train: %d\n    split: file\n    metric: numeric_match\n    answers: answers.jsonl\n%s", train, more)
	return b.String()
}

// section is the world of an experiment file.
func section(t testing.TB, dir, text string) experiment.Section {
	t.Helper()
	file := "name: f\nreplications: 1\nsystems: [locate-solve]\nworlds:\n  - name: w\n    world: live\n" + text + "optimisers: [single]\n"
	e, err := experiment.Load(filepath.Join(dir, "f.yaml"), []byte(file), experiment.Options{})
	if err != nil {
		t.Fatalf("%v in\n%s", err, file)
	}
	return e.Points[experiment.Choose][0].Part("world").Section
}

func tryOpen(t testing.TB, dir, text string) (*Live, error) {
	t.Helper()
	s := section(t, dir, text)
	p := new(Params)
	var kind struct {
		World string `yaml:"world"`
	}
	if err := s.Decode(1, &kind, p); err != nil {
		return nil, err
	}
	return Open(s, p)
}

func openLive(t testing.TB, dir, text string) *Live {
	t.Helper()
	l, err := tryOpen(t, dir, text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// toys are the case study and random worlds, in systems whose rules a toy
// server knows.
func toys(t *testing.T) map[string]func() (*compound.Graph, compound.Split) {
	graph := func(p compound.SystemParams) *compound.Graph {
		param.Defaults(p)
		if b, ok := p.(*compound.BestOf); ok {
			b.Generators = 2
		}
		g, err := p.Graph()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	build := func(p compound.WorldParams, g *compound.Graph) compound.Split {
		param.Defaults(p)
		if toy, ok := p.(*compound.Toy); ok {
			toy.Models, toy.Train, toy.Test = 3, 50, 20
		}
		split, err := p.Build(g, compound.Env{Seed: 3, Replication: 1})
		if err != nil {
			t.Fatal(err)
		}
		return split
	}
	return map[string]func() (*compound.Graph, compound.Split){
		"case study": func() (*compound.Graph, compound.Split) {
			g := graph(new(compound.LocateSolve))
			return g, build(new(compound.CaseStudy), g)
		},
		"locate-solve": func() (*compound.Graph, compound.Split) {
			g := graph(new(compound.LocateSolve))
			return g, build(new(compound.Toy), g)
		},
		"best-of": func() (*compound.Graph, compound.Split) {
			g := graph(new(compound.BestOf))
			return g, build(new(compound.Toy), g)
		},
	}
}

// TestSelectionOverHTTP: every optimiser makes the very same run over HTTP as in
// memory, with the truth as its diagnoser; a second run from the file of
// answers makes no call and the same run again.
func TestSelectionOverHTTP(t *testing.T) {
	for name, make := range toys(t) {
		t.Run(name, func(t *testing.T) {
			g, split := make()
			dir := t.TempDir()
			for round := range 2 {
				toy := newLiveToyAt(t, dir, g, split, round)
				compareRuns(t, toy)
				if calls := toy.calls.Load(); round == 1 && calls > 0 {
					t.Errorf("the second run made %d calls", calls)
				} else if round == 0 && calls == 0 {
					t.Error("the first run made no calls")
				}
			}
		})
	}
}

// newLiveToyAt is the same toy with another server, whose address is that of
// the first in the file of answers.
func newLiveToyAt(t *testing.T, dir string, g *compound.Graph, split compound.Split, round int) *liveToy {
	toy := newLiveToy(t, dir, g, split, "    diagnoser: {model: A}\n")
	address := filepath.Join(dir, "address")
	if round == 0 {
		if err := os.WriteFile(address, []byte(toy.live.servers[0].BaseURL), 0o666); err != nil {
			t.Fatal(err)
		}
	} else {
		data, err := os.ReadFile(address)
		if err != nil {
			t.Fatal(err)
		}
		toy.live.servers[0].BaseURL = string(data)
	}
	return toy
}

// compareRuns runs optimisers on a toy world over HTTP and in memory.
func compareRuns(t *testing.T, toy *liveToy) {
	t.Helper()
	train, test, err := toy.live.Worlds(t.Context(), toy.graph, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	diagnoser, err := toy.live.NewDiagnoser(train)
	if err != nil {
		t.Fatal(err)
	}
	oracle, err := (&selection.Oracle{Accuracy: 1}).Diagnoser(toy.split.Train, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(train.Singles(), toy.split.Train.Singles()) || train.Idle() != toy.split.Train.Idle() {
		t.Errorf("single models are %v and %d modules idle", train.Singles(), train.Idle())
	}
	for _, rule := range []string{"llmselector", "greedy", "two-stage", "single", "random"} {
		for start := range int32(train.Candidates(0)) {
			alloc := make([]int32, train.Modules())
			for m := range alloc {
				alloc[m] = start
			}
			run := func(w selection.World, d selection.Diagnoser) selection.Outcome {
				o, err := optimiser(t, rule).Run(selection.Problem{World: w, Diagnoser: d, Start: alloc, Budget: 60, Stream: rng.New(1, 1, rule)})
				if err != nil {
					t.Fatalf("%s from %d: %v", rule, start, err)
				}
				o.Cost, o.Dollars, o.DollarsNoCache = 0, 0, 0 // other prices
				return o
			}
			over, in := run(train, diagnoser), run(toy.split.Train, oracle)
			if !reflect.DeepEqual(over, in) {
				t.Errorf("%s from %d: over HTTP %+v\nin memory %+v", rule, start, over, in)
			}
			wants, have := make([]float32, test.Questions()), make([]float32, test.Questions())
			if err := test.Scores(over.Assignment, have); err != nil {
				t.Fatal(err)
			}
			if err := toy.split.Test.Scores(in.Assignment, wants); err != nil || !reflect.DeepEqual(have, wants) {
				t.Errorf("%s: test scores differ: %v", rule, err)
			}
		}
	}
	if diagnoser.Asked == 0 || diagnoser.Unread != 0 {
		t.Errorf("%d judgements, %d without a verdict", diagnoser.Asked, diagnoser.Unread)
	}
}

func optimiser(t *testing.T, name string) selection.Optimiser {
	for _, e := range selection.Optimisers() {
		if e.Name == name {
			o := e.New()
			param.Defaults(o)
			return o
		}
	}
	t.Fatalf("no optimiser %s", name)
	return nil
}
