package aggregate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"switchyard/stages/simulate"
)

// tTable holds Student's 0.975 quantiles for 1 to 9 degrees of freedom, to
// twelve digits from R's qt.
var tTable = []float64{
	12.706204736175, 4.302652729749, 3.182446305284, 2.776445105198, 2.570581835636,
	2.446911851145, 2.364624251593, 2.306004135204, 2.262157162798,
}

// naive is the second implementation: the textbook's formulas over the rows
// of cells, looked up one by one, with nothing shared.
type naive struct{ cells []simulate.Cell }

func (n naive) values(config int32, metric string) map[int32]float64 {
	out := map[int32]float64{}
	for _, c := range n.cells {
		if c.Config != config {
			continue
		}
		var p *float64
		switch metric {
		case "e2e_mean_us":
			p = c.E2EMeanUs
		case "tpot_p99_us":
			p = c.TPOTP99Us
		case "prefix_hit_rate":
			p = c.HitRate
		case "steps":
			x := float64(c.Steps)
			p = &x
		}
		if p != nil {
			out[c.Replication] = *p
		}
	}
	return out
}

func moments(x []float64) (n, mean, variance float64) {
	for _, v := range x {
		n++
		mean += v
	}
	mean /= n
	for _, v := range x {
		variance += (v - mean) * (v - mean)
	}
	return n, mean, variance / (n - 1)
}

// paired returns both sides in the replications that both have.
func (n naive) paired(a, b int32, metric string) (x, y []float64) {
	xs, ys := n.values(a, metric), n.values(b, metric)
	for rep := int32(0); rep < 100; rep++ {
		v, ok1 := xs[rep]
		w, ok2 := ys[rep]
		if ok1 && ok2 {
			x, y = append(x, v), append(y, w)
		}
	}
	return x, y
}

func difference(x, y []float64) (mean, half float64) {
	d := make([]float64, len(x))
	for i := range x {
		d[i] = x[i] - y[i]
	}
	n, mean, v := moments(d)
	if n < 2 {
		return mean, math.NaN()
	}
	return mean, tTable[int(n)-2] * math.Sqrt(v/n)
}

// fieller is the form with g of the textbooks (Finney, 1971).
func fieller(x, y []float64) (lo, hi float64) {
	n, mx, vx := moments(x)
	_, my, vy := moments(y)
	cov := 0.0
	for i := range x {
		cov += (x[i] - mx) * (y[i] - my)
	}
	cov /= n - 1
	t := tTable[int(n)-2]
	vx, vy, cov = vx/n, vy/n, cov/n
	g := t * t * vy / (my * my)
	r := mx / my
	root := t / my * math.Sqrt(vx-2*r*cov+r*r*vy-g*(vx-cov*cov/vy))
	return (r - g*cov/vy - root) / (1 - g), (r - g*cov/vy + root) / (1 - g)
}

// holm is the definition: the greatest of the multiplied p values up to one's
// own place.
func holm(p []float64) []float64 {
	sorted := slices.Clone(p)
	slices.Sort(sorted)
	out := make([]float64, len(p))
	for i, own := range p {
		for k, v := range sorted {
			if v <= own {
				out[i] = max(out[i], min(1, float64(len(p)-k)*v))
			}
		}
	}
	return out
}

func TestAgainstTheNaive(t *testing.T) {
	for seed := range uint64(30) {
		s := study{
			workloads:    []string{"tool rate_rps=4", "tool rate_rps=8"},
			routers:      []string{"random", "sticky", "aware"},
			replications: 2 + int(seed%9),
			each: func(c *simulate.Cell, r *rand.Rand) {
				if r.IntN(6) == 0 {
					c.TPOTP99Us = nil
				}
			},
		}
		cells := s.cells(seed)
		n := naive{slices.Clone(cells)}
		rand.New(rand.NewPCG(seed, 2)).Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
		result := mustAnalyse(t, cells, Options{Baseline: "sticky"})
		for _, metric := range []string{"e2e_mean_us", "tpot_p99_us", "prefix_hit_rate", "steps"} {
			for config := range int32(6) {
				n.checkSummary(t, result, config, metric)
			}
			for _, base := range []int32{1, 4} {
				n.checkComparisons(t, result, base, metric)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func (n naive) checkSummary(t *testing.T, result *Result, config int32, metric string) {
	t.Helper()
	row := findSummary(t, result, config, metric)
	var x []float64
	for rep := int32(0); rep < 100; rep++ {
		if v, ok := n.values(config, metric)[rep]; ok {
			x = append(x, v)
		}
	}
	if int(row.N) != len(x) {
		t.Errorf("n = %d, expected %d", row.N, len(x))
	}
	if len(x) == 0 {
		same(t, "mean", row.Mean, math.NaN())
		return
	}
	count, mean, variance := moments(x)
	same(t, metric+" mean", row.Mean, mean)
	half := math.NaN()
	if count > 1 {
		half = tTable[len(x)-2] * math.Sqrt(variance/count)
	}
	same(t, metric+" lo", row.Lo, mean-half)
	same(t, metric+" hi", row.Hi, mean+half)
}

func (n naive) checkComparisons(t *testing.T, result *Result, base int32, metric string) {
	t.Helper()
	var ps, corrected []float64
	for _, config := range []int32{base - 1, base + 1} {
		row := findComparison(t, result, config, metric)
		x, y := n.paired(config, base, metric)
		what := fmt.Sprintf("configuration %d against %d, %s: ", config, base, metric)
		if int(row.N) != len(x) || row.BaselineConfig != base || row.Baseline != "sticky" {
			t.Errorf("%s%d pairs with %d, expected %d", what, row.N, row.BaselineConfig, len(x))
		}
		if len(x) == 0 {
			same(t, what+"difference", row.Difference, math.NaN())
			continue
		}
		mean, half := difference(x, y)
		same(t, what+"difference", row.Difference, mean)
		same(t, what+"lo", row.DifferenceLo, mean-half)
		same(t, what+"hi", row.DifferenceHi, mean+half)
		_, mx, _ := moments(x)
		_, my, _ := moments(y)
		same(t, what+"ratio", row.Ratio, mx/my)
		if len(x) < 2 {
			same(t, what+"p", row.P, math.NaN())
			continue
		}
		if g := math.Pow(tTable[len(y)-2], 2) * variance(y) / float64(len(y)) / (my * my); g < 1 {
			lo, hi := fieller(x, y)
			same(t, what+"ratio lo", row.RatioLo, lo)
			same(t, what+"ratio hi", row.RatioHi, hi)
		}
		if inside := math.Abs(mean) < half; inside != (*row.P > 0.05) {
			t.Errorf("%sp = %v, but the interval is %v ± %v", what, *row.P, mean, half)
		}
		ps, corrected = append(ps, *row.P), append(corrected, *row.PHolm)
		if int(row.Family) > 2 {
			t.Errorf("%sfamily of %d, expected at most 2", what, row.Family)
		}
	}
	for i, want := range holm(ps) {
		same(t, "Holm's p", &corrected[i], want)
	}
}

func variance(x []float64) float64 { _, _, v := moments(x); return v }
