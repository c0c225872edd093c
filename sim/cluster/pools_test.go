package cluster

import (
	"slices"
	"strings"
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/rng"
	"switchyard/sim/router"
	"switchyard/sim/workload"
)

// graph makes questions that go through a graph of calls: two at once on pool
// 0, and one on pool 1 that waits for both.
func graph(t *testing.T, questions int) *workload.Workload {
	t.Helper()
	var b workload.Builder
	s := rng.New(3, 1, "graph")
	at := int64(0)
	for q := range int32(questions) {
		at += int64(s.IntN(8000))
		for k := range int32(3) {
			r := workload.Request{
				ArrivalUs: at, After: workload.None, Session: int64(q), OutputID: workload.None,
				Prompt: int32(100 + s.IntN(400)), Output: int32(1 + s.IntN(20)),
			}
			if k == 1 {
				r.Prompt += 300
			}
			if k == 2 {
				r.After, r.Also, r.Pool, r.ThinkUs = 3*q, []int32{3*q + 1}, 1, 500
			}
			if err := b.Add(&r); err != nil {
				t.Fatal(err)
			}
		}
	}
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestPoolsAndJoins(t *testing.T) {
	w := graph(t, 150)
	for _, p := range router.Policies() {
		name := p.Name
		if name == "recorded" {
			continue
		}
		for _, scheduler := range engine.Schedulers() {
			c := config(5, 9000, nil)
			c.Engine = engineParams(t, scheduler.Name)
			c.Pools = []Pool{{3, linear{}, 9000}, {2, slowed{linear{}, 2}, 5000}}
			c.Sight = router.Sight{Instances: 2}
			var sim Sim
			r, err := sim.Run(c, w, name, policy(t, name), 1, 1)
			if err != nil {
				t.Fatal(err)
			}
			used := map[int32]bool{}
			for id := range int32(w.Len()) {
				used[r.Replica[id]] = true
				if on := r.Replica[id]; r.Status[id] != Finished || (id%3 == 2) != (on >= 3) {
					t.Fatalf("%s: request %d is %v on replica %d", name, id, r.Status[id], on)
				}
				if want := max(r.FinishNs[id/3*3], r.FinishNs[id/3*3+1]) + 500_000; id%3 == 2 && r.ArrivalNs[id] != want {
					t.Fatalf("%s: request %d comes at %d, want %d: when both that it waits for have ended", name, id, r.ArrivalNs[id], want)
				}
			}
			if len(used) != 5 && name != "consistent-hash" && name != "aibrix-vtc-basic" { // whose users have had too little to leave the first replica
				t.Errorf("%s: replicas %v are used", name, used)
			}
		}
	}
}

// One pool is as none.
func TestOnePoolIsNone(t *testing.T) {
	w := random(t, rng.New(4, 1, "pool"), 300, true)
	c := config(3, 9000, nil)
	x, err := new(Sim).Run(c, w, "cache-aware", policy(t, "cache-aware"), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	c.Pools = []Pool{{3, linear{}, 9000}}
	y, err := new(Sim).Run(c, w, "cache-aware", policy(t, "cache-aware"), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x.FinishNs, y.FinishNs) || !slices.Equal(x.Replica, y.Replica) {
		t.Error("a cluster of one pool is another than one without")
	}
}

func TestBadPools(t *testing.T) {
	w := graph(t, 2)
	for want, pools := range map[string][]Pool{
		"asks for pool 1, expected one of 0 to 0": nil,
		"pools have 4 replicas, expected the 5":   {{2, linear{}, 10}, {2, linear{}, 10}},
		"pool 1 has 0 replicas":                   {{5, linear{}, 10}, {0, linear{}, 10}},
	} {
		c := config(5, 9000, nil)
		c.Pools = pools
		if _, err := new(Sim).Run(c, w, "random", policy(t, "random"), 1, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one that says %q", err, want)
		}
	}
	var b workload.Builder
	if err := b.Add(&workload.Request{Also: []int32{0}, After: workload.None, Prompt: 1, Output: 1, OutputID: workload.None}); err == nil {
		t.Error("a request may wait for itself")
	}
}

// A pool beside another that nobody asks for is a cluster of its own: whatever a
// router compares, it does not look at replicas that it never sends to.
func TestPoolIsACluster(t *testing.T) {
	w := random(t, rng.New(12, 1, "alone"), 900, true)
	second := *w
	second.Pool = slices.Repeat([]int32{1}, w.Len())
	half := slices.Max(w.ArrivalUs) * 500
	run := func(p router.Policy, instances, first int, pools []Pool, w *workload.Workload) *Result {
		c := config(3, 4000, nil)
		if c.Pools = pools; pools != nil {
			c.Replicas = 7
		}
		c.Events = []Event{{Kind: Fail, Replica: first + 1, AtNs: half / 2, BackNs: half, Retry: true}}
		c.Sight = router.Sight{Instances: instances}
		params := policy(t, p.Name)
		switch g := params.(type) { // so that the guards act
		case *router.SGLangCacheAware:
			g.BalanceAbs, g.BalanceRatio = 2, 1.1
		case *router.VLLMRouterCacheAware:
			g.BalanceAbs = 2
		}
		r, err := new(Sim).Run(c, w, p.Name, params, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	three, four := Pool{3, linear{}, 4000}, Pool{4, linear{}, 4000}
	drawless := []string{"round-robin", "sglang-cache-aware", "vllm-router-cache-aware", "sglang-bucket", "vllm-dp", "vllm-router-smetric", "smg-least-load"}
	for _, p := range router.Policies() {
		if p.Name == "recorded" {
			continue
		}
		for _, instances := range []int{1, 2} {
			alone := run(p, instances, 0, nil, w)
			beside := run(p, instances, 0, []Pool{three, four}, w)
			if !slices.Equal(alone.Replica, beside.Replica) || !slices.Equal(alone.FinishNs, beside.FinishNs) {
				t.Errorf("%s, %d routers: requests go elsewhere because of replicas in a second pool", p.Name, instances)
			}
			if !slices.Contains(drawless, p.Name) {
				continue
			}
			behind := run(p, instances, 4, []Pool{four, three}, &second)
			for id, to := range alone.Replica {
				if behind.Replica[id] != to+4 {
					t.Fatalf("%s, %d routers: request %d goes to %d of the second pool, want %d", p.Name, instances, id, behind.Replica[id]-4, to)
				}
			}
		}
	}
}
