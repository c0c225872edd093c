package queueing

import (
	"math"

	"switchyard/sim/param"
	"switchyard/sim/rng"
)

// Balls is balls into bins: each ball goes into the least full of Choices bins
// drawn at random, ties going to the first drawn, which is any of them alike.
// With one choice the fullest bin holds (1+o(1)) ln n/ln ln n balls; with d of
// two and more only ln ln n/ln d + O(1) (Azar, Broder, Karlin and Upfal, 1999,
// Balanced Allocations).
type Balls struct {
	Bins        int64 `yaml:"bins" default:"1000" min:"1" max:"1000000000" doc:"number of bins"`
	Balls       int64 `yaml:"balls" default:"0" min:"0" max:"100000000000" doc:"number of balls; 0: as many as bins"`
	Choices     int   `yaml:"choices" default:"2" min:"1" max:"1000" doc:"d, how many bins are drawn for a ball"`
	Replacement bool  `yaml:"replacement" default:"true" doc:"whether one bin may be drawn twice for a ball"`
}

// Check implements the check of sim/param.
func (b *Balls) Check() error {
	if !b.Replacement && int64(b.Choices) > b.Bins {
		return &param.Error{Field: "choices", Value: param.Format(b.Choices), Expected: "at most as many as bins, or replacement: true"}
	}
	return nil
}

// BallsResult is where the balls lie.
type BallsResult struct {
	Max   int     // balls in the fullest bin
	Loads []int64 // number of bins with exactly i balls, at i = 0 to Max
}

// Thrown returns how many balls there are.
func (b *Balls) Thrown() int64 {
	if b.Balls == 0 {
		return b.Bins
	}
	return b.Balls
}

// Growth returns the leading term of the fullest bin's load for n balls into n
// bins, ln n/ln ln n or ln ln n/ln d. It says how the load grows with n; it is
// not its value, and NaN where there are other numbers of balls than of bins
// or fewer than 16 bins.
func (b *Balls) Growth() float64 {
	if b.Thrown() != b.Bins || b.Bins < 16 {
		return math.NaN()
	}
	n := math.Log(float64(b.Bins))
	if b.Choices == 1 {
		return n / math.Log(n)
	}
	return math.Log(n) / math.Log(float64(b.Choices))
}

// Empty returns the expected share of bins that stay empty, and of which kind it
// is: with one choice exactly (1 - 1/n)^m, with d of them in the limit of many
// bins 1 - s(m/n), where the share s of bins with a ball grows by
//
//	ds/dt = 1 - s^d,  s(0) = 0
//
// since a ball misses the empty bins when all d drawn have one (Mitzenmacher,
// 2001); it is 1 - tanh(m/n) for d = 2.
func (b *Balls) Empty() (share float64, kind string) {
	t := float64(b.Thrown()) / float64(b.Bins)
	if b.Choices == 1 {
		return math.Exp(float64(b.Thrown()) * math.Log1p(-1/float64(b.Bins))), Exact
	}
	const steps = 4096
	slope := func(s float64) float64 { return 1 - math.Pow(s, float64(b.Choices)) }
	h, s := math.Min(t, 40)/steps, 0.0 // none is empty at 40 a bin
	for range steps {                  // Runge and Kutta
		k1 := slope(s)
		k2 := slope(s + h*k1/2)
		k3 := slope(s + h*k2/2)
		k4 := slope(s + h*k3)
		s += h * (k1 + 2*k2 + 2*k3 + k4) / 6
	}
	return math.Max(0, 1-s), MeanField
}

// Run throws the balls, drawing from the stream "balls" of (seed,
// replication). It takes one byte a bin while no bin holds more than 255.
func (b *Balls) Run(seed uint64, replication int) (*BallsResult, error) {
	if err := param.Validate(b); err != nil {
		return nil, err
	}
	stream := rng.New(seed, replication, "balls")
	small := make([]uint8, b.Bins)
	left := throw(b, stream, small, b.Thrown(), math.MaxUint8)
	if left == 0 {
		return tallied(small), nil
	}
	large := make([]uint32, b.Bins)
	for i, n := range small {
		large[i] = uint32(n)
	}
	throw(b, stream, large, left, math.MaxUint32)
	return tallied(large), nil
}

// throw throws the balls until a bin holds most of them and returns how many
// are left.
func throw[N uint8 | uint32](b *Balls, s *rng.Stream, bins []N, balls int64, most N) int64 {
	n := len(bins)
	switch {
	case b.Choices == 1:
		for ; balls > 0; balls-- {
			i := s.IntN(n)
			if bins[i]++; bins[i] == most {
				return balls - 1
			}
		}
	case b.Choices == 2 && b.Replacement:
		for ; balls > 0; balls-- {
			i, k := s.IntN(n), s.IntN(n)
			if bins[k] < bins[i] {
				i = k
			}
			if bins[i]++; bins[i] == most {
				return balls - 1
			}
		}
	default:
		d := draws{count: b.Choices, of: n, distinct: !b.Replacement}
		for ; balls > 0; balls-- {
			least := -1
			for _, i := range d.draw(s) {
				if least < 0 || bins[i] < bins[least] {
					least = i
				}
			}
			if bins[least]++; bins[least] == most {
				return balls - 1
			}
		}
	}
	return 0
}

func tallied[N uint8 | uint32](bins []N) *BallsResult {
	r := &BallsResult{}
	for _, n := range bins {
		r.Max = max(r.Max, int(n))
	}
	r.Loads = make([]int64, r.Max+1)
	for _, n := range bins {
		r.Loads[n]++
	}
	return r
}
