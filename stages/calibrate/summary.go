package calibrate

import (
	"cmp"
	"math"
	"slices"
)

// A summary compares means over groups of requests where the loss compares
// requests: whether one of them just misses a step hardly moves a group's mean,
// so that the summary has derivatives to go by. Groups are made by what a
// coefficient may show in: when the requests came, how long their prompts are,
// how crowded they found the server, and how long the server took.

// groupSize is about how many requests a group has, and fewest how few groups
// there are of a kind at least.
const (
	groupSize = 40
	fewest    = 4
	kinds     = 5 // in which each request is counted
)

// groups are the summaries of a set of recordings.
type groups struct {
	d   data
	all [][][]int // by recording: groups of requests
}

func newGroups(d data) groups {
	g := groups{d: d}
	for _, r := range d.runs {
		var counted []int
		for i := range r.measured.ttft {
			if r.part(i) != d.out {
				counted = append(counted, i)
			}
		}
		var all [][]int
		for _, key := range []func(i int) float64{
			func(i int) float64 { return float64(i) },
			func(i int) float64 { return float64(r.work.Prompt[i]) },
			func(i int) float64 { return float64(r.work.Output[i]) },
			func(i int) float64 { return r.found[i] },
			func(i int) float64 { return r.measured.e2e[i] },
		} {
			all = append(all, split(counted, key)...)
		}
		g.all = append(g.all, all)
	}
	return g
}

// split cuts requests into groups of like size by a key.
func split(of []int, key func(i int) float64) [][]int {
	sorted := slices.Clone(of)
	slices.SortStableFunc(sorted, func(a, b int) int { return cmp.Compare(key(a), key(b)) })
	n := max(1, min(max(fewest, len(of)/groupSize), len(of)))
	var all [][]int
	for k := range n {
		all = append(all, sorted[k*len(of)/n:(k+1)*len(of)/n])
	}
	return all
}

// residuals returns, of each group, how far the means of log TTFT and log E2E
// are off over all echoes, in units of their scales and weighted by the square
// root of the group's size.
func (g groups) residuals(simulated [][]latencies) []float64 {
	var all []float64
	for k, r := range g.d.runs {
		ttfts, e2es := make([]float64, r.work.Len()), make([]float64, r.work.Len())
		for _, echo := range simulated {
			l := &echo[k]
			for i := range ttfts {
				ttfts[i] += math.Log(l.ttft[i]/r.measured.ttft[i]) / float64(len(simulated))
				e2es[i] += math.Log(l.e2e[i]/r.measured.e2e[i]) / float64(len(simulated))
			}
		}
		for _, group := range g.all[k] {
			var ttft, e2e float64
			for _, i := range group {
				ttft += ttfts[i]
				e2e += e2es[i]
			}
			root := math.Sqrt(float64(len(group)))
			all = append(all, ttft/root/scaleTTFT, e2e/root/scaleE2E)
		}
	}
	return all
}
