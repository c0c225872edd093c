// Package bounds says how low the mean latency of a workload on a cluster can
// be at best, whatever the router and whatever it knows.
//
// Two bounds hold at once, and the greater one counts.
//
// Lone: no request is faster than alone on a replica that has all of its
// prompt cached that any cache could have, its ceiling (see
// workload.Workload.Ceiling): one step for what is left of the prompt, and one
// step for each output token after the first, at its own context,
//
//	T_i >= step(prompt - hit) + Σ_j step(decode at context prompt + j).
//
// It holds for step models whose step takes no longer than any steps that
// divide its work, or that do more. The hit is the ceiling, and at most all
// but one prompt token. It assumes that no request overtakes an earlier one
// that has its prefix, as under first come, first served.
//
// Pooled: replicas that share their work perfectly are one server as fast as
// all of them, and no order of service has a lower mean latency on one server
// than shortest remaining processing time (Schrage, 1968). The size of a
// request is its part of the time of steps that adds up over the requests of a
// step: for a roofline the computation, without reading weights and caches and
// without overhead, so that whatever shares a step with it cannot make it less.
// It needs arrivals that do not depend on the run, and a step model that has
// such a part.
//
//	b := bounds.Of(w, step, 4)
//	fmt.Println(max(b.LoneNs, b.PooledNs))
package bounds

import (
	"math"

	"switchyard/sim/engine"
	"switchyard/sim/heap"
	"switchyard/sim/workload"
)

// Bound holds lower bounds on the mean latency of a workload's requests, from
// arrival to last token, in nanoseconds; NaN where there is none.
type Bound struct {
	LoneNs, PooledNs float64
}

// Additive is implemented by step models that know a part of their time that
// is the sum of the parts of the requests in a step, and whose time is convex in
// the context of a decode, so that decodes at growing contexts take at least
// what as many take at the mean one.
type Additive interface {
	// AdditiveNs returns that part for a step; at most its time.
	AdditiveNs(engine.Batch) float64
}

// Of returns the bounds over all requests from the first-th on. The pooled one
// lets earlier requests take no time.
func Of(w *workload.Workload, step engine.StepModel, replicas, first int) Bound {
	b := Bound{math.NaN(), math.NaN()}
	n := w.Len() - first
	if n <= 0 {
		return b
	}
	lone := 0.0
	for id := first; id < w.Len(); id++ {
		lone += float64(Lone(w, step, int32(id)))
	}
	b.LoneNs = lone / float64(n)
	if additive, ok := step.(Additive); ok && !w.Closed() {
		sizes := make([]float64, w.Len())
		for id := first; id < w.Len(); id++ {
			sizes[id] = size(w, additive, int32(id)) / float64(replicas)
		}
		b.PooledNs = srpt(w.ArrivalUs[first:], sizes[first:])
	}
	return b
}

// hit returns the most prompt tokens that a request can find cached.
func hit(w *workload.Workload, id int32) int64 {
	return min(int64(w.Ceiling[id]), int64(w.Prompt[id])-1)
}

// Lone returns the latency of a request alone on a replica that has its
// ceiling cached, or a nanosecond a token less.
func Lone(w *workload.Workload, step engine.StepModel, id int32) int64 {
	cached, prompt := hit(w, id), int64(w.Prompt[id])
	ns := engine.Prefill(step, prompt-cached, cached)
	if _, convex := step.(Additive); convex {
		if decodes := int64(w.Output[id]) - 1; decodes > 0 {
			c := prompt + (decodes-1)/2
			ns += decodes * (step.StepNs(decode(c)) - 1) // less what rounding may have added
		}
		return ns
	}
	for j := range int64(w.Output[id]) - 1 {
		ns += step.StepNs(decode(prompt + j))
	}
	return ns
}

// decode returns the step of one decode at a context.
func decode(context int64) engine.Batch {
	return engine.Batch{Tokens: 1, Requests: 1, Context: context, DecodeContext: context, Attention2: 2*context + 1}
}

// size returns the additive part of a request's work.
func size(w *workload.Workload, step Additive, id int32) float64 {
	cached, prompt, decodes := hit(w, id), int64(w.Prompt[id]), int64(w.Output[id])-1
	fresh := prompt - cached
	ns := step.AdditiveNs(engine.Batch{
		Tokens: fresh, Prefill: fresh, Requests: 1, Context: cached, Attention2: fresh * (2*cached + fresh),
	})
	if decodes > 0 {
		context := decodes*prompt + decodes*(decodes-1)/2
		ns += step.AdditiveNs(engine.Batch{
			Tokens: decodes, Requests: decodes, Context: context, DecodeContext: context, Attention2: 2*context + decodes,
		})
	}
	return ns
}

// srpt returns the mean response time, in nanoseconds, of jobs with the given
// arrivals, in ascending order, and sizes in nanoseconds on one server under
// preemptive shortest remaining processing time.
func srpt(arrivalUs []int64, sizes []float64) float64 {
	var left heap.Heap // by remaining work in whole nanoseconds, rounded down
	now, sum := int64(0), 0.0
	run := func(until int64) {
		for len(left) > 0 && now < until {
			if end := now + left[0].Key; end <= until {
				sum += float64(end - arrivalUs[left[0].ID]*1000)
				now = end
				left.Pop()
				continue
			}
			job := left.Pop()
			job.Key -= until - now
			left.Push(job)
			now = until
		}
		now = max(now, until)
	}
	for i, us := range arrivalUs {
		run(us * 1000)
		left.Push(heap.Item{Key: int64(sizes[i]), ID: int32(i)})
	}
	run(engine.Never)
	return sum / float64(len(arrivalUs))
}
