package cascade

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"switchyard/sim/param"
	"switchyard/sim/rng"
)

// hand is four questions on a weak model at 1 and a strong one at 10 dollars:
// both right, the strong one alone, the weak one alone, both wrong.
func hand() *Table {
	return &Table{
		Models:   []string{"weak", "strong"},
		Score:    []float32{1, 1, 0, 1, 1, 0, 0, 0},
		Cost:     []float32{1, 10, 1, 10, 1, 10, 1, 10},
		Features: []string{"hardness"},
		Value:    []float32{1, 9, 2, 8},
	}
}

func same(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s is %v, expected %v", what, got, want)
	}
}

func TestByHand(t *testing.T) {
	tab := hand()
	single := Curve(fit(t, new(Single), nil, tab, Env{}), tab)
	same(t, "weak alone", single[0].Quality, 0.5)
	same(t, "strong alone costs", single[1].Cost, 10)

	oracle := Curve(fit(t, new(Oracle), nil, tab, Env{}), tab)
	last := oracle[len(oracle)-1]
	same(t, "oracle", last.Quality, 0.75)
	same(t, "oracle's calls to strong", last.Calls[1], 0.25) // the cheaper of equals elsewhere
	same(t, "oracle's cost", last.Cost, 13.0/4)

	// An exact judge: weak first, strong where weak is wrong, thus on two.
	c := Curve(fit(t, new(Cascade), func(p *Cascade) { p.Budgets = []float64{1, 6, 100}; p.Models = tab.Models }, tab, Env{}), tab)
	same(t, "cascade within 1", c[0].Quality, 0.5)
	same(t, "cascade within 6", c[1].Quality, 0.75)
	same(t, "its cost", c[1].Cost, (1+11+1+11)/4.0)
	same(t, "its calls to weak", c[1].Calls[0], 1)
	same(t, "its answers by strong", c[1].Answers[1], 0.5)
	same(t, "cascade within 100", c[2].Cost, 6)

	// A given score: hardness at least 9 goes to strong.
	th := Curve(fit(t, new(Threshold), func(p *Threshold) { p.Score, p.Column, p.Settings = "given", "hardness", 5 }, tab, Env{}),
		tab)
	same(t, "threshold at 9", th[1].Quality, 0.75)
	same(t, "its share", th[1].Calls[1], 0.25)
	same(t, "all to strong", th[4].Quality, 0.5)

	mix := Curve(fit(t, new(Mix), func(p *Mix) { p.Settings = 3 }, tab, Env{}), tab)
	same(t, "half", mix[1].Calls[1], 0.5)
	same(t, "half's cost", mix[1].Cost, 5.5)
}

func TestCurvesByHand(t *testing.T) {
	points := []Point{{1, 0.5}, {2, 0.4}, {3, 0.7}, {2, 0.65}, {5, 0.7}}
	hull := Hull(points)
	if want := []Point{{1, 0.5}, {2, 0.65}, {3, 0.7}}; !slices.Equal(hull, want) {
		t.Fatalf("hull is %v, expected %v", hull, want)
	}
	same(t, "at 0.5", At(hull, 0.5), 0.25)
	same(t, "at 1.5", At(hull, 1.5), 0.575)
	same(t, "at 9", At(hull, 9), 0.7)
	// Trapezoids .5 to .65, .65 to .7, then level.
	same(t, "area", area(hull, 1, 5), (0.575+0.675+2*0.7)/4)
	same(t, "area from the origin", area(hull, 0, 2), (0.25+0.575)/2)
	if !math.IsNaN(area(nil, 0, 1)) || !math.IsNaN(area(hull, 2, 2)) {
		t.Error("an area of nothing is a number")
	}
	line := []Result{{Quality: 0.6, Calls: []float64{1, 0}}, {Quality: 0.8, Calls: []float64{0, 1}}}
	same(t, "APGR of a mix", AverageRecovered(line, 1, 0.6, 0.8), 0.5)
}

// every router of the registry, as variants.
func everyRouter() map[string]func() Params {
	all := map[string]func() Params{}
	for _, e := range Routers() {
		all[e.Name] = e.New
	}
	with := func(name string, p Params, fields ...any) {
		all[name] = func() Params {
			param.Defaults(p)
			for i := 0; i < len(fields); i += 2 {
				if err := param.Set(p, fields[i].(string), fields[i+1]); err != nil {
					panic(err)
				}
			}
			return p
		}
	}
	with("cascade of two", new(Cascade), "length", int64(2), "error", 0.2)
	with("cascade, learned", new(Cascade), "scorer", "logistic", "length", int64(2))
	with("cascade, neighbours", new(Cascade), "scorer", "knn", "neighbours", int64(5), "length", int64(2))
	with("threshold, neighbours", new(Threshold), "score", "knn", "neighbours", int64(5))
	with("threshold, given", new(Threshold), "score", "given", "column", "length")
	return all
}

// No router lies above the frontier of the table that it is applied to, and
// the oracle's settings lie on it.
func TestNoRouterBeatsTheFrontier(t *testing.T) {
	s := rng.New(1, 1, "bound")
	for range 5 {
		train, test := made(s, 80, 4).Split(0.5, s)
		bound := Frontier(test)
		best := Curve(fit(t, new(Oracle), nil, train, Env{}), test)
		top := best[len(best)-1].Quality
		for name, make := range everyRouter() {
			p := make()
			if !strings.Contains(name, " ") {
				param.Defaults(p)
			}
			f, err := p.Fit(train, Env{Seed: 1})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, r := range Curve(f, test) {
				if r.Quality > top+1e-9 || r.Cost < bound[0].Cost-1e-9 || r.Quality > between(bound, r.Cost)+1e-9 {
					t.Fatalf("%s, %s: quality %v at %v, frontier %v", name, r.Name, r.Quality, r.Cost, between(bound, r.Cost))
				}
				if name == "oracle" && r.Quality < between(bound, r.Cost)-1e-9 {
					t.Fatalf("oracle at %v is %v, below the frontier's %v", r.Cost, r.Quality, between(bound, r.Cost))
				}
				share := 0.0
				for _, a := range r.Answers {
					share += a
				}
				if math.Abs(share-1) > 1e-9 {
					t.Fatalf("%s: answers of %v of the questions", name, share)
				}
			}
		}
	}
}

// A cascade in training lies within its budget, and a greater budget or more
// quantiles are no worse.
func TestCascadeKeepsItsBudget(t *testing.T) {
	train := made(rng.New(1, 1, "budget"), 300, 4)
	for _, wrong := range []float64{0, 0.2, 0.8} {
		last := -1.0
		for _, r := range Curve(fit(t, new(Cascade), func(p *Cascade) { p.Error = wrong }, train, Env{Seed: 3}), train) {
			if r.Cost > r.Knob*(1+1e-8) || r.Quality < last-1e-9 {
				t.Fatalf("error %v, budget %v: %v at %v after %v", wrong, r.Knob, r.Quality, r.Cost, last)
			}
			last = r.Quality
		}
	}
}

// With one label a logistic regression without numbers is its mean, shrunk: at
// the optimum sum (p - y) = -ridge v for every label, and 0 over all.
func TestLogisticFirstOrder(t *testing.T) {
	tab := made(rng.New(1, 1, "logistic"), 200, 2)
	e, err := newEncoder(tab, Sources{}, -1)
	if err != nil {
		t.Fatal(err)
	}
	c := e.encode(tab)
	y := make([]float64, c.n)
	for q := range y {
		y[q] = float64(tab.Score[2*q])
	}
	const ridge = 0.7
	l := fitLogistic(c, e.total, y, ridge)
	grad, hess := make([]float64, len(l.w)), make([]float64, len(l.w)*len(l.w))
	l.derive(c, y, ridge, grad, hess)
	for i, g := range grad {
		if math.Abs(g) > 1e-4 {
			t.Errorf("gradient %d is %v", i, g)
		}
	}
	// Without columns it is the mean.
	plain := &coded{n: c.n}
	sum := 0.0
	for _, v := range y {
		sum += v / float64(c.n)
	}
	same(t, "constant", sigmoid(fitLogistic(plain, 0, y, ridge).w[0]), sum)
}

// Where a feature tells which model is right, learned routers find it out.
func TestLearnedRoutersFindTheRule(t *testing.T) {
	s := rng.New(1, 1, "rule")
	tab := &Table{Models: []string{"weak", "strong"}, Features: []string{"length"}}
	for range 2000 {
		x := s.Float64() * 100
		weak := float32(0)
		if x < 50 {
			weak = 1
		}
		tab.Value = append(tab.Value, float32(x))
		tab.Score = append(tab.Score, weak, 1)
		tab.Cost = append(tab.Cost, 1, 10)
	}
	train, test := tab.Split(0.5, s)
	for _, name := range []string{"logistic", "knn", "threshold", "cascade"} {
		e, _ := Find(name)
		p := e.New()
		param.Defaults(p)
		if name == "cascade" {
			param.Set(p, "scorer", "logistic")
		}
		f, err := p.Fit(train, Env{})
		if err != nil {
			t.Fatal(err)
		}
		hull := Hull(Points(Curve(f, test)))
		least := 0.95 // of the oracle's 1 at 5.5, a mix's 0.75; neighbours blur the step
		cost := 5.6
		if name == "cascade" {
			cost = 6.2 // which asks weak first
		}
		if got := At(hull, cost); got < least {
			t.Errorf("%s reaches %.3f at %.1f dollars", name, got, cost)
		}
	}
}

func TestSplitAndWhere(t *testing.T) {
	tab := made(rng.New(1, 1, "split"), 100, 2)
	for q := range tab.Questions() {
		tab.ID = append(tab.ID, fmt.Sprint(q))
	}
	a, b := tab.Split(0.3, rng.New(1, 2, "split"))
	if a.Questions() != 30 || b.Questions() != 70 {
		t.Fatalf("%d and %d questions", a.Questions(), b.Questions())
	}
	ids := slices.Concat(a.ID, b.ID)
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 100 {
		t.Fatal("a question stands in both parts")
	}
	of, err := tab.Where("dataset", "b")
	if err != nil || of.Validate() != nil {
		t.Fatal(err, of.Validate())
	}
	if _, err = tab.Where("datset", "b"); err == nil || !strings.Contains(err.Error(), "did you mean dataset?") {
		t.Errorf("unhelpful: %v", err)
	}
	tab.Part = make([]Part, 100)
	tab.Part[7], tab.Part[9] = Train, Test
	if a, b = tab.Split(0.3, nil); a.ID[0] != "7" || b.ID[0] != "9" || b.Questions() != 1 {
		t.Error("the published split is not followed")
	}
}

func TestErrors(t *testing.T) {
	bare := hand()
	bare.Cost = nil
	for _, c := range []struct {
		want string
		p    Params
		on   *Table
	}{
		{"give a price for each model", new(Cascade), bare},
		{"did you mean strong?", &Mix{Weak: "weak", Strong: "strng", Settings: 2}, hand()},
		{"another model than the weak one", &Mix{Weak: "weak", Strong: "weak", Settings: 2}, hand()},
		{"expected none: the table has no such column", &Threshold{Score: "given", Column: "x", Settings: 2}, &Table{Models: []string{"a", "b"}, Score: []float32{1, 0}, Cost: []float32{1, 2}}},
		{"features: value hard: expected one of hardness", &Logistic{Sources: Sources{Features: []string{"hard"}}, Settings: 2}, hand()},
		{"strong: value stron: expected one of weak, strong; did", &Threshold{Strong: "stron", Score: "knn", Settings: 2}, hand()},
		{"there is none to choose beside it", &Mix{Settings: 2}, &Table{Models: []string{"a"}, Score: []float32{1}, Cost: []float32{1}}},
		{"did you mean hardness?", &Threshold{Score: "given", Column: "hardnes", Settings: 2}, hand()},
		{"no cascade costs less", &Cascade{Scorer: "judge", Length: 2, Quantiles: 3, Budgets: []float64{0.5}}, hand()},
		{"the order of the models in the field models", &Cascade{Scorer: "judge", Length: 4, Quantiles: 200}, made(rng.New(1, 1, "many"), 2, 60)},
		{"each model once", &Single{Models: []string{"weak", "weak"}}, hand()},
		{"expected 0 to 1", new(Single), &Table{Models: []string{"a"}, Score: []float32{2}}},
	} {
		if _, err := c.p.Fit(c.on, Env{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T: %v, expected ...%s...", c.p, err, c.want)
		}
	}
}

// A table without some feature or group is routed as the average question.
func TestMissingColumns(t *testing.T) {
	train := made(rng.New(1, 1, "missing"), 100, 2)
	bare := train.Select([]int32{0, 1, 2})
	bare.Features, bare.Value, bare.Groups, bare.Answer = nil, nil, nil, nil
	if err := bare.Match(train); err != nil {
		t.Fatal(err)
	}
	for name, make := range everyRouter() {
		if name == "threshold, given" {
			continue
		}
		p := make()
		if !strings.Contains(name, " ") {
			param.Defaults(p)
		}
		f, err := p.Fit(train, Env{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range f.Rules(bare) {
			a, b := r.Calls(0, nil), r.Calls(1, nil)
			if strings.HasPrefix(name, "logistic") && !slices.Equal(a, b) {
				t.Errorf("%s tells questions apart by nothing", name)
			}
		}
	}
	other := &Table{Models: []string{"m1", "m0"}}
	if other.Match(train) == nil {
		t.Error("other models match")
	}
}

// Fitted routers are functions of table and seed.
func TestSameSeedSameCurve(t *testing.T) {
	tab := made(rng.New(1, 1, "same"), 60, 3)
	for _, e := range Routers() {
		var text [2]string
		for i := range text {
			p := e.New()
			param.Defaults(p)
			f, err := p.Fit(tab, Env{Seed: 5, Replication: 2})
			if err != nil {
				t.Fatal(err)
			}
			text[i] = fmt.Sprint(Curve(f, tab))
		}
		if text[0] != text[1] {
			t.Errorf("%s differs from run to run", e.Name)
		}
	}
}

// The search of RouterBench's size: 11 models, 990 orders, 40 quantiles.
func BenchmarkSearch(b *testing.B) {
	tab := made(rng.New(1, 1, "bench"), 5000, 11)
	for b.Loop() {
		fit(b, new(Cascade), func(p *Cascade) { p.Scorer = "logistic" }, tab, Env{})
	}
}

func BenchmarkNeighbours(b *testing.B) {
	s := rng.New(1, 1, "bench")
	train, test := made(s, 5000, 2), made(s, 100, 2)
	f := fit(b, new(KNN), nil, train, Env{})
	for b.Loop() {
		f.Rules(test)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/100, "us/question")
}
