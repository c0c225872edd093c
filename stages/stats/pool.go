package stats

import (
	"math"
	"slices"
)

// PoolExact is the number of values up to which a Pool is exact: 10^7 values
// are 80 MB, what a laptop gives without being asked.
const PoolExact = 10_000_000

// PoolError is the greatest relative error of a quantile of a Pool that is no
// longer exact, for values of at least 1e-9.
const PoolError = 0.0005

const (
	poolFloor = 1e-9 // smaller values count as zero in a sketch
	poolBins  = 42_000
)

// poolWidth is the logarithm of the ratio of a bin's ends. A bin's middle
// 2 lo hi / (lo + hi) is off by at most (r - 1)/(r + 1) for the ratio r, which
// is PoolError at this width; 42,000 bins of 0.001 reach from 1e-9 to 1e9.
var poolWidth = math.Log((1 + PoolError) / (1 - PoolError))

// Pool gathers non-negative values of many replications for their joint
// quantiles. Up to PoolExact values it keeps them all and answers type-7
// quantiles; beyond, it counts them in logarithmic bins (as DDSketch does,
// Masson, Rim and Lee, 2019) and answers the value at rank floor((n-1) q)
// within PoolError. The zero value is ready; it is not safe for concurrent use.
type Pool struct {
	values []float64
	sorted bool
	bins   []int64 // nil while exact; bin 0 holds what lies under poolFloor
	n      int
	limit  int // PoolExact, or less in tests
}

// Len returns the number of values.
func (p *Pool) Len() int { return p.n }

// Exact reports whether the quantiles have no sketch's error.
func (p *Pool) Exact() bool { return p.bins == nil }

// Reset empties the pool and keeps its memory.
func (p *Pool) Reset() {
	p.values, p.n, p.bins = p.values[:0], 0, nil
}

// Add takes one value; NaN is left out, negative ones count as zero in a
// sketch.
func (p *Pool) Add(x float64) {
	if math.IsNaN(x) {
		return
	}
	p.n++
	if p.bins != nil {
		p.bins[poolBin(x)]++
		return
	}
	p.values, p.sorted = append(p.values, x), false
	limit := p.limit
	if limit == 0 {
		limit = PoolExact
	}
	if p.n > limit {
		p.bins = make([]int64, poolBins)
		for _, v := range p.values {
			p.bins[poolBin(v)]++
		}
		p.values = p.values[:0]
	}
}

func poolBin(x float64) int {
	if x < poolFloor {
		return 0
	}
	return min(1+int(math.Log(x/poolFloor)/poolWidth), poolBins-1)
}

// Quantile returns the quantile q, NaN of nothing.
func (p *Pool) Quantile(q float64) float64 {
	if p.n == 0 {
		return math.NaN()
	}
	if p.bins == nil {
		if !p.sorted {
			slices.Sort(p.values)
			p.sorted = true
		}
		return QuantileSorted(p.values, q)
	}
	rank := int64(min(max(q, 0), 1) * float64(p.n-1))
	bin := 0
	for seen := p.bins[0]; seen <= rank; seen += p.bins[bin] {
		bin++
	}
	if bin == 0 {
		return 0
	}
	lo := poolFloor * math.Exp(float64(bin-1)*poolWidth)
	return lo * (1 + PoolError)
}
