package queueing

import (
	"fmt"
	"math"
	"testing"

	"switchyard/sim/dist"
)

// printed fails unless got, rounded to so many decimals, is want.
func printed(t *testing.T, what string, got, want float64, decimals int) {
	t.Helper()
	if math.Abs(got-want) > 0.5000001*math.Pow(10, -float64(decimals)) {
		t.Errorf("%s is %.8g, expected %.*f", what, got, decimals, want)
	}
}

// study returns the default study with changes.
func studyOf(change func(c *Config)) *Config {
	c := NewConfig()
	change(c)
	return c
}

func theoryOf(change func(c *Config)) Value { return Theory(studyOf(change)) }

var loads = []float64{0.5, 0.7, 0.8, 0.9, 0.95}

func TestSingleServerQueue(t *testing.T) {
	means := []float64{2, 3.3333, 5, 10, 20}
	p99s := []float64{9.2103, 15.3506, 23.0259, 46.0517, 92.1034}
	for i, load := range loads {
		v := theoryOf(func(c *Config) { c.Traffic.Load = load })
		if v.Kind != Exact || v.Model != "M/M/1" {
			t.Errorf("random with exponential sizes is %s %s", v.Kind, v.Model)
		}
		printed(t, "M/M/1 mean", v.Mean, means[i], 4)
		printed(t, "M/M/1 P99", v.P99, p99s[i], 4)
	}
}

func TestPollaczekKhinchine(t *testing.T) {
	waits := map[float64][]float64{0.9: {4.5, 9, 22.5, 49.5}, 0.7: {1.1667, 2.3333, 5.8333, 12.8333}}
	for load, want := range waits {
		for i, c2 := range []float64{0, 1, 4, 10} {
			printed(t, "wait", PollaczekKhinchine(load, 1, 1+c2), want[i], 4)
			v := theoryOf(func(c *Config) {
				c.Traffic.Load = load
				c.Sizes = &HyperexponentialSizes{Scale: Scale{Mean: 1}, C2: c2}
				if c2 == 0 {
					c.Sizes = &DeterministicSizes{Scale{Mean: 1}}
				}
			})
			printed(t, fmt.Sprintf("M/G/1 mean at C2 %g", c2), v.Mean, 1+want[i], 4)
		}
	}
	// Twice as fast in half the time: means scale with the unit of sizes.
	v := theoryOf(func(c *Config) { c.Sizes = &DeterministicSizes{Scale{Mean: 250}} })
	printed(t, "M/D/1 mean in milliseconds", v.Mean, 250*5.5, 6)
	if v := theoryOf(func(c *Config) { c.Sizes = &ParetoSizes{Scale{1}, 1.5} }); !math.IsInf(v.Mean, 1) || v.Kind != Exact {
		t.Errorf("pareto 1.5 has the mean %g, expected infinity", v.Mean)
	}
}

func TestErlangC(t *testing.T) {
	rows := map[int][][2]float64{ // C and T at loads .5, .7, .9, .95
		2:  {{.333333, 1.333333}, {.576471, 1.960784}, {.852632, 5.263158}, {.925641, 10.256410}},
		4:  {{.173913, 1.086957}, {.428654, 1.357212}, {.787753, 2.969383}, {.891419, 5.457095}},
		8:  {{.059044, 1.014761}, {.270603, 1.112751}, {.701533, 1.876916}, {.844169, 3.110422}},
		16: {{.009019, 1.001127}, {.129676, 1.027016}, {.591343, 1.369590}, {.780192, 1.975241}},
		64: {{0, 1}, {.004413, 1.000230}, {.310663, 1.048541}, {.588011, 1.183753}},
	}
	mean := func(k int, load float64) Value {
		return theoryOf(func(c *Config) {
			c.System.Servers, c.Traffic.Load, c.Policy = k, load, &CentralQueue{}
		})
	}
	for k, row := range rows {
		for i, load := range []float64{0.5, 0.7, 0.9, 0.95} {
			if k != 64 || i > 0 {
				printed(t, fmt.Sprintf("C(%d, %g)", k, load), ErlangC(k, load), row[i][0], 6)
			}
			printed(t, fmt.Sprintf("M/M/%d mean at %g", k, load), mean(k, load).Mean, row[i][1], 6)
		}
	}
	printed(t, "M/M/10 mean", mean(10, 0.9).Mean, 1.668732, 6)
	printed(t, "M/M/100 mean", mean(100, 0.9).Mean, 1.021694, 6)
	printed(t, "M/M/16 mean", mean(16, 0.9).Mean, 1.3696, 4)
	printed(t, "M/M/16 P99", mean(16, 0.9).P99, 5.270, 3)
	printed(t, "M/M/1 P99", mean(1, 0.9).P99, 46.0517, 4)
	// Where a waiting request drains at the rate of its service: k(1-rho) = 1.
	printed(t, "P99 at equal rates", mean(10, 0.9).P99, mean(10, 0.9000001).P99, 4)
}

func TestRoundRobinTheory(t *testing.T) {
	rows := map[int][]float64{
		2:   {1.61803, 2.60062, 3.84398, 7.58828, 15.08573},
		8:   {1.34237, 2.05585, 2.97973, 5.78071, 11.40059},
		10:  {1.32464, 2.01980, 2.92227, 5.66028, 11.15495},
		100: {1.26186, 1.89048, 2.71566, 5.22681, 10.27068},
	}
	for n, row := range rows {
		for i, load := range loads {
			v := theoryOf(func(c *Config) { c.System.Servers, c.Traffic.Load, c.Policy = n, load, &RoundRobin{} })
			printed(t, v.Model+" mean", v.Mean, row[i], 5)
		}
	}
	for i, want := range []float64{1.25500, 1.87616, 2.69273, 5.17866, 10.17243} {
		v := theoryOf(func(c *Config) { c.Traffic.Load, c.Policy, c.Arrivals = loads[i], &RoundRobin{}, &Deterministic{} })
		printed(t, v.Model+" mean", v.Mean, want, 5)
	}
	v := theoryOf(func(c *Config) { c.Policy = &RoundRobin{} })
	printed(t, "E16/M/1 mean", v.Mean, 5.480, 3)
	printed(t, "E16/M/1 P99", v.P99, 25.235, 3) // 25.24 in print: 4.605 times the rounded mean
	// Gamma gaps of 1/4 stages into 8 servers are gaps of 2 stages at each.
	v = theoryOf(func(c *Config) {
		c.System.Servers, c.Policy, c.Arrivals = 8, &RoundRobin{}, &GammaGaps{Burstiness: 2}
	})
	printed(t, "gamma/M/1 mean", v.Mean, rows[2][3], 5)
	// Random splitting of Poisson arrivals by the general root is M/M/1.
	v = theoryOf(func(c *Config) { c.Arrivals = &GammaGaps{Burstiness: 1} })
	printed(t, "GI/M/1 mean", v.Mean, 10, 6)
}

func TestMeanField(t *testing.T) {
	rows := map[int][]float64{
		1: {2, 3.333333, 5, 10, 20, 100},
		2: {1.265686, 1.614454, 1.947363, 2.614057, 3.383046, 5.431997},
		3: {1.125244, 1.356842, 1.580886, 2.027856, 2.535133, 3.857847},
		5: {1.031250, 1.168093, 1.328918, 1.632881, 1.988772, 2.901683},
	}
	for d, row := range rows {
		for i, load := range append(loads, 0.99) {
			v := theoryOf(func(c *Config) { c.Traffic.Load, c.Policy = load, &JSQOf{Choices: d} })
			printed(t, fmt.Sprintf("%s mean at %g", v.Model, load), v.Mean, row[i], 6)
			if d > 1 && v.Kind != MeanField || d == 1 && v.Kind != Exact {
				t.Errorf("JSQ(%d) is %s", d, v.Kind)
			}
			printed(t, "response", MeanFieldResponse(d, load), row[i], 6)
		}
	}
	for i, want := range []float64{1, .9, .729, .478297, .205891, .038152, .001310} {
		printed(t, "tail", MeanFieldTail(2, 0.9, i), want, 6)
	}
	// The quantiles are those of a law with that mean: integrate the tail.
	c := studyOf(func(c *Config) { c.Policy = &JSQOf{Choices: 2} })
	v := Theory(c)
	if !(v.P50 < v.Mean && v.Mean < v.P90 && v.P90 < v.P95 && v.P95 < v.P99 && v.P99 < v.P999) {
		t.Errorf("quantiles are out of order: %+v", v)
	}
	var joins []float64
	for j := range 12 {
		joins = append(joins, math.Pow(MeanFieldTail(2, 0.9, j), 2)-math.Pow(MeanFieldTail(2, 0.9, j+1), 2))
	}
	var area float64
	for x := 0.005; x < 60; x += 0.01 {
		area += 0.01 * stagesTail(joins, x)
	}
	printed(t, "area under the tail", area, v.Mean, 4)
}

// The bounded Pareto law of the published table: formula and cut-offs.
func TestSITATheory(t *testing.T) {
	law := dist.BoundedPareto{Alpha: 1.1, Least: 1, Most: 1e4}
	printed(t, "mean size", law.Mean(), 6.621085, 6)
	printed(t, "C2", dist.SCV(law), 109.9686, 4)
	for i, want := range []float64{5.107745, 35.883544, 405.132708} {
		printed(t, "cut-off", Cutoffs(law, []float64{1, 1, 1, 1})[i], want, 6)
	}
	for i, load := range []float64{0.5, 0.7, 0.9} {
		size := BoundedParetoSizes{Scale{law.Mean()}, 1.1, 1e4}
		four := func(p Params) func(c *Config) {
			return func(c *Config) { c.System.Servers, c.Traffic.Load, c.Sizes, c.Policy = 4, load, &size, p }
		}
		wait := theoryOf(four(&SITA{})).Mean - law.Mean()
		printed(t, "SITA-E wait", wait, []float64{5.29615, 12.35767, 47.66531}[i], 5)
		wait = theoryOf(four(&Random{})).Mean - law.Mean()
		printed(t, "random wait", wait, []float64{367.366, 857.188, 3306.296}[i], 3)
	}
	// Equal sizes: SITA-E splits them at random, so that it is random.
	equal := func(p Params) func(c *Config) {
		return func(c *Config) { c.Sizes, c.Policy = &DeterministicSizes{Scale{1}}, p }
	}
	printed(t, "SITA-E on equal sizes", theoryOf(equal(&SITA{})).Mean, theoryOf(equal(&Random{})).Mean, 9)
}

func TestProcessorSharingTheory(t *testing.T) {
	for _, sizes := range []Sizes{
		&ExponentialSizes{Scale{1}}, &DeterministicSizes{Scale{1}}, &ParetoSizes{Scale{1}, 1.5}, &LognormalSizes{Scale: Scale{1}, Sigma: 2},
	} {
		for _, p := range []Params{&Random{}, &SITA{}} {
			v := theoryOf(func(c *Config) { c.System.Discipline, c.Sizes, c.Policy = "ps", sizes, p })
			printed(t, v.Model+" mean", v.Mean, 10, 9)
		}
	}
}

func TestUnequalSpeeds(t *testing.T) {
	// One server of speed 3 and one of speed 1, in proportion: both have load
	// .8, and the mean is (3/4)(1/3)/.2 + (1/4)/.2.
	c := studyOf(func(c *Config) {
		c.System.Servers, c.System.Speeds, c.Traffic.Load, c.Policy = 2, []float64{3, 1}, 0.8, &Random{Weights: "speeds"}
	})
	printed(t, "mean", Theory(c).Mean, 2.5, 9)
	// Alike: the slow one has the load 1.6.
	c.Policy = &Random{Weights: "equal"}
	if v := Theory(c); !math.IsInf(v.Mean, 1) {
		t.Errorf("the mean is %g though one server is overloaded", v.Mean)
	}
}

func TestNoTheory(t *testing.T) {
	for name, change := range map[string]func(c *Config){
		"jsq":       func(c *Config) { c.Policy = &JSQ{} },
		"overload":  func(c *Config) { c.Traffic.Load = 1 },
		"stale lwl": func(c *Config) { c.Policy, c.Information = &LWL{}, Information{Model: "periodic", Age: 1} },
		"stale jsq-d": func(c *Config) {
			c.Policy, c.Information = &JSQOf{Choices: 2}, Information{Model: "individual", Age: 1}
		},
		"round robin ps":  func(c *Config) { c.Policy, c.System.Discipline = &RoundRobin{}, "ps" },
		"beating turns":   func(c *Config) { c.Policy, c.System.Dispatchers = &RoundRobin{}, 2 },
		"half known":      func(c *Config) { c.Policy = &ExpectedWork{Knowledge: 0.5, Progress: true} },
		"general central": func(c *Config) { c.Policy, c.Sizes = &CentralQueue{}, &DeterministicSizes{Scale{1}} },
		"times":           func(c *Config) { c.Arrivals = &Times{Values: []float64{0, 1, 5}} },
	} {
		if v := theoryOf(change); v.Kind != None || !math.IsNaN(v.Mean) {
			t.Errorf("%s: theory says %+v", name, v)
		}
	}
}

// TestOtherTheory: what follows from the mean and the load, held against runs.
func TestOtherTheory(t *testing.T) {
	for name, c := range map[string]*Config{
		"M/G/1": studyOf(func(c *Config) { c.Sizes = &UniformSizes{Scale: unit, Spread: 0.5} }),
		"PS":    studyOf(func(c *Config) { c.System.Discipline = "ps" }),
	} {
		c.System.Servers, c.Traffic.Load, c.Traffic.Requests, c.WarmUp = 2, 0.5, 100_000, 0.1
		v, r := Theory(c), runs(t, c, 1)[0]
		if math.Abs(r.Wait/v.Wait-1) > 0.05 || math.Abs(r.Utilisation-v.Utilisation) > 0.01 || v.Utilisation != 0.5 {
			t.Errorf("%s: wait %v and utilisation %v, in theory %v and %v", name, r.Wait, r.Utilisation, v.Wait, v.Utilisation)
		}
		if name == "PS" && (v.Slowdown != 2 || math.Abs(r.Slowdown-2) > 0.06) || name != "PS" && !math.IsNaN(v.Slowdown) {
			t.Errorf("%s: slowdown %v, in theory %v", name, r.Slowdown, v.Slowdown)
		}
	}
	stages := studyOf(func(c *Config) { c.Policy, c.Sizes = &CentralQueue{}, &ErlangSizes{unit, 1} })
	plain := studyOf(func(c *Config) { c.Policy = &CentralQueue{} })
	if a, b := Theory(stages), Theory(plain); a.Mean != b.Mean || a.Kind != Exact {
		t.Errorf("one Erlang stage has %v, exponential sizes %v", a.Mean, b.Mean)
	}
	two := func(model string) Value {
		return Theory(studyOf(func(c *Config) { c.Policy, c.Information = &JSQOf{Choices: 2}, Information{Model: model} }))
	}
	if a, b := two("own"), two("live"); a.Mean != b.Mean || a.Kind != MeanField {
		t.Errorf("the only dispatcher's own count has %v, live %v", a.Mean, b.Mean)
	}
}
