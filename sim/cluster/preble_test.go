package cluster

import (
	"math"
	"slices"
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/router"
	"switchyard/sim/workload"
)

// prebleStudy is a study of the lecture's workloads under policy preble, which
// sees what is ready or dispatched, as the lecture's routers do, and does
// nothing after an assignment but what change adds.
type prebleStudy struct {
	latency, p99, share  float64
	load, evict, prefill float64 // sums of the cost terms over candidates
}

// summed is a policy whose decisions are added up.
type summed struct {
	*router.Preble
	into *prebleStudy
}

func (s summed) Build(e router.Env) router.Router { return summing{s.Preble.Build(e), s.into} }

type summing struct {
	router.Router
	into *prebleStudy
}

func (s summing) Route(id int32, v *router.View) int {
	v.Decision = new(router.Decision)
	i := s.Router.Route(id, v)
	for k, sum := range []*float64{&s.into.load, &s.into.evict, &s.into.prefill} {
		for _, x := range v.Decision.Terms[k] {
			if !math.IsNaN(x) {
				*sum += x
			}
		}
	}
	return i
}

func (s summing) FirstToken(id int32, r int, v *router.View) {
	s.Router.(router.Observer).FirstToken(id, r, v)
}
func (s summing) Left(id int32, r int, v *router.View) { s.Router.(router.Observer).Left(id, r, v) }
func (s summing) Evicted(r int, node, tokens int32, v *router.View) {
	s.Router.(router.Evictee).Evicted(r, node, tokens, v)
}

func prebleLecture(t *testing.T, generator string, replicas, n int, rate float64, change func(*router.Preble)) prebleStudy {
	t.Helper()
	return prebleOrdered(t, generator, replicas, n, rate, "fcfs", 1, change)
}

// prebleOrdered is prebleLecture with an order of the waiting queue, over 30
// replications from the given one on.
func prebleOrdered(t *testing.T, generator string, replicas, n int, rate float64, order string, from int, change func(*router.Preble)) prebleStudy {
	t.Helper()
	const replications = 30
	var s prebleStudy
	var sim Sim
	c := a6000(t, replicas, func(e *engine.Lecture) { e.Order = order })
	for rep := from; rep < from+replications; rep++ {
		w := generated(t, generator, n, rate, rep)
		p := policy(t, "preble").(*router.Preble)
		p.Belief, p.EvictionCost, p.Rebalance, p.Autoscale, p.Pairing = "dispatched", "needed", false, false, "none"
		change(p)
		r, err := sim.Run(c, w, "preble", summed{p, &s}, 1, rep)
		if err != nil {
			t.Fatal(err)
		}
		mean, p99, share := latencies(r, replicas)
		s.latency += mean / replications
		s.p99 += p99 / replications
		s.share += share / replications
	}
	return s
}

// latencies returns mean and 99th percentile in seconds, and the largest share
// of the requests that one replica had.
func latencies(r *Result, replicas int) (mean, p99, share float64) {
	var all []float64
	counts := make([]float64, replicas)
	for i := range r.ArrivalNs {
		x := float64(r.FinishNs[i]-r.ArrivalNs[i]) * 1e-9
		all = append(all, x)
		mean += x
		counts[r.Replica[i]]++
	}
	slices.Sort(all)
	n := float64(len(all))
	return mean / n, all[int(.99*n)], slices.Max(counts) / n
}

func rebalanced(p *router.Preble) { p.Rebalance = true }

// On the hot tool E2 alone collapses as affinity does, 8.0 ± .6 s; rebalancing
// cures it, whatever the ratio.
func TestPrebleHotTool(t *testing.T) {
	run := func(change func(*router.Preble)) prebleStudy {
		return prebleLecture(t, "lecture-hot-tool", 8, 6000, 70, change)
	}
	rr := lecture(t, "lecture-hot-tool", 8, 6000, 70, "round-robin", nil)
	e2 := run(func(*router.Preble) {})
	t.Logf("round robin %.3f s, E2 %.3f s", rr.latency, e2.latency)
	if e2.latency < 2*rr.latency || math.Abs(e2.latency-8) > .8 {
		t.Errorf("E2 takes %.3f s, want 8.0 +- .8 and twice as much as round robin, %.3f s", e2.latency, rr.latency)
	}
	for _, ratio := range []float64{1.2, 1.5, 2, 3} {
		x := run(func(p *router.Preble) { p.Rebalance, p.RebalanceRatio = true, ratio })
		t.Logf("rebalancing at %.1f: %.3f s", ratio, x.latency)
		if x.latency > 1.15*rr.latency {
			t.Errorf("rebalancing at %.1f takes %.3f s, want at most 1.15 times round robin, %.3f s", ratio, x.latency, rr.latency)
		}
	}
}

// On documents E2 with rebalancing takes 4.4 to 4.9 s at chunks of 1,024 to
// 2,048, 4.74 ± .21 s with pairing by hits; a longer window is better.
func TestPrebleDocuments(t *testing.T) {
	run := func(rate float64, change func(*router.Preble)) prebleStudy {
		return prebleLecture(t, "lecture-documents", 4, 1000, rate, change)
	}
	plain := run(1, rebalanced)
	paired := run(1, func(p *router.Preble) { p.Rebalance, p.Pairing = true, "sent-hit-ratio" })
	t.Logf("rebalancing %.3f s, and pairing %.3f s", plain.latency, paired.latency)
	if plain.latency < 3.9 || plain.latency > 4.9 {
		t.Errorf("E2 with rebalancing takes %.3f s, want 3.9 to 4.9", plain.latency)
	}
	if paired.latency < plain.latency {
		t.Errorf("pairing takes %.3f s, %.3f s without; want it worse on documents", paired.latency, plain.latency)
	}
	var last float64
	for i, h := range []float64{10, 60, 180, 600} {
		x := run(1.5, func(p *router.Preble) { p.Rebalance, p.WindowS = true, h })
		t.Logf("window of %.0f s: %.3f s", h, x.latency)
		if i == 0 {
			last = x.latency
		}
		if h == 600 && (last/x.latency < 1.3 || last/x.latency > 2.2) {
			t.Errorf("latency falls from %.3f to %.3f s with the window, want by 1.3 to 2.2 times", last, x.latency)
		}
	}
}

// Pairing by the share of outstanding requests that decode, from one half on,
// does what the lecture says of pairing: with groups documents take 5.35 s and
// not less, videos are no faster, and the P99 of tools falls from 6.1 to 4.6 s.
// The setting was found on replications 1 to 30; these are others.
func TestPreblePairing(t *testing.T) {
	run := func(generator string, n int, rate float64, pairing string) prebleStudy {
		return prebleOrdered(t, generator, 4, n, rate, "priority-groups", 101, func(p *router.Preble) {
			p.Rebalance, p.Pairing, p.PairingRatio = true, pairing, .5
		})
	}
	documents, paired := run("lecture-documents", 1000, 1, "none"), run("lecture-documents", 1000, 1, "decode-requests")
	t.Logf("documents %.3f s, paired %.3f s", documents.latency, paired.latency)
	if paired.latency < 1.1*documents.latency || math.Abs(paired.latency-5.35) > .5 {
		t.Errorf("documents take %.3f s, paired %.3f s; want 5.35 +- .5 and at least a tenth more", documents.latency, paired.latency)
	}
	video, paired := run("lecture-video", 2000, 3.5, "none"), run("lecture-video", 2000, 3.5, "decode-requests")
	t.Logf("video %.3f s, paired %.3f s", video.latency, paired.latency)
	if paired.latency < video.latency {
		t.Errorf("video takes %.3f s, paired %.3f s; want it no faster", video.latency, paired.latency)
	}
	tool, paired := run("lecture-tool", 2000, 36, "none"), run("lecture-tool", 2000, 36, "decode-requests")
	t.Logf("P99 of tools %.3f s, paired %.3f s", tool.p99, paired.p99)
	if paired.p99 > .9*tool.p99 {
		t.Errorf("P99 of tools is %.3f s, paired %.3f s; want at least a tenth less", tool.p99, paired.p99)
	}
}

// L outweighs M and P on every workload, since it sums over a window where they
// are of one request: charging a decode what it adds to a batch changes little
// where prompts are long.
func TestPrebleTerms(t *testing.T) {
	for _, x := range []struct {
		generator string
		n         int
		rate      float64
	}{{"lecture-documents", 1000, 1}, {"lecture-documents", 1000, 1.5}, {"lecture-video", 2000, 3.5}, {"lecture-tool", 2000, 36}} {
		for _, charge := range []string{"lone", "marginal"} {
			s := prebleLecture(t, x.generator, 4, x.n, x.rate, func(p *router.Preble) { p.Rebalance, p.DecodeCharge = true, charge })
			t.Logf("%s at %.1f/s, %s: L/P %.0f, L/M %.0f", x.generator, x.rate, charge, s.load/s.prefill, s.load/s.evict)
			if s.load < 20*s.prefill || s.load < 20*s.evict {
				t.Errorf("%s at %.1f/s, %s: L is %.0f times P and %.0f times M, want 20 times both", x.generator, x.rate, charge, s.load/s.prefill, s.load/s.evict)
			}
		}
	}
}

// hotPrefix makes requests for prefixes of 2,000 tokens, of which the first has 60 %.
func hotPrefix(t *testing.T, n int, rate float64, replication int) *workload.Workload {
	t.Helper()
	var b workload.Builder
	s := rng.New(7, replication, "hot")
	at := 0.0
	for range n {
		at += s.Exp() / rate
		r := workload.Request{ArrivalUs: int64(at * 1e6), After: workload.None, Session: workload.None, OutputID: workload.None,
			Output: int32(20 + s.IntN(40)), Prompt: int32(2200 + s.IntN(200)), Segments: []workload.Segment{{ID: 1, Tokens: 2000}}}
		if s.Float64() >= .6 {
			r.Segments[0].ID = 2 + int64(s.IntN(100))
		}
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

// Where one prefix has 60 % of the traffic of eight replicas rebalancing alone
// stops at a few of them: it looks at the most loaded replica alone, which is
// seldom the one that is about to be exploited. Autoscaling goes on.
func TestPrebleHotPrefix(t *testing.T) {
	run := func(rebalance, autoscale bool) (mean, share float64) {
		for rep := 1; rep <= 3; rep++ {
			p := policy(t, "preble").(*router.Preble)
			p.Rebalance, p.Autoscale, p.WindowS, p.Pairing = rebalance, autoscale, 10, "none"
			var sim Sim
			r, err := sim.Run(a6000(t, 8, nil), hotPrefix(t, 20000, 90, rep), "preble", p, 1, rep)
			if err != nil {
				t.Fatal(err)
			}
			m, _, s := latencies(r, 8)
			mean += m / 3
			share += s / 3
		}
		return mean, share
	}
	e2, all := run(false, false)
	rebalance, most := run(true, false)
	both, least := run(true, true)
	t.Logf("E2 %.2f s with %.3f of the requests on one replica; rebalancing %.2f s, %.3f; autoscaling too %.2f s, %.3f", e2, all, rebalance, most, both, least)
	if all < .55 || rebalance > e2/2 {
		t.Errorf("E2 puts %.3f on one replica and takes %.2f s, want .6 and rebalancing to halve that: %.2f s", all, e2, rebalance)
	}
	if both > rebalance/3 || least >= most {
		t.Errorf("autoscaling takes %.2f s with a share of %.3f, want less than a third of %.2f s and a smaller share than %.3f", both, least, rebalance, most)
	}
}

// Both routers go with every order of Preble's local scheduler and every delay
// of its notices.
func TestPrebleLocal(t *testing.T) {
	w := generated(t, "lecture-video", 400, 6, 1)
	for _, order := range []string{"priority-groups", "fcfs-mpq", "fcfs"} {
		for _, name := range []string{"preble", "preble-code"} {
			for _, notice := range []float64{-1, 0, 10, 1000} {
				e := new(engine.Preble)
				param.Defaults(e)
				e.Order = order
				c := a6000(t, 4, nil)
				c.Engine, c.KVTokens, c.Sight.NoticeMs = e, 60000, notice
				var sim Sim
				r, err := sim.Run(c, w, name, policy(t, name), 1, 1)
				if err != nil {
					t.Fatal(err)
				}
				for id, status := range r.Status {
					if status != Finished {
						t.Fatalf("%s with %s and notices after %.0f ms: request %d has status %v", name, order, notice, id, status)
					}
				}
			}
		}
	}
}
