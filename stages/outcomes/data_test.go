package outcomes

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"switchyard/sim/cascade"
	"switchyard/sim/compound"
	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/selection"
)

// published opens a file of recorded outcomes.
func published(t *testing.T, name string) *Outcomes {
	t.Helper()
	folder := os.Getenv("SWITCHYARD_DATA")
	if folder == "" {
		t.Skip("SWITCHYARD_DATA does not name the folder of published outcomes")
	}
	o, err := Open(filepath.Join(folder, "outcomes", name), Source{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func close(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s is %.4f, expected %.4f", what, got, want)
	}
}

// curve fits a router and applies it.
func curve(t testing.TB, name string, train, test *cascade.Table, fields ...any) []cascade.Result {
	t.Helper()
	e, ok := cascade.Find(name)
	if !ok {
		t.Fatalf("no router %s", name)
	}
	p := e.New()
	param.Defaults(p)
	for i := 0; i < len(fields); i += 2 {
		if err := param.Set(p, fields[i].(string), fields[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	f, err := p.Fit(train, cascade.Env{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return cascade.Curve(f, test)
}

// The oracle takes the best score, then the cheapest.
func TestRouteLLM(t *testing.T) {
	o := published(t, "routellm_outcomes.csv")
	if o.Format.Name != "routellm" || o.Questions.Questions() != 15361 {
		t.Fatalf("%d questions as %s", o.Questions.Questions(), o.Format.Name)
	}
	if err := o.Questions.SetPrices([]float64{0, 1}); err != nil { // cost is the share of calls to GPT-4
		t.Fatal(err)
	}
	for _, c := range []struct {
		dataset                     string
		questions                   int
		weak, strong, oracle, share float64
	}{
		{"mmlu", 14042, .681, .806, .859, .178},
		{"gsm8k", 1319, .638, .857, .929, .290},
	} {
		tab, err := o.Questions.Where("dataset", c.dataset)
		if err != nil || tab.Questions() != c.questions {
			t.Fatalf("%s: %v, %d questions", c.dataset, err, tab.Questions())
		}
		single := curve(t, "single", tab, tab)
		close(t, c.dataset+" Mixtral", single[0].Quality, c.weak, .0005)
		close(t, c.dataset+" GPT-4", single[1].Quality, c.strong, .0005)
		all := curve(t, "oracle", tab, tab)
		best := all[len(all)-1]
		close(t, c.dataset+" oracle", best.Quality, c.oracle, .0005)
		close(t, c.dataset+" oracle's share to GPT-4", best.Calls[1], c.share, .0005)
		line := cascade.Frontier(tab)
		close(t, c.dataset+" frontier ends at the oracle", line[len(line)-1].Quality, best.Quality, 1e-9)
	}
}

func TestLLMRouter(t *testing.T) {
	for _, c := range []struct {
		file         string
		questions    int
		best, oracle float64
	}{
		{"llmrouter9_train.csv", 5608, .621, .802},
		{"llmrouter9_test.csv", 500, .563, .743},
	} {
		tab := published(t, c.file).Questions
		if tab.Questions() != c.questions || len(tab.Models) != 9 {
			t.Fatalf("%s: %d questions, %d models", c.file, tab.Questions(), len(tab.Models))
		}
		best := 0.0
		for _, r := range curve(t, "single", tab, tab) {
			best = max(best, r.Quality)
		}
		close(t, c.file+" best single", best, c.best, .0005)
		all := curve(t, "oracle", tab, tab)
		close(t, c.file+" oracle", all[len(all)-1].Quality, c.oracle, .0005)
	}
}

// means are the averages of all allocations, in the order of space.
func means(t *testing.T, w *compound.Averages) (allocs [][]int32, points []selection.Point) {
	t.Helper()
	for a := range int32(w.Candidates(0)) {
		for b := range int32(w.Candidates(1)) {
			alloc := []int32{a, b}
			accuracy, err := w.Accuracy(alloc)
			if err != nil {
				t.Fatal(err)
			}
			cost, _ := w.Cost(alloc)
			allocs, points = append(allocs, alloc), append(points, selection.Point{Accuracy: accuracy, Cost: cost})
		}
	}
	return allocs, points
}

// greedy changes one module at a time, in turn, to its best model.
func greedy(w *compound.Averages, alloc []int32) float64 {
	value, _ := w.Accuracy(alloc)
	for module, unchanged := 0, 0; unchanged < len(alloc); module = (module + 1) % len(alloc) {
		best := alloc[module]
		unchanged++
		for c := range int32(w.Candidates(module)) {
			alloc[module] = c
			if now, _ := w.Accuracy(alloc); now > value {
				value, best, unchanged = now, c, 1
			}
		}
		alloc[module] = best
	}
	return value
}

func TestAgentOpt(t *testing.T) {
	for _, c := range []struct {
		file, first, second string
		best                float64
		pareto              [][2]float64 // dollars for 200 questions, percent
	}{
		{"agentopt_hotpotqa_81.csv", "Ministral 3 8B", "Claude Opus 4.6", 74.27,
			[][2]float64{{.05, 54.3}, {.08, 61.5}, {.09, 69.3}, {.13, 71.8}, {2.64, 74.3}}},
		{"agentopt_mathqa_81.csv", "Claude Opus 4.6", "Claude Haiku 4.5", 98.84,
			[][2]float64{{.03, 87.8}, {.05, 88.15}, {.08, 94.5}, {.26, 94.6}, {5.26, 98.7}, {5.77, 98.82}, {6.19, 98.84}}},
	} {
		o := published(t, c.file)
		w := o.Averages
		if o.Format.Name != "agentopt" || w.Questions() != 200 || w.Missing() != 0 {
			t.Fatalf("%s: %s, %d questions, %d missing", c.file, o.Format.Name, w.Questions(), w.Missing())
		}
		allocs, points := means(t, w)
		if len(allocs) != 81 {
			t.Fatalf("%s: %d allocations", c.file, len(allocs))
		}
		best := 0
		for i, p := range points {
			if p.Accuracy > points[best].Accuracy {
				best = i
			}
		}
		if a, b := w.Names.Candidates[0][allocs[best][0]], w.Names.Candidates[1][allocs[best][1]]; a != c.first || b != c.second {
			t.Errorf("%s: best is %s and %s", c.file, a, b)
		}
		close(t, c.file+" optimum", points[best].Accuracy*100, c.best, 1e-9)
		front := selection.Pareto(points)
		if len(front) != len(c.pareto) {
			t.Fatalf("%s: %d Pareto points, expected %d", c.file, len(front), len(c.pareto))
		}
		for i, at := range front {
			close(t, c.file+" Pareto cost", points[at].Cost*200, c.pareto[i][0], .005+1e-9)
			close(t, c.file+" Pareto accuracy", points[at].Accuracy*100, c.pareto[i][1], .05+1e-9)
		}
		for i, start := range allocs {
			if got := greedy(w, slices.Clone(start)); got != points[best].Accuracy {
				t.Errorf("%s: greedy from start %d ends at %.4f", c.file, i, got)
			}
		}
	}
}

// heldOut is what a router reaches on questions that it was not fitted on,
// beside what it is compared with.
type heldOut struct{ aiq, mix, oracle, best, single float64 }

// measure compares over the costs of the single models.
func measure(t *testing.T, router string, train, test *cascade.Table, fields ...any) (h heldOut) {
	t.Helper()
	singles := curve(t, "single", train, test)
	lo, hi := singles[0].Cost, singles[0].Cost
	for _, s := range singles {
		lo, hi = min(lo, s.Cost), max(hi, s.Cost)
		h.single = max(h.single, s.Quality)
	}
	frontier := cascade.Frontier(test)
	results := curve(t, router, train, test, fields...)
	for _, r := range results {
		h.best = max(h.best, r.Quality)
		if top := cascade.At(cascade.Hull(frontier), r.Cost); r.Quality > top+1e-9 {
			t.Errorf("%s %v: %.4f at %.3f, above the frontier's %.4f", router, fields, r.Quality, r.Cost, top)
		}
	}
	var bound []cascade.Result
	for _, p := range frontier {
		bound = append(bound, cascade.Result{Cost: p.Cost, Quality: p.Quality})
	}
	h.aiq, h.mix, h.oracle = cascade.AIQ(results, lo, hi), cascade.AIQ(singles, lo, hi), cascade.AIQ(bound, lo, hi)
	t.Logf("%-10s %-20v AIQ %.4f, mixes of single models %.4f, oracle %.4f; at most %.4f, best single %.4f", router, fields, h.aiq, h.mix, h.oracle, h.best, h.single)
	return h
}

// RouteLLM's questions, half to learn from, half to test. What is known of a
// question is its length, dataset and subject; cost is the share of calls to
// GPT-4. Learned routers lie above the random mix, and no router ever above the
// oracle. A judge that is wrong in 80 % of cases is worth nothing: the search
// then finds cascades of one model.
func TestRoutersOnHeldOutRouteLLM(t *testing.T) {
	o := published(t, "routellm_outcomes.csv")
	if err := o.Questions.SetPrices([]float64{0, 1}); err != nil {
		t.Fatal(err)
	}
	train, test := o.Questions.Split(0.5, rng.New(1, 1, "split"))
	for _, c := range []struct {
		router string
		fields []any
		least  float64 // above the mix
	}{
		{"threshold", nil, .01},
		{"threshold", []any{"score", "knn"}, .01},
		{"logistic", nil, .01},
		{"knn", nil, .01},
		{"cascade", nil, .05},
		{"cascade", []any{"error", .2}, .02},
		{"cascade", []any{"error", .8}, -.005},
		{"cascade", []any{"scorer", "logistic"}, .005},
	} {
		h := measure(t, c.router, train, test, c.fields...)
		if h.aiq < h.mix+c.least || h.aiq > h.oracle {
			t.Errorf("%s %v: AIQ %.4f, expected from %.4f to the oracle's %.4f", c.router, c.fields, h.aiq, h.mix+c.least, h.oracle)
		}
	}
}

// Nine models, fitted on the published training questions and tested on the
// published test questions. No costs are published: a call is taken to cost
// as many dollars as the model has billions of parameters. Of the question its
// length alone is known in both files (cluster is empty in the test file), and
// that is worth nothing there: one model is best at almost every length, and
// the test questions come from another mix of datasets, so that routers by
// length lie below mixes of single models. On the training file's own halves,
// with its clusters, they lie above. Cascades lie between in either.
func TestRoutersOnHeldOutLLMRouter(t *testing.T) {
	train, test := published(t, "llmrouter9_train.csv").Questions, published(t, "llmrouter9_test.csv").Questions
	if err := test.Match(train); err != nil {
		t.Fatal(err)
	}
	billions := []float64{7, 9, 8, 51, 49, 70, 8, 7, 7}
	if err := errors.Join(train.SetPrices(billions), test.SetPrices(billions)); err != nil {
		t.Fatal(err)
	}
	left, right := train.Split(0.5, rng.New(1, 1, "split"))
	lengths := func(on *cascade.Table) *cascade.Table { // without the cluster
		bare := *on
		bare.Groups = nil
		return &bare
	}
	for _, c := range []struct {
		what, router string
		fit, on      *cascade.Table
		fields       []any
		least, most  float64 // above the mix
	}{
		{"published, by length", "logistic", lengths(train), test, nil, -.05, 0},
		{"published, by length", "knn", lengths(train), test, nil, -.02, .01},
		{"published", "cascade", train, test, []any{"length", int64(2)}, .07, 1},
		{"published", "cascade", train, test, []any{"length", int64(2), "error", .2}, .03, 1},
		{"halves, by length and cluster", "logistic", left, right, nil, .01, .05},
		{"halves, by length and cluster", "knn", left, right, nil, .01, .05},
		{"halves", "cascade", left, right, []any{"length", int64(2)}, .07, 1},
	} {
		h := measure(t, c.router, c.fit, c.on, c.fields...)
		if gain := h.aiq - h.mix; gain < c.least || gain > c.most || h.aiq > h.oracle {
			t.Errorf("%s, %s %v: AIQ %.4f, mixes %.4f, oracle %.4f", c.what, c.router, c.fields, h.aiq, h.mix, h.oracle)
		}
	}
}
