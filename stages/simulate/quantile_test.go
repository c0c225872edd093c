package simulate

import (
	"slices"
	"testing"

	"switchyard/sim/rng"
)

// inputs are ways in which selection can go wrong: ties, order, size.
func inputs(n int) map[string][]int64 {
	r := rng.New(2, n, "select")
	in := map[string][]int64{}
	for _, name := range []string{"random", "few values", "equal", "sorted", "reversed", "organ pipe", "one large"} {
		a := make([]int64, n)
		for i := range a {
			switch name {
			case "random":
				a[i] = int64(r.Uint64() >> 2)
			case "few values":
				a[i] = int64(r.IntN(4))
			case "equal":
				a[i] = 7
			case "sorted":
				a[i] = int64(i)
			case "reversed":
				a[i] = int64(n - i)
			case "organ pipe":
				a[i] = int64(min(i, n-i))
			case "one large":
				a[i] = int64(i / n)
			}
		}
		in[name] = a
	}
	return in
}

func TestSelectNth(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 601, 5000} {
		for name, in := range inputs(n) {
			sorted := slices.Sorted(slices.Values(in))
			for _, k := range []int{0, n / 3, n / 2, n - 1} {
				a := slices.Clone(in)
				selectNth(a, k)
				if a[k] != sorted[k] {
					t.Errorf("%s: element %d of %d is %d, expected %d", name, k, n, a[k], sorted[k])
				}
				for i, x := range a {
					if i < k && x > a[k] || i > k && x < a[k] {
						t.Fatalf("%s: element %d of %d is on the wrong side of %d", name, i, n, k)
					}
				}
				slices.Sort(a)
				if !slices.Equal(a, sorted) {
					t.Fatalf("%s: selection lost elements", name)
				}
			}
		}
	}
}

func TestQuantilesAgreeWithSorting(t *testing.T) {
	ps := []float64{0, 0.01, 0.5, 0.5, 0.9, 0.95, 0.99, 0.999, 1}
	for n := 1; n < 1500; n += 1 + n/7 {
		for name, in := range inputs(n) {
			floats := make([]float64, n)
			for i, x := range in {
				floats[i] = float64(x)
			}
			got := make([]float64, len(ps))
			quantiles(slices.Clone(in), ps, got)
			slices.Sort(floats)
			for i, p := range ps {
				if want := sortedQuantile(floats, p); got[i] != want {
					t.Errorf("%s, n %d: quantile %v is %v, expected %v", name, n, p, got[i], want)
				}
			}
		}
	}
	q := make([]float64, 1)
	quantiles([]int64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, []float64{0.9}, q)
	if q[0] != 9.1 {
		t.Errorf("the 0.9 quantile of 1..10 is %v, expected 9.1 as in DuckDB, R and numpy", q[0])
	}
}

func BenchmarkQuantiles(b *testing.B) {
	r := rng.New(3, 0, "bench")
	in := make([]int64, 10000)
	for i := range in {
		in[i] = int64(r.Exp() * 1e6)
	}
	a, q := make([]int64, len(in)), make([]float64, len(probs))
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"select", func() { quantiles(a, probs, q) }},
		{"sort", func() { slices.Sort(a) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				copy(a, in)
				c.f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(in)), "ns/value")
		})
	}
}
