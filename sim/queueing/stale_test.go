package queueing

import (
	"fmt"
	"testing"
)

// stale is the published table's study: exponential sizes, load .9.
func stale(servers int, p Params, i Information) *Config {
	return studyOf(func(c *Config) {
		c.System.Servers, c.Policy, c.Information = servers, p, i
		c.Traffic.Requests, c.WarmUp = longer(150_000, 1_500_000), 0.2
	})
}

var (
	p2c      = &JSQOf{Choices: 2, Ties: randomTies}
	p3       = &JSQOf{Choices: 3, Ties: randomTies}
	shortest = &JSQ{Ties: randomTies}
)

func periodic(age float64) Information { return Information{Model: "periodic", Age: age} }

// Means of published single runs on stale information, those that had
// converged.
func TestStaleAgainstPublishedRuns(t *testing.T) {
	corrected := func(age float64) Information {
		return Information{Model: "periodic", Age: age, Corrections: true}
	}
	continuous := func(age float64) Information { return Information{Model: "continuous", Age: age} }
	exponential := func(age float64) Information { return Information{Model: "continuous-exponential", Age: age} }
	individual := func(age float64) Information { return Information{Model: "individual", Age: age} }
	type row struct {
		name    string
		servers int
		policy  Params
		info    func(age float64) Information
		want    map[float64]float64
	}
	for _, row := range []row{
		{"periodic P2C", 100, p2c, periodic, map[float64]float64{.1: 2.67, .5: 2.80, 1: 2.96, 2: 3.25, 5: 3.99, 10: 5.09, 20: 7.05}},
		{"periodic P3", 100, p3, periodic, map[float64]float64{.1: 2.13, .5: 2.35, 1: 2.60, 2: 3.08, 5: 4.36, 10: 6.31, 20: 10.08}},
		{"periodic JSQ", 100, shortest, periodic, map[float64]float64{.1: 1.56, .5: 2.80, 1: 3.98, 2: 6.18, 5: 11.98, 10: 23.3}},
		{"corrected JSQ", 100, shortest, corrected, map[float64]float64{.1: 1.19, .5: 1.58, 1: 1.83, 2: 2.14, 5: 2.64, 10: 3.05, 20: 3.51, 50: 4.06}},
		{"continuous P2C", 100, p2c, continuous, map[float64]float64{.1: 2.70, 1: 3.22, 5: 4.93, 20: 10.1}},
		{"continuous JSQ", 100, shortest, continuous, map[float64]float64{.1: 1.79, .5: 3.72, 1: 5.76, 2: 10.2}},
		{"individual P2C", 100, p2c, individual, map[float64]float64{.1: 2.71, 1: 3.27, 5: 5.32, 20: 11.6}},
		{"individual JSQ", 100, shortest, individual, map[float64]float64{.1: 2.02, .5: 5.42, 1: 9.63, 2: 18.5}},
		{"periodic P2C", 8, p2c, periodic, map[float64]float64{.1: 3.15, 1: 3.43, 5: 4.55, 10: 5.82}},
		{"periodic JSQ", 8, shortest, periodic, map[float64]float64{.1: 2.26, 1: 4.02, 5: 12.6, 10: 23.2}},
		{"corrected JSQ", 8, shortest, corrected, map[float64]float64{.1: 2.18, 1: 2.55, 5: 3.25, 10: 3.62}},
		{"continuous P2C", 8, p2c, continuous, map[float64]float64{.1: 3.18, 1: 3.68, 5: 5.45, 10: 7.45}},
		{"continuous JSQ", 8, shortest, continuous, map[float64]float64{.1: 2.38, 1: 4.51, 5: 15.2, 10: 29.4}},
	} {
		share := 0.05
		if row.policy == Params(shortest) {
			share = 0.07 // a published run of herding JSQ has an error of over 2 % of its own
		}
		for age, want := range row.want {
			mean, se := average(runs(t, stale(row.servers, row.policy, row.info(age)), 2), meanOf)
			within(t, fmt.Sprintf("%s, %d servers, T = %g", row.name, row.servers, age), mean, 0, want, share+2*se/want)
		}
	}
	// An age that varies lets some see fresh states: a younger one outweighs an
	// older.
	fixed, _ := average(runs(t, stale(100, p2c, continuous(5)), 2), meanOf)
	varied, _ := average(runs(t, stale(100, p2c, exponential(5)), 2), meanOf)
	if varied >= fixed {
		t.Errorf("two choices at an exponential age have the mean %.3f, expected below %.3f at the fixed one", varied, fixed)
	}
}

// What must hold whatever the exact numbers are.
func TestStaleOrder(t *testing.T) {
	mean := func(p Params, i Information) float64 {
		m, _ := average(runs(t, stale(100, p, i), 2), meanOf)
		return m
	}
	random := mean(&Random{Weights: "equal"}, periodic(1))
	corrected := func(age float64) float64 {
		return mean(shortest, Information{Model: "periodic", Age: age, Corrections: true})
	}
	type numbers struct{ j, two, three, own float64 }
	at := map[float64]numbers{}
	for _, age := range []float64{.1, .5, 1, 2, 5, 50} {
		at[age] = numbers{mean(shortest, periodic(age)), mean(p2c, periodic(age)), mean(p3, periodic(age)), corrected(age)}
	}
	for _, c := range []struct {
		holds bool
		what  string
	}{
		{at[.1].j < at[.1].two, "JSQ is below two choices at T = .1"},
		{at[.5].j < 1.05*at[.5].two && at[.5].two < 1.05*at[.5].j, "JSQ and two choices are alike at T = .5"},
		{at[1].j > at[1].two, "JSQ is above two choices at T = 1"},
		{at[2].three < at[2].two, "three choices are below two at T = 2"},
		{at[5].three > at[5].two, "three choices are above two at T = 5"},
		{at[5].j > random, "JSQ is above random at T = 5"},
		{at[5].two < random, "two choices are below random at T = 5"},
		{at[50].two > random, "two choices are above random at T = 50"},
	} {
		if !c.holds {
			t.Errorf("%s: not so (%+v, random %.2f)", c.what, at, random)
		}
	}
	for age, n := range at {
		if n.own > n.j || n.own > n.two || n.own > n.three {
			t.Errorf("T = %g: JSQ with corrections has %.3f, expected the least of %+v", age, n.own, n)
		}
	}
}

// Several dispatchers that count their own requests only: the more there are,
// the less each sees, down to random.
func TestOwnCounts(t *testing.T) {
	var before float64
	for _, dispatchers := range []int{1, 2, 10, 100} {
		c := stale(10, shortest, Information{Model: "own"})
		c.System.Dispatchers = dispatchers
		c.Traffic.Requests = 200_000
		mean, _ := average(runs(t, c, 2), meanOf)
		if dispatchers == 1 {
			live, _ := average(runs(t, stale(10, shortest, Information{Model: "live"}), 2), meanOf)
			within(t, "one dispatcher's own count", mean, 0, live, 0.02)
		}
		if mean <= before {
			t.Errorf("%d dispatchers have the mean %.3f, fewer have %.3f", dispatchers, mean, before)
		}
		before = mean
	}
	if before > 10 {
		t.Errorf("a hundred dispatchers have the mean %.3f, expected below random's 10", before)
	}
}
