package calibrate

import (
	"fmt"
	"math"
	"slices"

	"switchyard/sim/cluster"
	"switchyard/sim/engine"
	"switchyard/sim/rng"
	"switchyard/sim/router"
	"switchyard/sim/workload"
	"switchyard/stages/trace"
)

// folds is the number of parts of each recording that are left out in turn.
const folds = 10

// cacheBlock is the length of the pieces that stand for cached tokens.
const cacheBlock = 16

// recording is a measured run, ready to be simulated.
type recording struct {
	name     string
	requests []workload.Request
	work     *workload.Workload
	replicas int // that served it; 1 where that was not recorded
	recorded bool
	measured latencies
	found    []float64    // requests in the system that each arrival found, by what was measured
	echoes   []*recording // see echo
}

// A fit plays a recording so many times (and its derivatives are taken over
// more), each time with arrivals moved by up to 2 echoUs.
//
// When a request comes within a step decides on whether it waits for one step
// more; after some hundred steps even a small error of a step's time has made
// that a matter of chance. A fit must not go by such chances, so it goes by
// means over several plays, whose arrivals differ by about half a decode step.
const (
	echoes     = 4
	moreEchoes = 24
	echoUs     = 6000
)

// latencies are those of all requests of a recording, in microseconds.
type latencies struct {
	ttft, e2e []float64
	tpot      []float64 // NaN for one output token
}

func newLatencies(n int) latencies {
	return latencies{make([]float64, n), make([]float64, n), make([]float64, n)}
}

// set fills in request i.
func (l *latencies) set(i int, ttft, e2e float64, output int32) {
	l.ttft[i], l.e2e[i], l.tpot[i] = ttft, e2e, math.NaN()
	if output > 1 {
		l.tpot[i] = (e2e - ttft) / float64(output-1)
	}
}

// newRecording builds the workload of a measured run. What the server had
// cached is known by its length alone: it is stood for by the beginning of one
// text that all requests share, so that a request hits as much as it did, unless
// none before it has had as much.
func newRecording(m *trace.Measured) (*recording, error) {
	var b workload.Builder
	b.Grow(len(m.Requests))
	rec := &recording{name: m.File, measured: newLatencies(len(m.Requests)), replicas: 1, recorded: true}
	for i := range m.Requests {
		r := m.Requests[i]
		for at := int32(0); at+cacheBlock <= m.Latency[i].Cached; at += cacheBlock {
			r.Segments = append(r.Segments, workload.Segment{ID: int64(at), Tokens: cacheBlock})
		}
		if err := b.Add(&r); err != nil {
			return nil, fmt.Errorf("%s: request %d: %w", m.File, i, err)
		}
		rec.requests = append(rec.requests, r)
		rec.measured.set(i, float64(m.Latency[i].TTFTUs), float64(m.Latency[i].E2EUs), r.Output)
		rec.replicas = max(rec.replicas, int(r.Served))
		rec.recorded = rec.recorded && r.Served > 0
	}
	w, err := b.Build()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.File, err)
	}
	rec.work = w
	rec.found = rec.finds()
	random := rng.New(1, 1, "calibrate/echo")
	for range moreEchoes {
		e, err := rec.echo(random)
		if err != nil {
			return nil, err
		}
		rec.echoes = append(rec.echoes, e)
	}
	return rec, nil
}

// echo returns the recording with other arrivals.
func (r *recording) echo(random *rng.Stream) (*recording, error) {
	last := int64(0)
	return r.altered(func(_ int, q *workload.Request) {
		q.ArrivalUs = max(last, q.ArrivalUs+int64(random.IntN(2*echoUs)))
		last = q.ArrivalUs
	})
}

// altered returns a recording of other requests, without what was measured.
func (r *recording) altered(alter func(i int, q *workload.Request)) (*recording, error) {
	var b workload.Builder
	for i, q := range r.requests {
		alter(i, &q)
		if err := b.Add(&q); err != nil {
			return nil, err
		}
	}
	w, err := b.Build()
	return &recording{name: r.name, work: w, replicas: r.replicas, recorded: r.recorded, requests: r.requests}, err
}

// part returns which of the folds request i belongs to: the folds follow each
// other in time.
func (r *recording) part(i int) int { return i * folds / r.work.Len() }

// server is what a vector of coefficients makes.
type server struct {
	step   engine.StepModel
	params engine.Params
	kv     int64
}

// simulate plays a recording on a server.
func (r *recording) simulate(sim *cluster.Sim, s server) (latencies, error) {
	l := newLatencies(r.work.Len())
	name, policy := "round-robin", router.Params(new(router.RoundRobin))
	if r.recorded {
		name, policy = "recorded", new(router.Recorded)
	}
	result, err := sim.Run(cluster.Config{Replicas: r.replicas, Step: s.step, KVTokens: s.kv, Engine: s.params}, r.work, name, policy, 1, 1)
	if err != nil {
		return l, fmt.Errorf("%s: %w", r.name, err)
	}
	for i, status := range result.Status {
		if status != cluster.Finished {
			return l, input("%s: request %d is %s in the simulation and was served in reality: check the engine's settings and the KV capacity", r.name, i, status)
		}
		at := result.ArrivalNs[i]
		l.set(i, float64(result.FirstNs[i]-at)/1e3, float64(result.FinishNs[i]-at)/1e3, r.work.Output[i])
	}
	return l, nil
}

// lengths returns the least and the greatest of the lengths, and their mean.
func lengths(x []int32) (least, most int32, mean float64) {
	for _, v := range x {
		mean += float64(v) / float64(len(x))
	}
	return slices.Min(x), slices.Max(x), mean
}

// finds returns the requests in the system that each arrival finds.
func (r *recording) finds() []float64 {
	ends := make([]float64, r.work.Len())
	for i, at := range r.work.ArrivalUs {
		ends[i] = float64(at) + r.measured.e2e[i]
	}
	slices.Sort(ends)
	found := make([]float64, len(ends))
	for i, at := range r.work.ArrivalUs {
		gone, _ := slices.BinarySearch(ends, float64(at))
		found[i] = float64(i - gone)
	}
	return found
}

// crowd returns the mean of found.
func (r *recording) crowd() float64 { return mean(r.found) }

// rate returns arrivals a second.
func (r *recording) rate() float64 {
	n := r.work.Len()
	return float64(n-1) / max(1e-9, float64(r.work.ArrivalUs[n-1])/1e6)
}
