package cluster

import (
	"slices"
	"strings"
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/router"
)

func defaults(p engine.Params) { param.Defaults(p) }

// Replicas that fail, drain and come take requests only while they are up, and
// every request ends in one way.
func TestReplicasComeAndGo(t *testing.T) {
	for _, scheduler := range engine.Schedulers() {
		for _, retry := range []bool{true, false} {
			w := random(t, rng.New(9, 1, "events"), 600, true)
			c := config(4, 9000, nil)
			c.Engine = engineParams(t, scheduler.Name)
			half := slices.Max(w.ArrivalUs) * 500
			c.Events = []Event{
				{Kind: Fail, Replica: 0, AtNs: half / 2, BackNs: half, Retry: retry},
				{Kind: Drain, Replica: 1, AtNs: half},
				{Kind: Join, Replica: 2, AtNs: half / 3},
				{Kind: Slow, Replica: 3, Factor: 3},
			}
			var log []seen
			up := func(replica int, now int64) bool {
				switch replica {
				case 0:
					return now < half/2 || now >= half
				case 1:
					return now < half
				case 2:
					return now >= half/3
				}
				return true
			}
			spy := &spy{seen: &log, more: func(id int32, v *router.View) {
				for i := range v.Replicas {
					if slices.Contains(v.Up, int32(i)) != up(i, v.NowNs) {
						t.Fatalf("%s: at %d replicas %v are up", scheduler.Name, v.NowNs, v.Up)
					}
				}
			}}
			var sim Sim
			r, err := sim.Run(c, w, "spy", spy, 1, 1)
			if err != nil {
				t.Fatal(err)
			}
			lost, routed := 0, map[int32]int{}
			for _, d := range log {
				routed[d.id]++
			}
			for id, status := range r.Status {
				switch status {
				case Lost:
					lost++
					if r.FinishNs[id] != half/2 || r.FirstNs[id] != -1 {
						t.Fatalf("request %d is lost at %d with a first token at %d", id, r.FinishNs[id], r.FirstNs[id])
					}
				case Finished:
					if r.FinishNs[id] < r.FirstNs[id] || r.FirstNs[id] < r.StartNs[id] || r.StartNs[id] < r.ArrivalNs[id] {
						t.Fatalf("%s: request %d goes backwards in time", scheduler.Name, id)
					}
				default:
					t.Fatalf("%s: request %d ends as %v", scheduler.Name, id, status)
				}
			}
			again := 0
			for _, n := range routed {
				if n > 1 {
					again++
				}
			}
			if retry && (lost > 0 || again == 0) || !retry && (lost == 0 || again > 0) {
				t.Errorf("%s, retry %v: %d requests lost, %d routed again", scheduler.Name, retry, lost, again)
			}
			for i, n := range sim.front.requests {
				if n != 0 || sim.front.tokens[i] != 0 {
					t.Errorf("%s: at the end replica %d has %d requests of %d tokens on the books", scheduler.Name, i, n, sim.front.tokens[i])
				}
			}
		}
	}
}

// A replica that comes back after a failure has an empty cache, and the run
// from then on is that of a fresh one.
func TestRestartIsEmpty(t *testing.T) {
	for _, scheduler := range engine.Schedulers() {
		w := random(t, rng.New(10, 1, "restart"), 300, false)
		c := config(1, 3000, nil)
		c.Engine = engineParams(t, scheduler.Name)
		at := w.ArrivalUs[150]*1000 - 1
		c.Events = []Event{{Kind: Fail, AtNs: at, BackNs: at + 1}}
		var sim Sim
		r, err := sim.Run(c, w, "least-requests", policy(t, "least-requests"), 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status[150] != Finished || r.Cached[150] != 0 {
			t.Errorf("%s: the first request after a restart finds %d tokens cached", scheduler.Name, r.Cached[150])
		}
		fresh := make([]int32, 0, 150)
		for id := 150; id < 300; id++ {
			fresh = append(fresh, r.Cached[id])
		}
		c.Events = []Event{{Kind: Join, AtNs: at + 1}}
		s, err := new(Sim).Run(c, w, "least-requests", policy(t, "least-requests"), 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		for id := range 150 {
			if s.Status[id] != Rejected || s.Replica[id] != None {
				t.Fatalf("%s: request %d ends as %v on replica %d before any replica has come", scheduler.Name, id, s.Status[id], s.Replica[id])
			}
		}
		if !slices.Equal(fresh, s.Cached[150:]) || !slices.Equal(r.FinishNs[150:], s.FinishNs[150:]) {
			t.Errorf("%s: a replica that was started anew differs from a new one", scheduler.Name)
		}
	}
}

// What is said of a request that no replica takes is the same whatever the Sim
// ran before.
func TestNoReplicaTakesLeavesNothingBehind(t *testing.T) {
	w := random(t, rng.New(11, 1, "nobody"), 200, false)
	c := config(2, 9000, nil)
	var used Sim
	if _, err := used.Run(c, w, "random", policy(t, "random"), 1, 1); err != nil {
		t.Fatal(err)
	}
	last := slices.Max(w.ArrivalUs) * 1000
	c.Events = []Event{{Kind: Fail, Replica: 0, AtNs: last / 2, Retry: true}, {Kind: Fail, Replica: 1, AtNs: last / 2, Retry: true}}
	r, err := used.Run(c, w, "random", policy(t, "random"), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	rejected := 0
	for id, status := range r.Status {
		if status != Rejected {
			continue
		}
		rejected++
		if r.Replica[id] != None || r.Best[id] != 0 || r.Dispatched[id] != 0 || r.Believed[id] != -1 {
			t.Fatalf("request %d is on replica %d with best %d, dispatched %d, believed %d; want none, 0, 0, -1", id, r.Replica[id], r.Best[id], r.Dispatched[id], r.Believed[id])
		}
	}
	if rejected == 0 {
		t.Error("replicas take all requests after they have failed")
	}
}

// Requests that a router keeps back are rejected when all replicas have gone, as
// those that arrive then are.
func TestKeptBackWhenAllHaveGone(t *testing.T) {
	w := random(t, rng.New(13, 1, "kept"), 300, false)
	last := slices.Max(w.ArrivalUs) * 1000
	for _, kind := range []EventKind{Fail, Drain} {
		c := config(2, 9000, nil)
		c.Step = slowed{linear{}, 100}
		c.Events = []Event{{Kind: kind, Replica: 0, AtNs: last / 3}, {Kind: kind, Replica: 1, AtNs: last / 2}}
		p := policy(t, "dynamo-kv")
		p.(*router.DynamoKV).QueueThreshold, p.(*router.DynamoKV).BatchTokens = 1, 1
		r, err := new(Sim).Run(c, w, "dynamo-kv", p, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		kept := 0
		for id, status := range r.Status {
			if status == Rejected && r.ArrivalNs[id] < last/2 {
				kept++
				if r.FinishNs[id] != last/2 {
					t.Fatalf("request %d is rejected at %d, want %d: when the last replica goes", id, r.FinishNs[id], last/2)
				}
			}
		}
		if kept == 0 {
			t.Error("no request was kept back")
		}
	}
}

func TestBadEvents(t *testing.T) {
	w := random(t, rng.New(1, 1, "bad"), 5, false)
	for want, e := range map[string]Event{
		"names replica 7, expected one of 0 to 1": {Kind: Fail, Replica: 7},
		"comes back at 1.000 s, before it goes":   {Kind: Fail, AtNs: 2e9, BackNs: 1e9},
	} {
		c := config(2, 1000, nil)
		c.Events = []Event{e}
		if _, err := new(Sim).Run(c, w, "random", policy(t, "random"), 1, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one that %s", err, want)
		}
	}
}
