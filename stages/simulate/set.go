package simulate

import (
	"fmt"
	"math"
	"slices"

	"switchyard/stages/generate"
)

// MostMiss is the relative difference between the offered rate and that of the
// arrivals in the window above which a cell carries a warning, unless chance
// explains it.
const MostMiss = 0.05

// SetMetrics copies m into the columns that it covers and leaves the others:
// identity, factors, and the state of the replicas. Averages of that state
// over another window than m's become NULL, since requests do not tell them.
func (c *Cell) SetMetrics(m *Metrics) {
	f := make(numbers, 0, 64)
	if c.WarmUp != m.WarmUp {
		c.Utilisation, c.Load, c.KVMean, c.E2EBoundUs = nil, nil, nil, nil
	}
	c.WarmUp, c.SLOTTFTMs, c.SLOTPOTMs, c.SLOE2EMs = m.WarmUp, m.SLO.TTFTMs, m.SLO.TPOTMs, m.SLO.E2EMs
	c.Requests, c.Finished, c.Rejected, c.Failed, c.TimedOut = m.Requests, m.Finished, m.Rejected, m.Failed, m.TimedOut
	c.Status = "ok"
	switch {
	case m.Requests > 0 && m.Finished == 0:
		c.Status = "nothing-served"
	case m.Failed > 0:
		c.Status = "failed"
	case m.TimedOut > 0:
		c.Status = "timed-out"
	case m.Rejected > 0:
		c.Status = "rejected"
	}
	c.WindowStartUs, c.WindowEndUs = nil, nil
	if m.InWindow > 0 {
		start, end := m.WindowStartUs, m.WindowEndUs
		c.WindowStartUs, c.WindowEndUs = &start, &end
	}
	c.InWindow, c.Measured = m.InWindow, m.Measured
	c.Arrived, c.Turned, c.Completed = m.Arrived, m.Turned, m.Completed

	c.ArrivalRps, c.ThroughputRps = f.of(m.ArrivalRps), f.of(m.ThroughputRps)
	c.CompletionRatio, c.Saturated = f.of(m.CompletionRatio), m.Saturated
	c.BacklogSlope, c.BacklogSlopeSE = f.of(m.BacklogSlopeRps), f.of(m.BacklogSlopeSERps)
	c.SystemMean, c.QueueMean = f.of(m.SystemMean), f.of(m.QueueMean)
	c.OutputTokensPS, c.PromptTokensPS = f.of(m.OutputTokensPerS), f.of(m.PromptTokensPerS)
	c.SLOAttainment, c.GoodputRps = f.of(m.SLOAttainment), f.of(m.GoodputRps)

	f.stat(m.TTFT, &c.TTFTMeanUs, &c.TTFTP50Us, &c.TTFTP90Us, &c.TTFTP95Us, &c.TTFTP99Us)
	f.stat(m.TPOT, &c.TPOTMeanUs, &c.TPOTP50Us, &c.TPOTP90Us, &c.TPOTP95Us, &c.TPOTP99Us)
	f.stat(m.E2E, &c.E2EMeanUs, &c.E2EP50Us, &c.E2EP90Us, &c.E2EP95Us, &c.E2EP99Us)
	f.stat(m.Queue, &c.QueueMeanUs, &c.QueueP50Us, &c.QueueP90Us, &c.QueueP95Us, &c.QueueP99Us)
	c.TPOTPreble, c.E2EDrift = f.of(m.TPOTPreble), f.of(m.E2EDrift)

	c.PromptTokens, c.CachedTokens, c.CeilingTokens = m.PromptTokens, m.CachedTokens, m.CeilingTokens
	c.HostTokens = m.HostTokens
	c.UnlimitedTokens, c.DispatchedTokens, c.BestTokens = m.UnlimitedTokens, m.DispatchedTokens, m.BestTokens
	c.HitRate, c.HitCeiling, c.BestHitRate = f.of(m.HitRate), f.of(m.HitCeiling), f.of(m.BestHitRate)
	c.LostToRouting, c.LostInFlight = f.of(m.LostToRouting), f.of(m.LostInFlight)
	c.LostToEviction = f.of(m.LostToEviction)
	c.FalseTokens, c.MissedTokens = m.FalseTokens, m.MissedTokens
	c.FalseHits, c.MissedHits = f.of(m.FalseHits), f.of(m.MissedHits)
	c.LoadImbalance, c.MaxRequestShare = f.of(m.LoadImbalance), f.of(m.MaxRequestShare)
	c.Preemptions = m.Preemptions
	c.Warnings = slices.Concat(m.Warnings, c.missesRate(), generate.Doubts(c.Source))
}

// missesRate warns of arrivals at another rate than the file offers.
func (c *Cell) missesRate() []string {
	if c.RateRps == nil || c.ArrivalRps == nil || !Missed(*c.ArrivalRps, *c.RateRps, c.Arrived) {
		return nil
	}
	return []string{MissesRate(*c.ArrivalRps, *c.RateRps)}
}

// Missed reports whether so many arrivals miss a rate by more than MostMiss and
// by more than chance explains: three standard deviations of a Poisson process,
// whose arrivals vary by the root of the number that is expected.
func Missed(arrival, offered float64, arrived int64) bool {
	miss := arrival/offered - 1
	expected := float64(arrived) * (offered / arrival)
	return math.Abs(miss) > MostMiss && !(math.Abs(float64(arrived)-expected) <= 3*math.Sqrt(expected))
}

// MissesRate says that requests arrive at another rate than is offered, and
// what helps.
func MissesRate(arrival, offered float64) string {
	return fmt.Sprintf("%.3g requests a second arrive where %.3g are offered: a run of more requests comes nearer; requests that come in sessions take many times rate x length of a session, and fall short where the cluster holds sessions up", arrival, offered)
}

// numbers is where nullable numbers of a row live: one allocation a row.
type numbers []float64

// of returns a pointer to x, or nil for NaN.
func (n *numbers) of(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	*n = append(*n, x)
	return &(*n)[len(*n)-1]
}

func (n *numbers) stat(s Stat, mean, p50, p90, p95, p99 **float64) {
	*mean, *p50, *p90, *p95, *p99 = n.of(s.Mean), n.of(s.P50), n.of(s.P90), n.of(s.P95), n.of(s.P99)
}
