package cluster

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/param"
	"switchyard/sim/rng"
	"switchyard/sim/router"
	"switchyard/sim/workload"
)

// linear is a step model with round figures: 1 ms a step, 10 us a prefill
// token, 10 ns a token of context.
type linear struct{}

func (linear) StepNs(b engine.Batch) int64 { return 1e6 + 10000*b.Prefill + 10*b.Context }

// assigned is a router that follows a list.
type assigned []int

func (a assigned) Build(router.Env) router.Router     { return a }
func (a assigned) Route(id int32, _ *router.View) int { return a[id] }

func config(replicas int, capacity int64, change func(*engine.Lecture)) Config {
	p := new(engine.Lecture)
	param.Defaults(p)
	if change != nil {
		change(p)
	}
	return Config{Replicas: replicas, Step: linear{}, KVTokens: capacity, Engine: p}
}

func policy(t testing.TB, name string) router.Params {
	t.Helper()
	p, ok := router.Find(name)
	if !ok {
		t.Fatalf("no policy %s", name)
	}
	params := p.New()
	param.Defaults(params)
	return params
}

// random makes a workload of documents with a common system prompt; with closed
// every second request waits for an earlier one.
func random(t testing.TB, s *rng.Stream, n int, closed bool) *workload.Workload {
	t.Helper()
	var b workload.Builder
	at := int64(0)
	for i := range n {
		at += int64(s.IntN(6000))
		doc := int64(s.IntN(1 + s.IntN(20)))
		r := workload.Request{
			ArrivalUs: at, After: workload.None, Session: workload.None, OutputID: workload.None,
			Segments: []workload.Segment{{ID: 0, Tokens: 50}, {ID: doc + 1, Tokens: 100 + int32(doc*37%200)}},
			Output:   int32(1 + s.IntN(40)), Served: 1,
		}
		r.Prompt = 50 + r.Segments[1].Tokens + int32(s.IntN(60))
		if s.IntN(40) == 0 {
			r.Prompt += 5000 // never fits into the small caches below
		}
		if closed && i > 0 && s.IntN(2) == 0 {
			r.After, r.ThinkUs = int32(s.IntN(i)), int64(s.IntN(3)*1000)
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

// What must hold for every run, whatever the router, the order and the load.
func TestLaws(t *testing.T) {
	var sim Sim
	trial := 0
	for _, p := range router.Policies() {
		for _, order := range []string{"fcfs", "longest-prefix", "priority-groups"} {
			for _, closed := range []bool{false, true} {
				trial++
				s := rng.New(uint64(trial), 1, "laws")
				w := random(t, s, 400, closed)
				c := config(1+s.IntN(5), int64(1000+s.IntN(2000)), func(e *engine.Lecture) { e.Order, e.ChunkTokens = order, 32+s.IntN(500) })
				c.Cut = 80
				r, err := sim.Run(c, w, p.Name, policy(t, p.Name), 1, trial)
				if err != nil {
					t.Fatal(err)
				}
				checkLaws(t, fmt.Sprintf("%s/%s/closed=%v", p.Name, order, closed), c, w, r)
			}
		}
	}
}

// has reports whether a scheduler has a parameter.
func has(p engine.Params, name string) bool {
	return slices.ContainsFunc(param.Fields(p), func(f param.Field) bool { return f.Name == name })
}

// limited reports whether a queue may be full.
func limited(p engine.Params) bool {
	return has(p, "queue_limit") && param.Format(param.Get(p, "queue_limit")) != "0"
}

// The same laws hold for every scheduler, with outputs that admission does not
// know, requests that time out, and queues that fill up.
func TestLawsOfSchedulers(t *testing.T) {
	var sim Sim
	ended := map[Status]int{}
	for trial := range 160 {
		s := rng.New(uint64(trial), 1, "laws of schedulers")
		w := random(t, s, 400, trial%2 == 0)
		scheduler := engine.Schedulers()[trial/2%len(engine.Schedulers())]
		c := config(1+s.IntN(4), int64(1000+s.IntN(2000)), nil)
		c.Engine, c.Cut = scheduler.New(), 80
		param.Defaults(c.Engine)
		settings := map[string][]any{
			"queue_timeout_s": {0.0, 0.5, 2.0},
			"queue_limit":     {int64(0), int64(10)},
			"output_known":    {"exact", "maximum", "noisy", "nothing"},
			"evict":           {"segment", "token"},
			"host_tokens":     {int64(0), int64(500)},
			"order":           {"fcfs", "longest-prefix", "shortest-prompt", "priority"},
		}
		if scheduler.Name == "preble" {
			settings["order"] = append(settings["order"], "priority-groups", "fcfs-mpq")
		}
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			values := settings[name]
			if has(c.Engine, name) {
				if err := param.Set(c.Engine, name, values[s.IntN(len(values))]); err != nil {
					t.Fatal(err)
				}
			}
		}
		r, err := sim.Run(c, w, "least-requests", policy(t, "least-requests"), 1, trial)
		if err != nil {
			t.Fatal(err)
		}
		for _, status := range r.Status {
			ended[status]++
		}
		checkLaws(t, fmt.Sprintf("trial %d, %s", trial, scheduler.Name), c, w, r)
	}
	if ended[TimedOut] < 100 || ended[Rejected] < 100 {
		t.Errorf("%v requests ended in each way: the trials do not reach some", ended)
	}
}

func checkLaws(t *testing.T, name string, c Config, w *workload.Workload, r *Result) {
	t.Helper()
	var hits, ceiling int64
	system := make([]float64, c.Replicas)
	queue := make([]float64, c.Replicas)
	counts := make([]int64, c.Replicas)
	for i := range w.Len() {
		if r.Status[i] == TimedOut {
			if r.StartNs[i] != -1 || r.FirstNs[i] != -1 || r.FinishNs[i] <= r.ArrivalNs[i] {
				t.Fatalf("%s: request %d times out wrongly", name, i)
			}
			system[r.Replica[i]] += float64(r.FinishNs[i] - r.ArrivalNs[i])
			queue[r.Replica[i]] += float64(r.FinishNs[i] - r.ArrivalNs[i])
			counts[r.Replica[i]]++
			continue
		}
		if r.Status[i] == Rejected {
			if int64(w.Prompt[i])+int64(w.Output[i]) < c.KVTokens && !limited(c.Engine) || r.StartNs[i] != -1 || r.FirstNs[i] != -1 || r.FinishNs[i] != r.ArrivalNs[i] {
				t.Fatalf("%s: request %d is rejected wrongly", name, i)
			}
			continue
		}
		if r.Status[i] != Finished {
			t.Fatalf("%s: request %d is %s", name, i, r.Status[i])
		}
		if !(0 <= r.ArrivalNs[i] && r.ArrivalNs[i] <= r.StartNs[i] && r.StartNs[i] < r.FirstNs[i] && r.FirstNs[i] <= r.FinishNs[i]) {
			t.Fatalf("%s: request %d arrives %d, starts %d, first token %d, finishes %d", name, i, r.ArrivalNs[i], r.StartNs[i], r.FirstNs[i], r.FinishNs[i])
		}
		if (w.Output[i] == 1) != (r.FirstNs[i] == r.FinishNs[i]) {
			t.Fatalf("%s: request %d with %d output tokens has its first at %d and its last at %d", name, i, w.Output[i], r.FirstNs[i], r.FinishNs[i])
		}
		if a := w.After; a != nil && a[i] != workload.None {
			think := int64(0)
			if w.ThinkUs != nil {
				think = w.ThinkUs[i] * 1000
			}
			if r.ArrivalNs[i] != r.FinishNs[a[i]]+think {
				t.Fatalf("%s: request %d does not arrive its think time after request %d", name, i, a[i])
			}
		}
		if r.Cached[i] > r.Unlimited[i] || r.Unlimited[i] > r.Dispatched[i] || r.Cached[i] >= w.Prompt[i] {
			t.Fatalf("%s: request %d of %d tokens hits %d, unlimited %d, dispatched %d", name, i, w.Prompt[i], r.Cached[i], r.Unlimited[i], r.Dispatched[i])
		}
		hits += int64(r.Cached[i])
		system[r.Replica[i]] += float64(r.FinishNs[i] - r.ArrivalNs[i])
		queue[r.Replica[i]] += float64(r.StartNs[i] - r.ArrivalNs[i])
		counts[r.Replica[i]]++
		if r.Preemptions[i] > 0 {
			queue[r.Replica[i]] = math.NaN() // it waited again
		}
	}
	lecture, ok := c.Engine.(*engine.Lecture)
	for i, n := range r.Ceiling {
		ceiling += int64(n)
		if ok && lecture.Order == "fcfs" && r.Unlimited[i] > n {
			t.Fatalf("%s: request %d would hit %d tokens of unlimited caches, ceiling %d", name, i, r.Unlimited[i], n)
		}
	}
	if hits > ceiling {
		t.Fatalf("%s: %d tokens hit, ceiling %d", name, hits, ceiling)
	}
	for i, s := range r.Replicas {
		if s.PeakKV > c.KVTokens {
			t.Errorf("%s: replica %d holds %d tokens, capacity %d", name, i, s.PeakKV, c.KVTokens)
		}
		if s.Requests != counts[i] || s.BusyNs > r.EndNs {
			t.Errorf("%s: replica %d says %+v after %d requests in %d ns", name, i, s, counts[i], r.EndNs)
		}
		// Little's law: the time integral of the number in the system is the sum of sojourns.
		if math.Abs(s.SystemTimeNs-system[i]) > 1e-9*system[i] || math.Abs(s.QueueTimeNs-queue[i]) > 1e-9*system[i] || s.QueueTimeNs > s.SystemTimeNs {
			t.Errorf("%s: replica %d integrates %g in the system and %g waiting, sojourns sum to %g and waits to %g", name, i, s.SystemTimeNs, s.QueueTimeNs, system[i], queue[i])
		}
	}
	for i, s := range r.Window {
		if s.Requests > r.Replicas[i].Requests || s.BusyNs < 0 || s.BusyNs > r.LastArrivalNs-r.WindowStartNs {
			t.Errorf("%s: replica %d in the window: %+v", name, i, s)
		}
	}
}

// Replicas are interchangeable: the same requests under a permuted assignment
// give the same times, and the permuted replicas' statistics.
func TestPermutation(t *testing.T) {
	s := rng.New(5, 1, "permutation")
	w := random(t, s, 500, true)
	c := config(5, 2000, nil)
	plan, permuted := make(assigned, w.Len()), make(assigned, w.Len())
	order := []int{3, 0, 4, 2, 1}
	for i := range plan {
		plan[i] = s.IntN(5)
		permuted[i] = order[plan[i]]
	}
	var a, b Sim
	x, err := a.Run(c, w, "assigned", plan, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	y, err := b.Run(c, w, "assigned", permuted, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x.FinishNs, y.FinishNs) || !slices.Equal(x.FirstNs, y.FirstNs) || !slices.Equal(x.Cached, y.Cached) || !slices.Equal(x.Best, y.Best) {
		t.Error("permuted replicas change what happens to requests")
	}
	for i := range x.Replicas {
		if x.Replicas[i] != y.Replicas[order[i]] {
			t.Errorf("replica %d has %+v, its image %+v", i, x.Replicas[i], y.Replicas[order[i]])
		}
	}
}

// A Sim that has run other things gives what a new one gives.
func TestReuse(t *testing.T) {
	var used Sim
	for trial := range 20 {
		s := rng.New(uint64(trial), 1, "reuse")
		w := random(t, s, 100+s.IntN(300), trial%2 == 0)
		c := config(1+s.IntN(9), 1500, nil)
		name := router.Policies()[trial%len(router.Policies())].Name
		x, err := used.Run(c, w, name, policy(t, name), 1, trial)
		if err != nil {
			t.Fatal(err)
		}
		y, err := new(Sim).Run(c, w, name, policy(t, name), 1, trial)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(x) != fmt.Sprint(y) {
			t.Fatalf("trial %d: a used simulator differs from a new one", trial)
		}
	}
}

// Best is what a look into every replica's cache finds, and duplication counts
// what is cached more than once: both by hand on two replicas.
func TestDuplication(t *testing.T) {
	var b workload.Builder
	for i := range 64 {
		r := workload.Request{
			ArrivalUs: int64(i) * 1e6, After: workload.None, Session: workload.None, OutputID: workload.None,
			Prompt: 100, Output: 1, Segments: []workload.Segment{{ID: 7, Tokens: 90}},
		}
		if err := b.Add(&r); err != nil {
			t.Fatal(err)
		}
	}
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	var sim Sim
	r, err := sim.Run(config(2, 1000, nil), w, "round-robin", policy(t, "round-robin"), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if r.Duplication != 2 || r.Best[0] != 0 || r.Best[1] != 90 || r.Cached[1] != 0 || r.Cached[2] != 90 {
		t.Errorf("duplication %v, best %v, cached %v; want 2, 0 90, 0 0 90", r.Duplication, r.Best[:3], r.Cached[:3])
	}
	if r, err = sim.Run(config(2, 1000, nil), w, "prefix-affinity", policy(t, "prefix-affinity"), 1, 1); err != nil || r.Duplication != 1 {
		t.Errorf("duplication under affinity is %v, %v; want 1", r.Duplication, err)
	}
}

// A lone request: its latency is the sum of its steps.
func TestLoneRequest(t *testing.T) {
	var b workload.Builder
	r := workload.Request{ArrivalUs: 5, After: workload.None, Session: workload.None, OutputID: workload.None, Prompt: 100, Output: 4}
	if err := b.Add(&r); err != nil {
		t.Fatal(err)
	}
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	res, err := new(Sim).Run(config(3, 1000, nil), w, "random", policy(t, "random"), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	first := int64(5000 + 1e6 + 100*10000)
	if last := first + 3*1e6 + 10*(100+101+102); res.FirstNs[0] != first || res.FinishNs[0] != last {
		t.Errorf("first token at %d, last at %d; want %d, %d", res.FirstNs[0], res.FinishNs[0], first, last)
	}
	if !math.IsNaN(res.Duplication) {
		t.Errorf("duplication without a sample is %v", res.Duplication)
	}
}

func TestTimetable(t *testing.T) {
	s := rng.New(2, 1, "timetable")
	for n := 1; n < 20; n++ {
		var table timetable
		table.reset(n)
		times := make([]int64, n)
		for i := range times {
			times[i] = engine.Never
		}
		for range 200 {
			i := s.IntN(n)
			times[i] = int64(s.IntN(10))
			table.set(i, times[i])
			want := slices.Min(times)
			if got, replica := table.first(); got != want || replica != slices.Index(times, want) {
				t.Fatalf("first of %v is %d of replica %d", times, got, replica)
			}
		}
	}
}

// In conversations outputs are part of later prompts: they are found again, and
// what was dispatched covers what was computed.
func TestConversations(t *testing.T) {
	for _, name := range []string{"round-robin", "prefix-affinity", "cache-aware"} {
		w := generated(t, "chat", 600, 2, 1)
		c := config(3, 60000, nil)
		r, err := new(Sim).Run(c, w, name, policy(t, name), 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		checkLaws(t, name, c, w, r)
		if name != "prefix-affinity" {
			continue
		}
		outputs := 0
		for i := range w.Len() {
			if w.Turn[i] > 0 && r.Cached[i] > 0 {
				outputs++
			}
		}
		if outputs < 300 {
			t.Errorf("%d later turns find the earlier ones, want hundreds", outputs)
		}
	}
}

// slow is a step model that takes five years a step.
type slow struct{}

func (slow) StepNs(engine.Batch) int64 { return 5 * 365 * 24 * 3600e9 }

// A cluster that takes longer than the clock holds is an error, not a result.
func TestEndOfTime(t *testing.T) {
	w := random(t, rng.New(4, 1, "slow"), 300, false)
	c := config(1, 100000, nil)
	c.Step = slow{}
	if _, err := new(Sim).Run(c, w, "random", policy(t, "random"), 1, 1); err == nil || !strings.Contains(err.Error(), "passes a century") {
		t.Errorf("thousands of years are simulated: %v", err)
	}
}
