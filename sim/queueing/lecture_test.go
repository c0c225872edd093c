package queueing

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// runs returns the results of so many replications.
func runs(t testing.TB, c *Config, replications int) []*Result {
	t.Helper()
	var sim Sim
	var out []*Result
	for r := range replications {
		result, err := sim.Run(c, 1, r+1)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, result)
	}
	return out
}

// average returns the mean of a number over results and its standard error.
func average(of []*Result, number func(*Result) float64) (mean, se float64) {
	n := float64(len(of))
	for _, r := range of {
		mean += number(r) / n
	}
	for _, r := range of {
		se += (number(r) - mean) * (number(r) - mean)
	}
	return mean, math.Sqrt(se / (n - 1) / n)
}

func meanOf(r *Result) float64 { return r.Mean }
func p99Of(r *Result) float64  { return r.P99 }

// within fails unless got is want up to a share of it or two standard errors.
func within(t *testing.T, what string, got, se, want, share float64) {
	t.Helper()
	if math.Abs(got-want) > max(share*want, 2*se) {
		t.Errorf("%s is %.4g +- %.2g, expected %.4g within %.2g %%", what, got, se, want, 100*share)
	}
}

// lecture is its study: 16 servers, load .9, 50,000 requests from an empty
// start, no cut.
func lecture(p Params, sizes Sizes) *Config {
	return studyOf(func(c *Config) { c.Policy, c.Sizes = p, sizes })
}

var (
	randomTies = Ties{"random"}
	firstTies  = Ties{"first"}
	unit       = Scale{1}
)

// Means and P99 of the five policies on exponential sizes, each over enough
// runs for its bounds.
func TestLectureExponential(t *testing.T) {
	exponential := &ExponentialSizes{unit}
	for _, c := range []struct {
		name      string
		policy    Params
		runs      int
		mean, p99 float64
		share     float64
	}{
		{"random", &Random{Weights: "equal"}, 100, 9.71, 42.3, 0.03},
		{"round robin", &RoundRobin{}, 100, 5.40, 27.1, 0.06}, // its P99 of 24 seeds has an error of 4 %
		{"jsq", &JSQ{Ties: randomTies}, 40, 1.573, 6.64, 0.02},
		{"two choices", &JSQOf{Choices: 2, Ties: randomTies}, 40, 2.82, 9.74, 0.02},
		{"lwl", &LWL{Ties: randomTies}, 40, 1.366, 5.29, 0.02},
	} {
		rs := runs(t, lecture(c.policy, exponential), c.runs)
		mean, se := average(rs, meanOf)
		within(t, c.name+" mean", mean, se, c.mean, c.share)
		p99, se := average(rs, p99Of)
		within(t, c.name+" P99", p99, se, c.p99, 2*c.share)
	}
}

// Of 400 single runs a few per cent reach 11.56: an unlucky run, but an
// ordinary one.
func TestLectureUnluckyRun(t *testing.T) {
	rs := runs(t, lecture(&Random{Weights: "equal"}, &ExponentialSizes{unit}), 400)
	mean, se := average(rs, meanOf)
	sd := se * 20
	reach := 0
	var means []float64
	for _, r := range rs {
		means = append(means, r.Mean)
		if r.Mean >= 11.56 {
			reach++
		}
	}
	slices.Sort(means)
	within(t, "mean", mean, se, 9.71, 0.02)
	within(t, "deviation of a run", sd, 0, 0.75, 0.12)
	within(t, "5 % quantile of runs", means[20], 0, 8.6, 0.025)
	within(t, "95 % quantile of runs", means[380], 0, 11.0, 0.025)
	if reach < 2 || reach > 18 {
		t.Errorf("%d of 400 runs reach 11.56, expected about 8", reach)
	}
	t.Logf("mean %.3f, deviation %.3f, %d of 400 runs reach 11.56", mean, sd, reach)
}

// Round robin takes half off random on exponential sizes and next to nothing
// on heavy tails, where JSQ's P99 is clearly worse than LWL's.
func TestLectureHeavyTails(t *testing.T) {
	for _, c := range []struct {
		sizes                            Sizes
		jsqMean, jsqP99, lwlMean, lwlP99 float64 // 0: not compared
	}{
		{&LognormalSizes{Scale: unit, C2: 1, Sigma: 1.5}, 2.78, 24.9, 2.26, 13.7},
		{&HyperexponentialSizes{Scale: unit, C2: 1, Share: 0.05, Ratio: 20}, 3.22, 34.7, 2.61, 18.9},
		// The published levels of this law are those of 24 seeds without its
		// largest sizes; exact theory has random at 50.
		{&BoundedParetoSizes{unit, 1.5, 1000}, 0, 0, 0, 0},
	} {
		t.Run(fmt.Sprintf("%T", c.sizes), func(t *testing.T) {
			const n = 24
			random := runs(t, lecture(&Random{Weights: "equal"}, c.sizes), n)
			robin := runs(t, lecture(&RoundRobin{}, c.sizes), n)
			jsq := runs(t, lecture(&JSQ{Ties: randomTies}, c.sizes), n)
			lwl := runs(t, lecture(&LWL{Ties: randomTies}, c.sizes), n)
			a, _ := average(robin, meanOf)
			b, _ := average(random, meanOf)
			if ratio := a / b; ratio < 0.8 || ratio > 1 {
				t.Errorf("round robin over random is %.3f, expected .8 to 1", ratio)
			}
			// The arrivals' part of the wait goes, but for 1/16 of it.
			if gain := b - a; gain < 2 || gain > 7 {
				t.Errorf("round robin gains %.2f, expected about 4.2", gain)
			}
			jp, jse := average(jsq, p99Of)
			lp, lse := average(lwl, p99Of)
			if jp/lp < 1.4 {
				t.Errorf("P99 of JSQ over LWL is %.2f, expected at least 1.4", jp/lp)
			}
			if c.jsqMean == 0 {
				return
			}
			j, se := average(jsq, meanOf)
			within(t, "JSQ mean", j, se, c.jsqMean, 0.08)
			l, se := average(lwl, meanOf)
			within(t, "LWL mean", l, se, c.lwlMean, 0.08)
			within(t, "JSQ P99", jp, jse, c.jsqP99, 0.12)
			within(t, "LWL P99", lp, lse, c.lwlP99, 0.12)
		})
	}
	exponential := &ExponentialSizes{unit}
	a, _ := average(runs(t, lecture(&RoundRobin{}, exponential), 24), meanOf)
	b, _ := average(runs(t, lecture(&Random{Weights: "equal"}, exponential), 24), meanOf)
	if ratio := a / b; ratio < 0.5 || ratio > 0.62 {
		t.Errorf("round robin over random is %.3f on exponential sizes, expected .50 to .62", ratio)
	}
	light := &ParetoSizes{unit, 2.1} // C2 below 8: round robin helps clearly
	a, _ = average(runs(t, lecture(&RoundRobin{}, light), 24), meanOf)
	b, _ = average(runs(t, lecture(&Random{Weights: "equal"}, light), 24), meanOf)
	if ratio := a / b; ratio < 0.5 || ratio > 0.85 {
		t.Errorf("round robin over random is %.3f on pareto 2.1, expected about .7", ratio)
	}
}

// Stale boards: JSQ herds, and by the first index twice as badly; two choices
// hardly notice.
func TestLectureStale(t *testing.T) {
	ages := []float64{0, 0.25, 0.5, 1, 2, 4, 8, 16}
	rows := []struct {
		name   string
		policy Params
		want   []float64
	}{
		{"jsq, random ties", &JSQ{Ties: randomTies}, []float64{1.59, 2.28, 3.09, 4.67, 7.59, 12.95, 23.5, 46.2}},
		{"jsq, first index", &JSQ{Ties: firstTies}, []float64{1.59, 3.13, 4.77, 8.10, 14.8, 28.2, 54.9, 108.5}},
		{"two choices", &JSQOf{Choices: 2, Ties: randomTies}, []float64{2.84, 2.93, 3.00, 3.15, 3.44, 3.98, 4.94, 6.68}},
	}
	stale := func(p Params, age float64) []*Result {
		c := lecture(p, &ExponentialSizes{unit})
		c.Information = Information{Model: "periodic", Age: age}
		return runs(t, c, 12)
	}
	for _, row := range rows {
		for i, age := range ages {
			mean, se := average(stale(row.policy, age), meanOf)
			within(t, fmt.Sprintf("%s at T = %g", row.name, age), mean, se, row.want[i], 0.05)
		}
	}
	random, _ := average(stale(&Random{Weights: "equal"}, 16), meanOf)
	two, _ := average(stale(rows[2].policy, 50), meanOf)
	if two < random {
		t.Errorf("two choices at T = 50 have the mean %.3g, expected above random's %.3g", two, random)
	}
}
