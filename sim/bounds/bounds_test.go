package bounds_test

import (
	"fmt"
	"math"
	"sort"
	"testing"

	"switchyard/sim/bounds"
	"switchyard/sim/cluster"
	"switchyard/sim/engine"
	"switchyard/sim/hardware"
	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/router"
	"switchyard/sim/workload"
)

func roofline(t testing.TB) *hardware.Roofline {
	t.Helper()
	g, _ := hardware.FindGPU("a6000")
	m, _ := hardware.FindModel("mistral-7b")
	p := hardware.RooflineParams{}
	param.Defaults(&p)
	r, err := hardware.NewRoofline(g, m, 1, p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func documents(t testing.TB, n int, gapUs int64, stream *rng.Stream) *workload.Workload {
	t.Helper()
	var b workload.Builder
	at := int64(0)
	for range n {
		at += int64(stream.IntN(int(2*gapUs + 1)))
		doc := int64(1 + stream.IntN(6))
		r := workload.Request{
			ArrivalUs: at, After: workload.None, Session: workload.None, OutputID: workload.None, Output: int32(1 + stream.IntN(30)),
			Segments: []workload.Segment{{ID: 0, Tokens: 40}, {ID: doc, Tokens: int32(500 * doc)}},
		}
		r.Prompt = 40 + r.Segments[1].Tokens + int32(stream.IntN(300))
		if err := b.Add(&r); err != nil {
			t.Fatal(err)
		}
	}
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// A request alone on a replica is as fast as its bound says.
func TestLoneIsReached(t *testing.T) {
	w := documents(t, 1, 10, rng.New(1, 1, "lone"))
	step := roofline(t)
	p := new(engine.Lecture)
	param.Defaults(p)
	p.ChunkTokens = 1 << 20
	r, err := new(cluster.Sim).Run(cluster.Config{Replicas: 1, Step: step, KVTokens: 100000, Engine: p}, w, "random", new(router.Random), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := bounds.Of(w, step, 1, 0), float64(r.FinishNs[0]-r.ArrivalNs[0]); want-got.LoneNs > 1e-5*want || got.LoneNs > want || got.PooledNs > want {
		t.Errorf("bounds are %+v, the request takes %v", got, want)
	}
}

// No cluster is below the bounds, and at high load the pooled one is the greater.
func TestNobodyIsBelow(t *testing.T) {
	step := roofline(t)
	greater := map[string]int{}
	for seed := range 12 {
		stream := rng.New(2, seed, "bounds")
		w := documents(t, 200, []int64{200_000, 30_000, 3_000}[seed%3], stream)
		replicas, cut := 1+stream.IntN(4), []int{0, 50}[seed%2]
		b := bounds.Of(w, step, replicas, cut)
		if b.PooledNs > b.LoneNs {
			greater["pooled"]++
		} else {
			greater["lone"]++
		}
		for _, scheduler := range engine.Schedulers() {
			for _, name := range []string{"random", "least-tokens", "prefix-threshold", "cache-aware"} {
				e := scheduler.New()
				param.Defaults(e)
				policy, _ := router.Find(name)
				p := policy.New()
				param.Defaults(p)
				r, err := new(cluster.Sim).Run(cluster.Config{Replicas: replicas, Step: step, KVTokens: 40000, Engine: e, Cut: cut}, w, name, p, 1, seed)
				if err != nil {
					t.Fatal(err)
				}
				mean := 0.0
				for id := cut; id < w.Len(); id++ {
					mean += float64(r.FinishNs[id]-r.ArrivalNs[id]) / float64(w.Len()-cut)
				}
				if what := fmt.Sprintf("seed %d, %d replicas, %s, %s", seed, replicas, scheduler.Name, name); mean < max(b.LoneNs, b.PooledNs)*(1-1e-6) {
					t.Errorf("%s: mean latency %.4f s is below the bounds %.4f and %.4f s", what, mean/1e9, b.LoneNs/1e9, b.PooledNs/1e9)
				}
			}
		}
	}
	if greater["pooled"] == 0 || greater["lone"] == 0 {
		t.Errorf("the greater bound is always the same: %v", greater)
	}
}

// unit is a step model that takes a second a prompt token, and nothing else.
type unit struct{}

func (unit) StepNs(b engine.Batch) int64       { return max(1, 1e9*b.Prefill) }
func (unit) AdditiveNs(b engine.Batch) float64 { return 1e9 * float64(b.Prefill) }

// Shortest remaining processing time against a simulation in small steps.
func TestPooledIsSRPT(t *testing.T) {
	for seed := range 20 {
		s := rng.New(3, seed, "srpt")
		var b workload.Builder
		at := int64(0)
		var arrival, left []int
		for range 30 {
			at += int64(s.IntN(6))
			n := 1 + s.IntN(9)
			r := workload.Request{ArrivalUs: at * 1e6, After: workload.None, Session: workload.None, OutputID: workload.None, Output: 1, Prompt: int32(n)}
			if err := b.Add(&r); err != nil {
				t.Fatal(err)
			}
			arrival, left = append(arrival, int(at)), append(left, n)
		}
		w, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		sum, n := 0, len(left)
		for now := 0; n > 0; now++ {
			var here []int
			for i := range left {
				if arrival[i] <= now && left[i] > 0 {
					here = append(here, i)
				}
			}
			if len(here) == 0 {
				continue
			}
			sort.SliceStable(here, func(a, b int) bool { return left[here[a]] < left[here[b]] })
			if i := here[0]; true {
				if left[i]--; left[i] == 0 {
					sum += now + 1 - arrival[i]
					n--
				}
			}
		}
		if got, want := bounds.Of(w, unit{}, 1, 0).PooledNs, float64(sum)/float64(len(left))*1e9; math.Abs(got-want) > 1 {
			t.Fatalf("seed %d: pooled bound %v, by steps %v", seed, got, want)
		}
	}
}
