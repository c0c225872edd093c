package queueing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"switchyard/sim/param"
	"switchyard/sim/rng"
)

// pickOf returns one of several at random.
func pickOf[T any](s *rng.Stream, of ...T) T { return of[s.IntN(len(of))] }

// randomConfig draws a small study.
func randomConfig(s *rng.Stream) *Config {
	for {
		c := NewConfig()
		c.System.Servers = pickOf(s, 1, 2, 2, 3, 4, 5, 9, 70)
		c.System.Discipline = pickOf(s, "fcfs", "fcfs", "ps")
		c.System.Dispatchers = pickOf(s, 1, 1, 2, 3)
		c.System.Speeds = pickOf(s, nil, nil, []float64{1, 2}, []float64{0.7, 1.3, 3}, []float64{1.5})
		c.Traffic.Load = pickOf(s, 0.3, 0.5, 0.8, 0.95, 1.2)
		c.Traffic.Requests = int64(40 + s.IntN(160))
		c.Policy = pickOf(s, Policies()...).New()
		param.Defaults(c.Policy)
		for _, f := range param.Fields(c.Policy) {
			switch f.Name {
			case "ties", "weights":
				if len(f.Enum) > 0 {
					must(param.Set(c.Policy, f.Name, pickOf(s, f.Enum...)))
				} else if s.IntN(2) == 0 {
					c.Policy.(*WeightedRoundRobin).Weights = []float64{1, 0.5, 2.25}
				}
			case "include_self", "replacement", "progress":
				must(param.Set(c.Policy, f.Name, s.IntN(2) == 0))
			case "choices":
				must(param.Set(c.Policy, f.Name, int64(1+s.IntN(4))))
			case "knowledge":
				must(param.Set(c.Policy, f.Name, pickOf(s, 0, 0.5, 1)))
			case "noise":
				must(param.Set(c.Policy, f.Name, pickOf(s, 0, 0, 0.7)))
			default:
				panic("a parameter that this test leaves out: " + f.Name)
			}
		}
		if c.Policy.sees() != seesNothing && s.IntN(2) == 0 {
			c.Information = Information{
				Model: pickOf(s, "periodic", "continuous", "continuous-exponential", "individual", "own"),
				Age:   pickOf(s, 0.1, 0.5, 1, 4), Corrections: s.IntN(2) == 0,
			}
			if c.Information.Model == "own" {
				c.Information = Information{Model: "own"}
			}
		}
		values := make([]float64, 200)
		times := make([]float64, 200)
		for i := range values {
			values[i] = pickOf(s, 0.3, 1.1, 2.7, 0.9)
			times[i] = float64(i / 3)
		}
		c.Sizes = pickOf[Sizes](s, &ExponentialSizes{}, &UniformSizes{}, &LognormalSizes{}, &ParetoSizes{}, &BoundedParetoSizes{}, &HyperexponentialSizes{},
			&ErlangSizes{}, &DeterministicSizes{}, &EmpiricalSizes{Values: values}, &EmpiricalSizes{Values: values, InOrder: true})
		c.Arrivals = pickOf[Arrivals](s, &Poisson{}, &GammaGaps{}, &Deterministic{}, &Times{Values: times})
		for _, part := range []any{c.Sizes, c.Arrivals} {
			e, _ := part.(*EmpiricalSizes)
			at, _ := part.(*Times)
			if e == nil && at == nil {
				param.Defaults(part)
			} else if e != nil {
				e.Mean = pickOf(s, 0, 1.0, 3)
			}
		}
		if s.IntN(3) == 0 {
			coincide(c, s)
		}
		if c.System.Discipline == "ps" {
			// Its shares are rounded: no time may coincide with another but by
			// the same rounding.
			c.Arrivals = pickOf[Arrivals](s, &Poisson{}, &GammaGaps{Burstiness: 2})
		}
		if c.Validate() == nil {
			return c
		}
	}
}

// coincide gives a study whole times and sizes, so that many departures,
// refreshes and arrivals fall on one instant.
func coincide(c *Config, s *rng.Stream) {
	times, values := make([]float64, 200), make([]float64, 200)
	for i := range values {
		values[i] = []float64{1, 2, 3, 2}[i%4] // of mean 2, a power of two, which keeps ticks whole
		if i > 0 {
			times[i] = times[i-1] + pickOf(s, 0.0, 0, 1, 1, 2)
		}
	}
	c.Arrivals = &Times{Values: times, KeepRate: true}
	c.Sizes = &EmpiricalSizes{Values: values, InOrder: s.IntN(2) == 0}
	c.System.Speeds = pickOf(s, nil, nil, []float64{1, 2})
	c.System.Servers = pickOf(s, 2, 3, 4)
	c.Information.Age = pickOf(s, 0.5, 1, 2)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// describe prints a study.
func describe(c *Config) string {
	var words []string
	for _, part := range c.parts() {
		words = append(words, strings.TrimPrefix(fmt.Sprintf("%T", part), "*queueing."))
		for _, word := range param.Canonical(part) {
			if len(word) < 100 {
				words = append(words, word)
			}
		}
	}
	return strings.Join(words, " ")
}

// Every policy, tie rule, model of information, discipline, law and arrival
// process agrees with the naive implementation on every request, on the way
// that Run takes and on that of the engine.
func TestAgreesWithNaive(t *testing.T) {
	s := rng.New(7, 1, "configs")
	seen := map[string]int{}
	for trial := range 1000 {
		c := randomConfig(s)
		seen[PolicyOf(c.Policy).Name+" "+c.Information.Model+" "+c.System.Discipline]++
		for _, slow := range []bool{false, true} {
			if err := agree(c, trial, slow); err != nil {
				t.Fatalf("study %d, slow %v: %v\n%s", trial, slow, err, describe(c))
			}
		}
	}
	for _, p := range Policies() {
		if seen[p.Name+" live fcfs"] < 10 {
			t.Errorf("%s was tried %d times", p.Name, seen[p.Name+" live fcfs"])
		}
	}
	for _, model := range []string{"periodic", "continuous", "continuous-exponential", "individual", "own"} {
		for _, name := range []string{"jsq", "jsq-d"} {
			if seen[name+" "+model+" fcfs"] < 3 {
				t.Errorf("%s on %s information was tried %d times", name, model, seen[name+" "+model+" fcfs"])
			}
		}
	}
}

func agree(c *Config, replication int, slow bool) error {
	n := newNaive(c, 7, replication)
	sim := &Sim{slow: slow}
	var servers []int32
	var done, responses []int64
	sim.watch = func(b *block) {
		for k := range b.n {
			n.add(b.time[k], b.need[k], b.guess[k], int(b.from[k]))
		}
		servers = append(servers, b.server[:b.n]...)
		done = append(done, b.done[:b.n]...)
	}
	sim.ended = func(e *ended) { responses = append(responses, e.response...) }
	result, err := sim.Run(c, 7, replication)
	if err != nil {
		return err
	}
	var sum float64
	var wanted []int64
	for k, j := range n.jobs {
		if int(servers[k]) != j.server {
			return fmt.Errorf("request %d went to server %d, expected %d", k, servers[k], j.server)
		}
		if c.System.Discipline == "fcfs" && done[k] != j.done {
			return fmt.Errorf("request %d ends at %d, expected %d", k, done[k], j.done)
		}
		wanted = append(wanted, j.done-j.arrival)
		sum += float64(j.done - j.arrival)
	}
	if c.System.Discipline == "ps" {
		if len(responses) != len(wanted) {
			return fmt.Errorf("%d requests ended, expected %d", len(responses), len(wanted))
		}
		slices.Sort(responses)
		slices.Sort(wanted)
		for k, r := range responses {
			if d := r - wanted[k]; d < -100 || d > 100 {
				return fmt.Errorf("response %d in order is %d, expected %d", k, r, wanted[k])
			}
		}
	}
	mean := sum / float64(len(n.jobs)) / ticksPerMean * c.Sizes.Law().Mean()
	if d := result.Mean/mean - 1; d > 1e-6 || d < -1e-6 {
		return fmt.Errorf("mean is %g, expected %g", result.Mean, mean)
	}
	return nil
}
