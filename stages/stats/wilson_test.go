package stats

import (
	"math"
	"testing"
)

// TestWilson holds the interval against values worked by hand from its
// definition: its ends solve (share - p)^2 = z^2 p (1 - p) / n.
func TestWilson(t *testing.T) {
	const z = 1.959963984540054
	for _, c := range []struct{ share, n float64 }{{0.5, 10}, {0, 20}, {1, 5}, {0.81, 500}} {
		in := Wilson(c.share, c.n, 0.95)
		for _, p := range []float64{in.Lo, in.Hi} {
			if left, right := (c.share-p)*(c.share-p), z*z*p*(1-p)/c.n; math.Abs(left-right) > 1e-9 {
				t.Errorf("%v of %v: end %v has distance %v, expected %v", c.share, c.n, p, left, right)
			}
		}
		if !in.Contains(c.share) {
			t.Errorf("%v of %v is outside of %v", c.share, c.n, in)
		}
	}
	if in := Wilson(0.5, 10, 0.95); math.Abs(in.Lo-0.2366) > 1e-4 || math.Abs(in.Hi-0.7634) > 1e-4 {
		t.Errorf("half of ten is in %v", in)
	}
	if Wilson(0.5, 0, 0.95).Exists() {
		t.Error("an interval of no cases")
	}
}
