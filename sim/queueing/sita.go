package queueing

import (
	"math"
	"sort"

	"switchyard/sim/dist"
	"switchyard/sim/rng"
)

var sitaPolicy = Policy{
	Name:      "sita-e",
	Summary:   "size interval task assignment with equal load: each server has the sizes of one interval",
	Needs:     "the size of each request, and the law of sizes for the cut-offs",
	Freshness: "none: cut-offs are set once",
	Breaks:    "with sizes that vary little, where it is no better than random; a law that drifts overloads a server; wrong sizes go to the wrong queue",
	TieBreak:  "sizes that are one cut-off, as only laws with atoms have, go to its servers at random in proportion to the load",
	Speeds:    "each server's interval brings load in proportion to its speed",
	Source:    "Harchol-Balter, Crovella and Murta, 1999, On Choosing a Task Assignment Policy for a Distributed Server System",
	New:       func() Params { return new(SITA) },
}

// SITA sends sizes up to the first cut-off to server 0, those up to the second
// to server 1, and so on.
type SITA struct{}

func (*SITA) sees() sight { return seesNothing }

// Cutoffs returns the n-1 sizes that divide a law into intervals whose loads
// are in proportion to the n weights: E[S; S <= x_i] = E[S] (w_0+...+w_i)/w.
func Cutoffs(l dist.Law, weights []float64) []float64 {
	var total, sum float64
	for _, w := range weights {
		total += w
	}
	cuts := make([]float64, 0, len(weights))
	for _, w := range weights[:len(weights)-1] {
		sum += w
		cuts = append(cuts, dist.LoadQuantile(l, sum/total))
	}
	return cuts
}

func (*SITA) build(e env) chooser {
	law := e.config.Sizes.Law()
	weights := make([]float64, e.servers)
	var total, sum float64
	for i := range weights {
		weights[i] = e.speed(i)
		total += weights[i]
	}
	s := &sita{stream: e.stream}
	scale := ticksPerMean / law.Mean()
	for i, x := range Cutoffs(law, weights) {
		sum += weights[i]
		s.cuts = append(s.cuts, toTicks(x*scale))
		s.share = append(s.share, atomShare(law, x, sum/total))
	}
	return s
}

// atomShare returns what share of the sizes that equal the cut-off x belongs at
// or before it, so that the sizes there bring the share load of all work. It is
// 1 where no size has a probability of its own.
func atomShare(l dist.Law, x, load float64) float64 {
	below := l.Partial(1, math.Nextafter(x, 0))
	atom := l.Partial(1, x) - below
	if atom < 1e-9*l.Mean() {
		return 1
	}
	return (load*l.Mean() - below) / atom
}

type sita struct {
	stream *rng.Stream
	cuts   []int64
	share  []float64 // of the load of sizes equal to the cut-off that belongs at or before it
}

func (s *sita) server(need int64) int {
	i := sort.Search(len(s.cuts), func(i int) bool { return s.cuts[i] >= need })
	if i == len(s.cuts) || s.cuts[i] != need || s.share[i] >= 1 {
		return i
	}
	u := s.stream.Float64()
	for i < len(s.cuts) && s.cuts[i] == need && s.share[i] <= u {
		i++
	}
	return i
}

func (s *sita) pick(v *view) int { return s.server(v.need) }

func (s *sita) choose(b *block) {
	for k := range b.n {
		b.server[k] = int32(s.server(b.need[k]))
	}
}
