package simulate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"switchyard/stages/experiment"
)

// Stat is a latency's mean and type-7 quantiles, in microseconds; NaN where
// there was nothing to measure.
type Stat struct{ Mean, P50, P90, P95, P99 float64 }

var probs = []float64{0.5, 0.9, 0.95, 0.99}

// Metrics is what the requests of a cell say about it, the columns of table
// `cells` that a new cut or another objective changes; their formulas are in
// the docs of Cell. NaN stands for NULL.
type Metrics struct {
	WarmUp float64
	SLO    experiment.SLO

	Requests, Finished, Rejected, Failed, TimedOut int64 // over the whole run
	WindowStartUs, WindowEndUs                     int64 // -1 where the window is empty
	InWindow, Measured                             int64
	Arrived, Turned, Completed                     int64 // in (start, end]; Turned: of the arrived, rejected

	ArrivalRps, ThroughputRps, CompletionRatio float64
	BacklogSlopeRps, BacklogSlopeSERps         float64
	Saturated                                  bool
	SystemMean, QueueMean                      float64
	OutputTokensPerS, PromptTokensPerS         float64
	SLOAttainment, GoodputRps                  float64

	TTFT, TPOT, E2E, Queue Stat
	TPOTPreble             float64
	E2EDrift               float64

	PromptTokens, CachedTokens, CeilingTokens     int64
	HostTokens                                    int64
	UnlimitedTokens, DispatchedTokens, BestTokens int64
	FalseTokens, MissedTokens                     int64
	FalseHits, MissedHits                         float64
	HitRate, HitCeiling, BestHitRate              float64
	LostToRouting, LostInFlight, LostToEviction   float64
	LoadImbalance, MaxRequestShare                float64
	Preemptions                                   int64
	Warnings                                      []string
}

// tally is what one pass over the requests adds up.
type tally struct {
	e2e, ttft, queue           int64
	tpot, preble               float64
	early, earlyN, late, lateN int64 // E2E by half of the window
	within                     int64
	outputDone, promptDone     int64
	systemUs, queueUs          int64
	beliefs                    int64 // requests of which the router believed something
}

// bounds is an objective in the units of the pass.
type bounds struct {
	ttft, e2e int64
	tpot      float64
}

func boundsOf(slo experiment.SLO) bounds {
	whole := func(ms float64) int64 {
		if ms <= 0 || ms >= math.MaxInt64/1000 {
			return math.MaxInt64
		}
		return int64(math.Floor(ms * 1000))
	}
	b := bounds{whole(slo.TTFTMs), whole(slo.E2EMs), math.Inf(1)}
	if slo.TPOTMs > 0 {
		b.tpot = slo.TPOTMs * 1000
	}
	return b
}

// Measure computes the metrics of the requests that the meter holds, with the
// first warmUp of the arrivals cut. It may be called again with another cut or
// objective, and allocates nothing once the meter has grown.
func (m *Meter) Measure(warmUp float64, slo experiment.SLO) Metrics {
	out := Metrics{WarmUp: warmUp, SLO: slo, WindowStartUs: -1, WindowEndUs: -1}
	m.count(&out)
	m.cut(&out)
	var t tally
	m.ttft, m.e2e, m.queue, m.tpot = m.ttft[:0], m.e2e[:0], m.queue[:0], m.tpot[:0]
	clear(m.tokens)
	clear(m.routed)
	m.backlog.reset(out.WindowStartUs, out.WindowEndUs)
	m.pass(&out, &t, boundsOf(slo))
	out.latencies(m, &t)
	out.rates(m, &t)
	out.hits(&t)
	out.balance(m)
	out.doubts()
	return out
}

// count fills the counts over the whole run.
func (m *Meter) count(out *Metrics) {
	out.Requests = int64(len(m.status))
	for _, s := range m.status {
		switch s {
		case finished:
			out.Finished++
		case rejected:
			out.Rejected++
		case failed:
			out.Failed++
		case timedOut:
			out.TimedOut++
		}
	}
}

// cut fills m.in and the window. The cut is by rank of (arrival, index), which
// is the index itself unless a closed loop makes requests overtake.
func (m *Meter) cut(out *Metrics) {
	m.in = grow(m.in, len(m.arrival))
	skip := int64(CutAt(out.WarmUp, len(m.arrival)))
	out.InWindow = out.Requests - skip
	if out.InWindow == 0 {
		clear(m.in)
		return
	}
	if m.ordered {
		for i := range m.in {
			m.in[i] = int64(i) >= skip
		}
		out.WindowStartUs, out.WindowEndUs = m.arrival[skip], m.arrival[len(m.arrival)-1]
		return
	}
	m.e2e = append(m.e2e[:0], m.arrival...) // scratch that the pass fills later
	selectNth(m.e2e, int(skip))
	start := m.e2e[skip]
	out.WindowStartUs, out.WindowEndUs = start, slices.Max(m.arrival)
	ties := skip // of the requests that arrive at start, those before the cut
	for _, a := range m.arrival {
		if a < start {
			ties--
		}
	}
	for i, a := range m.arrival {
		m.in[i] = a > start
		if a == start {
			m.in[i] = ties <= 0
			ties--
		}
	}
}

// CutAt returns how many of n arrivals are cut: the share of them, rounded down
// but for the rounding of the product.
func CutAt(warmUp float64, n int) int { return min(int(warmUp*float64(n)+1e-9), n) }

// pass goes over the requests once.
func (m *Meter) pass(out *Metrics, t *tally, within bounds) {
	t0, t1 := out.WindowStartUs, out.WindowEndUs
	middle := t0 + (t1-t0)/2
	for i, a := range m.arrival {
		start, end := m.start[i], m.finish[i]
		done := m.status[i] == finished
		if a > t0 && a <= t1 {
			out.Arrived++
			if m.status[i] == rejected {
				out.Turned++
			}
		}
		if done && end > t0 && end <= t1 {
			out.Completed++
			t.outputDone += int64(m.output[i])
			t.promptDone += int64(m.prompt[i])
		}
		gone := end
		if gone < 0 { // never finished: a rejected request leaves as it comes, a failed one stays
			gone = a
			if m.status[i] == failed {
				gone = math.MaxInt64
			}
		}
		left := start
		if left < 0 {
			left = gone
		}
		if t1 > t0 {
			t.systemUs += max(min(gone, t1)-max(a, t0), 0)
			t.queueUs += max(min(left, t1)-max(a, t0), 0)
			m.backlog.add(a, gone)
		}
		if !m.in[i] {
			continue
		}
		if m.preemptions != nil {
			out.Preemptions += int64(m.preemptions[i])
		}
		if m.replica[i] >= 0 {
			m.routed[m.replica[i]]++
		}
		if start >= 0 {
			m.tokens[m.replica[i]] += int64(m.prompt[i]-m.cached[i]-m.host[i]) + int64(m.output[i])
			out.PromptTokens += int64(m.prompt[i])
			out.CachedTokens += int64(m.cached[i])
			out.HostTokens += int64(m.host[i])
			out.CeilingTokens += int64(m.ceiling[i])
			out.UnlimitedTokens += int64(m.unlimited[i])
			out.DispatchedTokens += int64(m.dispatched[i])
			out.BestTokens += int64(m.best[i])
			if b := m.believed[i]; b >= 0 {
				b = min(b, m.prompt[i]-1) // the last prompt token is always computed
				t.beliefs++
				out.FalseTokens += int64(max(0, b-m.cached[i]))
				out.MissedTokens += int64(max(0, m.cached[i]-b))
			}
		}
		if !done {
			continue
		}
		ttft, e2e := m.first[i]-a, end-a
		m.ttft = append(m.ttft, ttft)
		m.e2e = append(m.e2e, e2e)
		m.queue = append(m.queue, start-a)
		t.ttft += ttft
		t.e2e += e2e
		t.queue += start - a
		decode, steps, tpot := float64(e2e-ttft), m.output[i], 0.0
		if steps > 1 {
			tpot = decode / float64(steps-1)
			m.tpot = append(m.tpot, tpot)
			t.tpot += tpot
		}
		t.preble += decode / float64(steps)
		if ttft <= within.ttft && e2e <= within.e2e && tpot <= within.tpot {
			t.within++
		}
		if a <= middle {
			t.early += e2e
			t.earlyN++
		} else {
			t.late += e2e
			t.lateN++
		}
	}
	out.Measured = int64(len(m.e2e))
}

// latencies fills the means and quantiles; it reorders the meter's scratch.
func (out *Metrics) latencies(m *Meter, t *tally) {
	out.TTFT = stat(m.ttft, float64(t.ttft))
	out.E2E = stat(m.e2e, float64(t.e2e))
	out.Queue = stat(m.queue, float64(t.queue))
	out.TPOT = stat(m.tpot, t.tpot)
	out.TPOTPreble = ratio(t.preble, float64(out.Measured))
	early := ratio(float64(t.early), float64(t.earlyN))
	out.E2EDrift = ratio(ratio(float64(t.late), float64(t.lateN)), early) - 1
}

func stat[T int64 | float64](a []T, sum float64) Stat {
	nan := math.NaN()
	if len(a) == 0 {
		return Stat{nan, nan, nan, nan, nan}
	}
	var q [4]float64
	quantiles(a, probs, q[:])
	return Stat{sum / float64(len(a)), q[0], q[1], q[2], q[3]}
}

// rates fills what is a second or a time average of the window.
func (out *Metrics) rates(m *Meter, t *tally) {
	us := float64(out.WindowEndUs - out.WindowStartUs)
	seconds := us / 1e6
	out.ArrivalRps = ratio(float64(out.Arrived), seconds)
	out.ThroughputRps = ratio(float64(out.Completed), seconds)
	taken := float64(out.Arrived - out.Turned)
	out.CompletionRatio = ratio(float64(out.Completed), taken)
	out.OutputTokensPerS = ratio(float64(t.outputDone), seconds)
	out.PromptTokensPerS = ratio(float64(t.promptDone), seconds)
	out.SystemMean = ratio(float64(t.systemUs), us)
	out.QueueMean = ratio(float64(t.queueUs), us)
	out.SLOAttainment = ratio(float64(t.within), float64(out.InWindow))
	out.GoodputRps = out.SLOAttainment * out.ArrivalRps
	out.BacklogSlopeRps, out.BacklogSlopeSERps = m.backlog.slope()
	out.Saturated = out.CompletionRatio < 0.98 ||
		out.BacklogSlopeRps-1.96*out.BacklogSlopeSERps > 0.01*ratio(taken, seconds)
}

// hits fills the shares of prompt tokens.
func (out *Metrics) hits(t *tally) {
	p := float64(out.PromptTokens)
	out.HitRate = ratio(float64(out.CachedTokens), p)
	out.HitCeiling = ratio(float64(out.CeilingTokens), p)
	out.BestHitRate = ratio(float64(out.BestTokens), p)
	out.LostToRouting = ratio(float64(out.CeilingTokens-out.UnlimitedTokens), p)
	out.LostInFlight = ratio(float64(out.DispatchedTokens-out.UnlimitedTokens), p)
	out.LostToEviction = ratio(float64(out.UnlimitedTokens-out.CachedTokens), p)
	out.FalseHits, out.MissedHits = math.NaN(), math.NaN()
	if t.beliefs > 0 {
		out.FalseHits = ratio(float64(out.FalseTokens), p)
		out.MissedHits = ratio(float64(out.MissedTokens), p)
	}
}

// balance fills the spread over replicas.
func (out *Metrics) balance(m *Meter) {
	var tokens, most, requests, share int64
	for r := range m.tokens {
		tokens += m.tokens[r]
		most = max(most, m.tokens[r])
		requests += m.routed[r]
		share = max(share, m.routed[r])
	}
	out.LoadImbalance = ratio(float64(most)*float64(len(m.tokens)), float64(tokens))
	out.MaxRequestShare = ratio(float64(share), float64(requests))
}

// doubts fills the warnings.
func (out *Metrics) doubts() {
	switch {
	case out.InWindow == 0:
		out.Warnings = append(out.Warnings, "no request arrived in the window")
	case out.Requests > 0 && out.Finished == 0:
		out.Warnings = append(out.Warnings, "nothing was served: "+out.fates())
	case out.Measured == 0:
		out.Warnings = append(out.Warnings, "no request of the window finished")
	case out.Measured < 100:
		out.Warnings = append(out.Warnings, "fewer than 100 requests measured: p99 is near the maximum")
	}
	if out.Saturated {
		out.Warnings = append(out.Warnings, "more arrives than finishes: latencies measure how long the run was")
	}
	if lost := out.Requests - out.Finished; lost > 0 && out.Finished > 0 {
		out.Warnings = append(out.Warnings, out.fates()+": latencies leave them out")
	}
}

// fates says how many requests did not finish, and why.
func (out *Metrics) fates() string {
	return Fates(out.Requests, out.Rejected, out.TimedOut, out.Failed)
}

// Fates says how many of some requests were rejected, timed out or failed:
// "12 of 2000 requests were rejected, 3 timed out".
func Fates(requests, rejected, timedOut, failed int64) string {
	var parts []string
	for _, f := range []struct {
		n    int64
		fate string
	}{
		{rejected, "were rejected (prompt and output exceed the KV cache, the queue was full, or no replica took requests)"},
		{timedOut, "timed out"}, {failed, "failed"},
	} {
		switch {
		case f.n > 0 && parts == nil:
			parts = append(parts, fmt.Sprintf("%d of %d requests %s", f.n, requests, f.fate))
		case f.n > 0:
			parts = append(parts, fmt.Sprintf("%d %s", f.n, f.fate))
		}
	}
	return strings.Join(parts, ", ")
}

// ratio returns a/b, NaN where b is not positive.
func ratio(a, b float64) float64 {
	if b > 0 {
		return a / b
	}
	return math.NaN()
}
