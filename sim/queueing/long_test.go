package queueing

import (
	"math"
	"os"
	"runtime"
	"testing"
)

func long() bool { return os.Getenv("SWITCHYARD_LONG") != "" }

// longer returns the second of two numbers in long tests.
func longer(short, full int64) int64 {
	if long() {
		return full
	}
	return short
}

func needLong(t *testing.T) {
	t.Helper()
	if !long() {
		t.Skip("long: run by ./run.sh test --long")
	}
}

// Means at load .9 over 10^8 requests.
func TestLongAgainstExact(t *testing.T) {
	needLong(t)
	for name, c := range exactStudies(0.9) {
		t.Run(name, func(t *testing.T) {
			c.Traffic.Requests = 20_000_000
			against(t, name, c, 5, 0.01)
		})
	}
}

// A run of 10^9 requests stays below 200 MB, and its mean is exact to 1 %.
func TestLongMemory(t *testing.T) {
	needLong(t)
	c := studyOf(func(c *Config) { c.Traffic.Requests = 1_000_000_000 })
	r := runs(t, c, 1)[0]
	within(t, "mean", r.Mean, 0, 10, 0.01)
	within(t, "P99", r.P99, 0, Theory(c).P99, 0.01)
	if r.QuantileError != SketchError {
		t.Errorf("the quantiles' error is %g", r.QuantileError)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.Sys > 200e6 {
		t.Errorf("the process has %d MB from the system, expected at most 200", m.Sys/1e6)
	}
}

// A short run keeps no more than it needs.
func TestMemoryOfShortRuns(t *testing.T) {
	var sim Sim
	if _, err := sim.Run(NewConfig(), 1, 1); err != nil {
		t.Fatal(err)
	}
	if size := 8*cap(sim.meter.exact) + 4*len(sim.meter.counts); size > 2e6 {
		t.Errorf("a run of 50,000 requests holds %d bytes", size)
	}
}

// coverage returns how many of so many studies have the exact mean inside the
// 95 % interval of Student's t over ten runs.
func coverage(t *testing.T, c *Config, studies int) float64 {
	t.Helper()
	const replications, quantile = 10, 2.262157 // of t with 9 degrees of freedom
	want := Theory(c).Mean
	var sim Sim
	inside := 0
	for study := range studies {
		var of []*Result
		for r := range replications {
			result, err := sim.Run(c, uint64(study), r+1)
			if err != nil {
				t.Fatal(err)
			}
			of = append(of, result)
		}
		mean, se := average(of, meanOf)
		if math.Abs(mean-want) <= quantile*se {
			inside++
		}
	}
	return float64(inside) / float64(studies)
}

// Of the 95 % intervals over ten runs, each of at least 200/(1-rho)^2 mean
// sizes a server, 95 % hold the exact mean.
func TestCoverage(t *testing.T) {
	studies := int(longer(100, 1000))
	low, high := 0.89, 0.995 // three deviations of 100 studies
	if long() {
		low, high = 0.93, 0.97
	}
	for _, s := range []struct {
		name    string
		policy  Params
		servers int
		load    float64
		full    bool // in long tests only
	}{
		{"M/M/1", &Random{Weights: "equal"}, 1, 0.7, false},
		{"M/M/1 at .9", &Random{Weights: "equal"}, 1, 0.9, true},
		{"random", &Random{Weights: "equal"}, 4, 0.8, true},
		{"round robin", &RoundRobin{}, 4, 0.7, false},
		{"LWL", &LWL{Ties: randomTies}, 4, 0.8, true},
	} {
		if s.full && !long() {
			continue
		}
		perServer := 200 / ((1 - s.load) * (1 - s.load))
		c := studyOf(func(c *Config) {
			c.System.Servers, c.Traffic.Load, c.Policy, c.WarmUp = s.servers, s.load, s.policy, 0.2
			// So long that what is measured has that length.
			c.Traffic.Requests = int64(perServer * float64(s.servers) * s.load / (1 - c.WarmUp))
		})
		got := coverage(t, c, studies)
		t.Logf("%s: %.1f %% of %d intervals hold the mean", s.name, 100*got, studies)
		if got < low || got > high {
			t.Errorf("%s: %.1f %% of the intervals hold the mean, expected %g to %g", s.name, 100*got, 100*low, 100*high)
		}
	}
}

// Of many single runs of the lecture's study about two in a hundred reach
// 11.56.
func TestLongUnluckyRuns(t *testing.T) {
	needLong(t)
	rs := runs(t, lecture(&Random{Weights: "equal"}, &ExponentialSizes{unit}), 4000)
	reach := 0
	for _, r := range rs {
		if r.Mean >= 11.56 {
			reach++
		}
	}
	share := float64(reach) / float64(len(rs))
	t.Logf("%.2f %% of the runs reach 11.56", 100*share)
	if share < 0.01 || share > 0.03 {
		t.Errorf("%.2f %% of the runs reach 11.56, expected about 2", 100*share)
	}
}
