package selection

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"switchyard/sim/param"
	"switchyard/sim/rng"
)

func fixturePoints(t *testing.T) []Point {
	t.Helper()
	points, err := Points(fixture(), 25)
	if err != nil {
		t.Fatal(err)
	}
	return points
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// The lecture's prices: A 5, B 3, C 1, D .5, E .2 dollars a call. A+B costs 8 a
// question and C+C 2. A point from .51 to .99, greedy's and the optimum's test
// accuracy in the lecture's random case, costs .125; on the fixture, from .45 to
// .98, .1132. Either way C+C stays for one who pays .1.
func TestLecturePrices(t *testing.T) {
	points := fixturePoints(t)
	at := func(a []int32) Point { return points[5*a[0]+a[1]] }
	ab, cc := at([]int32{A, B}), at([]int32{C, C})
	if ab.Cost != 8 || cc.Cost != 2 {
		t.Errorf("A+B costs %g, C+C %g; want 8 and 2", ab.Cost, cc.Cost)
	}
	if got := PerPoint(Point{Accuracy: .51, Cost: cc.Cost}, Point{Accuracy: .99, Cost: ab.Cost}); !near(got, .125) {
		t.Errorf("from .51 to .99 a point costs %g, want .125", got)
	}
	if got := PerPoint(cc, ab); !near(got, 6./53) {
		t.Errorf("on the fixture a point costs %g, want 6/53", got)
	}
	for price, want := range map[float64]string{0: "EE", .1: "CC", .12: "AB"} {
		if got := names(points[ByPrice(points, price)].Assignment); got != want {
			t.Errorf("at %g a point: %s, want %s", price, got, want)
		}
	}
	// The selector itself, under the penalty that this price is.
	w := fixture()
	for price, want := range map[float64]string{.1: "CC", .12: "AB", .5: "AB"} {
		o := run(t, new(Exhaustive), Problem{World: w, Lambda: 1 / (100 * price)})
		if names(o.Assignment) != want {
			t.Errorf("exhaustive search at %g a point: %s, want %s", price, names(o.Assignment), want)
		}
	}
	o := run(t, defaults(t, new(LLMSelector)), Problem{World: w, Diagnoser: diagnoser(t, w, 1, "", 0), Start: []int32{C, C}, Lambda: 1e-6})
	if names(o.Assignment) == "CC" {
		t.Error("next to no penalty keeps the selector at C+C")
	}
	o = run(t, defaults(t, new(LLMSelector)), Problem{World: w, Diagnoser: diagnoser(t, w, 1, "", 0), Start: []int32{C, C}, Lambda: 10})
	if names(o.Assignment) != "EE" || o.Cost != .4 {
		t.Errorf("a huge penalty leads to %s, want the cheapest", names(o.Assignment))
	}
}

// Choices on points, against plain loops over random ones.
func TestChoices(t *testing.T) {
	s := rng.New(14, 0, "choices")
	for range 200 {
		points := make([]Point, 1+s.IntN(30))
		for i := range points {
			points[i] = Point{Accuracy: float64(s.IntN(10)) / 10, Cost: float64(1 + s.IntN(8))}
		}
		lambda, tolerance, dollars := s.Float64()/5, s.Float64()/2, 9*s.Float64()
		penalty, cheapest, budget := points[ByPenalty(points, lambda)], points[CheapestWithin(points, tolerance)], ByBudget(points, dollars)
		top := 0.0
		for _, p := range points {
			top = max(top, p.Accuracy)
		}
		for _, p := range points {
			if p.Accuracy-lambda*p.Cost > penalty.Accuracy-lambda*penalty.Cost {
				t.Fatalf("lambda %g chose %v over %v", lambda, penalty, p)
			}
			if p.Accuracy >= top-tolerance && cheaper(p, cheapest) {
				t.Fatalf("tolerance %g chose %v over %v", tolerance, cheapest, p)
			}
			if p.Cost <= dollars && (budget < 0 || p.Accuracy > points[budget].Accuracy) {
				t.Fatalf("a budget of %g chose %d over %v", dollars, budget, p)
			}
		}
		checkFront(t, points)
	}
}

// checkFront compares the front with domination as defined, and the hull with a
// sweep over penalties.
func checkFront(t *testing.T, points []Point) {
	t.Helper()
	front := Pareto(points)
	for i, p := range points {
		beaten := false
		for j, q := range points {
			better := q.Accuracy >= p.Accuracy && q.Cost <= p.Cost
			beaten = beaten || better && (q.Accuracy > p.Accuracy || q.Cost < p.Cost || j < i)
		}
		if slices.Contains(front, i) == beaten {
			t.Fatalf("%v of %v: beaten %t, front %v", p, points, beaten, front)
		}
	}
	hull := Hull(points)
	for l := range 400 {
		if at := ByPenalty(points, float64(l)/400+1e-4); !onHull(points, hull, at) {
			t.Fatalf("a penalty of %g chose %v of %v, not on the hull %v", float64(l)/400, points[at], points, hull)
		}
	}
}

func onHull(points []Point, hull []int, at int) bool {
	return slices.ContainsFunc(hull, func(h int) bool {
		return points[h].Accuracy == points[at].Accuracy && points[h].Cost == points[at].Cost
	})
}

// Front of the fixture, by hand: E+E .4 dollars .20, D+D 1 dollar .25, C+C 2
// dollars .45, A+E 5.2 dollars .65, A+B 8 dollars .98.
func TestFront(t *testing.T) {
	w, points := fixture(), fixturePoints(t)
	front, err := Front(w, points, Resampling{Stream: rng.New(15, 0, "bootstrap")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range front {
		got = append(got, names(f.Assignment))
		if !(f.Lo < f.Accuracy && f.Accuracy < f.Hi) || f.OnFrontShare < 0 || f.OnFrontShare > 1 {
			t.Errorf("%s: %g in [%g, %g], on the front in %g", names(f.Assignment), f.Accuracy, f.Lo, f.Hi, f.OnFrontShare)
		}
	}
	if want := []string{"EE", "DD", "CC", "AE", "AB"}; !reflect.DeepEqual(got, want) {
		t.Errorf("front %v, want %v", got, want)
	}
	last := front[4]
	if last.OnFrontShare != 1 || front[1].OnFrontShare == 1 {
		t.Errorf("A+B is on %g of the fronts of resamples, D+D on %g", last.OnFrontShare, front[1].OnFrontShare)
	}
	// A+B against A+E: 33 questions won, none lost: mean .33, variance .33-.33^2.
	half := 1.96 * math.Sqrt((.33-.33*.33)/99)
	if !near(last.Gain, .33) || math.Abs(last.GainLo-(.33-half)) > 1e-4 || math.Abs(last.GainHi-(.33+half)) > 1e-4 {
		t.Errorf("A+B gains %g in [%g, %g], want .33 -+ %g", last.Gain, last.GainLo, last.GainHi, half)
	}
	if !near(last.Price, 2.8/33) || !last.OnHull || front[3].OnHull {
		t.Errorf("A+B costs %g a point, on the hull %t; A+E on the hull %t", last.Price, last.OnHull, front[3].OnHull)
	}
}

// Wilson's interval of 8 in 10 is [.490, .943] (Brown, Cai and DasGupta, 2001).
func TestWilson(t *testing.T) {
	if lo, hi := wilson(.8, 10); math.Abs(lo-.4902) > 1e-4 || math.Abs(hi-.9433) > 1e-4 {
		t.Errorf("8 of 10: [%.4f, %.4f]", lo, hi)
	}
	if lo, hi := wilson(0, 10); lo != 0 || hi < .2 {
		t.Errorf("0 of 10: [%g, %g]", lo, hi)
	}
}

// Four clusters with 1, 0, 2 and 1 hits of 2, 2, 4 and 2 cases: the share is .4,
// the deviations .2, -.8, .4 and .2, the variance 4/3 * .88 / 100.
func TestRatio(t *testing.T) {
	r := ratio{hits: []float64{1, 0, 2, 1}, cases: []float64{2, 2, 4, 2}}
	if !near(r.share(), .4) || !near(r.variance(), 4./3*.88/100) {
		t.Errorf("share %g, variance %g", r.share(), r.variance())
	}
}

func TestCapAndDollars(t *testing.T) {
	w := fixture()
	o := run(t, new(Exhaustive), Problem{World: w, Cap: 5.5})
	if names(o.Assignment) != "AE" {
		t.Errorf("the best at up to 5.5 is %s, want A+E", names(o.Assignment))
	}
	for _, e := range Optimisers() {
		p := Problem{World: w, Diagnoser: diagnoser(t, w, 1, "", 0), Stream: rng.New(16, 0, "run"), Cap: 5.5}
		s := e.New()
		param.Defaults(s)
		if o := run(t, s, p); o.Cost > 5.5 {
			t.Errorf("%s went over the cap: %s costs %g", e.Name, names(o.Assignment), o.Cost)
		}
		p.Cap, p.Dollars = 0, 600
		if o := run(t, s, p); o.Dollars > 600+1000 || o.Stop == StopConverged && o.Dollars >= 600 {
			t.Errorf("%s spent %g of 600 dollars and ended by %s", e.Name, o.Dollars, o.Stop)
		}
	}
}

// Of what A+B offers, a tolerance of .33 buys A+E; and more, C+C.
func TestCheapen(t *testing.T) {
	for tolerance, want := range map[float64]string{0: "AB", .3: "AB", .331: "AE", .79: "DE"} {
		o, err := Cheapen(Problem{World: fixture(), Start: []int32{A, B}}, tolerance)
		if err != nil {
			t.Fatal(err)
		}
		if tolerance < .5 && names(o.Assignment) != want {
			t.Errorf("a tolerance of %g leads to %s at %g, want %s", tolerance, names(o.Assignment), o.Accuracy, want)
		}
		if o.Accuracy < .98-tolerance-1e-9 || !o.Converged {
			t.Errorf("a tolerance of %g leads to an accuracy of %g, by %s", tolerance, o.Accuracy, o.Stop)
		}
	}
}
