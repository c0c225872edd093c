package queueing

import (
	"math"
	"slices"
)

const (
	// A bin holds the responses whose floating point number has one exponent
	// and the same first binBits bits behind it: its width is at most
	// 2^-binBits of its lower end, and its middle is nowhere further than half
	// of that from any number in it.
	binBits = 8
	bins    = 64 << binBits

	// SketchError is the largest relative error of a quantile by bins.
	SketchError = 1.0 / (2 << binBits)
)

// binOf returns the bin of a number from 1 to 2^63.
func binOf(x float64) int { return int(math.Float64bits(x)>>(52-binBits)) - 1023<<binBits }

// middle returns the middle of a bin.
func middle(bin int) float64 {
	lower := func(bin int) float64 {
		return math.Float64frombits(uint64(bin+1023<<binBits) << (52 - binBits))
	}
	return (lower(bin) + lower(bin+1)) / 2
}

// between returns the type-7 p-quantile of n values x_0 <= x_1 <= ...: x at
// place (n-1)p, between two of them in proportion.
func between(n int64, p float64, x func(rank int64) float64) float64 {
	if n == 0 {
		return math.NaN()
	}
	h := float64(n-1) * p
	lo := min(int64(h), n-1)
	below := x(lo)
	above := x(min(lo+1, n-1))
	return below + float64((above-below)*(h-float64(lo)))
}

// ranks finds values by their place among those that bins count.
type ranks struct {
	upTo []int64 // values in bins 0 to i
}

func newRanks(counts []int64) ranks {
	r := ranks{make([]int64, len(counts))}
	var sum int64
	for i, c := range counts {
		sum += c
		r.upTo[i] = sum
	}
	return r
}

func (r ranks) len() int64 { return r.upTo[len(r.upTo)-1] }

// bin returns the bin of the value at that place, from 0.
func (r ranks) bin(rank int64) int {
	i, _ := slices.BinarySearch(r.upTo, rank+1)
	return i
}

// sketchQuantiles returns quantiles with a relative error of at most
// SketchError, NaN of nothing.
func sketchQuantiles(counts []int64, ps []float64) []float64 {
	r := newRanks(counts)
	out := make([]float64, len(ps))
	for i, p := range ps {
		out[i] = between(r.len(), p, func(rank int64) float64 { return middle(r.bin(rank)) })
	}
	return out
}

// exactQuantiles returns the quantiles of xs, which counts counts. Only the
// values of bins that hold a wanted place are sorted.
func exactQuantiles(xs []int64, counts []int64, ps []float64) []float64 {
	r := newRanks(counts)
	wanted := make([]bool, len(counts))
	for _, p := range ps {
		between(r.len(), p, func(rank int64) float64 { wanted[r.bin(rank)] = true; return 0 })
	}
	var inside []int64
	for _, x := range xs {
		if wanted[binOf(float64(x))] {
			inside = append(inside, x)
		}
	}
	slices.Sort(inside)
	left := make([]int64, len(counts)) // values before a bin that are not in inside
	var out int64
	for i, c := range counts {
		left[i] = out
		if !wanted[i] {
			out += c
		}
	}
	quantiles := make([]float64, len(ps))
	for i, p := range ps {
		quantiles[i] = between(r.len(), p, func(rank int64) float64 {
			return float64(inside[rank-left[r.bin(rank)]])
		})
	}
	return quantiles
}
