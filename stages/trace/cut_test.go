package trace

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"switchyard/sim/workload"
)

// tens is a trace with a request every ten seconds, the i-th of i+1 prompt tokens.
func tens(t *testing.T, n int) *Trace {
	t.Helper()
	text := burstHead
	for i := range n {
		text += fmt.Sprintf("%d,%d,1\n", 1000+10*i, i+1)
	}
	tr, err := Read("f", strings.NewReader(text), Source{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestCut(t *testing.T) {
	tr := tens(t, 6) // at 0, 10, ... 50 s
	for _, x := range []struct {
		name string
		o    Options
		want string // prompt@seconds
	}{
		{"nothing", Options{}, "1@0 2@10 3@20 4@30 5@40 6@50"},
		{"limit", Options{Limit: 2}, "1@0 2@10"},
		{"limit beyond the end", Options{Limit: 100}, "1@0 2@10 3@20 4@30 5@40 6@50"},
		{"window, its start becomes 0", Options{Window: []float64{15, 40}}, "3@5 4@15"},
		{"window from a request, to another exclusive", Options{Window: []float64{10, 30}}, "2@0 3@10"},
		{"window to the end", Options{Window: []float64{35, 0}}, "5@5 6@15"},
		{"window beyond the end", Options{Window: []float64{0, 1e300}}, "1@0 2@10 3@20 4@30 5@40 6@50"},
		{"window of a microsecond", Options{Window: []float64{10, 10.000001}}, "2@0"},
		{"limit after the window", Options{Window: []float64{10, 0}, Limit: 2}, "2@0 3@10"},
		{"speed", Options{Speed: 4}, "1@0 2@2.5 3@5 4@7.5 5@10 6@12.5"},
		{"slower", Options{Speed: 0.5, Limit: 3}, "1@0 2@20 3@40"},
		{"speed after the window", Options{Window: []float64{15, 40}, Speed: 2}, "3@2.5 4@7.5"},
	} {
		c, err := tr.Cut(x.o)
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		var got []string
		for _, r := range collect(c) {
			got = append(got, fmt.Sprintf("%d@%v", r.Prompt, float64(r.ArrivalUs)/1e6))
		}
		if s := strings.Join(got, " "); s != x.want || c.Len() != len(got) {
			t.Errorf("%s: %s, expected %s", x.name, s, x.want)
		}
		if first := got[0]; c.Line(0) != int(first[0]-'0')+1 {
			t.Errorf("%s: request %s is said to stand on line %d", x.name, first, c.Line(0))
		}
	}
}

func TestCutErrors(t *testing.T) {
	tr := tens(t, 6)
	for _, x := range []struct {
		o    Options
		want string
	}{
		{Options{Limit: -1}, "f: limit is -1, expected at least 0 (0 for all)"},
		{Options{Speed: -1}, "f: speed is -1, expected 1e-06 to 1e+06"},
		{Options{Speed: math.NaN()}, "f: speed is NaN, expected 1e-06 to 1e+06"},
		{Options{Window: []float64{1}}, "f: window is [1], expected two numbers: from and to in seconds"},
		{Options{Window: []float64{-1, 2}}, "f: window is [-1 2], expected 0 <= from < to in seconds (to = 0 for the end)"},
		{Options{Window: []float64{2, 2}}, "f: window is [2 2], expected 0 <= from"},
		{Options{Window: []float64{math.NaN(), 2}}, "f: window is [NaN 2], expected 0 <= from"},
		{Options{Window: []float64{1, math.NaN()}}, "f: window is [1 NaN], expected 0 <= from"},
		{Options{Window: []float64{math.Inf(1), 0}}, "f: window is [+Inf 0], expected 0 <= from"},
		{Options{Window: []float64{11, 19}}, "f: window [11 19] holds no request, expected a part of the trace's 50.0 seconds"},
		{Options{Window: []float64{51, 0}}, "f: window [51 0] holds no request"},
	} {
		if _, err := tr.Cut(x.o); err == nil || !strings.HasPrefix(err.Error(), x.want) {
			t.Errorf("%+v: error %v, expected %s", x.o, err, x.want)
		}
		if _, err := Load("f", strings.NewReader(""), Source{}, x.o); x.o.Validate() != nil && (err == nil || !strings.HasPrefix(err.Error(), x.want)) {
			t.Errorf("%+v: Load says %v, expected %s before it reads", x.o, err, x.want)
		}
	}
	long, err := Read("f", strings.NewReader(burstHead+"0,1,1\n4e9,1,1\n"), Source{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := long.Cut(Options{Speed: 1e-3}); err == nil || !strings.Contains(err.Error(), "expected more: the trace would last 1.27e+05 years") {
		t.Errorf("error %v", err)
	}
}

// Speeding up by a factor divides every arrival by it, in order, whatever the
// rounding; the lengths stay.
func TestSpeedKeepsOrder(t *testing.T) {
	tr := tens(t, 50)
	for _, speed := range []float64{1e-6, 0.37, 1, 3, 7.7, 1e6} {
		c, err := tr.Cut(Options{Speed: speed})
		if err != nil {
			t.Fatal(err)
		}
		last := int64(0)
		c.Each(func(i int, r *workload.Request) error {
			if exact := float64(i) * 1e7 / speed; r.ArrivalUs < last || math.Abs(float64(r.ArrivalUs)-exact) > 0.5 || int(r.Prompt) != i+1 {
				t.Errorf("speed %v: request %d arrives at %d, expected %v", speed, i, r.ArrivalUs, exact)
			}
			last = r.ArrivalUs
			return nil
		})
	}
}
