package cluster

import (
	"fmt"
	"math"
	"testing"

	"switchyard/sim/engine"
)

// study is what 30 replications of a workload say about one router.
type study struct{ hit, latency, duplication, share float64 }

// lecture simulates n requests of a workload over 30 replications.
func lecture(t *testing.T, generator string, replicas, n int, rate float64, router string, change func(*engine.Lecture)) study {
	t.Helper()
	const replications = 30
	var s study
	var sim Sim
	c := a6000(t, replicas, change)
	for rep := 1; rep <= replications; rep++ {
		w := generated(t, generator, n, rate, rep)
		r, err := sim.Run(c, w, router, policy(t, router), 1, rep)
		if err != nil {
			t.Fatal(err)
		}
		var prompt, cached int64
		var latency float64
		for i := range n {
			prompt += int64(w.Prompt[i])
			cached += int64(r.Cached[i])
			latency += float64(r.FinishNs[i]-r.ArrivalNs[i]) * 1e-9
		}
		var most int64
		for _, stats := range r.Replicas {
			most = max(most, stats.Requests)
		}
		s.hit += float64(cached) / float64(prompt) / replications
		s.latency += latency / float64(n) / replications
		s.duplication += r.Duplication / replications
		s.share += float64(most) / float64(n) / replications
	}
	return s
}

// target is a figure of the reference simulator with its tolerance.
type target struct {
	name         string
	value        float64
	want, within float64
}

func (x target) met() bool { return math.Abs(x.value-x.want) <= x.within }

// documents are the targets for long documents: four replicas, 1 request/s,
// 1,000 requests, no warm-up cut, chunks of 1,024.
func documents(t *testing.T, change func(*engine.Lecture)) []target {
	rr := lecture(t, "lecture-documents", 4, 1000, 1, "round-robin", change)
	threshold := lecture(t, "lecture-documents", 4, 1000, 1, "prefix-threshold", change)
	aware := lecture(t, "lecture-documents", 4, 1000, 1, "cache-aware", change)
	return []target{
		{"round robin's hit rate", rr.hit, .317, .016},
		{"round robin's mean latency", rr.latency, 9.2, 1.4},
		{"round robin's duplication", rr.duplication, 1.35, .05},
		{"prefix-threshold's hit rate", threshold.hit, .564, .016},
		{"prefix-threshold's duplication", threshold.duplication, 1, .005},
		{"cache-aware's mean latency", aware.latency, 3.98, .28},
	}
}

func TestLectureDocuments(t *testing.T) {
	for _, x := range documents(t, nil) {
		t.Logf("%s: %.4f, target %.3f +- %.3f", x.name, x.value, x.want, x.within)
		if !x.met() {
			t.Errorf("%s is %.4f, want %.3f +- %.3f", x.name, x.value, x.want, x.within)
		}
	}
	// A system prompt common to all draws everything to one replica.
	affinity := lecture(t, "lecture-documents", 4, 1000, 1, "prefix-affinity", nil)
	if affinity.share < .9999 || affinity.latency < 500 {
		t.Errorf("prefix-affinity sends %.4f of the requests to one replica and takes %.1f s, want all and hundreds of seconds", affinity.share, affinity.latency)
	}
}

// The hit rate of documents does not depend on the number of replicas under
// round robin at an equal rate and number of requests a replica, and grows with
// it under affinity.
func TestLectureScale(t *testing.T) {
	low, high := 1.0, 0.0
	for _, c := range []struct {
		replicas int
		affinity float64
	}{{2, .445}, {4, .564}, {8, .676}} {
		n, rate := 250*c.replicas, float64(c.replicas)/4
		rr := lecture(t, "lecture-documents", c.replicas, n, rate, "round-robin", nil)
		low, high = min(low, rr.hit), max(high, rr.hit)
		if x := lecture(t, "lecture-documents", c.replicas, n, rate, "prefix-threshold", nil); math.Abs(x.hit-c.affinity) > .02 {
			t.Errorf("%d replicas hit %.4f under affinity, want %.3f +- .02", c.replicas, x.hit, c.affinity)
		}
	}
	if high-low > .03 {
		t.Errorf("round robin's hit rate spreads from %.4f to %.4f, want at most .03", low, high)
	}
}

// The hot tool: eight replicas, 70 requests/s, 6,000 requests.
func TestLectureHotTool(t *testing.T) {
	run := func(router string) study { return lecture(t, "lecture-hot-tool", 8, 6000, 70, router, nil) }
	rr, requests, tokens := run("round-robin"), run("least-requests"), run("least-tokens")
	best := min(rr.latency, requests.latency, tokens.latency)
	threshold, aware := run("prefix-threshold"), run("cache-aware")
	t.Logf("means: round robin %.3f s, least requests %.3f s, least tokens %.3f s, threshold %.3f s, cache-aware %.3f s with hit rate %.4f", rr.latency, requests.latency, tokens.latency, threshold.latency, aware.latency, aware.hit)
	if threshold.latency < 2*rr.latency {
		t.Errorf("prefix-threshold takes %.3f s, round robin %.3f s; want at least twice as much", threshold.latency, rr.latency)
	}
	if math.Abs(aware.hit-.84) > .02 {
		t.Errorf("cache-aware hits %.4f, want .84 +- .02", aware.hit)
	}
	if aware.latency >= best {
		t.Errorf("cache-aware takes %.3f s, the best load-only router %.3f s; want it faster", aware.latency, best)
	}
}

// Each wrong engine misses at least one of the targets for documents.
func TestWrongEngines(t *testing.T) {
	for name, change := range map[string]func(*engine.Lecture){
		"admits everything that fits":         func(p *engine.Lecture) { p.Admit = "memory" },
		"caches private questions":            func(p *engine.Lecture) { p.CachePrivate = true },
		"never evicts":                        func(p *engine.Lecture) { p.Evict = "none" },
		"reuses before the prefill has ended": func(p *engine.Lecture) { p.Ready = "admission" },
	} {
		missed := ""
		for _, x := range documents(t, change) {
			if !x.met() {
				missed += fmt.Sprintf("; %s is %.4f, not %.3f +- %.3f", x.name, x.value, x.want, x.within)
			}
		}
		if missed == "" {
			t.Errorf("an engine that %s meets all targets", name)
		}
		t.Logf("an engine that %s%s", name, missed)
	}
}
