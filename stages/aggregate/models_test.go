package aggregate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"switchyard/stages/queueing"
)

// dispatchRows makes cells of policies on systems: random near its theory of
// 10 with a deviation of 1 a replication, others at given levels beside it.
func dispatchRows(systems []string, levels map[string]float64, replications int) (rows []queueing.DispatchRow) {
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range levels {
			if !yield(name) {
				return
			}
		}
	})
	config := int32(0)
	exact, model := "exact", "M/M/1"
	for _, system := range systems {
		for _, name := range names {
			for r := 1; r <= replications; r++ {
				chance := rand.New(rand.NewPCG(uint64(r), 3)).NormFloat64()
				mean := levels[name] * (1 + 0.1*chance)
				row := queueing.DispatchRow{
					Cell: int32(len(rows)), Config: config, Replication: int32(r),
					Workload: system, WorkloadPoint: system, Router: name, RouterPoint: name, Policy: name,
					Servers: 16, Requests: 50000, Measured: 50000,
					ResponseMean: number(mean), ResponseP99: number(4.6 * mean), Drift: number(0.01 * chance),
				}
				if name == "random" {
					row.Theory, row.TheoryKind, row.TheoryMean = &model, &exact, number(10)
				}
				rows = append(rows, row)
			}
			config++
		}
	}
	return rows
}

// ballsRows makes cells of one setting a number of choices.
func ballsRows(replications int) (rows []queueing.BallsRow) {
	for config, choices := range []int32{1, 2} {
		for r := 1; r <= replications; r++ {
			rows = append(rows, queueing.BallsRow{
				Cell: int32(len(rows)), Config: int32(config), Replication: int32(r), Workload: "lecture",
				WorkloadPoint: fmt.Sprintf("lecture choices=%d", choices), Choices: choices, Bins: 1000, Balls: 1000,
				Maximum: 7 - 2*choices + int32(r%2), EmptyShare: 0.37, Growth: number(3.57),
			})
		}
	}
	return rows
}

func TestTheoryAndPairsOfDispatch(t *testing.T) {
	in := rows{dispatched: dispatchRows([]string{"sixteen"}, map[string]float64{"jsq": 1.6, "lwl": 1.4, "random": 9.5}, 8)}
	r, err := in.analyse(Options{Baseline: "random"})
	if err != nil {
		t.Fatal(err)
	}
	random := findSummary(t, r, 2, "response_mean")
	if random.Job != "dispatch" || random.Router != "random" || random.Unit != "time" || random.Better != "lower" || random.Replicas != 16 {
		t.Errorf("the row is %+v", random.Where)
	}
	same(t, "theory", random.Theory, 10)
	same(t, "deviation", random.Deviation, (*random.Mean-10)/(*random.SD/math.Sqrt(8)))
	if *random.TheoryModel != "M/M/1" || *random.TheoryKind != "exact" {
		t.Errorf("theory is of %s, %s", *random.TheoryModel, *random.TheoryKind)
	}
	for _, row := range []Summary{findSummary(t, r, 0, "response_mean"), findSummary(t, r, 2, "response_p50")} {
		if row.Theory != nil || row.TheoryModel != nil || row.Deviation != nil {
			t.Errorf("%s, %s has theory without any in its cells", row.Router, row.Metric)
		}
	}
	// All policies saw the same chance, so their ratio has no spread.
	jsq := findComparison(t, r, 0, "response_mean")
	same(t, "ratio", jsq.Ratio, 1.6/9.5)
	same(t, "its lower bound", jsq.RatioLo, 1.6/9.5)
	if jsq.Family != 2 || jsq.N != 8 || jsq.Baseline != "random" || jsq.Job != "dispatch" {
		t.Errorf("the comparison is %+v", jsq)
	}
}

// TestJobsTogether: the cells of all jobs of an experiment, each compared with
// its own baseline.
func TestJobsTogether(t *testing.T) {
	s := study{workloads: []string{"tool"}, routers: []string{"random", "aware"}, replications: 3}
	in := rows{served: s.cells(3), thrown: ballsRows(3), dispatched: dispatchRows([]string{"a", "b"}, map[string]float64{"jsq": 1.6, "lwl": 1.5}, 3)}
	r, err := in.analyse(Options{Baseline: "aware"})
	if err != nil {
		t.Fatal(err)
	}
	var jobs []string
	for _, row := range r.Summary {
		if key := fmt.Sprint(row.Job, row.Config); len(jobs) == 0 || jobs[len(jobs)-1] != key {
			jobs = append(jobs, key)
		}
	}
	if want := []string{"simulate0", "simulate1", "balls0", "balls1", "dispatch0", "dispatch1", "dispatch2", "dispatch3"}; !slices.Equal(jobs, want) {
		t.Errorf("summary has %v, want %v", jobs, want)
	}
	baselines := map[string]string{}
	for _, row := range r.Comparisons {
		baselines[row.Job] += row.Baseline + " "
	}
	if len(baselines) != 2 || strings.Trim(baselines["simulate"], "aware ") != "" || strings.Trim(baselines["dispatch"], "jsq ") != "" {
		t.Errorf("baselines are %v", baselines)
	}
	if len(r.Warnings) != 0 {
		t.Errorf("warnings %v", r.Warnings)
	}
	if _, err := in.analyse(Options{Baseline: "awar"}); err == nil || !strings.Contains(err.Error(), `expected one of "random", "aware", "jsq", "lwl"; did you mean "aware"?`) {
		t.Errorf("an unknown baseline: %v", err)
	}
	in.dispatched = in.dispatched[1:]
	if _, err := in.analyse(Options{}); err == nil || !strings.Contains(err.Error(), "1 of 8 configurations lack replications:\n  a / jsq: replications 1 of 3") {
		t.Errorf("a missing cell of dispatch: %v", err)
	}
}

// TestGrowingBacklogOfDispatch: where nothing is known before the run, backlog
// and response times decide together.
func TestGrowingBacklogOfDispatch(t *testing.T) {
	for _, c := range []struct {
		name          string
		stability     string
		growth, drift float64
		want          bool
	}{
		{"grows", "open", 0.05, 0.4, true},
		{"swings", "open", 0.05, -0.2, false},
		{"stands", "open", 0, 0.4, false},
		{"known to settle", "stable", 0.05, 0.4, false},
	} {
		cells := dispatchRows([]string{"sixteen"}, map[string]float64{"jiq": 2}, 5)
		for i := range cells {
			swing := 0.001 * float64(i%2)
			cells[i].Stability, cells[i].Growth, cells[i].Drift = c.stability, number(c.growth+swing), number(c.drift+swing)
		}
		in := rows{dispatched: cells}
		r, err := in.analyse(Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := findSummary(t, r, 0, "response_mean").Saturated; got != c.want {
			t.Errorf("%s: saturated is %v", c.name, got)
		}
	}
}

// TestLoadThatNeverCame: where no run draws the rarest sizes all agree on too
// little work.
func TestLoadThatNeverCame(t *testing.T) {
	for realised, want := range map[float64]bool{0.7: true, 0.895: false} {
		cells := dispatchRows([]string{"sixteen"}, map[string]float64{"jsq": 2}, 5)
		for i := range cells {
			cells[i].Load, cells[i].Realised = 0.9, number(realised+0.001*float64(i%2))
			cells[i].Drift = number(-0.5 + 0.001*float64(i%2))
		}
		in := rows{dispatched: cells}
		r, err := in.analyse(Options{})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(findSummary(t, r, 0, "response_mean").Warnings, "\n")
		if strings.Contains(text, "the load is 0.7 where 0.9 is asked for") != want {
			t.Errorf("at a load of %v the warnings are %q", realised, text)
		}
		if !strings.Contains(text, "falls by 50 %") || strings.Contains(text, "cache") {
			t.Errorf("a drift of dispatch is %q", text)
		}
	}
}

func TestPrintModels(t *testing.T) {
	dispatch := dispatchRows([]string{"sixteen load=0.9"}, map[string]float64{"jsq": 1.6, "jsq-first": 1.6, "lwl": 1.4, "random": 9.5}, 8)
	limit, field := "mean-field", "JSQ(2), many servers"
	for i := range dispatch {
		row := &dispatch[i]
		switch row.Router {
		case "lwl":
			row.Theory, row.TheoryKind, row.TheoryMean = &field, &limit, number(1.3)
		case "random":
			row.Warnings = []string{"sizes without variance: means belong to the length of the run"}
		}
	}
	in := rows{thrown: ballsRows(8), dispatched: dispatch}
	r, err := in.analyse(Options{Baseline: "random"})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "models", r)
}
