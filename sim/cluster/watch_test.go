package cluster

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"switchyard/sim/engine"
	"switchyard/sim/hardware"
	"switchyard/sim/param"
	"switchyard/sim/rng"
)

// tally sums up what a watcher is told, and checks that it fits together.
type tally struct {
	t        *testing.T
	name     string
	end      []int64
	steps    []int64
	busy     []int64
	outputs  []int64
	prefill  []int64
	stretch  []int64 // decode-only steps in a row
	longest  int64
	capacity int64
	block    int64     // tokens that KV cache comes in
	kv       []float64 // integral of the KV cache in use over the steps
}

func newTally(t *testing.T, name string, replicas int, capacity int64) *tally {
	list := func() []int64 { return make([]int64, replicas) }
	return &tally{t: t, name: name, end: list(), steps: list(), busy: list(), outputs: list(), prefill: list(), stretch: list(), capacity: capacity, block: 1, kv: make([]float64, replicas)}
}

func (y *tally) Step(s Step) {
	r := s.Replica
	if s.StartNs < y.end[r] || s.EndNs <= s.StartNs {
		y.t.Fatalf("%s: replica %d: a step from %d to %d after one that ended at %d", y.name, r, s.StartNs, s.EndNs, y.end[r])
	}
	var chunks int64
	for _, c := range s.Chunks {
		chunks += c.New
	}
	if s.Requests < 1 || s.Decodes > s.Requests || s.Waiting < 0 || s.KVTokens < 0 || s.KVTokens > y.capacity || s.KVTokens%y.block != 0 ||
		s.Prefill != chunks || int64(len(s.Chunks)) != s.Requests-s.Decodes {
		y.t.Fatalf("%s: step %+v", y.name, s)
	}
	y.end[r], y.steps[r] = s.EndNs, y.steps[r]+1
	y.busy[r] += s.EndNs - s.StartNs
	y.kv[r] += float64(s.KVTokens) * float64(s.EndNs-s.StartNs)
	y.outputs[r] += s.Decodes
	y.prefill[r] += s.Prefill
	if y.stretch[r]++; s.Prefill > 0 {
		y.stretch[r] = 0
	}
	y.longest = max(y.longest, y.stretch[r])
}

// Under every scheduler a watcher is told of as many steps as the replicas
// count, for as long, with as many tokens, and the run is to the byte what it is
// without one.
func TestWatch(t *testing.T) {
	for i, scheduler := range engine.Schedulers() {
		var longest int64
		for trial := range 12 {
			s := rng.New(uint64(trial), 1+i, "watch")
			w := random(t, s, 250, trial%3 == 0)
			p := scheduler.New()
			param.Defaults(p)
			if v, ok := p.(*engine.VLLM); ok {
				v.AsyncScheduling, v.TokenBudget = trial%2 == 0, 64+s.IntN(600)
				v.Blocks = 60 + s.IntN(300)
			}
			linear := hardware.LinearParams{BaseUs: 2000, PerRequestUs: 3, PerPrefillTokenUs: 11, PerContextTokenUs: .125}
			step, _ := linear.Build(hardware.GPU{}, hardware.Model{}, 1)
			c := Config{Replicas: 1 + s.IntN(3), Step: step, KVTokens: 1500 + int64(s.IntN(4000)), Engine: p}
			if sized, ok := p.(engine.Sized); ok {
				c.KVTokens = sized.KVTokens(c.KVTokens)
			}
			name := fmt.Sprintf("%s, trial %d", scheduler.Name, trial)
			plain, err := new(Sim).Run(c, w, "round-robin", policy(t, "round-robin"), 1, 1)
			if err != nil {
				t.Fatal(err)
			}
			y := newTally(t, name, c.Replicas, c.KVTokens)
			blocks, blocked := p.(*engine.VLLM)
			if blocked {
				y.block = int64(blocks.BlockSize)
			}
			c.Watch = y
			watched, err := new(Sim).Run(c, w, "round-robin", policy(t, "round-robin"), 1, 1)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(plain) != fmt.Sprint(watched) {
				t.Fatalf("%s: a run differs when it is watched", name)
			}
			for r, stats := range watched.Replicas {
				if blocked && math.Abs(y.kv[r]-stats.KVTimeNs) > 1e-9*stats.KVTimeNs { // which leaves out what is free to be reused, too
					t.Fatalf("%s: replica %d: told of %v token-ns of KV cache, counted %v", name, r, y.kv[r], stats.KVTimeNs)
				}
				if y.steps[r] != stats.Steps || y.busy[r] != stats.BusyNs {
					t.Fatalf("%s: replica %d: told of %d steps of %d ns, counted %d of %d", name, r, y.steps[r], y.busy[r], stats.Steps, stats.BusyNs)
				}
			}
			if slices.Max(watched.Preemptions) == 0 { // else tokens are made twice
				for r, stats := range watched.Replicas {
					if want := stats.OutputTokens - stats.Requests; y.outputs[r] != want || y.prefill[r] != stats.PromptTokens-stats.CachedTokens {
						t.Fatalf("%s: replica %d: %d decodes and %d prefill tokens, want %d and %d", name, r, y.outputs[r], y.prefill[r], want, stats.PromptTokens-stats.CachedTokens)
					}
				}
			}
			longest = max(longest, y.longest)
		}
		if longest < 3 {
			t.Errorf("%s: no stretch of decode steps was seen", scheduler.Name)
		}
	}
}

// follower is a watcher that counts steps and holds them to follow each other.
type follower struct {
	t     *testing.T
	steps []int64
	busy  []int64
	last  []int64
}

func (w *follower) Step(s Step) {
	if s.StartNs < w.last[s.Replica] || s.EndNs <= s.StartNs {
		w.t.Fatalf("replica %d: step from %d to %d after one that ended at %d", s.Replica, s.StartNs, s.EndNs, w.last[s.Replica])
	}
	w.steps[s.Replica]++
	w.busy[s.Replica] += s.EndNs - s.StartNs
	w.last[s.Replica] = s.EndNs
}

// Of replicas that are slow, fail and come back, and of pools, a watcher is told
// as many steps as they count, of the time that they take.
func TestWatchOfUnequalReplicas(t *testing.T) {
	for _, scheduler := range engine.Schedulers() {
		w := random(t, rng.New(12, 1, "watch"), 400, false)
		half := w.ArrivalUs[200] * 1000
		c := config(3, 9000, nil)
		c.Engine = engineParams(t, scheduler.Name)
		c.Events = []Event{{Kind: Slow, Replica: 0, Factor: 3}, {Kind: Fail, Replica: 1, AtNs: half, BackNs: half + 1e8, Retry: true}}
		seen := &follower{t, make([]int64, 3), make([]int64, 3), make([]int64, 3)}
		c.Watch = seen
		c.Pools = []Pool{{3, linear{}, 9000}}
		r, err := new(Sim).Run(c, w, "least-requests", policy(t, "least-requests"), 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range r.Replicas {
			steps, busy := x.Steps-seen.steps[i], x.BusyNs-seen.busy[i]
			if i == 1 { // the steps that a failure cuts short are told of nowhere
				if steps < 0 || busy < 0 || seen.last[1] < half {
					t.Errorf("%s: the replica that fails counts %d steps, %d were told; the last ended at %d", scheduler.Name, x.Steps, seen.steps[i], seen.last[i])
				}
			} else if steps != 0 || busy != 0 {
				t.Errorf("%s, replica %d: %d steps of %d ns, told %d of %d ns", scheduler.Name, i, x.Steps, x.BusyNs, seen.steps[i], seen.busy[i])
			}
		}
		plain := c
		plain.Watch = nil
		again, err := new(Sim).Run(plain, w, "least-requests", policy(t, "least-requests"), 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		for id := range r.FinishNs {
			if again.FinishNs[id] != r.FinishNs[id] {
				t.Fatalf("%s: request %d ends at %d when watched, at %d when not", scheduler.Name, id, r.FinishNs[id], again.FinishNs[id])
			}
		}
	}
}
