package queueing

import (
	"switchyard/sim/dist"
	"switchyard/sim/rng"
)

// source makes requests, block by block. What it makes depends on the seed, the
// replication, the arrivals and the sizes alone.
type source struct {
	gaps        func([]float64)
	gapTicks    float64 // ticks of a mean gap
	sizes       func([]float64)
	sizeTicks   float64 // ticks of a unit of size
	now         int64
	dispatchers int
	from        *rng.Stream
	predict     *ExpectedWork // nil where nobody asks for predictions
	errors      *rng.Stream
	draws       [blockSize]float64
}

func newSource(c *Config, law dist.Law, seed uint64, replication int) *source {
	stream := func(name string) *rng.Stream { return rng.New(seed, replication, "dispatch/"+name) }
	unit := ticksPerMean / law.Mean()
	s := &source{
		gaps: c.Arrivals.gaps(stream("arrivals")), gapTicks: unit / c.rate(law.Mean()),
		sizes: sampler(c.Sizes, law, stream("sizes")), sizeTicks: unit,
		dispatchers: c.System.Dispatchers, from: stream("dispatchers"),
	}
	if p, ok := c.Policy.(*ExpectedWork); ok {
		s.predict, s.errors = p, stream("predictions")
	}
	return s
}

// sampler returns a function that overwrites its argument with sizes.
func sampler(sizes Sizes, law dist.Law, s *rng.Stream) func([]float64) {
	if e, ok := sizes.(*EmpiricalSizes); ok && e.InOrder {
		values := e.scaled()
		return func(xs []float64) { values = values[copy(xs, values):] }
	}
	switch l := law.(type) {
	case dist.Exponential:
		return func(xs []float64) {
			dist.FillExponential(s, xs)
			if l.MeanValue != 1 {
				for i := range xs {
					xs[i] *= l.MeanValue
				}
			}
		}
	case dist.Constant:
		return func(xs []float64) {
			for i := range xs {
				xs[i] = l.Value
			}
		}
	}
	return func(xs []float64) {
		for i := range xs {
			xs[i] = law.Draw(s)
		}
	}
}

// fill makes the next n requests.
func (s *source) fill(b *block, n int) {
	b.n = n
	draws := s.draws[:n]
	s.gaps(draws)
	now := s.now
	for k, gap := range draws {
		now += int64(gap*s.gapTicks + 0.5)
		b.time[k] = now
	}
	s.now = now
	s.sizes(draws)
	for k, size := range draws {
		b.need[k] = toTicks(size * s.sizeTicks)
	}
	if s.dispatchers > 1 {
		for k := range b.n {
			b.from[k] = int32(s.from.IntN(s.dispatchers))
		}
	}
	if s.predict != nil {
		s.guess(b)
	}
}

func (s *source) guess(b *block) {
	for k := range b.n {
		var z float64
		if s.predict.Noise > 0 {
			z = s.errors.Normal()
		}
		b.guess[k] = s.predict.predict(b.need[k], z)
	}
}

// largest bounds a size, so that sums of a few do not overflow: 2.7e8 mean
// sizes, which only laws without a variance ever reach.
const largest = 1 << 58

// toTicks rounds a number of ticks to a size.
func toTicks(x float64) int64 {
	if x >= largest {
		return largest
	}
	return max(1, int64(x+0.5))
}
