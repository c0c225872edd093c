package capacity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"switchyard/stages/aggregate"
	"switchyard/stages/experiment"
	"switchyard/stages/run"
	"switchyard/stages/simulate"
	"switchyard/stages/table"
)

// A search for a limit that is known ends with it in a bracket as narrow as
// asked, from wherever it starts, and in no more probes than doubling and
// bisection take.
func TestBracketsCloseIn(t *testing.T) {
	for _, limit := range []float64{0.123, 1, 7.77, 4321} {
		for _, start := range []float64{0.5, 1, 7.77, 900} {
			for _, tolerance := range []float64{0.001, 0.02, 0.5} {
				b, n := unknown(), 0
				for {
					load, ok := b.next(start, tolerance, n)
					if !ok {
						break
					}
					b = b.with(load, load <= limit)
					n++
				}
				most := 3 + math.Abs(math.Log2(limit/start)) + max(0, math.Log2(math.Log(2.001)/math.Log1p(tolerance)))
				if !(b.lo <= limit && limit < b.hi) || b.hi > (1+tolerance)*b.lo*1.0001 || float64(n) > most {
					t.Errorf("limit %v from %v within %v: %v in %d probes, expected at most %.1f", limit, start, tolerance, b, n, most)
				}
			}
		}
	}
	for name, carried := range map[string]bool{"everything": true, "nothing": false} {
		b, n := unknown(), 0
		for {
			load, ok := b.next(1, 0.02, n)
			if !ok {
				break
			}
			b = b.with(load, carried)
			n++
		}
		if n != farthest+1 || carried != math.IsInf(b.hi, 1) || carried != (b.lo > 0) {
			t.Errorf("%s is carried: %v after %d probes", name, b, n)
		}
	}
}

const small = `name: small
seed: 3
replications: 1..2
slo: {ttft_ms: 500}
workloads:
  - name: tool
    generator: tool-use
    requests: 600
    tool_tokens: {sweep: [500, 1500]}
    arrivals: {process: poisson, rate_rps: {sweep: [2, 8], per_replica: true}}
clusters:
  - {name: two, replicas: 2, model: mistral-7b, gpu: a6000}
routers: [round-robin, cache-aware]
`

func planOf(t *testing.T, text string, o Options, set ...string) (*simulate.Plan, *Plan) {
	t.Helper()
	e, err := experiment.Load("", []byte(text), experiment.Options{BuiltIn: "small", Set: set})
	if err != nil {
		t.Fatal(err)
	}
	points, err := simulate.NewPlan(e)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(points, o)
	if err != nil {
		t.Fatal(err)
	}
	return points, p
}

func search(t *testing.T, p *Plan, dir string, workers int) []Found {
	t.Helper()
	report, err := run.Execute(t.Context(), Job(p, dir), run.Options{Dir: dir, Workers: workers})
	if err != nil || report.Failed > 0 {
		t.Fatal(err, report.Failures)
	}
	rows, err := Capacities.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// What a search finds is what an experiment at these loads says: the capacity
// is not saturated, and what is not carried is.
func TestFoundLoadsAreOnBothSides(t *testing.T) {
	_, p := planOf(t, small, Options{})
	rows := search(t, p, t.TempDir(), 2)
	if len(rows) != 4 {
		t.Fatalf("%d searches, expected one of each workload and router without its load", len(rows))
	}
	for _, row := range rows {
		if row.Capacity == nil || *row.Capacity != *row.Lo || *row.Hi > 1.02*(*row.Lo) || row.Iterations < 6 || row.Replications != 2 || row.MeanE2EUs == nil {
			t.Errorf("search %d came to %+v", row.Search, row)
			continue
		}
		if _, swept := row.Factors["rate_rps"]; swept || strings.Contains(row.WorkloadPoint, "rate_rps") || !strings.Contains(row.WorkloadPoint, "tool_tokens=") {
			t.Errorf("its workload is %q, its factors %v", row.WorkloadPoint, row.Factors)
		}
		for _, side := range []struct {
			load      float64
			saturated bool
		}{{*row.Lo, false}, {*row.Hi, true}} {
			points, _ := planOf(t, small, Options{}, fmt.Sprintf("workloads.tool.arrivals.rate_rps=%v", side.load),
				"workloads.tool.tool_tokens="+row.Factors["tool_tokens"], "routers=["+row.Router+"]")
			dir := t.TempDir()
			if _, err := run.Execute(t.Context(), simulate.Job(points, simulate.Options{}), run.Options{Dir: dir}); err != nil {
				t.Fatal(err)
			}
			result, err := aggregate.Run(dir, aggregate.Options{Plan: points})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range result.Summary {
				if s.Metric == "e2e_mean_us" && s.Saturated != side.saturated {
					t.Errorf("%s %s at %v: saturated %v", row.WorkloadPoint, row.Router, side.load, s.Saturated)
				}
			}
		}
	}
}

// An objective lowers the capacity, never below where it is met.
func TestObjectiveLowersCapacity(t *testing.T) {
	_, stable := planOf(t, small, Options{})
	_, quick := planOf(t, small, Options{Attainment: 0.95})
	a, b := search(t, stable, t.TempDir(), 2), search(t, quick, t.TempDir(), 2)
	for i := range a {
		if b[i].Capacity == nil || *b[i].Capacity > *a[i].Capacity || *b[i].Attainment < 0.95 || b[i].Asked != 0.95 {
			t.Errorf("stable up to %v; with an objective %+v", *a[i].Capacity, b[i])
		}
	}
	without := strings.Replace(small, "slo: {ttft_ms: 500}\n", "", 1)
	points, _ := planOf(t, without, Options{})
	if _, err := NewPlan(points, Options{Attainment: 0.99}); err == nil || !strings.Contains(err.Error(), "has no objective to attain") {
		t.Errorf("an attainment without an objective: %v", err)
	}
	if _, err := NewPlan(points, Options{Tolerance: 1e-9}); err == nil || !strings.Contains(err.Error(), "expected 0.001 to 1") {
		t.Errorf("a tolerance of 1e-9: %v", err)
	}
}

// The tables are the same for any number of workers, and for a search that was
// stopped after every few probes and went on.
func TestSearchesResume(t *testing.T) {
	_, p := planOf(t, small, Options{})
	want := t.TempDir()
	search(t, p, want, 1)
	dir := t.TempDir()
	search(t, p, dir, 3)
	same(t, dir, want)

	dir = t.TempDir()
	stops := 0
	for ; ; stops++ {
		_, p := planOf(t, small, Options{})
		job := Job(p, dir)
		signals, probes := make(chan os.Signal, 1), 0
		next := job.Next
		known := map[string]bool{}
		if found, err := table.InspectParts(dir, Probes); err == nil {
			for key := range found.Keys[Probes.Name] {
				known[key] = true
			}
		}
		job.Next = func(done run.Task) ([]run.Task, error) {
			if !known[done.Key] {
				if probes++; probes == 5 {
					signals <- os.Interrupt
				}
			}
			return next(done)
		}
		_, err := run.Execute(context.Background(), job, run.Options{Dir: dir, Workers: 2, Signals: signals})
		if err == nil {
			break
		}
		if !errors.Is(err, run.ErrInterrupted) || stops > 20 {
			t.Fatal(err)
		}
	}
	if stops < 3 {
		t.Errorf("stopped %d times", stops)
	}
	same(t, dir, want)
}

func same(t *testing.T, got, want string) {
	t.Helper()
	for _, name := range []string{"capacity", "probes"} {
		a, err := os.ReadFile(filepath.Join(got, name, "part-0000.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(want, name, "part-0000.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("table %s differs", name)
		}
	}
}

// Workloads without a load cannot be searched.
func TestClosedLoopsHaveNoLoad(t *testing.T) {
	text := strings.Replace(small, "{process: poisson, rate_rps: {sweep: [2, 8], per_replica: true}}", "{process: closed-loop, users: 4}", 1)
	e, err := experiment.Load("", []byte(text), experiment.Options{BuiltIn: "small"})
	if err != nil {
		t.Fatal(err)
	}
	points, err := simulate.NewPlan(e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewPlan(points, Options{}); err == nil || !strings.Contains(err.Error(), "a process with a rate, or a trace") {
		t.Errorf("error %v", err)
	}
}

// A cluster that turns everything away is not saturated and carries nothing.
func TestWhatServesNothingCarriesNothing(t *testing.T) {
	_, p := planOf(t, strings.Replace(small, "gpu: a6000", "gpu: a6000, kv_tokens: 100", 1), Options{}, "workloads.tool.requests=40")
	for _, row := range search(t, p, t.TempDir(), 2) {
		if row.Lo != nil || row.Capacity != nil || row.Hi == nil {
			t.Errorf("search %d came to %+v", row.Search, row)
		}
	}
}

func TestPrintRanks(t *testing.T) {
	dir := t.TempDir()
	number := func(x float64) *float64 { return &x }
	rows := []Found{}
	for i, x := range []struct {
		router string
		lo, hi *float64
	}{{"slow", number(3), number(3.05)}, {"best", number(8), number(8.1)}, {"near", number(7.95), number(8.05)}, {"never", nil, number(1e-9)}, {"also", number(2.99), number(3.04)}, {"always", number(2e5), nil}} {
		row := Found{Where: Where{Search: int32(i), WorkloadPoint: "w", ClusterPoint: "c", RouterPoint: x.router, Axis: "speed"}, Lo: x.lo, Hi: x.hi, Replicas: 4}
		if x.hi != nil {
			row.Capacity = x.lo
		} else {
			row.ClusterPoint = "d"
		}
		if x.router == "never" { // in both clusters, first in the second one's rows
			other := row
			other.ClusterPoint = "d"
			rows = append(rows, other)
		}
		rows = append(rows, row)
	}
	if err := Capacities.Write(dir, rows, table.Provenance{}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Print(&out, dir); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		if f := strings.Fields(line); len(f) > 2 {
			got = append(got, strings.Join(f[:3], " "))
		}
	}
	want := "w on c, router capacity not 1= best 8 1= near 7.95 3= slow 3 3= also 2.99 - never - w on d, router capacity not 1 always - - never - workload cluster best w c best"
	if text := strings.Join(got, " "); !strings.HasPrefix(text, want) || !strings.Contains(out.String(), "best and 1 more") {
		t.Errorf("printed\n%s%s", &out, text)
	}
}
