package hardware

import (
	"math"
	"strings"
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/rng"
)

func table(t testing.TB, points []Point) *Table {
	t.Helper()
	m, err := NewTable(points)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// at returns the time of a step in microseconds.
func at(m *Table, prefill, decodes, context int64) float64 {
	b := engine.Batch{Tokens: prefill + decodes, Prefill: prefill, Requests: decodes + min(prefill, 1), Context: context, DecodeContext: context}
	return float64(m.StepNs(b)) / 1e3
}

// A linear time is met everywhere, between the points and beyond them, on a
// table that is no grid.
func TestTableLinear(t *testing.T) {
	linear := func(p, d, c int64) float64 { return 500 + .4*float64(p) + 7*float64(d) + .02*float64(c) }
	var points []Point
	for i, p := range []int64{0, 100, 1000, 8000} {
		for _, d := range []int64{0, 1 + int64(i), 16, 200} {
			if p+d == 0 {
				continue
			}
			for k := range int64(3) {
				c := d * (100 + int64(i)*13 + 900*k*(d+1))
				points = append(points, Point{p, d, c, linear(p, d, c)})
			}
		}
	}
	m := table(t, points)
	for _, q := range [][3]int64{{0, 16, 3200}, {50, 0, 0}, {50, 3, 900}, {4000, 100, 1e6}, {20000, 300, 6e6}, {1, 256, 0}, {8000, 0, 0}, {0, 1, 1e6}} {
		if got, want := at(m, q[0], q[1], q[2]), linear(q[0], q[1], q[2]); math.Abs(got-want) > 1e-3 {
			t.Errorf("prefill %d, %d decodes, context %d: %.4f us, want %.4f", q[0], q[1], q[2], got, want)
		}
	}
}

// On a grid of decodes and mean contexts the table is trilinear.
func TestTableTrilinear(t *testing.T) {
	r := rng.New(1, 1, "table")
	axes := [3][]float64{{0, 512, 2048}, {1, 8, 64, 256}, {0, 1000, 30000}}
	value := map[[3]int]float64{}
	var points []Point
	for i, p := range axes[0] {
		for j, d := range axes[1] {
			for k, c := range axes[2] {
				us := 1000 + 1e4*r.Float64()
				value[[3]int{i, j, k}] = us
				points = append(points, Point{int64(p), int64(d), int64(d * c), us})
			}
		}
	}
	for i := range points {
		j := r.IntN(i + 1)
		points[i], points[j] = points[j], points[i]
	}
	m := table(t, points)
	for range 2000 {
		p, d := int64(r.IntN(2049)), int64(1+r.IntN(256))
		c := int64(r.IntN(30000 * int(d)))
		x := [3]float64{float64(p), float64(d), float64(c) / float64(d)}
		var low [3]int
		var share [3]float64
		for a, axis := range axes {
			for low[a]+2 < len(axis) && x[a] > axis[low[a]+1] {
				low[a]++
			}
			share[a] = (x[a] - axis[low[a]]) / (axis[low[a]+1] - axis[low[a]])
		}
		var want float64
		for corner := range 8 {
			w, key := 1.0, low
			for a := range 3 {
				if corner>>a&1 != 0 {
					key[a]++
					w *= share[a]
				} else {
					w *= 1 - share[a]
				}
			}
			want += w * value[key]
		}
		if got := at(m, p, d, c); math.Abs(got-want) > 2e-3 {
			t.Fatalf("prefill %d, %d decodes, context %d: %.4f us, want %.4f", p, d, c, got, want)
		}
	}
}

func TestTableEdges(t *testing.T) {
	m := table(t, []Point{{512, 0, 0, 40}, {512, 0, 0, 60}, {1024, 0, 0, 90}, {1024, 8, 8000, 100}})
	for _, c := range []struct {
		p, d, ctx int64
		want      float64
	}{
		{512, 0, 0, 50},       // the mean of two measurements
		{768, 0, 0, 70},       // between two
		{2048, 0, 0, 170},     // the line goes on
		{1, 0, 0, 40},         // never shorter than the shortest
		{1024, 8, 99999, 100}, // measured at one context only
		{1024, 4, 10, 95},
		{512, 100, 10, 50}, // measured without decodes only
	} {
		if got := at(m, c.p, c.d, c.ctx); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("prefill %d, %d decodes, context %d: %v us, want %v", c.p, c.d, c.ctx, got, c.want)
		}
	}
	for want, points := range map[string][]Point{
		"no points":                        nil,
		"point 2":                          {{1, 0, 0, 1}, {0, 0, 0, 1}},
		"nothing negative":                 {{-1, 2, 0, 1}},
		"context of 5 tokens":              {{1, 0, 5, 1}},
		"a step of 0 us":                   {{1, 0, 0, 0}},
		"expected more than 0 and at most": {{1, 0, 0, math.NaN()}},
	} {
		if _, err := NewTable(points); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("points %v give %v, want %q", points, err, want)
		}
	}
}

// A table must be able to tell prompts and decodes, in microseconds.
func TestTableComplete(t *testing.T) {
	for want, points := range map[string][]Point{
		"prefill_tokens above 0": {{0, 1, 5, 900}},
		"decodes above 0":        {{1, 0, 0, 900}, {9, 0, 0, 900}},
		"not in seconds":         {{512, 0, 0, .04}, {0, 8, 800, .01}},
		"":                       {{512, 0, 0, 40000}, {0, 8, 800, 9}},
	} {
		_, err := (&TableParams{Points: points}).Build(GPU{}, Model{}, 1)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v give %v, want %q", points, err, want)
		}
	}
}
