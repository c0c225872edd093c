package cascade

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"switchyard/sim/param"
	"switchyard/sim/rng"
)

// made is a table of random outcomes; costs are small whole numbers, so that
// many combinations are equal.
func made(s *rng.Stream, questions, models int) *Table {
	t := &Table{Features: []string{"length"}, Groups: []Grouping{{Name: "dataset", Labels: []string{"a", "b", "c"}}}}
	for m := range models {
		t.Models = append(t.Models, fmt.Sprintf("m%d", m))
	}
	for range questions {
		hard := s.Float64()
		t.Value = append(t.Value, float32(math.Floor(hard*10)))
		t.Groups[0].Of = append(t.Groups[0].Of, int32(s.IntN(4))-1)
		for m := range models {
			score := float32(0)
			if s.Float64() < 1.2-hard-0.1*float64(models-m) {
				score = 1
			} else if s.IntN(4) == 0 {
				score = 0.5
			}
			t.Score = append(t.Score, score)
			t.Cost = append(t.Cost, float32((1+s.IntN(3))*(m+1)))
			t.Answer = append(t.Answer, float32(s.IntN(50)))
		}
	}
	return t
}

// fit makes a router of that name with some parameters set.
func fit[P Params](t testing.TB, p P, change func(P), train *Table, e Env) Fitted {
	t.Helper()
	param.Defaults(p)
	if change != nil {
		change(p)
	}
	f, err := p.Fit(train, e)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// simulate runs a cascade question by question.
func simulate(t *Table, confidence []float32, order []int32, thresholds []float32) (quality, cost float64) {
	m := len(t.Models)
	for q := range t.Questions() {
		for i, model := range order {
			at := q*m + int(model)
			cost += float64(t.Cost[at])
			if i == len(order)-1 || confidence[at] >= thresholds[i] {
				quality += float64(t.Score[at])
				break
			}
		}
	}
	return quality / float64(t.Questions()), cost / float64(t.Questions())
}

// The optimiser's best under each budget is that of a loop over all orders and
// thresholds that simulates each.
func TestSearchIsExhaustive(t *testing.T) {
	s := rng.New(1, 1, "search")
	for round := range 30 {
		tab := made(s, 1+s.IntN(40), 3+s.IntN(2))
		length, quantiles := 1+s.IntN(3), 1+s.IntN(6)
		confidence := make([]float32, len(tab.Score))
		for i := range confidence {
			confidence[i] = float32(s.IntN(5)) / 4
		}
		list, _ := tab.models(nil)
		budgets := []float64{1, 2, 3, 5, 8, 30}
		fast := newSearch(tab, confidence, list, quantiles, budgets)
		orders := permutations(list, length)
		for _, o := range orders {
			fast.try(o)
		}
		got := map[float64]plan{}
		for _, p := range fast.plans() {
			got[p.budget] = p
		}
		for _, b := range budgets {
			quality, cost := naiveBest(tab, confidence, orders, fast.thresholds, b)
			p, ok := got[b]
			if ok != (quality >= 0) {
				t.Fatalf("round %d, budget %v: found %v, exhaustive quality %v", round, b, ok, quality)
			}
			if !ok {
				continue
			}
			q, c := simulate(tab, confidence, p.order, p.thresholds)
			if math.Abs(q-quality) > 1e-9 || math.Abs(c-cost) > 1e-9 {
				t.Fatalf("round %d, budget %v: %v at %v, exhaustive %v at %v", round, b, q, c, quality, cost)
			}
		}
	}
}

func naiveBest(t *Table, confidence []float32, orders [][]int32, thresholds [][]float32, budget float64) (quality, cost float64) {
	quality = -1
	for _, o := range orders {
		choice := make([]int, len(o)-1)
		for {
			var list []float32
			for i, k := range choice {
				list = append(list, thresholds[o[i]][k])
			}
			q, c := simulate(t, confidence, o, list)
			if c <= budget+1e-6 && (q > quality+1e-9 || math.Abs(q-quality) < 1e-9 && c < cost) {
				quality, cost = q, c
			}
			i := 0
			for ; i < len(choice); i++ {
				if choice[i]++; choice[i] < len(thresholds[o[i]]) {
					break
				}
				choice[i] = 0
			}
			if i == len(choice) {
				break
			}
		}
	}
	return quality, cost
}

// The frontier is the concave hull of all assignments of models to questions.
func TestFrontierIsTheHullOfAllAssignments(t *testing.T) {
	s := rng.New(1, 1, "frontier")
	for range 20 {
		const questions, models = 5, 3
		tab := made(s, questions, models)
		var all []Point
		for code := range 243 { // 3^5
			var p Point
			for q, c := 0, code; q < questions; q, c = q+1, c/models {
				at := q*models + c%models
				p.Cost += float64(tab.Cost[at]) / questions
				p.Quality += float64(tab.Score[at]) / questions
			}
			all = append(all, p)
		}
		want, got := Hull(all), Frontier(tab)
		for i := range 200 {
			x := got[0].Cost + float64(i)/199*(got[len(got)-1].Cost-got[0].Cost)
			if a, b := between(got, x), At(want, x); math.Abs(a-b) > 1e-9 {
				t.Fatalf("at %v: %v, of all assignments %v", x, a, b)
			}
		}
	}
}

// AIQ is the mean of the greatest chord over a dense grid of costs.
func TestAIQIsTheMeanOverAGrid(t *testing.T) {
	s := rng.New(1, 1, "aiq")
	for range 50 {
		var points []Point
		for range 1 + s.IntN(12) {
			points = append(points, Point{Cost: math.Floor(s.Float64()*20) / 2, Quality: math.Floor(s.Float64()*20) / 20})
		}
		lo := s.Float64() * 5
		hi := lo + 0.1 + s.Float64()*10
		const cells = 20000
		sum := 0.0
		for i := range cells {
			sum += chord(points, lo+(hi-lo)*(float64(i)+0.5)/cells)
		}
		if got, want := area(Hull(points), lo, hi), sum/cells; math.Abs(got-want) > 1e-3 {
			t.Fatalf("%v on [%v, %v]: %v, by the grid %v", points, lo, hi, got, want)
		}
	}
}

// chord is the best that a mix of at most two points reaches at a cost; below
// the cheapest, a share of the cheapest.
func chord(points []Point, x float64) float64 {
	first := slices.MinFunc(points, func(a, b Point) int {
		if a.Cost != b.Cost && a.Cost < b.Cost || a.Cost == b.Cost && a.Quality > b.Quality {
			return -1
		}
		return 1
	})
	if x < first.Cost {
		return first.Quality * x / first.Cost
	}
	best := 0.0
	for _, a := range points {
		if a.Cost <= x {
			best = max(best, a.Quality)
		}
		for _, b := range points {
			if a.Cost <= x && x <= b.Cost && a.Cost < b.Cost {
				best = max(best, a.Quality+(b.Quality-a.Quality)*(x-a.Cost)/(b.Cost-a.Cost))
			}
		}
	}
	return best
}

// Neighbours are those of a full sort by (distance, index), labels as unit
// vectors.
func TestNeighboursAreTheNearest(t *testing.T) {
	s := rng.New(1, 1, "knn")
	for range 20 {
		train, test := made(s, 60, 2), made(s, 20, 2)
		e, err := newEncoder(train, Sources{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		a, b := e.encode(train), e.encode(test)
		y := make([]float64, len(train.Score))
		for i, x := range train.Score {
			y[i] = float64(x)
		}
		k := 1 + s.IntN(30)
		nb := byNeighbours{k}.learn(a, e.total, 2, y)
		got := make([]float64, 2)
		for q := range b.n {
			nb.predict(b, q, got)
			if want := naiveNeighbours(a, b, e.total, q, k, y); math.Abs(got[0]-want[0]) > 1e-12 || math.Abs(got[1]-want[1]) > 1e-12 {
				t.Fatalf("question %d, k %d: %v, by sorting %v", q, k, got, want)
			}
		}
	}
}

func naiveNeighbours(train, test *coded, labels, q, k int, y []float64) [2]float64 {
	vector := func(c *coded, q int) []float64 {
		// Labels first, as the sum of floats depends on the order.
		v := make([]float64, labels+c.groups, labels+c.groups+c.width)
		for g, l := range c.label[q*c.groups : (q+1)*c.groups] {
			if l < 0 {
				l = int32(labels + g) // not known is a label of its own
			}
			v[l] = 1
		}
		return append(v, c.x[q*c.width:(q+1)*c.width]...)
	}
	type pair struct {
		d float64
		i int
	}
	var all []pair
	x := vector(test, q)
	for i := range train.n {
		d := 0.0
		for j, v := range vector(train, i) {
			d += float64((v - x[j]) * (v - x[j]))
		}
		all = append(all, pair{d, i})
	}
	slices.SortStableFunc(all, func(a, b pair) int {
		switch {
		case a.d < b.d:
			return -1
		case a.d > b.d:
			return 1
		}
		return 0
	})
	var mean [2]float64
	for _, p := range all[:k] {
		mean[0] += y[p.i*2] / float64(k)
		mean[1] += y[p.i*2+1] / float64(k)
	}
	return mean
}
