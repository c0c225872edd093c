package cluster

import (
	"fmt"
	"slices"
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/rng"
	"switchyard/sim/router"
)

// spy is a policy that spreads requests at random and writes down what it sees.
type spy struct {
	reading router.Reading
	events  bool
	seen    *[]seen
	more    func(id int32, v *router.View)
}

// seen is what a router saw at one decision.
type seen struct {
	id       int32
	now      int64
	chosen   int
	requests []int32
	gauges   []router.Gauge
}

func (s *spy) Reads() router.Reading { return s.reading }
func (s *spy) WantsEvents() bool     { return s.events }
func (s *spy) Build(e router.Env) router.Router {
	return &spying{s, e.Random}
}

type spying struct {
	*spy
	stream *rng.Stream
}

func (s *spying) Route(id int32, v *router.View) int {
	chosen := int(v.Up[s.stream.IntN(len(v.Up))])
	if s.more != nil {
		s.more(id, v)
	}
	*s.seen = append(*s.seen, seen{id, v.NowNs, chosen, slices.Clone(v.Requests), slices.Clone(v.Gauges)})
	return chosen
}

// history answers what was so at a time, from what a run has left.
type history struct {
	*Result
	log []seen
}

// requests counts the requests on a replica: dispatched before a time (or in
// one of the first n decisions, where n is not negative) and not left by then.
func (h *history) requests(replica int, at int64, n int, keep func(int32) bool) (all, unstarted int32) {
	for i, d := range h.log {
		before := d.now < at
		if n >= 0 {
			before = i < n
		}
		if !before || d.chosen != replica || h.FinishNs[d.id] <= at || keep != nil && !keep(d.id) {
			continue
		}
		all++
		if h.FirstNs[d.id] < 0 || h.FirstNs[d.id] > at {
			unstarted++
		}
	}
	return all, unstarted
}

// Every source of loads is what a look into the run's history says.
func TestLoads(t *testing.T) {
	const period = int64(20e6)
	for _, loads := range []string{"policy", "local", "live", "polled", "corrected"} {
		for _, instances := range []int{1, 3} {
			w := random(t, rng.New(5, instances, "loads"), 400, false)
			var log []seen
			s := &spy{reading: router.Reading{On: true, PeriodNs: period}, seen: &log}
			c := config(3, 9000, nil)
			c.Sight = router.Sight{Loads: loads, Instances: instances}
			var sim Sim
			r, err := sim.Run(c, w, "spy", s, 1, 1)
			if err != nil {
				t.Fatal(err)
			}
			h := &history{Result: r, log: log}
			checkLoads(t, fmt.Sprint(loads, " ", instances), h, loads, instances, period)
		}
	}
}

func checkLoads(t *testing.T, name string, h *history, loads string, instances int, period int64) {
	t.Helper()
	differ := 0 // decisions at which the two ways to count differ
	for k, d := range h.log {
		own := func(id int32) bool { return int(id)%instances == int(d.id)%instances }
		polled := d.now / period * period
		for i, g := range d.gauges {
			mine, unstarted := h.requests(i, d.now, k, own)
			live, waiting := h.requests(i, d.now, k, nil)
			read, _ := h.requests(i, polled, -1, nil)
			since := int32(0)
			for _, e := range h.log[:k] {
				if e.now >= polled && e.chosen == i && own(e.id) {
					since++
				}
			}
			want, wantGauge := mine, read
			switch loads {
			case "live":
				want, wantGauge = live, live
			case "polled":
				want = read
			case "corrected":
				want, wantGauge = read+since, read+since
			case "local":
				wantGauge = mine
				if g.Waiting != unstarted || g.Running != mine-unstarted {
					t.Fatalf("%s: request %d sees %+v on replica %d, want %d of %d without a first token", name, d.id, g, i, unstarted, mine)
				}
			}
			if read != live {
				differ++
			}
			if d.requests[i] != want || g.Requests != wantGauge {
				t.Fatalf("%s: request %d at %d sees %d requests and %+v on replica %d, want %d and %d", name, d.id, d.now, d.requests[i], g, i, want, wantGauge)
			}
			if loads == "live" && (g.Waiting+g.Running != live || g.Waiting > waiting) {
				t.Fatalf("%s: request %d sees %+v on replica %d, want %d in all, %d without a first token", name, d.id, g, i, live, waiting)
			}
			if (g.Prefill == 0) != (waiting == 0) && loads == "live" {
				t.Fatalf("%s: request %d sees %d tokens to prefill on replica %d and %d requests without a first token", name, d.id, g.Prefill, i, waiting)
			}
		}
	}
	if differ < 50 {
		t.Errorf("%s: polls are as good as live in all but %d places, so that this shows nothing", name, differ)
	}
}

// snapshot is all that the caches hold at a time.
type snapshot struct {
	now  int64
	held []int32
}

// Cache events tell what was cached their delay ago; lost ones tell nothing.
func TestEvents(t *testing.T) {
	for _, scheduler := range []string{"lecture", "vllm-v1"} {
		for _, delayMs := range []float64{0, 30} {
			w := random(t, rng.New(6, 1, "events"), 500, false)
			c := config(3, 1500, nil)
			if scheduler == "vllm-v1" {
				c.Engine = engineParams(t, scheduler)
			}
			c.Sight = router.Sight{EventDelayMs: delayMs}
			var log []seen
			var told, truth []snapshot
			s := &spy{events: true, seen: &log, more: func(id int32, v *router.View) {
				told = append(told, snapshot{v.NowNs, matches(v, func(leaf int32, dst []int32) { v.Events.Match(leaf, dst) })})
				truth = append(truth, snapshot{v.NowNs, matches(v, func(leaf int32, dst []int32) {
					for i := range dst {
						dst[i] = v.Cache.Match(i, leaf)
					}
				})})
			}}
			var sim Sim
			r, err := sim.Run(c, w, "spy", s, 1, 1)
			if err != nil {
				t.Fatal(err)
			}
			evicted := int64(0)
			for _, x := range r.Replicas {
				evicted += x.Evicted
			}
			checked := 0
			for i, x := range told {
				at := x.now - int64(delayMs*1e6)
				j, _ := slices.BinarySearchFunc(truth, at+1, func(s snapshot, at int64) int { return int(s.now - at) })
				if delayMs == 0 {
					j = i + 1
				} else if j == 0 || j == len(truth) || !slices.Equal(truth[j-1].held, truth[j].held) {
					continue // something changed around that time
				}
				checked++
				if !slices.Equal(x.held, truth[j-1].held) {
					t.Fatalf("%s, delay %v ms: decision %d at %d is told of other caches than those at %d", scheduler, delayMs, i, x.now, at)
				}
			}
			if checked < 30 || evicted == 0 {
				t.Errorf("%s, delay %v ms: %d decisions checked and %d tokens evicted, which shows little", scheduler, delayMs, checked, evicted)
			}
		}
	}
}

// matches lists the prompt tokens of every leaf that each replica has cached.
func matches(v *router.View, match func(leaf int32, dst []int32)) (all []int32) {
	dst := make([]int32, v.Replicas)
	for n := range int32(v.Work.Forest.Nodes()) {
		match(n, dst)
		all = append(all, dst...)
	}
	return all
}

func TestEventsAreLost(t *testing.T) {
	w := random(t, rng.New(6, 1, "events"), 500, false)
	for loss, want := range map[float64]func(told, held int) bool{
		1:  func(told, _ int) bool { return told == 0 },
		.3: func(told, held int) bool { return told > 0 && told != held },
	} {
		c := config(3, 1500, nil)
		c.Sight = router.Sight{EventLoss: loss}
		told, held := 0, 0
		var log []seen
		dst := make([]int32, 3)
		s := &spy{events: true, seen: &log, more: func(id int32, v *router.View) {
			v.Events.Match(v.Work.Leaf[id], dst)
			for i, x := range dst {
				told += int(x)
				held += int(v.Cache.Match(i, v.Work.Leaf[id]))
			}
		}}
		var sim Sim
		if _, err := sim.Run(c, w, "spy", s, 1, 1); err != nil {
			t.Fatal(err)
		}
		if !want(told, held) || held == 0 {
			t.Errorf("with %v of the events lost the router is told of %d tokens, %d are there", loss, told, held)
		}
	}
}

// A router that takes a while decides one request after another; its time is
// part of the latency.
func TestServiceTime(t *testing.T) {
	w := random(t, rng.New(7, 1, "service"), 200, false)
	var log []seen
	c := config(2, 9000, nil)
	c.Sight = router.Sight{ServiceUs: 5000, Instances: 2}
	var sim Sim
	r, err := sim.Run(c, w, "spy", &spy{seen: &log}, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	free := [2]int64{}
	decided := map[int32]int64{}
	for _, d := range log {
		decided[d.id] = d.now
	}
	for id := range int32(w.Len()) {
		own := &free[id%2]
		*own = max(*own, w.ArrivalUs[id]*1000) + 5e6
		if decided[id] != *own {
			t.Fatalf("request %d is decided on at %d, want %d", id, decided[id], *own)
		}
		if r.ArrivalNs[id] != w.ArrivalUs[id]*1000 || r.StartNs[id] < *own {
			t.Fatalf("request %d arrives at %d and starts at %d", id, r.ArrivalNs[id], r.StartNs[id])
		}
	}
}

// strict is a policy that keeps requests back until all others have left.
type strict struct {
	kept []int32
	busy bool
}

func (s *strict) Build(router.Env) router.Router { return &strict{} }
func (s *strict) Route(id int32, _ *router.View) int {
	if s.busy {
		s.kept = append(s.kept, id)
		return router.Hold
	}
	s.busy = true
	return 0
}
func (s *strict) FirstToken(int32, int, *router.View) {}
func (s *strict) Left(int32, int, *router.View)       { s.busy = false }
func (s *strict) Next(*router.View) int32 {
	if s.busy || len(s.kept) == 0 {
		return -1
	}
	id := s.kept[0]
	s.kept = s.kept[1:]
	return id
}

func TestHold(t *testing.T) {
	w := random(t, rng.New(8, 1, "hold"), 100, false)
	var sim Sim
	r, err := sim.Run(config(1, 9000, nil), w, "strict", &strict{}, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for id := 1; id < w.Len(); id++ {
		if want := max(r.ArrivalNs[id], r.FinishNs[id-1]); r.StartNs[id] != want {
			t.Fatalf("request %d starts at %d, want %d: when it has come and the one before has left", id, r.StartNs[id], want)
		}
	}
}

func engineParams(t *testing.T, name string) engine.Params {
	t.Helper()
	s, ok := engine.FindScheduler(name)
	if !ok {
		t.Fatalf("no scheduler %s", name)
	}
	p := s.New()
	defaults(p)
	return p
}
