package calibrate

import (
	"math"
	"slices"

	"switchyard/sim/cluster"
)

// Scales of the error: a loss of 1 stands for errors of this size. End-to-end
// latency averages over a hundred steps and can be met closely. When a request
// comes within a step is drift and chance, so that a single time to first token
// cannot; the distribution of all of them can.
const (
	scaleE2E    = 0.01
	scaleTTFT   = 0.10
	scaleSorted = 0.05
)

// data is a set of recordings of which some requests count.
type data struct {
	runs []*recording
	out  int // part of every recording that does not count; -1 without
}

// loss returns the robust error of echoes of latencies: the mean over them and
// over requests of
//
//	|Δ log E2E| / 0.01 + |Δ log TTFT| / 0.1 + |Δ log sorted TTFT| / 0.05
//
// where the last term compares the i-th shortest of both sides. Absolute values
// make outliers count by their size, not its square.
func (d data) loss(simulated [][]latencies) float64 {
	total, n := 0.0, 0
	for _, echo := range simulated {
		for k, r := range d.runs {
			var a, b []float64
			for i := range r.measured.e2e {
				if r.part(i) == d.out {
					continue
				}
				n++
				ttft, want := math.Log(echo[k].ttft[i]), math.Log(r.measured.ttft[i])
				total += math.Abs(math.Log(echo[k].e2e[i]/r.measured.e2e[i]))/scaleE2E + math.Abs(ttft-want)/scaleTTFT
				a, b = append(a, ttft), append(b, want)
			}
			slices.Sort(a)
			slices.Sort(b)
			for i := range a {
				total += math.Abs(a[i]-b[i]) / scaleSorted
			}
		}
	}
	return total / float64(max(1, n))
}

// simulateEchoes plays the echoes from..to of recordings at a point of the search,
// echo by echo.
func simulateEchoes(sim *cluster.Sim, f *form, x []float64, runs []*recording, from, to int) (all [][]latencies, err error) {
	for k := from; k < to; k++ {
		var played []*recording
		for _, r := range runs {
			played = append(played, r.echoes[k])
		}
		l, err := simulateAll(sim, f, x, played)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// simulateAll plays recordings at a point of the search.
func simulateAll(sim *cluster.Sim, f *form, x []float64, runs []*recording) ([]latencies, error) {
	s, err := f.server(x)
	if err != nil {
		return nil, err
	}
	var all []latencies
	for _, r := range runs {
		l, err := r.simulate(sim, s)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}
