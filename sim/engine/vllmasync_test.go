package engine

import (
	"slices"
	"testing"

	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// A request joins the step after the one that was formed when it came. A
// (prompt 6, output 4) comes alone and waits for the idle host, 500 us; B
// (prompt 5, output 2) comes in A's prefill, too late for the step that follows
// it. C (prompt 2) comes in the last step, B's, behind which nothing was formed,
// and starts it with its end.
func TestVLLMAsyncTranscript(t *testing.T) {
	w := build(t, []call{{0, 6, 4, nil}, {100, 5, 2, nil}, {5300, 2, 1, nil}})
	for _, ahead := range []int{1, 4096} {
		v := vllmRun{watch: func(int64) {}}
		v.play(w, VLLM{TokenBudget: 8, MaxSeqs: 4, BlockSize: 4, Blocks: 40, AsyncScheduling: true, IdleStepUs: 500}, ahead)
		// Step 1 ends at 1,560 (500 + 1,000 + 60). Step 2, formed at 0, is A's
		// decode: 1,007. Step 3, formed at 1,560, has A's (8) and B's prefill
		// (50): 1,058 to 3,625. Step 4, A (9) and B (6): 1,015 to 4,640; both
		// end. C comes to an idle engine: 500 + 1,020.
		if want := []int64{1560000, 3625000, 6820000}; !slices.Equal(v.log.FirstNs, want) {
			t.Errorf("ahead %d: first tokens at %v, want %v", ahead, v.log.FirstNs, want)
		}
		if want := []int64{4640000, 4640000, 6820000}; !slices.Equal(v.log.FinishNs, want) {
			t.Errorf("ahead %d: ends at %v, want %v", ahead, v.log.FinishNs, want)
		}
	}
}

// asyncPlain is asynchronous scheduling as an engine does it that really forms
// each step when the one before it begins, for requests that share nothing in a
// cache that is never short. It returns first and last tokens.
func asyncPlain(w *workload.Workload, p VLLM) (first, finish []int64) {
	n := w.Len()
	first, finish = make([]int64, n), make([]int64, n)
	done, made := make([]int32, n), make([]int32, n)
	type step struct {
		Batch
		firsts, lasts []int
	}
	var running []int
	next, now := 0, int64(0)
	join := func(i int) int64 { return 1000 * (w.ArrivalUs[i] + p.AdmissionDelayUs) }
	form := func() (s step) {
		left := int64(p.TokenBudget)
		serve := func(i int) {
			if done[i] < w.Prompt[i] {
				m := min(int64(w.Prompt[i]-done[i]), left)
				if p.LongPrefill > 0 {
					m = min(m, int64(p.LongPrefill))
				}
				if m == 0 {
					return
				}
				s.add(m, int64(done[i]))
				done[i] += int32(m)
				left -= m
				if done[i] < w.Prompt[i] {
					return
				}
				s.firsts = append(s.firsts, i)
			} else if left > 0 {
				s.decode(1, int64(w.Prompt[i]+made[i]-1))
				left--
			} else {
				return
			}
			if made[i]++; made[i] == w.Output[i] {
				s.lasts = append(s.lasts, i)
			}
		}
		for _, i := range running {
			serve(i)
		}
		for next < n && join(next) <= now && left > 0 && len(running) < p.MaxSeqs {
			serve(next)
			running = append(running, next)
			next++
		}
		running = slices.DeleteFunc(running, func(i int) bool { return made[i] == w.Output[i] })
		return s
	}
	var coming step
	for {
		idle := coming.Requests == 0
		if idle {
			if coming = form(); coming.Requests == 0 {
				if next == n {
					return first, finish
				}
				now = join(next)
				coming = form()
			}
		}
		current := coming
		end := now + perStep{}.StepNs(current.Batch)
		if idle {
			end += 1000 * p.IdleStepUs
		}
		coming = form() // with what is known when the current one begins
		for _, i := range current.firsts {
			first[i] = end
		}
		for _, i := range current.lasts {
			finish[i] = end
		}
		now = end
	}
}

func TestVLLMAsync(t *testing.T) {
	for trial := range 100 {
		s := rng.New(uint64(trial), 1, "async")
		var calls []call
		at, gap := int64(0), 1+s.IntN(20000)
		for range 150 {
			at += int64(s.IntN(gap) * s.IntN(2))
			calls = append(calls, call{at, int32(1 + s.IntN(300)), int32(1 + s.IntN(40)), nil})
		}
		w := build(t, calls)
		p := VLLM{
			TokenBudget: 40 + s.IntN(600), MaxSeqs: 1000, LongPrefill: s.IntN(2) * (8 + s.IntN(100)), BlockSize: 16, Blocks: 100000,
			AdmissionDelayUs: int64(s.IntN(2) * s.IntN(5000)), AsyncScheduling: true, IdleStepUs: int64(s.IntN(2) * s.IntN(3000)),
		}
		first, finish := asyncPlain(w, p)
		v := vllmRun{watch: func(int64) {}}
		v.play(w, p, 4096)
		if !slices.Equal(v.log.FirstNs, first) || !slices.Equal(v.log.FinishNs, finish) {
			for i := range first {
				if v.log.FirstNs[i] != first[i] || v.log.FinishNs[i] != finish[i] {
					t.Fatalf("trial %d, %+v: request %d at %d: got %d and %d, want %d and %d", trial, p, i, w.ArrivalUs[i],
						v.log.FirstNs[i], v.log.FinishNs[i], first[i], finish[i])
				}
			}
		}
	}
}
