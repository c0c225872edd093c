package cascade

import (
	"cmp"
	"fmt"
	"slices"
)

var oracleEntry = Entry{
	Name:    "oracle",
	Summary: "knows every outcome: the best score less a price times cost; its last setting is the best score, then the cheapest",
	Source:  "RouterBench's oracle (Hu et al., 2024), and below it the optimum under a budget",
	New:     func() Params { return new(Oracle) },
}

// Oracle is the bound on all routers. Its settings are prices l of a dollar in
// score: of each question it takes the model with the greatest s - l c, the
// cheaper one of equals. At l = 0 that is the best score at least cost.
type Oracle struct {
	Settings int `yaml:"settings" default:"20" min:"1" max:"1000" doc:"number of prices; one is price 0 alone"`
}

type fittedOracle int

// Suits implements Params.
func (p *Oracle) Suits(t *Table) error { return ready(t, false) }

// Fit implements Params.
func (p *Oracle) Fit(train *Table, _ Env) (Fitted, error) {
	return fittedOracle(p.Settings), ready(train, false)
}

func (f fittedOracle) Rules(t *Table) []Rule {
	steps := t.steps()
	var rules []Rule
	for i := range int(f) - 1 {
		if len(steps) == 0 {
			break // a question's best answer is nowhere dearer
		}
		rules = append(rules, t.priced(steps[i*len(steps)/(int(f)-1)].slope()))
	}
	return append(rules, t.priced(0))
}

// priced is the oracle at a price of a dollar.
func (t *Table) priced(price float64) Rule {
	m := len(t.Models)
	choice := make([]int32, t.Questions())
	for q := range choice {
		best := 0
		for i := 1; i < m; i++ {
			now, then := t.value(q, i, price), t.value(q, best, price)
			if now > then || now == then && t.cost(q, i) < t.cost(q, best) {
				best = i
			}
		}
		choice[q] = int32(best)
	}
	return Rule{Name: fmt.Sprintf("price %.3g", price), Knob: price,
		Calls: func(q int, to []int32) []int32 { return append(to, choice[q]) }}
}

func (t *Table) cost(q, m int) float64 {
	if t.Cost == nil {
		return 0
	}
	return float64(t.Cost[q*len(t.Models)+m])
}

func (t *Table) value(q, m int, price float64) float64 {
	return float64(t.Score[q*len(t.Models)+m]) - float64(price*t.cost(q, m))
}

// step is an edge of a question's own hull: so much more score for so much more
// cost.
type step struct{ score, cost float64 }

func (s step) slope() float64 { return s.score / s.cost }

// steps returns the edges of all questions' hulls, the best paying first.
func (t *Table) steps() []step {
	m := len(t.Models)
	points, hull := make([]Point, m), []Point(nil)
	var all []step
	for q := range t.Questions() {
		for i := range m {
			points[i] = Point{Cost: t.cost(q, i), Quality: float64(t.Score[q*m+i])}
		}
		hull = appendHull(hull[:0], points)
		for i := 1; i < len(hull); i++ {
			all = append(all, step{hull[i].Quality - hull[i-1].Quality, hull[i].Cost - hull[i-1].Cost})
		}
	}
	slices.SortStableFunc(all, func(a, b step) int { return cmp.Compare(b.slope(), a.slope()) })
	return all
}

// Frontier returns the greatest mean quality at every mean cost, as corners of
// a concave line: the linear relaxation of the multiple-choice knapsack
// (Sinha and Zoltners, 1979), which spends every dollar where it gains most. No
// router on the table lies above it, whatever it calls. It starts at the
// cheapest model of each question and ends at the oracle.
func Frontier(t *Table) []Point {
	n, m := float64(t.Questions()), len(t.Models)
	points := make([]Point, m)
	var hull []Point
	var now Point
	for q := range t.Questions() {
		for i := range m {
			points[i] = Point{Cost: t.cost(q, i), Quality: float64(t.Score[q*m+i])}
		}
		hull = appendHull(hull[:0], points)
		now.Cost += hull[0].Cost
		now.Quality += hull[0].Quality
	}
	line := []Point{{now.Cost / n, now.Quality / n}}
	for _, s := range t.steps() {
		now.Cost += s.cost
		now.Quality += s.score
		line = append(line, Point{now.Cost / n, now.Quality / n})
	}
	return line
}
