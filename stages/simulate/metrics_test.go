package simulate

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"switchyard/sim/rng"
	"switchyard/stages/experiment"
)

// shape says what random rows look like.
type shape struct {
	n, replicas      int
	gap              int // mean time between arrivals, us
	closed           bool
	reject, fail     float64
	oneToken         float64
	service, waiting int
}

// randomRows makes rows that keep the laws of a run: arrival <= start <= first
// <= finish, cached <= unlimited <= dispatched, all below the ceiling.
func randomRows(s shape, seed int) []Request {
	r := rng.New(1, seed, "rows")
	at := func(x int64) *int64 { return &x }
	rows := make([]Request, s.n)
	now := int64(r.IntN(100))
	for i := range rows {
		row := &rows[i]
		row.Request = int32(i)
		now += int64(r.IntN(2*s.gap + 1))
		row.ArrivalUs = now
		if s.closed && r.Float64() < 0.5 {
			row.ArrivalUs = max(0, now-int64(r.IntN(20*s.gap+1)))
		}
		row.PromptTokens = int32(1 + r.IntN(1000))
		row.CeilingTokens = int32(r.IntN(int(row.PromptTokens) + 1))
		row.DispatchedTokens = int32(r.IntN(int(row.CeilingTokens) + 1))
		row.UnlimitedTokens = int32(r.IntN(int(row.DispatchedTokens) + 1))
		row.CachedTokens = int32(r.IntN(int(row.UnlimitedTokens) + 1))
		row.BestCachedTokens = int32(r.IntN(int(row.CeilingTokens) + 1))
		row.OutputTokens = int32(2 + r.IntN(50))
		if r.Float64() < s.oneToken {
			row.OutputTokens = 1
		}
		row.Replica = int32(r.IntN(s.replicas))
		if seed > 0 && r.Float64() < 0.8 {
			believed := int32(r.IntN(int(row.PromptTokens) + 1))
			row.BelievedTokens = &believed
		}
		row.Preemptions = int32(r.IntN(2))
		row.Status = "finished"
		u := r.Float64()
		if u < s.reject {
			row.Status = "rejected"
			row.CachedTokens, row.UnlimitedTokens = 0, 0
			continue
		}
		start := row.ArrivalUs + int64(r.IntN(s.waiting+1))
		row.StartedUs = &start
		if u < s.reject+s.fail {
			row.Status = "failed"
			continue
		}
		first := start + 1 + int64(r.IntN(s.service))
		row.FirstTokenUs = at(first)
		row.FinishedUs = at(first)
		if row.OutputTokens > 1 {
			row.FinishedUs = at(first + 1 + int64(r.IntN(s.service)))
		}
	}
	return rows
}

func TestMeasureAgreesWithNaive(t *testing.T) {
	usual := shape{n: 900, replicas: 4, gap: 1000, service: 5000, waiting: 3000, oneToken: 0.1}
	with := func(f func(*shape)) shape { s := usual; f(&s); return s }
	shapes := map[string]shape{
		"usual":            usual,
		"large":            with(func(s *shape) { s.n = 5000 }),
		"closed loop":      with(func(s *shape) { s.closed = true }),
		"ties":             with(func(s *shape) { s.gap = 1; s.closed = true }),
		"all at once":      with(func(s *shape) { s.gap = 0 }),
		"some lost":        with(func(s *shape) { s.reject, s.fail = 0.2, 0.1 }),
		"all rejected":     with(func(s *shape) { s.reject = 1 }),
		"all failed":       with(func(s *shape) { s.fail = 1 }),
		"one output token": with(func(s *shape) { s.oneToken = 1 }),
		"one request":      with(func(s *shape) { s.n = 1 }),
		"two requests":     with(func(s *shape) { s.n = 2 }),
		"none":             with(func(s *shape) { s.n = 0 }),
		"overload":         with(func(s *shape) { s.waiting = 2000000 }),
		"equal latencies":  with(func(s *shape) { s.waiting, s.service = 0, 1 }),
	}
	objectives := []experiment.SLO{{}, {TTFTMs: 4, TPOTMs: 0.1}, {E2EMs: 7.5}}
	var m Meter
	for name, s := range shapes {
		for seed := range 3 {
			rows := randomRows(s, seed)
			m.Rows(rows, int32(s.replicas))
			for _, warmUp := range []float64{0, 0.2, 0.29, 0.999, 1} {
				slo := objectives[seed]
				got, want := m.Measure(warmUp, slo), naive(rows, s.replicas, warmUp, slo)
				if diff := differ(got, want); diff != "" {
					t.Errorf("%s, seed %d, warm-up %v: %s", name, seed, warmUp, diff)
				}
			}
		}
	}
}

// differ compares all fields but the warnings, floats to 1e-9.
func differ(got, want Metrics) string {
	var diff string
	var walk func(name string, a, b reflect.Value)
	walk = func(name string, a, b reflect.Value) {
		switch a.Kind() {
		case reflect.Struct:
			for i := range a.NumField() {
				walk(name+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
			}
		case reflect.Float64:
			x, y := a.Float(), b.Float()
			if math.IsNaN(x) && math.IsNaN(y) {
				return
			}
			if !(math.Abs(x-y) <= 1e-9*max(1, math.Abs(y))) {
				diff += fmt.Sprintf("%s is %v, naive %v; ", name, x, y)
			}
		case reflect.Slice:
		default:
			if !a.Equal(b) {
				diff += fmt.Sprintf("%s is %v, naive %v; ", name, a, b)
			}
		}
	}
	walk("", reflect.ValueOf(got), reflect.ValueOf(want))
	return diff
}

func TestMeasureClosedForm(t *testing.T) {
	// Deterministic arrivals every 10 ms, each served for 4 ms after a wait of
	// 1 ms, with 3 output tokens of which the first comes 2 ms after the start.
	rows := make([]Request, 1001)
	for i := range rows {
		a := int64(i) * 10000
		start, first, finish := a+1000, a+3000, a+5000
		rows[i] = Request{Status: "finished", ArrivalUs: a, StartedUs: &start, FirstTokenUs: &first, FinishedUs: &finish,
			Replica: int32(i % 2), PromptTokens: 100, OutputTokens: 3, CachedTokens: 20, UnlimitedTokens: 30, DispatchedTokens: 35, CeilingTokens: 60}
	}
	var m Meter
	m.Rows(rows, 2)
	got := m.Measure(0, experiment.SLO{TTFTMs: 3, TPOTMs: 1, E2EMs: 4.999})
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"arrival rate", got.ArrivalRps, 100},
		{"throughput", got.ThroughputRps, 100},
		{"completion", got.CompletionRatio, 1},
		{"system", got.SystemMean, 0.5}, // Little: 100/s × 5 ms
		{"queue", got.QueueMean, 0.1},
		{"ttft", got.TTFT.P99, 3000},
		{"tpot", got.TPOT.Mean, 1000},
		{"tpot preble", got.TPOTPreble, 2000.0 / 3},
		{"e2e", got.E2E.P50, 5000},
		{"waiting", got.Queue.Mean, 1000},
		{"goodput", got.GoodputRps, 0},
		{"hit rate", got.HitRate, 0.2},
		{"lost to routing", got.LostToRouting, 0.3},
		{"lost in flight", got.LostInFlight, 0.05},
		{"lost to eviction", got.LostToEviction, 0.1},
		{"output tokens", got.OutputTokensPerS, 300},
		{"share", got.MaxRequestShare, 501.0 / 1001},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s is %v, expected %v", c.name, c.got, c.want)
		}
	}
	if got := m.Measure(0, experiment.SLO{TTFTMs: 3, TPOTMs: 1, E2EMs: 5}).GoodputRps; math.Abs(got-100) > 1e-9 {
		t.Errorf("goodput is %v with bounds that all meet exactly, expected 100", got)
	}
	if got.Saturated || math.Abs(got.BacklogSlopeRps) > 0.1 { // 64 instants alias with the arrivals
		t.Error("a stable cell is flagged as saturated")
	}
}

func TestSaturatedWhenBacklogGrows(t *testing.T) {
	// One server that needs 11 ms for arrivals every 10 ms.
	rows := make([]Request, 2000)
	free := int64(0)
	for i := range rows {
		a := int64(i) * 10000
		start := max(a, free)
		free = start + 11000
		finish := free
		rows[i] = Request{Status: "finished", ArrivalUs: a, StartedUs: &start, FirstTokenUs: &finish, FinishedUs: &finish, PromptTokens: 1, OutputTokens: 1}
	}
	var m Meter
	m.Rows(rows, 1)
	got := m.Measure(0.2, experiment.SLO{})
	want := 100 - 1e6/11000.0
	if !got.Saturated || math.Abs(got.BacklogSlopeRps-want) > 0.05 || math.Abs(got.CompletionRatio-10.0/11) > 0.001 {
		t.Errorf("saturated %v, slope %v, completion %v; expected true, about %v, %v", got.Saturated, got.BacklogSlopeRps, got.CompletionRatio, want, 10.0/11)
	}
}

func TestMeasureAllocatesNothing(t *testing.T) {
	rows := randomRows(shape{n: 3000, replicas: 4, gap: 1000, service: 5000, waiting: 3000}, 1)
	var m Meter
	m.Rows(rows, 4)
	m.Measure(0.2, experiment.SLO{})
	if n := testing.AllocsPerRun(10, func() {
		m.Rows(rows, 4)
		m.Measure(0.2, experiment.SLO{TTFTMs: 1})
	}); n > 0 {
		t.Errorf("a cell allocates %v times, expected none", n)
	}
}

func TestSetMetricsCopiesEverything(t *testing.T) {
	// Every number of Metrics must appear in the row, and NaN must be NULL.
	var m Metrics
	next := 1.0
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		for i := range v.NumField() {
			f := v.Field(i)
			next++
			switch f.Kind() {
			case reflect.Struct:
				fill(f)
			case reflect.Float64:
				f.SetFloat(next)
			case reflect.Int64:
				f.SetInt(int64(next))
			}
		}
	}
	fill(reflect.ValueOf(&m).Elem())
	var c Cell
	c.SetMetrics(&m)
	got := map[float64]bool{}
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		switch x := v.Field(i).Interface().(type) {
		case *float64:
			if x != nil {
				got[*x] = true
			}
		case *int64:
			if x != nil {
				got[float64(*x)] = true
			}
		case float64:
			got[x] = true
		case int64:
			got[float64(x)] = true
		}
	}
	var check func(v reflect.Value)
	check = func(v reflect.Value) {
		for i := range v.NumField() {
			f, name := v.Field(i), v.Type().Field(i).Name
			switch f.Kind() {
			case reflect.Struct:
				check(f)
			case reflect.Float64:
				if !got[f.Float()] {
					t.Errorf("%s is not copied", name)
				}
			case reflect.Int64:
				if !got[float64(f.Int())] {
					t.Errorf("%s is not copied", name)
				}
			}
		}
	}
	check(reflect.ValueOf(m))
	var empty Meter
	empty.Rows(nil, 2)
	none := empty.Measure(0.2, experiment.SLO{})
	c.SetMetrics(&none)
	if c.TTFTMeanUs != nil || c.ArrivalRps != nil || c.HitRate != nil || c.WindowStartUs != nil || c.LoadImbalance != nil {
		t.Error("an empty cell has values, expected NULL")
	}
}

func TestCutAt(t *testing.T) {
	for _, c := range []struct {
		warmUp  float64
		n, want int
	}{{0, 10, 0}, {0.2, 2000, 400}, {0.29, 100, 29}, {0.07, 100, 7}, {1, 3, 3}, {0.5, 1, 0}, {0.2, 0, 0}} {
		if got := CutAt(c.warmUp, c.n); got != c.want {
			t.Errorf("CutAt(%v, %d) = %d, expected %d", c.warmUp, c.n, got, c.want)
		}
	}
}

func BenchmarkMeasure(b *testing.B) {
	for _, n := range []int{2000, 12000, 200000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			rows := randomRows(shape{n: n, replicas: 8, gap: 1000, service: 500000, waiting: 300000}, 1)
			var m Meter
			m.Rows(rows, 8)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				m.Measure(0.2, experiment.SLO{TTFTMs: 100, TPOTMs: 20})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/request")
		})
	}
}
