package cluster

import (
	"slices"
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/hardware"
	"switchyard/sim/param"
	"switchyard/sim/workload"
)

// stall is what a run under round robin says of its tokens.
type stall struct{ tpot, latency, hit float64 } // median s, mean s, share of prompt tokens

func stalls(t *testing.T, c Config, w *workload.Workload) (s stall) {
	t.Helper()
	r, err := new(Sim).Run(c, w, "round-robin", policy(t, "round-robin"), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	var times []float64
	var prompt, cached int64
	for i := range w.Len() {
		s.latency += float64(r.FinishNs[i]-r.ArrivalNs[i]) * 1e-9 / float64(w.Len())
		prompt += int64(w.Prompt[i])
		cached += int64(r.Cached[i])
		if w.Output[i] > 1 {
			times = append(times, float64(r.FinishNs[i]-r.FirstNs[i])*1e-9/float64(w.Output[i]-1))
		}
	}
	slices.Sort(times)
	s.tpot, s.hit = times[len(times)/2], float64(cached)/float64(prompt)
	return s
}

// Prefill-first batching stalls decodes: on two A6000s under round robin, 300 s
// of tool use. On hardware SGLang 0.1 had a median TPOT of 0.676, 0.680 and
// 0.739 s at 9, 12 and 18 requests/s, Preble's whole system 0.137, 0.158 and
// 0.162. There the queue never emptied from 9 requests/s on (median TTFT 7 s);
// here it does not from 12 on, and the stall is about as long.
func TestPrefillFirstStallsDecodes(t *testing.T) {
	for _, x := range []struct {
		generator string
		rate      float64
		times     float64 // least ratio of the two TPOTs
	}{
		{"tool-use", 12, 1.5}, {"tool-use", 24, 5},
		{"preble-toolbench-even", 12, 10}, {"preble-toolbench-even", 24, 5},
	} {
		w := generated(t, x.generator, int(x.rate*300), x.rate, 1)
		c := a6000(t, 2, func(p *engine.Lecture) { p.ChunkTokens = 512 })
		g, _ := hardware.FindGPU("a6000")
		m, _ := hardware.FindModel("mistral-7b")
		c.KVTokens = hardware.KVCapacity(g, m, 1, 0.8)
		chunked := stalls(t, c, w)
		sglang, preble := new(engine.SGLang), new(engine.Preble)
		param.Defaults(sglang)
		param.Defaults(preble)
		c.Engine = sglang
		first := stalls(t, c, w)
		c.Engine = preble
		groups := stalls(t, c, w)
		t.Logf("%s at %g/s: median TPOT %.3f s on sglang-0.1, %.3f s on preble, %.3f s on lecture with chunks of 512; mean latency %.1f, %.1f, %.1f s; hit rate %.2f, %.2f, %.2f",
			x.generator, x.rate, first.tpot, groups.tpot, chunked.tpot, first.latency, groups.latency, chunked.latency, first.hit, groups.hit, chunked.hit)
		if first.tpot < x.times*chunked.tpot || groups.tpot > first.tpot {
			t.Errorf("%s at %g/s: median TPOT %.3f s on sglang-0.1 is not %g times the %.3f s of chunked prefill, or below the %.3f s of preble", x.generator, x.rate, first.tpot, x.times, chunked.tpot, groups.tpot)
		}
	}
}
