package aggregate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"switchyard/stages/simulate"
)

// warned joins the warnings of a metric's row.
func warned(t *testing.T, r *Result, config int32, metric string) string {
	t.Helper()
	return strings.Join(findSummary(t, r, config, metric).Warnings, "; ")
}

// A rate that is missed by more than chance and 5 % is said of every metric.
func TestMissedRateWarns(t *testing.T) {
	s := small
	s.each = func(c *simulate.Cell, r *rand.Rand) {
		c.RateRps, c.ArrivalRps = number(16), number([]float64{5.8, 15.5, 16 + 3*float64(c.Replication%2)}[c.Config]+0.1*r.NormFloat64())
	}
	r := mustAnalyse(t, s.cells(1), Options{})
	for config, want := range []bool{true, false, false} { // by far; by 3 %; by chance
		for _, metric := range []string{meanE2E, hitRate} {
			if got := strings.Contains(warned(t, r, int32(config), metric), "arrive where 16 are offered"); got != want {
				t.Errorf("configuration %d, %s: a warning: %v, expected %v", config, metric, got, want)
			}
		}
	}
	one := s
	one.replications = 1
	if w := warned(t, mustAnalyse(t, one.cells(1), Options{}), 0, meanE2E); !strings.Contains(w, "arrive where 16 are offered") {
		t.Errorf("one replication of a third of the rate has the warnings %q", w)
	}
}

func TestResamplesWarn(t *testing.T) {
	s := small
	s.each = func(c *simulate.Cell, _ *rand.Rand) {
		c.Source = []string{"recorded", "resampled 4 windows of 900 s", "resampled 40 windows of 90 s"}[c.Config]
	}
	r := mustAnalyse(t, s.cells(1), Options{})
	for config, want := range []string{"", "bootstrap of 900 s windows: reuse across windows is broken; bootstrap of so few windows as 4", "bootstrap of 90 s windows: reuse across windows is broken"} {
		got := warned(t, r, int32(config), hitRate)
		if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("configuration %d has the warnings %q, expected %q", config, got, want)
		}
	}
}

// What was turned away is no work left undone, and where all of it was the
// result says so before all else.
func TestTurnedAwayIsNotSaturated(t *testing.T) {
	s := small
	s.each = func(c *simulate.Cell, _ *rand.Rand) {
		turned := []int64{0, 400, 1000}[c.Config]
		c.Turned, c.Rejected, c.Completed = turned, turned*5/4, 1000-turned
		c.Finished = c.Requests - c.Rejected
	}
	r := mustAnalyse(t, s.cells(1), Options{})
	for config := range int32(3) {
		if findSummary(t, r, config, meanE2E).Saturated {
			t.Errorf("configuration %d is saturated", config)
		}
	}
	if w := warned(t, r, 1, meanE2E); !strings.Contains(w, fmt.Sprintf("%d of %d requests were rejected", 500*s.replications, 1250*s.replications)) {
		t.Errorf("warnings of what was turned away: %q", w)
	}
	if w := warned(t, r, 2, hitRate); !strings.HasPrefix(w, "nothing was served: ") {
		t.Errorf("warnings where nothing was served: %q", w)
	}
	if len(r.Warnings) == 0 || !strings.HasPrefix(r.Warnings[0], "nothing was served in 1 of 3 configurations, such as tool / a6000x4 / aware: ") {
		t.Errorf("warnings of the result: %q", r.Warnings)
	}
	s.each = func(c *simulate.Cell, _ *rand.Rand) { c.Turned, c.Completed = 400, 500 }
	if !findSummary(t, mustAnalyse(t, s.cells(1), Options{}), 0, meanE2E).Saturated {
		t.Error("500 completions of 600 that were not turned away are not saturated")
	}
}

func TestDriftSaysWhatItMeans(t *testing.T) {
	s := small
	s.each = func(c *simulate.Cell, r *rand.Rand) {
		c.E2EDrift = number([]float64{-0.5, 0, 0.5}[c.Config] + 0.01*r.NormFloat64())
	}
	r := mustAnalyse(t, s.cells(1), Options{})
	for config, want := range []string{"falls by ", "", "rises by "} {
		if got := warned(t, r, int32(config), meanE2E); !strings.Contains(got, want) || want == "" && strings.Contains(got, "half") {
			t.Errorf("configuration %d has the warnings %q, expected %q", config, got, want)
		}
	}
}

// MSER-5 looks at requests in the order in which they came: where a closed
// loop's slow start has the highest indexes, it is the start all the same.
func TestSeriesIsByArrival(t *testing.T) {
	last := func(c *simulate.Cell, i int, r *rand.Rand) float64 {
		if i >= perRun-perRun/3 {
			return 1e3
		}
		return 1e4 * (1 + 0.1*r.NormFloat64())
	}
	cells, requests := runs(small, 0, last)
	for i := range requests { // turn each run round
		q := &requests[i]
		shift := int64(perRun-1-2*int(q.Request)) * 100_000
		q.ArrivalUs += shift
		for _, at := range []*int64{q.StartedUs, q.FirstTokenUs, q.FinishedUs} {
			*at += shift
		}
	}
	r := mustRun(t, folder(t, cells, requests), Options{})
	if w := warned(t, r, 0, meanE2E); !strings.Contains(w, "MSER-5 would cut 33 %") {
		t.Errorf("warnings are %q, expected MSER's", w)
	}
}
