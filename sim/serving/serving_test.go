package serving

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"switchyard/sim/cluster"
	"switchyard/sim/compound"
	"switchyard/sim/engine"
	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/router"
	"switchyard/sim/workload"
)

// steps takes a time for a step whatever is in it, and more a prompt token.
type steps struct{ base, token int64 }

func (s steps) StepNs(b engine.Batch) int64 { return s.base + s.token*int64(b.Prefill) }

func graphOf(t testing.TB, p compound.SystemParams) *compound.Graph {
	t.Helper()
	param.Defaults(p)
	g, err := p.Graph()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func streams(name string) *rng.Stream { return rng.New(7, 1, name) }

// apart starts a question every so many microseconds.
func apart(us int64) func() workload.Start {
	at := -us
	return func() workload.Start {
		at += us
		return workload.Start{ArrivalUs: at, After: workload.None, User: workload.None}
	}
}

func draw(t testing.TB, modules []Module, l Lengths, questions int, starts func() workload.Start) *Traffic {
	t.Helper()
	traffic, err := Draw(modules, &l, questions, starts, streams)
	if err != nil {
		t.Fatal(err)
	}
	return traffic
}

// always calls the same models for every question, by module.
func always(models ...[]int32) Who {
	return func(_, m int, to []int32) []int32 { return append(to, models[m]...) }
}

func fleet(t testing.TB, models ...Model) *Fleet {
	t.Helper()
	policy, _ := router.Find("round-robin")
	p := policy.New()
	param.Defaults(p)
	scheduler := new(engine.Lecture)
	param.Defaults(scheduler)
	scheduler.ChunkTokens = 1 << 20
	f := &Fleet{Models: models, Engine: scheduler, Policy: policy.Name, Router: p}
	param.Defaults(&f.Sight)
	return f
}

func serve(t testing.TB, f *Fleet, c *Calls, split ...int) *cluster.Result {
	t.Helper()
	r, err := f.Run(new(cluster.Sim), c, split, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func fixed() Lengths { return Lengths{Prefix: "none", Template: 0, Question: 0, Spread: 0} }

// TestLoneQuestion: alone on its cluster a question takes as long as the longest
// path of its calls, each as long as alone. By hand: a call of model 0 with p
// prompt and o output tokens takes o steps of 1 ms and 1 us a prompt token.
func TestLoneQuestion(t *testing.T) {
	modules := []Module{
		{Name: "plan", Usage: compound.Usage{Calls: 2, PromptTokens: 100, OutputTokens: 10}, Template: 0},
		{Name: "short", Usage: compound.Usage{Calls: 1, PromptTokens: 50, OutputTokens: 5}, Reads: []int{0}, Template: 1},
		{Name: "long", Usage: compound.Usage{Calls: 1, PromptTokens: 200, OutputTokens: 40}, Reads: []int{0}, Template: 2},
		{Name: "merge", Usage: compound.Usage{Calls: 1, PromptTokens: 300, OutputTokens: 7}, Reads: []int{1, 2}, Template: 3},
	}
	f := fleet(t, Model{1, steps{1e6, 1e3}, 100_000}, Model{1, steps{5e6, 2e3}, 100_000})
	traffic := draw(t, modules, fixed(), 3, apart(10_000_000))
	for _, c := range []struct {
		name string
		who  Who
		want int64
	}{
		{"one model", always([]int32{0}, []int32{0}, []int32{0}, []int32{0}), 2*(10e6+100e3) + 40e6 + 250e3 + 7e6 + 300e3},
		{"two models", always([]int32{0}, []int32{0}, []int32{1}, []int32{0}), 2*(10e6+100e3) + 200e6 + 400e3 + 7e6 + 300e3},
		{"the short one slow", always([]int32{0}, []int32{1}, []int32{0}, []int32{0}), 2*(10e6+100e3) + 40e6 + 200e3 + 7e6 + 300e3},
		{"a cascade", always([]int32{0}, []int32{0}, []int32{0, 1}, []int32{0}), 2*(10e6+100e3) + 40e6 + 250e3 + 200e6 + 400e3 + 7e6 + 300e3},
	} {
		calls, err := traffic.Calls(2, c.who)
		if err != nil {
			t.Fatal(err)
		}
		split := []int{1, 1}
		if calls.Load[1] == 0 {
			split[1] = 0
		}
		// Short and long begin together, so that the first step on one model holds
		// both their prompts.
		for q, got := range calls.Latencies(serve(t, f, calls, split...), nil) {
			if got != c.want {
				t.Errorf("%s: question %d takes %d ns, want %d", c.name, q, got, c.want)
			}
		}
	}
}

// TestVotesTakeNoTime: a debate waits for all generators, its vote for nothing
// more than the debaters.
func TestVotesTakeNoTime(t *testing.T) {
	modules := Modules(graphOf(t, new(compound.Debate)))
	if len(modules) != 6 || !slices.Equal(modules[4].Reads, []int{0, 1, 2}) || modules[0].Template != modules[2].Template || modules[0].Template == modules[3].Template {
		t.Fatalf("modules of a debate: %+v", modules)
	}
	voted, err := compound.NewGraph([]compound.Module{
		{Name: "a", Reads: []string{compound.Query}}, {Name: "b", Reads: []string{compound.Query}},
		{Name: "vote", Rule: compound.Vote, Reads: []string{"a", "b"}},
		{Name: "last", Reads: []string{"vote", "a"}},
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := Modules(voted); !slices.Equal(got[2].Reads, []int{0, 1}) || got[2].Query {
		t.Errorf("who reads a vote waits for %v", got[2].Reads)
	}
}

// random is a graph of modules, by chance.
func random(s *rng.Stream) (modules []Module) {
	for i := range 2 + s.IntN(5) {
		m := Module{Name: fmt.Sprint(i), Query: s.IntN(2) == 0, Template: s.IntN(3)}
		m.Usage = compound.Usage{Calls: float64(1 + s.IntN(2)), PromptTokens: 400, OutputTokens: float64(1 + s.IntN(30))}
		if i > 0 && s.IntN(3) == 0 {
			m.Usage.Calls = 0.5
		}
		for r := range i {
			if s.IntN(3) == 0 {
				m.Reads = append(m.Reads, r)
			}
		}
		modules = append(modules, m)
	}
	return modules
}

// TestEveryCallOnce: in random systems under random assignments each call is
// served once, on its model, when what it waits for has ended; a second
// computation of the latencies from the requests agrees.
func TestEveryCallOnce(t *testing.T) {
	s := rng.New(3, 1, "systems")
	f := fleet(t, Model{1, steps{2e6, 1e3}, 30_000}, Model{2, steps{3e6, 2e3}, 30_000}, Model{1, steps{1e6, 1e3}, 30_000})
	l := Lengths{Prefix: "template", Template: .3, Question: 50, Spread: .7}
	for round := range 60 {
		modules, questions := random(s), 1+s.IntN(40)
		starts := apart(int64(s.IntN(60_000)))
		closed := round%3 == 0
		if closed {
			starts, _ = (&workload.ClosedLoop{Users: 3, Think: .01, Thinking: "exponential"}).Starts(&workload.Env{Seed: 1, Replication: 1}, questions, 1)
		}
		traffic := draw(t, modules, l, questions, starts)
		who := func(q, m int, to []int32) []int32 {
			to = append(to, int32((q+m)%3))
			if (q+m)%4 == 0 {
				to = append(to, int32((q+m+1)%3))
			}
			return to
		}
		calls, err := traffic.Calls(3, who)
		if err != nil {
			t.Fatal(err)
		}
		r := serve(t, f, calls, 2, 1, 1)
		checkServed(t, traffic, calls, r, who)
	}
}

func checkServed(t *testing.T, traffic *Traffic, calls *Calls, r *cluster.Result, who Who) {
	t.Helper()
	latencies := calls.Latencies(r, nil)
	var load [3]float64
	request := int32(0)
	begun := make([]int64, traffic.Questions())
	for q := range traffic.starts {
		ended := make([]int64, len(traffic.modules))
		begun[q] = -1
		last := int64(0)
		for m := range traffic.modules {
			from, root := int64(0), true
			for _, read := range traffic.modules[m].Reads {
				if ended[read] > 0 {
					from, root = max(from, ended[read]), false
				}
			}
			for range traffic.drawn.calls[q*len(traffic.modules)+m] {
				for _, model := range who(q, m, nil) {
					on := map[int32]int32{0: 0, 1: 0, 2: 1, 3: 2}[r.Replica[request]]
					if r.Status[request] != cluster.Finished || on != model || calls.Module[request] != int32(m) {
						t.Fatalf("question %d, module %d: call %d is %v on model %d, want %d", q, m, request, r.Status[request], on, model)
					}
					switch at := r.ArrivalNs[request]; {
					case root && begun[q] >= 0 && at != begun[q]:
						t.Fatalf("question %d begins at %d and at %d", q, begun[q], at)
					case root:
						begun[q] = at
					case at != from:
						t.Fatalf("question %d, module %d arrives at %d, want %d", q, m, at, from)
					}
					from, root = r.FinishNs[request], false
					load[model] += float64(calls.Workload.Prompt[request]) + outputWeight*float64(calls.Workload.Output[request])
					request++
				}
			}
			if !root {
				ended[m] = from
			}
			last = max(last, from)
		}
		if latencies[q] != last-begun[q] {
			t.Fatalf("question %d takes %d, counted again %d", q, latencies[q], last-begun[q])
		}
	}
	if int(request) != calls.Workload.Len() || !slices.Equal(load[:], calls.Load) {
		t.Fatalf("%d calls counted of %d, load %v and %v", request, calls.Workload.Len(), load, calls.Load)
	}
}

// TestDollars: with lengths at their means the calls cost what the world says.
func TestDollars(t *testing.T) {
	for _, system := range []compound.SystemParams{new(compound.LocateSolve), new(compound.SelfRefine), new(compound.Debate)} {
		param.Defaults(system)
		if s, ok := system.(*compound.LocateSolve); ok {
			s.PerModule = compound.PerModule{Calls: []float64{2, 1}, PromptTokens: []float64{700, 300}, OutputTokens: []float64{40, 90}}
		}
		g, err := system.Graph()
		if err != nil {
			t.Fatal(err)
		}
		toy := compound.NewToy()
		toy.Models, toy.Prices, toy.InputPrices, toy.OutputPrices = 3, []float64{0, 1e-4, 2e-4}, []float64{.1, 1, 3}, []float64{.4, 2, 15}
		split, err := toy.Build(g, compound.Env{Seed: 1, Replication: 1})
		if err != nil {
			t.Fatal(err)
		}
		alloc := make([]int32, split.Test.Modules())
		for m := range alloc {
			alloc[m] = int32(m % 3)
		}
		const questions = 50
		l := Lengths{Prefix: "template", Template: .3, Question: 20}
		calls, err := draw(t, Modules(g), l, questions, apart(1000)).Calls(3, func(_, m int, to []int32) []int32 { return append(to, alloc[m]) })
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, prompt := range calls.Workload.Prompt {
			model := alloc[calls.Module[i]]
			p := compound.Price{Call: toy.Prices[model], Input: toy.InputPrices[model], Output: toy.OutputPrices[model]}
			sum += p.Of(compound.Usage{Calls: 1, PromptTokens: float64(prompt), OutputTokens: float64(calls.Workload.Output[i])})
		}
		cost, err := split.Test.Cost(alloc)
		if err != nil || math.Abs(sum-questions*cost) > 1e-9*sum {
			t.Errorf("%T: calls cost %v, the world says %v", system, sum, questions*cost)
		}
	}
}

// TestLengths: means are the module's, whatever the law, and templates shared.
func TestLengths(t *testing.T) {
	modules := []Module{
		{Name: "a", Usage: compound.Usage{Calls: 1.25, PromptTokens: 800, OutputTokens: 120}, Query: true},
		{Name: "b", Usage: compound.Usage{Calls: 1, PromptTokens: 1000, OutputTokens: 60}, Query: true, Reads: []int{0}},
	}
	records := []Record{{100, 10}, {300, 10}, {200, 70}}
	for _, l := range []Lengths{
		{Prefix: "template", Template: .5, Question: 100, Spread: .6},
		{Prefix: "question", Template: .5, Question: 100, Spread: .6, Records: records},
	} {
		const questions = 40_000
		calls, err := draw(t, modules, l, questions, apart(1)).Calls(1, always([]int32{0}, []int32{0}))
		if err != nil {
			t.Fatal(err)
		}
		var n, prompt, output [2]float64
		for i, m := range calls.Module {
			n[m]++
			prompt[m] += float64(calls.Workload.Prompt[i])
			output[m] += float64(calls.Workload.Output[i])
		}
		for m, u := range []compound.Usage{modules[0].Usage, modules[1].Usage} {
			for _, c := range []struct {
				what      string
				got, want float64
			}{{"calls", n[m] / questions, u.Calls}, {"prompt", prompt[m] / n[m], u.PromptTokens}, {"output", output[m] / n[m], u.OutputTokens}} {
				if math.Abs(c.got-c.want) > .015*c.want {
					t.Errorf("%s, module %d: mean of %s is %v, want %v", l.Prefix, m, c.what, c.got, c.want)
				}
			}
		}
		// Both modules have one template, of half of the shorter prompt.
		f := &calls.Workload.Forest
		shared := int32(0)
		for node, parent := range f.Parent {
			if parent == workload.None {
				shared = max(shared, f.Tokens[node])
			}
		}
		if l.Prefix == "template" && shared != 400 {
			t.Errorf("the template has %d tokens, want 400", shared)
		}
	}
}

func TestRefuses(t *testing.T) {
	modules := []Module{{Name: "a", Usage: compound.Usage{Calls: 1, PromptTokens: 100, OutputTokens: 1}, Query: true}}
	l := Lengths{Template: .5, Question: 60}
	if _, err := Draw(modules, &l, 1, apart(1), streams); err == nil || !strings.Contains(err.Error(), "at most 50, what the template leaves of the 100 tokens of a prompt of a") {
		t.Errorf("a question longer than its prompt: %v", err)
	}
	modules[0].Usage.Calls = .5
	l.Question = 10
	if _, err := Draw(modules, &l, 1, apart(1), streams); err == nil || !strings.Contains(err.Error(), "at least one call") {
		t.Errorf("questions without calls: %v", err)
	}
}
