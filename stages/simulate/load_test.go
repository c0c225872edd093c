package simulate

import (
	"reflect"
	"testing"

	"switchyard/sim/cluster"
	"switchyard/sim/engine"
	"switchyard/sim/hardware"
	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/router"
	"switchyard/sim/workload"
	"switchyard/stages/experiment"
)

// documents is a small workload in the manner of long documents; closed makes
// every second request wait for the one before.
func documents(t testing.TB, n int, closed bool) *workload.Workload {
	t.Helper()
	r := rng.New(5, 1, "documents")
	b := workload.Builder{}
	now := 0.0
	for i := range n {
		now += r.Exp() * 5e5
		q := workload.Request{
			ArrivalUs: int64(now), After: workload.None, Session: workload.None, OutputID: workload.None,
			Prompt: int32(6013 + r.IntN(2000)), Output: int32(1 + r.IntN(20)),
			Segments: []workload.Segment{{ID: 1, Tokens: 13}, {ID: int64(10 + r.IntN(60)), Tokens: 6000}},
		}
		if closed && i%2 == 1 {
			q.After, q.ThinkUs, q.ArrivalUs = int32(i-1), int64(r.IntN(3e6)), workload.None
		}
		if err := b.Add(&q); err != nil {
			t.Fatal(err)
		}
	}
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// smallCluster is two replicas of Mistral-7B whose caches hold a few documents.
func smallCluster(t testing.TB) cluster.Config {
	t.Helper()
	gpu, _ := hardware.FindGPU("a6000")
	model, _ := hardware.FindModel("mistral-7b")
	var p hardware.RooflineParams
	param.Defaults(&p)
	step, err := hardware.NewRoofline(gpu, model, 1, p)
	if err != nil {
		t.Fatal(err)
	}
	scheduler := new(engine.Lecture)
	param.Defaults(scheduler)
	return cluster.Config{Replicas: 2, Step: step, KVTokens: 60000, Engine: scheduler}
}

func simulated(t testing.TB, sim *cluster.Sim, c cluster.Config, w *workload.Workload, policy string) *cluster.Result {
	t.Helper()
	p, ok := router.Find(policy)
	if !ok {
		t.Fatalf("no policy %s", policy)
	}
	params := p.New()
	param.Defaults(params)
	res, err := sim.Run(c, w, policy, params, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestRecut: what Measure says of a run, and of the rows that the run left, is
// the same to the bit, under any cut.
func TestRecut(t *testing.T) {
	var sim cluster.Sim
	var a, b Meter
	for _, closed := range []bool{false, true} {
		for _, policy := range []string{"round-robin", "cache-aware"} {
			w := documents(t, 300, closed)
			c := smallCluster(t)
			if closed {
				c.KVTokens = 7000 // some requests can never fit
			}
			res := simulated(t, &sim, c, w, policy)
			a.load(w, res)
			a.Measure(0, experiment.SLO{})
			rows := appendRequests(nil, 3, &a, 1)
			if len(rows) != w.Len() {
				t.Fatalf("%d rows of %d requests", len(rows), w.Len())
			}
			b.Rows(rows, int32(c.Replicas))
			for _, warmUp := range []float64{0, 0.2, 0.5} {
				slo := experiment.SLO{TTFTMs: 2000, TPOTMs: 50}
				x, y := a.Measure(warmUp, slo), b.Measure(warmUp, slo)
				if !same(x, y) {
					t.Errorf("closed %v, %s, warm-up %v: the run gives\n%+v\nits rows\n%+v", closed, policy, warmUp, x, y)
				}
				if diff := differ(x, naive(rows, c.Replicas, warmUp, slo)); diff != "" {
					t.Errorf("closed %v, %s, warm-up %v: %s", closed, policy, warmUp, diff)
				}
			}
			checkLaws(t, rows, closed)
		}
	}
}

// same reports whether two metrics are equal, NaN included.
func same(a, b Metrics) bool {
	var ca, cb Cell
	ca.SetMetrics(&a)
	cb.SetMetrics(&b)
	return reflect.DeepEqual(ca, cb)
}

func checkLaws(t *testing.T, rows []Request, wantRejected bool) {
	t.Helper()
	rejected := 0
	for _, r := range rows {
		switch {
		case r.Status == "rejected":
			rejected++
			if r.StartedUs != nil || r.FinishedUs != nil || r.E2EUs != nil {
				t.Fatalf("request %d was rejected and has times", r.Request)
			}
		case r.Status != "finished":
			t.Fatalf("request %d is %s", r.Request, r.Status)
		case r.ArrivalUs > *r.StartedUs || *r.StartedUs > *r.FirstTokenUs || *r.FirstTokenUs > *r.FinishedUs:
			t.Fatalf("request %d: arrival, start, first token and finish are out of order", r.Request)
		case *r.TTFTUs != *r.FirstTokenUs-r.ArrivalUs || *r.E2EUs != *r.FinishedUs-r.ArrivalUs:
			t.Fatalf("request %d: latencies do not fit its times", r.Request)
		case r.CachedTokens > r.UnlimitedTokens || r.UnlimitedTokens > r.DispatchedTokens:
			t.Fatalf("request %d: %d cached, %d unlimited, %d dispatched tokens, expected them to increase", r.Request, r.CachedTokens, r.UnlimitedTokens, r.DispatchedTokens)
		}
	}
	if (rejected > 0) != wantRejected {
		t.Errorf("%d requests were rejected", rejected)
	}
}

// TestState checks the columns from the replicas against the requests: the
// averages of waiting and present requests add up, and busy time is bounded.
func TestState(t *testing.T) {
	var sim cluster.Sim
	var m Meter
	w, c := documents(t, 300, false), smallCluster(t)
	c.Cut = CutAt(0.2, w.Len())
	res := simulated(t, &sim, c, w, "least-requests")
	m.load(w, res)
	metrics := m.Measure(0.2, experiment.SLO{})
	cell := Cell{KVCapacity: c.KVTokens}
	cell.SetMetrics(&metrics)
	cell.setState(res, 0.5)
	rows := appendReplicas(nil, 0, res)
	var queue, system, requests float64
	for _, r := range rows {
		queue += *r.QueueMean
		system += *r.SystemMean
		requests += float64(r.Requests)
		if r.KVPeakTokens > c.KVTokens || *r.KVMeanTokens > float64(r.KVPeakTokens) || *r.Utilisation > 1 {
			t.Errorf("replica %d: KV mean %v, peak %d of %d, utilisation %v", r.Replica, *r.KVMeanTokens, r.KVPeakTokens, c.KVTokens, *r.Utilisation)
		}
	}
	near := func(name string, got, want float64) {
		t.Helper()
		if d := got - want; d > 1e-3*want || d < -1e-3*want {
			t.Errorf("%s is %v, expected %v", name, got, want)
		}
	}
	near("requests", requests, float64(w.Len()))
	near("requests waiting, summed over replicas", queue, *cell.QueueMean)
	near("requests in the system, summed over replicas", system, *cell.SystemMean)
	near("utilisation", *cell.Utilisation, (*rows[0].Utilisation+*rows[1].Utilisation)/2)
	if *cell.HitRate > *cell.HitCeiling || *cell.Duplication < 1 || *cell.KVPeak > 1 || *cell.LoadImbalance < 1 {
		t.Errorf("hit rate %v of %v, duplication %v, KV peak %v, imbalance %v", *cell.HitRate, *cell.HitCeiling, *cell.Duplication, *cell.KVPeak, *cell.LoadImbalance)
	}
	if lost := *cell.HitCeiling - *cell.HitRate - *cell.LostToRouting - *cell.LostToEviction; lost > 1e-12 || lost < -1e-12 {
		t.Errorf("ceiling, hits and losses leave %v, expected 0", lost)
	}
}

func TestSample(t *testing.T) {
	var sim cluster.Sim
	var m Meter
	w := documents(t, 2000, false)
	m.load(w, simulated(t, &sim, smallCluster(t), w, "random"))
	m.Measure(0, experiment.SLO{})
	if rows := appendRequests(nil, 0, &m, 0); len(rows) != 0 {
		t.Errorf("a share of 0 keeps %d requests", len(rows))
	}
	small, large := appendRequests(nil, 0, &m, 0.05), appendRequests(nil, 0, &m, 0.2)
	if len(small) < 70 || len(small) > 130 || len(large) < 330 || len(large) > 470 {
		t.Errorf("shares of 0.05 and 0.2 keep %d and %d of 2000 requests", len(small), len(large))
	}
	in := map[int32]bool{}
	for _, r := range large {
		in[r.Request] = true
	}
	for _, r := range small {
		if !in[r.Request] {
			t.Fatalf("request %d is in the smaller sample alone", r.Request)
		}
	}
}

// BenchmarkCell measures a whole cell without writing: simulation, then
// loading and measuring.
func BenchmarkCell(b *testing.B) {
	w, c := documents(b, 5000, false), smallCluster(b)
	c.Replicas = 8
	var sim cluster.Sim
	var m Meter
	res := simulated(b, &sim, c, w, "cache-aware")
	b.Run("simulate", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			simulated(b, &sim, c, w, "cache-aware")
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(w.Len()), "ns/request")
	})
	b.Run("measure", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			m.load(w, res)
			m.Measure(0.2, experiment.SLO{TTFTMs: 1000})
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(w.Len()), "ns/request")
	})
}
