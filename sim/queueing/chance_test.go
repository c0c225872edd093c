package queueing

import (
	"fmt"
	"slices"
	"testing"

	"switchyard/sim/dist"
	"switchyard/sim/param"
)

// TestChance: what Chance calls given is the same in every replication, and
// what it calls drawn is not.
func TestChance(t *testing.T) {
	values := make([]float64, 400)
	for i := range values {
		values[i] = float64(1 + i*i%7)
	}
	given := 0
	for _, p := range Policies() {
		for _, rule := range []string{"random", "first", "rotating"} {
			for _, model := range []string{"live", "periodic", "continuous", "continuous-exponential", "individual", "own"} {
				c := studyOf(func(c *Config) {
					c.Policy, c.Information = p.New(), Information{Model: model}
					c.System.Servers, c.Traffic.Requests = 4, 400
					c.Arrivals, c.Sizes = &Deterministic{}, &EmpiricalSizes{Mean: 1, Values: values, InOrder: true}
				})
				if model != "live" && model != "own" {
					c.Information.Age = 1
				}
				param.Defaults(c.Policy)
				hasTies := slices.ContainsFunc(param.Fields(c.Policy), func(f param.Field) bool { return f.Name == "ties" })
				if hasTies {
					must(param.Set(c.Policy, "ties", rule))
				}
				if !hasTies && rule != "first" || c.Validate() != nil {
					continue
				}
				arrivals, sizes, dispatch := c.Chance()
				if arrivals || sizes {
					t.Fatal("given arrivals and sizes count as drawn")
				}
				means := map[string]bool{}
				for _, r := range runs(t, c, 4) {
					means[fmt.Sprint(r.Mean, r.ServerRequests)] = true
				}
				if !dispatch {
					given++
				}
				if dispatch != (len(means) > 1) {
					t.Errorf("%s, ties %s, %s information: drawn is %v, four replications have %d results", p.Name, rule, model, dispatch, len(means))
				}
			}
		}
	}
	if given < 20 {
		t.Errorf("only %d studies without chance were tried", given)
	}
	for _, c := range []*Config{
		studyOf(func(c *Config) { c.Arrivals = &Times{Values: []float64{0, 1, 2}} }),
		studyOf(func(c *Config) { c.Sizes = &DeterministicSizes{unit} }),
	} {
		if arrivals, sizes, _ := c.Chance(); arrivals == sizes {
			t.Errorf("of %T and %T both or neither count as drawn", c.Arrivals, c.Sizes)
		}
	}
}

// TestSizesOfZero: they have a response and no slowdown.
func TestSizesOfZero(t *testing.T) {
	for _, discipline := range []string{"fcfs", "ps"} {
		r := runs(t, studyOf(func(c *Config) {
			c.System.Servers, c.System.Discipline, c.Traffic.Requests, c.Traffic.Load = 1, discipline, 4, 0.1
			c.Arrivals, c.Sizes = &Deterministic{}, &EmpiricalSizes{Values: []float64{1, 0, 2, 0}, InOrder: true}
		}), 1)[0]
		if r.Slowdown != 1 || r.Requests != 4 {
			t.Errorf("%s: slowdown is %v over %d requests, want 1: nobody waits", discipline, r.Slowdown, r.Requests)
		}
	}
}

// TestReciprocal holds Reciprocal against the mean of 1/S over more and more
// quantiles of the law, which settles where E[1/S] is finite.
func TestReciprocal(t *testing.T) {
	for _, l := range SizeLaws() {
		s := l.New()
		param.Defaults(s)
		if e, ok := s.(*EmpiricalSizes); ok {
			e.Values = []float64{1, 2, 4}
		}
		for _, stages := range []int{0, 1} {
			if e, ok := s.(*ErlangSizes); ok && stages == 1 {
				e.Stages = 1
			}
			law := s.Law()
			inverse := func(n int) (sum float64) {
				for i := range n {
					sum += 1 / dist.Quantile(law, (float64(i)+0.5)/float64(n)) / float64(n)
				}
				return sum
			}
			if settles := inverse(16000) < 1.05*inverse(1000); settles != Reciprocal(s) {
				t.Errorf("%s %v: the mean of 1/S settles is %v, Reciprocal says %v", l.Name, param.Canonical(s), settles, Reciprocal(s))
			}
		}
	}
}

// TestInformationModels: the list has what the parameter takes.
func TestInformationModels(t *testing.T) {
	var names []string
	for _, m := range InformationModels() {
		names = append(names, m.Name)
	}
	for _, f := range param.Fields(new(Information)) {
		if f.Name == "model" && !slices.Equal(f.Enum, names) {
			t.Errorf("the list has %v, the parameter takes %v", names, f.Enum)
		}
	}
}
