package selection_test

import (
	"testing"

	"switchyard/sim/compound"
	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/selection"
)

func toyDebate(t testing.TB, pool int) compound.Split {
	t.Helper()
	debate := new(compound.Debate)
	param.Defaults(debate)
	return build(t, debate, compound.NewToy(), compound.Env{Seed: 1, Pool: pool})
}

// A run on a debate of five models: from an empty cache, and from one that has
// seen it all.
func BenchmarkRun(b *testing.B) {
	split := toyDebate(b, 0)
	for _, shared := range []bool{false, true} {
		name := map[bool]string{false: "fresh", true: "cached"}[shared]
		for _, e := range selection.Optimisers() {
			b.Run(e.Name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				var cache *selection.Cache
				evaluations := 0
				for i := range b.N {
					if cache == nil || !shared {
						cache, _ = selection.NewCache(split.Train)
					}
					d := oracle(b, cache, .8, "fixed", rng.New(1, i, "noise"))
					o := e.New()
					param.Defaults(o)
					budget := 1000
					if e.Name == "exhaustive" {
						budget = 0
					}
					out := must(b, o, selection.Problem{World: cache, Diagnoser: d, Budget: budget, Stream: rng.New(1, i, "run")})
					evaluations += out.Evaluations
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(evaluations), "ns/evaluation")
			})
		}
	}
}
