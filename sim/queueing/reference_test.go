package queueing

import (
	"fmt"
	"math"
	"testing"
)

// against fails unless the mean of runs is theory's, within a share of it or two
// standard errors.
func against(t *testing.T, what string, c *Config, replications int, share float64) {
	t.Helper()
	v := Theory(c)
	if v.Kind != Exact {
		t.Fatalf("%s: theory is %s", what, v.Kind)
	}
	mean, se := average(runs(t, c, replications), meanOf)
	within(t, fmt.Sprintf("%s: mean", what), mean, se, v.Mean, share)
}

// exactStudies are studies with an exact mean.
func exactStudies(load float64) map[string]*Config {
	out := map[string]*Config{}
	add := func(name string, change func(c *Config)) {
		out[name] = studyOf(func(c *Config) {
			c.Traffic.Load, c.WarmUp = load, 0.1
			change(c)
		})
	}
	add("M/M/1", func(c *Config) {})
	add("P-K, C2 0", func(c *Config) { c.Sizes = &DeterministicSizes{unit} })
	add("P-K, C2 1/4", func(c *Config) { c.Sizes = &ErlangSizes{unit, 4} })
	add("P-K, C2 1/3", func(c *Config) { c.Sizes = &UniformSizes{unit, 1} })
	add("P-K, C2 4", func(c *Config) { c.Sizes = &HyperexponentialSizes{Scale: unit, C2: 4, Ratio: 20} })
	add("P-K, C2 10", func(c *Config) { c.Sizes = &HyperexponentialSizes{Scale: unit, C2: 10, Ratio: 20} })
	add("P-K, lognormal", func(c *Config) { c.Sizes = &LognormalSizes{Scale: unit, C2: 4} })
	add("P-K, empirical", func(c *Config) { c.Sizes = &EmpiricalSizes{Mean: 1, Values: []float64{1, 2, 7, 4}} })
	add("LWL", func(c *Config) { c.Policy = &LWL{Ties: randomTies} })
	add("central queue", func(c *Config) { c.Policy = &CentralQueue{Ties{"rotating"}} })
	add("round robin", func(c *Config) { c.Policy = &RoundRobin{} })
	add("round robin, equal gaps", func(c *Config) { c.Policy, c.Arrivals = &RoundRobin{}, &Deterministic{} })
	add("round robin, gamma gaps", func(c *Config) { c.Policy, c.Arrivals = &RoundRobin{}, &GammaGaps{2} })
	add("random, gamma gaps", func(c *Config) { c.Arrivals = &GammaGaps{2} })
	add("unequal speeds", func(c *Config) {
		c.System.Speeds, c.Policy = []float64{3, 1, 0.5}, &Random{Weights: "speeds"}
	})
	add("SITA-E", func(c *Config) {
		c.System.Servers, c.Policy, c.Sizes = 4, &SITA{}, &BoundedParetoSizes{unit, 1.1, 100}
	})
	add("SITA-E, few sizes", func(c *Config) {
		c.System.Servers, c.Policy, c.Sizes = 3, &SITA{}, &EmpiricalSizes{Mean: 1, Values: []float64{1, 1, 1, 2, 10}}
	})
	for name, sizes := range map[string]Sizes{
		"exponential": &ExponentialSizes{unit}, "deterministic": &DeterministicSizes{unit},
		"hyperexponential": &HyperexponentialSizes{Scale: unit, C2: 4, Ratio: 20}, "bounded pareto": &BoundedParetoSizes{unit, 1.5, 100},
	} {
		add("processor sharing, "+name, func(c *Config) { c.System.Discipline, c.Sizes = "ps", sizes })
	}
	return out
}

func TestAgainstExact(t *testing.T) {
	for name, c := range exactStudies(0.7) {
		c.Traffic.Requests = 200_000
		against(t, name, c, 5, 0.03)
	}
}

// Quantiles of the queues whose law of response times is known.
func TestQuantilesAgainstExact(t *testing.T) {
	for name, p := range map[string]Params{"M/M/1": &Random{Weights: "equal"}, "E16/M/1": &RoundRobin{}, "M/M/16": &LWL{Ties: randomTies}} {
		c := studyOf(func(c *Config) { c.Policy, c.WarmUp, c.Traffic.Requests, c.Traffic.Load = p, 0.1, 400_000, 0.7 })
		rs, v := runs(t, c, 5), Theory(c)
		for q, want := range map[string][2]float64{"P50": {0.5, v.P50}, "P90": {0.9, v.P90}, "P95": {0.95, v.P95}, "P99": {0.99, v.P99}, "P999": {0.999, v.P999}} {
			sort := map[string]func(*Result) float64{
				"P50": func(r *Result) float64 { return r.P50 }, "P90": func(r *Result) float64 { return r.P90 },
				"P95": func(r *Result) float64 { return r.P95 }, "P99": p99Of, "P999": func(r *Result) float64 { return r.P999 },
			}[q]
			got, se := average(rs, sort)
			within(t, name+" "+q, got, se, want[1], 0.03)
		}
	}
}

// The share of servers with at least i requests under two choices is the mean
// field's, and so are mean and quantiles.
func TestMeanFieldSimulated(t *testing.T) {
	for _, discipline := range []string{"fcfs", "ps"} {
		c := studyOf(func(c *Config) {
			c.System.Servers, c.Policy = 1000, &JSQOf{Choices: 2, Ties: randomTies}
			c.Traffic.Requests, c.WarmUp, c.System.Discipline = 2_000_000, 0.25, discipline
		})
		r := runs(t, c, 1)[0]
		for i := range 7 {
			want := MeanFieldTail(2, 0.9, i)
			if math.Abs(r.Lengths[i]-want) > 0.01*want+0.002 {
				t.Errorf("%s: %.5f of the servers have %d requests and more, expected %.5f", discipline, r.Lengths[i], i, want)
			}
		}
		v := Theory(c)
		within(t, discipline+" mean", r.Mean, 0, v.Mean, 0.01)
		if discipline == "fcfs" {
			within(t, "P50", r.P50, 0, v.P50, 0.02)
			within(t, "P99", r.P99, 0, v.P99, 0.02)
		}
	}
}

// Means and P99 of published single runs of an independent simulator at load
// .9: d choices without replacement, the first fifth dropped.
func TestAgainstPublishedRuns(t *testing.T) {
	policies := map[string]Params{
		"random": &Random{Weights: "equal"}, "rr": &RoundRobin{}, "p2c": &JSQOf{Choices: 2, Ties: randomTies}, "p3": &JSQOf{Choices: 3, Ties: randomTies},
		"jiq": &JIQ{randomTies}, "jsq": &JSQ{Ties: randomTies}, "lwl": &LWL{Ties: randomTies},
	}
	exponential := &ExponentialSizes{unit}
	h2 := &HyperexponentialSizes{Scale: unit, C2: 4, Ratio: 20}
	equal := &DeterministicSizes{unit}
	for _, row := range []struct {
		servers int
		sizes   Sizes
		share   float64
		want    map[string][2]float64
	}{
		{8, exponential, 0.03, map[string][2]float64{"random": {10.00, 45.4}, "rr": {5.80, 26.6}, "p2c": {3.09, 11.0}, "jiq": {2.76, 14.8}, "jsq": {2.145, 8.9}, "lwl": {1.878, 7.1}}},
		{10, exponential, 0.03, map[string][2]float64{"random": {10.01, 46.2}, "rr": {5.70, 26.3}, "p2c": {2.97, 10.5}, "p3": {2.446, 9.1}, "jiq": {2.405, 12.9}, "jsq": {1.904, 7.9}, "lwl": {1.663, 6.3}}},
		{100, exponential, 0.03, map[string][2]float64{"random": {10.01, 46.3}, "rr": {5.23, 23.9}, "p2c": {2.651, 8.9}, "p3": {2.061, 7.4}, "jiq": {1.073, 5.0}, "jsq": {1.068, 4.9}, "lwl": {1.022, 4.6}}},
		{8, h2, 0.05, map[string][2]float64{"random": {23.87, 129}, "rr": {19.33, 98.9}, "p2c": {5.33, 28.6}, "jiq": {5.39, 39.0}, "jsq": {3.495, 23.5}, "lwl": {3.027, 17.2}}},
		{8, equal, 0.03, map[string][2]float64{"random": {5.52, 23.1}, "p2c": {1.994, 4.7}, "jsq": {1.559, 3.8}, "lwl": {1.453, 3.6}}},
	} {
		for name, want := range row.want {
			c := studyOf(func(c *Config) {
				c.System.Servers, c.Sizes, c.Policy = row.servers, row.sizes, policies[name]
				c.Traffic.Requests, c.WarmUp = longer(300_000, 3_000_000), 0.2
			})
			if name == "random" || name == "rr" {
				c.Traffic.Requests = 3_000_000 // their queues are long and change slowly
			}
			rs := runs(t, c, 3)
			what := fmt.Sprintf("%s, %d servers, %T", name, row.servers, row.sizes)
			mean, se := average(rs, meanOf)
			within(t, what+": mean", mean, se, want[0], row.share)
			p99, se := average(rs, p99Of)
			share := row.share + 0.02
			if name == "random" || name == "rr" {
				share += 0.07 // the deviation of one such run's P99
			}
			within(t, what+": P99", p99, se, want[1], share)
		}
	}
}
