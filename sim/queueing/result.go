package queueing

import "math"

// Result is what a study found, over the requests behind the warm-up cut.
// Times are in the unit of the sizes; what was not measured is NaN.
type Result struct {
	Requests int64   // measured
	Mean     float64 // response time
	SD       float64 // of response times; not that of the mean, which successive requests blur
	Wait     float64 // mean of response less the server's own time for the size
	Slowdown float64 // mean of response over size, without sizes of 0 (less than a tick)
	Max      float64

	P50, P90, P95, P99, P999 float64
	QuantileError            float64 // largest relative error of these: 0, or SketchError above 10^7 requests

	Halves  [2]float64 // mean response of the first and the second half: far apart, nothing has settled
	Classes []Class

	Start, End        float64   // arrivals of the first and the last measured request
	HalfTime          float64   // from the first arrival of the second half of the measured to the last
	Growth            float64   // of the work not done in that time, over the work that arrived in it: far above 0, servers do not keep up
	Load              float64   // the work that arrived from the first measured request to the last, over what all servers could do in that time
	Utilisation       float64   // of all servers in between, weighted by speed
	ServerUtilisation []float64 // share of that time in which a server worked
	ServerRequests    []int64   // measured requests sent to each server

	// Lengths is the share of servers with at least i requests, as seen by
	// arrivals, at i = 0, 1, ...: nil where neither policy nor discipline keeps
	// count (random, round robins, SITA-E, LWL and JIQ, first come first
	// served on live information).
	Lengths []float64

	meter *meter
	unit  float64
}

// Class is the requests of one quarter of the law of sizes.
type Class struct {
	Upto           float64 // largest size in it, +Inf for the last
	Requests       int64
	Mean, Slowdown float64
	P50, P99       float64 // by bins, see SketchError
}

// Quantile returns the p-quantile (type 7) of response times, p in [0, 1]. It
// is valid until the next run of the Sim that made the result.
func (r *Result) Quantile(p float64) float64 {
	return r.meter.quantiles([]float64{p})[0] * r.unit
}

// result sums up.
func (m *meter) result(unit float64) *Result {
	r := &Result{meter: m, unit: unit}
	var all tally
	for c := range m.class {
		t := &m.class[c]
		all.n += t.n
		all.responses += t.responses
		all.slowdowns += t.slowdowns
		all.empty += t.empty
		q := sketchQuantiles(m.classHistogram(c), []float64{0.5, 0.99})
		upto := math.Inf(1)
		if c < len(m.limits) {
			upto = float64(m.limits[c]) * unit
		}
		n := float64(t.n)
		r.Classes = append(r.Classes, Class{
			Upto: upto, Requests: t.n, Mean: t.responses / n * unit, Slowdown: t.slowdowns / float64(t.n-t.empty),
			P50: q[0] * unit, P99: q[1] * unit,
		})
	}
	n := float64(all.n)
	mean := all.responses / n
	r.Requests, r.Mean, r.Slowdown = all.n, mean*unit, all.slowdowns/float64(all.n-all.empty)
	r.SD = math.Sqrt(math.Max(0, (m.squares/n-mean*mean)*n/(n-1))) * unit
	for h, t := range m.halves {
		r.Halves[h] = t.responses / float64(t.n) * unit
	}
	q := m.quantiles([]float64{0.5, 0.9, 0.95, 0.99, 0.999, 1})
	for i, to := range []*float64{&r.P50, &r.P90, &r.P95, &r.P99, &r.P999, &r.Max} {
		*to = q[i] * unit
	}
	if !m.keep {
		r.QuantileError = SketchError
	}
	return r
}
