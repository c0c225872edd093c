package aggregate

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"switchyard/stages/simulate"
)

var update = flag.Bool("update", false, "write the golden files anew")

// latency makes the E2E latencies of a router: its level shared with the other
// routers' replications up to a spread of its own.
func latency(c *simulate.Cell, meanUs, spread float64, r *rand.Rand) {
	shared := 1 + 0.1*rand.New(rand.NewPCG(uint64(c.Replication), 99)).NormFloat64()
	mean := meanUs * shared * (1 + spread*r.NormFloat64())
	c.E2EMeanUs, c.E2EP99Us = number(mean), number(4*mean)
	c.HitCeiling = number(0.8123)
}

// golden compares the printed table of a study with a file under testdata.
func golden(t *testing.T, name string, r *Result) {
	t.Helper()
	var b bytes.Buffer
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it by go test -update", err)
	}
	if b.String() != string(want) {
		t.Errorf("printed:\n%s\nexpected, as in %s:\n%s", &b, path, want)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > printWidth {
			t.Errorf("line of %d columns, expected at most %d: %s", n, printWidth, line)
		}
	}
}

func TestPrintGolden(t *testing.T) {
	s := study{
		workloads:    []string{"tool rate_rps=4", "tool rate_rps=12"},
		routers:      []string{"random", "round-robin", "prefix-threshold threshold=0.25", "prefix-threshold threshold=0.5", "cache-aware"},
		replications: 10,
		each: func(c *simulate.Cell, r *rand.Rand) {
			level := map[string]float64{
				"random": 5.2e6, "round-robin": 4e6, "prefix-threshold threshold=0.25": 2.02e6,
				"prefix-threshold threshold=0.5": 2.4e6, "cache-aware": 2e6,
			}[c.Router]
			latency(c, level, 0.02, r)
			c.HitRate = number(1 - level/8e6)
			rate := strings.TrimPrefix(c.WorkloadPoint, "tool rate_rps=")
			c.Factors = map[string]string{"rate_rps": rate}
			offered, _ := strconv.ParseFloat(rate, 64)
			c.RateRps, c.ArrivalRps = number(4*offered), number(4*offered)
			if c.WorkloadPoint == "tool rate_rps=12" && (c.Router == "random" || c.Router == "round-robin") {
				c.Completed = 900
				latency(c, 1e6, 0.5, r) // fast, because the run was short
			}
		},
	}
	golden(t, "saturated", mustAnalyse(t, s.cells(20), Options{Baseline: "round-robin"}))
	s.workloads = s.workloads[:1]
	golden(t, "stable", mustAnalyse(t, s.cells(20), Options{Baseline: "round-robin"}))
}

func TestPrintOneReplication(t *testing.T) {
	s := study{
		workloads: []string{"mooncake speed=2"}, routers: []string{"random", "a-router-with-a-very-long-name threshold=0.123456"}, replications: 1,
		each: func(c *simulate.Cell, r *rand.Rand) {
			latency(c, 45e3*(1+float64(c.Config)), 0.01, r)
			c.HitRate, c.Measured, c.Source = number(0.4), 12_031, "recorded"
		},
	}
	golden(t, "single", mustAnalyse(t, s.cells(21), Options{}))
}

func TestPrintWithoutValues(t *testing.T) {
	s := small
	s.each = func(c *simulate.Cell, r *rand.Rand) {
		latency(c, 3e6, 0.01, r)
		c.HitRate, c.Measured = number(0.5), 1000+int64(c.Config)
		c.E2EDrift = number(float64(c.Config+1) / 5)
		if c.Config == 1 {
			c.E2EMeanUs, c.E2EP99Us, c.HitRate = nil, nil, nil
			c.Rejected, c.Finished = 1250, 0
		}
	}
	cells := s.cells(22)
	golden(t, "nothing", mustAnalyse(t, cells[:len(cells)-2], Options{Baseline: "random", AllowMissing: true}))
}

// The order and the marks do not depend on the order of the cells.
func TestPrintOfShuffledCells(t *testing.T) {
	cells := small.cells(23)
	text := func() string {
		var b bytes.Buffer
		if err := mustAnalyse(t, cells, Options{}).Print(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	want := text()
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	if got := text(); got != want {
		t.Errorf("shuffled cells print\n%s\nexpected\n%s", got, want)
	}
}

func TestPrintStopsAfterSomePoints(t *testing.T) {
	s := small
	s.workloads = nil
	for i := range mostPoints + 3 {
		s.workloads = append(s.workloads, "tool rate_rps="+string(rune('a'+i)))
	}
	var b bytes.Buffer
	if err := mustAnalyse(t, s.cells(24), Options{}).Print(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "and 3 more points") || strings.Count(b.String(), "hit ceiling") != mostPoints {
		t.Errorf("printed:\n%s", &b)
	}
}

func TestRankingTellsOnlyWhatPairsTell(t *testing.T) {
	s := small
	s.replications = 10
	s.each = func(c *simulate.Cell, r *rand.Rand) {
		switch c.Router {
		case "random": // best, together with sticky
			latency(c, 1e6, 0.001, r)
		case "sticky":
			latency(c, 1.0001e6, 0.001, r)
		case "aware": // 1 % more: inside each other's intervals, but not paired
			latency(c, 1.01e6, 0.001, r)
		}
	}
	r := mustAnalyse(t, s.cells(25), Options{})
	want := map[string]string{"random": "1=", "sticky": "1=", "aware": "3"}
	for _, c := range r.points[0].ranking() {
		if c.rank != want[c.Router] {
			t.Errorf("%s has rank %q, expected %q", c.Router, c.rank, want[c.Router])
		}
	}
}

// Ranks below the first are shared in the same way: each by those that are not
// told apart from its best.
func TestLowerRanksAreShared(t *testing.T) {
	s := small
	s.replications = 10
	s.routers = []string{"a", "b", "c", "d", "e"}
	s.each = func(c *simulate.Cell, r *rand.Rand) {
		level := map[string]float64{"a": 1e6, "b": 1.1e6, "c": 1.1001e6, "d": 1.2e6, "e": 1.2001e6}[c.Router]
		latency(c, level, 0.001, r)
		c.Policy = c.Router
		if c.Router == "c" {
			c.Policy = clairvoyant
		}
		c.E2EBoundUs = number(0.25e6)
	}
	r := mustAnalyse(t, s.cells(26), Options{})
	want := map[string]string{"a": "1", "b": "2=", "c": "2=", "d": "4=", "e": "4="}
	for _, c := range r.points[0].ranking() {
		if c.rank != want[c.Router] {
			t.Errorf("%s has rank %q, expected %q", c.Router, c.rank, want[c.Router])
		}
	}
	var b bytes.Buffer
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !regexp.MustCompile(`mean E2E: lower bound 0\.25 s, best clairvoyant 1\.1 s \(c\), best other 1 s \(a\); a better router would\s+gain 0 % to 75 %`).MatchString(text) {
		t.Errorf("printed\n%s", text)
	}
}

// What a router could gain is said only of one that serves all, and what served
// nothing is not called saturated.
func TestGainOfWhatServesAll(t *testing.T) {
	for _, c := range []struct {
		lossy, dead string // routers that turn requests away, and that serve none
		want        string
	}{
		{"a", "", `mean E2E: lower bound 0\.25 s, best clairvoyant 1\.2 s \(c\), best other 1 s \(a\)\n`},
		{"c", "", `lower bound 0\.25 s, best clairvoyant 1\.2 s \(c\), best other 1 s \(a\); a better router would\s+gain 0 % to 75 %`},
		{"", "ab", `best clairvoyant 1\.2 s \(c\), best other served nothing\n`},
		{"", "c", `best clairvoyant served nothing, best other 1 s \(a\); a better`},
	} {
		s := small
		s.replications, s.routers = 3, []string{"a", "b", "c"}
		s.each = func(cell *simulate.Cell, r *rand.Rand) {
			latency(cell, map[string]float64{"a": 1e6, "b": 1.1e6, "c": 1.2e6}[cell.Router], 0.001, r)
			if cell.Router == "c" {
				cell.Policy = clairvoyant
			}
			cell.E2EBoundUs = number(0.25e6)
			if cell.Router == c.lossy {
				cell.E2EBoundUs = nil
			}
			if strings.Contains(c.dead, cell.Router) {
				cell.E2EMeanUs, cell.E2EBoundUs = nil, nil
			}
		}
		var b bytes.Buffer
		if err := mustAnalyse(t, s.cells(27), Options{}).Print(&b); err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(c.want).MatchString(b.String()) {
			t.Errorf("lossy %q, dead %q: printed\n%s", c.lossy, c.dead, b.String())
		}
	}
}

func TestClipKeepsBothEnds(t *testing.T) {
	if got := clip("prefix-threshold threshold=0.25", 12); utf8.RuneCountInString(got) != 12 || !strings.HasPrefix(got, "prefi") || !strings.HasSuffix(got, "=0.25") {
		t.Errorf("clipped to %q", got)
	}
	if got := thousands(1234567); got != "1,234,567" {
		t.Errorf("thousands gives %q", got)
	}
	if got := thousands(999); got != "999" {
		t.Errorf("thousands gives %q", got)
	}
}

// TestLoadSaysWhoseRate: a rate is called one a replica only where it is.
func TestLoadSaysWhoseRate(t *testing.T) {
	for _, c := range []struct {
		workload, name, value string
		rate                  float64
		want                  string
	}{
		{"tool rate_rps=4", "rate_rps", "4", 16, "tool rate_rps=4 a replica"},
		{"tool rate_rps=0.1 x=2", "rate_rps", "0.1", 0.4, "tool rate_rps=0.1 a replica x=2"},
		{"tool arrivals.rate_rps=4", "arrivals.rate_rps", "4", 16, "tool arrivals.rate_rps=4 a replica"},
		{"tool rate_rps=16", "rate_rps", "16", 16, "tool rate_rps=16"},
		{"tool rate_rps=5", "rate_rps", "5", 16, "tool rate_rps=5"},
		{"tool speed=4", "speed", "4", 16, "tool speed=4"},
	} {
		p := point{workload: c.workload, configs: []*configuration{{Where: Where{Replicas: 4, RateRps: &c.rate, Factors: map[string]string{c.name: c.value}}}}}
		if got := p.load(); got != c.want {
			t.Errorf("%s at %v/s: printed %s, expected %s", c.workload, c.rate, got, c.want)
		}
	}
}

// TestPrintOfBootstrap: where a trace is resampled, the heading says from what.
func TestPrintOfBootstrap(t *testing.T) {
	s := small
	s.each = func(c *simulate.Cell, r *rand.Rand) { c.Source = "resampled 40 windows of 90 s" }
	var b bytes.Buffer
	if err := mustAnalyse(t, s.cells(24), Options{}).Print(&b); err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(text, "bootstrap of a trace (resampled 40 windows of 90 s), ") {
		t.Errorf("printed %s", &b)
	}
}
