package selection_test

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"switchyard/sim/param"
	"switchyard/sim/selection"
)

// published is a complete table of accuracies: two modules of nine models.
type published struct {
	models   int
	accuracy map[[2]int32]float64
	cost     map[[2]int32]float64
}

func (p *published) Modules() int       { return 2 }
func (p *published) Candidates(int) int { return p.models }
func (p *published) Questions() int     { return 200 }
func (p *published) Scores([]int32, []float32) error {
	return selection.ErrNoScores
}
func (p *published) Accuracy(a []int32) (float64, error) { return p.accuracy[[2]int32(a)], nil }
func (p *published) Cost(a []int32) (float64, error)     { return p.cost[[2]int32(a)], nil }

func readPublished(t *testing.T, name string) *published {
	t.Helper()
	folder := os.Getenv("SWITCHYARD_DATA")
	if folder == "" {
		t.Skip("SWITCHYARD_DATA is not set: it names the folder of published data")
	}
	f, err := os.Open(filepath.Join(folder, "outcomes", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	p := &published{accuracy: map[[2]int32]float64{}, cost: map[[2]int32]float64{}}
	numbers := map[string]int32{}
	number := func(model string) int32 {
		if _, ok := numbers[model]; !ok {
			numbers[model] = int32(len(numbers))
		}
		return numbers[model]
	}
	for _, row := range rows[1:] {
		at := [2]int32{number(row[0]), number(row[1])}
		percent, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		dollars, err := strconv.ParseFloat(row[4], 64)
		if err != nil {
			t.Fatal(err)
		}
		p.accuracy[at], p.cost[at] = percent/100, dollars/200
	}
	if p.models = len(numbers); p.models != 9 || len(p.accuracy) != 81 {
		t.Fatalf("%s has %d models and %d pairs", name, p.models, len(p.accuracy))
	}
	return p
}

func close(x, y float64) bool { return math.Abs(x-y) < 1e-9 }

// AgentOpt's two complete tables: the best pair, the front in dollars for 200
// questions, and greedy, which reaches the best pair from all 81 starts.
func TestAgentOpt(t *testing.T) {
	for name, want := range map[string]struct {
		best   float64
		front  [][2]float64
		single float64
	}{
		"agentopt_hotpotqa_81.csv": {.7427, [][2]float64{{.05, 54.3}, {.08, 61.5}, {.09, 69.3}, {.13, 71.8}, {2.64, 74.3}}, .6815},
		"agentopt_mathqa_81.csv":   {.9884, [][2]float64{{.03, 87.8}, {.05, 88.15}, {.08, 94.5}, {.26, 94.6}, {5.26, 98.7}, {5.77, 98.82}, {6.19, 98.84}}, .9724},
	} {
		w := readPublished(t, name)
		points, err := selection.Points(w, 81)
		if err != nil {
			t.Fatal(err)
		}
		front, err := selection.Front(w, points, selection.Resampling{})
		if err != nil {
			t.Fatal(err)
		}
		if len(front) != len(want.front) {
			t.Fatalf("%s: %d points on the front, want %d: %+v", name, len(front), len(want.front), front)
		}
		for i, f := range front {
			if math.Abs(200*f.Cost-want.front[i][0]) > .006 || math.Abs(100*f.Accuracy-want.front[i][1]) > .051 {
				t.Errorf("%s: point %d of the front is %.2f at %.2f, want %v", name, i, 100*f.Accuracy, 200*f.Cost, want.front[i])
			}
		}
		best := must(t, new(selection.Exhaustive), selection.Problem{World: w})
		if !close(best.Accuracy, want.best) || best.Evaluations != 81 {
			t.Errorf("%s: the best has %g, want %g", name, best.Accuracy, want.best)
		}
		if o := must(t, new(selection.Single), selection.Problem{World: w}); !close(o.Accuracy, want.single) {
			t.Errorf("%s: the best single model has %g, want %g", name, o.Accuracy, want.single)
		}
		for _, ascent := range []string{"round-robin", "steepest"} {
			g := new(selection.Greedy)
			param.Defaults(g)
			g.Ascent = ascent
			reached := 0
			for _, p := range points {
				if o := must(t, g, selection.Problem{World: w, Start: p.Assignment}); close(o.Accuracy, want.best) {
					reached++
				}
			}
			if reached != 81 {
				t.Errorf("%s: %s greedy reaches the best pair from %d of 81 starts", name, ascent, reached)
			}
		}
		shares, err := selection.Assess(w, selection.Survey{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: candidates rank the other way round in %.3f of the cases", name, shares[4].Share)
	}
}
