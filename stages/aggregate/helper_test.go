package aggregate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"switchyard/stages/experiment"
	"switchyard/stages/simulate"
)

// study is a grid of made-up cells: the routers' points on every workload
// point, with every metric drawn anew unless a test sets it.
type study struct {
	workloads, routers []string
	replications       int
	each               func(c *simulate.Cell, r *rand.Rand) // after the draws
}

// cells makes the rows in the order of the grid.
func (s study) cells(seed uint64) []simulate.Cell {
	r := rand.New(rand.NewPCG(seed, 1))
	var out []simulate.Cell
	config := int32(0)
	for _, w := range s.workloads {
		for _, router := range s.routers {
			for rep := 1; rep <= s.replications; rep++ {
				c := simulate.Cell{
					Cell: int32(len(out)), Config: config, CellKey: fmt.Sprintf("key %d", len(out)),
					Replication: int32(rep), Replicas: 4, WarmUp: 0.2, Status: "ok",
					Workload: "tool", WorkloadPoint: w, Cluster: "a6000x4", ClusterPoint: "a6000x4",
					Router: router, RouterPoint: router,
					Arrived: 1000, Completed: 1000, Measured: 1000, Requests: 1250, Finished: 1250,
				}
				fill(&c, r)
				if s.each != nil {
					s.each(&c, r)
				}
				out = append(out, c)
			}
			config++
		}
	}
	return out
}

// fill draws every metric and leaves the configuration stable.
func fill(c *simulate.Cell, r *rand.Rand) {
	v := reflect.ValueOf(c).Elem()
	for _, m := range metrics {
		x := 100 * math.Exp(0.1*r.NormFloat64())
		switch f := v.Field(m.field); f.Kind() {
		case reflect.Pointer:
			f.Set(reflect.ValueOf(&x))
		case reflect.Int64:
			f.SetInt(int64(100 * x))
		default:
			panic("a metric of kind " + f.Kind().String())
		}
	}
	c.BacklogSlope, c.ArrivalRps = number(0.01*r.NormFloat64()), number(10)
	c.E2EDrift = number(0.01 * r.NormFloat64())
}

// planOf plans routers on one workload and cluster.
func planOf(routers []string, replications int) *simulate.Plan {
	plan := &simulate.Plan{Experiment: &experiment.Experiment{Name: "study"}}
	for i, router := range routers {
		c := &simulate.Config{Index: int32(i), WorkloadPoint: "tool", ClusterPoint: "a6000x4", RouterPoint: router}
		plan.Configs = append(plan.Configs, c)
		for r := range replications {
			plan.Runs = append(plan.Runs, simulate.Run{Index: int32(len(plan.Runs)), Config: c, Replication: r + 1})
		}
	}
	return plan
}

func number(x float64) *float64 { return &x }

func mustAnalyse(t *testing.T, cells []simulate.Cell, o Options) *Result {
	t.Helper()
	r, err := analyse(cells, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func findSummary(t *testing.T, r *Result, config int32, metric string) Summary {
	t.Helper()
	for _, row := range r.Summary {
		if row.Config == config && row.Metric == metric {
			return row
		}
	}
	t.Fatalf("summary has no row of configuration %d, metric %s", config, metric)
	return Summary{}
}

func findComparison(t *testing.T, r *Result, config int32, metric string) Comparison {
	t.Helper()
	for _, row := range r.Comparisons {
		if row.Config == config && row.Metric == metric {
			return row
		}
	}
	t.Fatalf("comparisons has no row of configuration %d, metric %s", config, metric)
	return Comparison{}
}

// same fails unless a nullable number is want, NaN meaning NULL, to 1e-9 of it.
func same(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	switch {
	case math.IsNaN(want) && got == nil:
	case got == nil || math.IsNaN(want) || !(math.Abs(*got-want) <= 1e-9*max(1, math.Abs(want))):
		shown := "NULL"
		if got != nil {
			shown = fmt.Sprint(*got)
		}
		t.Errorf("%s = %s, expected %v", what, shown, want)
	}
}
