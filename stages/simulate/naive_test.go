package simulate

import (
	"math"
	"sort"

	"switchyard/stages/experiment"
)

// naive measures rows a second time, by sorting and by formula, one metric
// after another, with no regard for speed.
func naive(rows []Request, replicas int, warmUp float64, slo experiment.SLO) Metrics {
	nan := math.NaN()
	m := Metrics{WarmUp: warmUp, SLO: slo, WindowStartUs: -1, WindowEndUs: -1}
	byArrival := make([]*Request, len(rows))
	for i := range rows {
		byArrival[i] = &rows[i]
	}
	sort.SliceStable(byArrival, func(i, j int) bool { return byArrival[i].ArrivalUs < byArrival[j].ArrivalUs })
	m.Requests = int64(len(rows))
	window := byArrival[CutAt(warmUp, len(rows)):]
	m.InWindow = int64(len(window))
	if len(window) > 0 {
		m.WindowStartUs, m.WindowEndUs = window[0].ArrivalUs, window[len(window)-1].ArrivalUs
	}
	t0, t1 := m.WindowStartUs, m.WindowEndUs
	seconds := float64(t1-t0) / 1e6
	var outputs, prompts, within float64
	beliefs := 0
	for _, r := range rows {
		switch r.Status {
		case "finished":
			m.Finished++
			if *r.FinishedUs > t0 && *r.FinishedUs <= t1 {
				m.Completed++
				outputs += float64(r.OutputTokens)
				prompts += float64(r.PromptTokens)
			}
		case "rejected":
			m.Rejected++
		case "failed":
			m.Failed++
		}
		if r.ArrivalUs > t0 && r.ArrivalUs <= t1 {
			m.Arrived++
			if r.Status == "rejected" {
				m.Turned++
			}
		}
	}
	var ttft, tpot, e2e, queue, preble, early, late []float64
	tokens, routed := make([]float64, replicas), make([]float64, replicas)
	for _, r := range window {
		m.Preemptions += int64(r.Preemptions)
		routed[r.Replica]++
		if r.StartedUs != nil {
			m.PromptTokens += int64(r.PromptTokens)
			m.CachedTokens += int64(r.CachedTokens)
			m.CeilingTokens += int64(r.CeilingTokens)
			m.UnlimitedTokens += int64(r.UnlimitedTokens)
			m.DispatchedTokens += int64(r.DispatchedTokens)
			m.BestTokens += int64(r.BestCachedTokens)
			if r.BelievedTokens != nil {
				beliefs++
				wrong := int64(*r.BelievedTokens) - int64(r.CachedTokens)
				if *r.BelievedTokens == r.PromptTokens { // nobody hits the last token
					wrong--
				}
				if wrong > 0 {
					m.FalseTokens += wrong
				} else {
					m.MissedTokens -= wrong
				}
			}
			tokens[r.Replica] += float64(r.PromptTokens - r.CachedTokens + r.OutputTokens)
		}
		if r.Status != "finished" {
			continue
		}
		first, whole := float64(*r.FirstTokenUs-r.ArrivalUs), float64(*r.FinishedUs-r.ArrivalUs)
		ttft = append(ttft, first)
		e2e = append(e2e, whole)
		queue = append(queue, float64(*r.StartedUs-r.ArrivalUs))
		preble = append(preble, (whole-first)/float64(r.OutputTokens))
		ok := (slo.TTFTMs == 0 || first <= 1000*slo.TTFTMs) && (slo.E2EMs == 0 || whole <= 1000*slo.E2EMs)
		if r.OutputTokens > 1 {
			each := (whole - first) / float64(r.OutputTokens-1)
			tpot = append(tpot, each)
			ok = ok && (slo.TPOTMs == 0 || each <= 1000*slo.TPOTMs)
		}
		if ok {
			within++
		}
		if r.ArrivalUs <= t0+(t1-t0)/2 {
			early = append(early, whole)
		} else {
			late = append(late, whole)
		}
	}
	m.Measured = int64(len(e2e))
	m.TTFT, m.TPOT, m.E2E, m.Queue = naiveStat(ttft), naiveStat(tpot), naiveStat(e2e), naiveStat(queue)
	m.TPOTPreble = mean(preble)
	m.E2EDrift = mean(late)/mean(early) - 1
	m.ArrivalRps, m.ThroughputRps, m.OutputTokensPerS, m.PromptTokensPerS = nan, nan, nan, nan
	m.CompletionRatio, m.SLOAttainment = nan, nan
	if seconds > 0 {
		m.ArrivalRps, m.ThroughputRps = float64(m.Arrived)/seconds, float64(m.Completed)/seconds
		m.OutputTokensPerS, m.PromptTokensPerS = outputs/seconds, prompts/seconds
	}
	taken := float64(m.Arrived - m.Turned)
	if taken > 0 {
		m.CompletionRatio = float64(m.Completed) / taken
	}
	if m.InWindow > 0 {
		m.SLOAttainment = within / float64(m.InWindow)
	}
	m.GoodputRps = m.SLOAttainment * m.ArrivalRps
	m.SystemMean, m.QueueMean = naiveAverages(rows, t0, t1)
	m.BacklogSlopeRps, m.BacklogSlopeSERps = naiveSlope(rows, t0, t1)
	m.Saturated = m.CompletionRatio < 0.98 || m.BacklogSlopeRps-1.96*m.BacklogSlopeSERps > 0.01*taken/seconds
	share := func(tokens int64) float64 {
		if m.PromptTokens == 0 {
			return nan
		}
		return float64(tokens) / float64(m.PromptTokens)
	}
	m.HitRate, m.HitCeiling, m.BestHitRate = share(m.CachedTokens), share(m.CeilingTokens), share(m.BestTokens)
	m.LostToRouting = share(m.CeilingTokens - m.UnlimitedTokens)
	m.LostInFlight = share(m.DispatchedTokens - m.UnlimitedTokens)
	m.LostToEviction = share(m.UnlimitedTokens - m.CachedTokens)
	m.FalseHits, m.MissedHits = nan, nan
	if beliefs > 0 {
		m.FalseHits, m.MissedHits = share(m.FalseTokens), share(m.MissedTokens)
	}
	m.LoadImbalance, m.MaxRequestShare = nan, nan
	if sum(tokens) > 0 {
		m.LoadImbalance = greatest(tokens) / mean(tokens)
	}
	if sum(routed) > 0 {
		m.MaxRequestShare = greatest(routed) / sum(routed)
	}
	return m
}

// stays returns how long a request is in the system and in the queue.
func stays(r *Request) (gone, left int64) {
	gone = math.MaxInt64
	switch {
	case r.FinishedUs != nil:
		gone = *r.FinishedUs
	case r.Status == "rejected":
		gone = r.ArrivalUs
	}
	left = gone
	if r.StartedUs != nil {
		left = *r.StartedUs
	}
	return gone, left
}

// naiveAverages walks from event to event.
func naiveAverages(rows []Request, t0, t1 int64) (system, queue float64) {
	if t1 <= t0 {
		return math.NaN(), math.NaN()
	}
	type event struct {
		at            int64
		system, queue int
	}
	events := []event{{at: t0}, {at: t1}}
	for i := range rows {
		gone, left := stays(&rows[i])
		events = append(events, event{rows[i].ArrivalUs, 1, 1}, event{gone, -1, 0}, event{left, 0, -1})
	}
	sort.Slice(events, func(i, j int) bool { return events[i].at < events[j].at })
	inSystem, inQueue := 0, 0
	for i, e := range events {
		if i > 0 && events[i-1].at >= t0 && e.at <= t1 {
			d := float64(e.at - events[i-1].at)
			system += d * float64(inSystem)
			queue += d * float64(inQueue)
		}
		inSystem += e.system
		inQueue += e.queue
	}
	return system / float64(t1-t0), queue / float64(t1-t0)
}

// naiveSlope counts at each instant and fits a line by the textbook.
func naiveSlope(rows []Request, t0, t1 int64) (slope, se float64) {
	if t1 <= t0 {
		return math.NaN(), math.NaN()
	}
	half := float64(t1-t0) / 2
	var x, y []float64
	for j := range 64 {
		at := float64(t0) + half + (float64(j)+0.5)*half/64
		n := 0.0
		for i := range rows {
			gone, _ := stays(&rows[i])
			if float64(rows[i].ArrivalUs) < at && float64(gone) >= at {
				n++
			}
		}
		x, y = append(x, at/1e6), append(y, n)
	}
	mx, my := mean(x), mean(y)
	var sxx, sxy, rss float64
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
	}
	slope = sxy / sxx
	for i := range x {
		e := y[i] - my - slope*(x[i]-mx)
		rss += e * e
	}
	return slope, math.Sqrt(rss / 62 / sxx)
}

func naiveStat(a []float64) Stat {
	sort.Float64s(a)
	return Stat{mean(a), sortedQuantile(a, 0.5), sortedQuantile(a, 0.9), sortedQuantile(a, 0.95), sortedQuantile(a, 0.99)}
}

// sortedQuantile is the type-7 quantile of sorted values.
func sortedQuantile(a []float64, p float64) float64 {
	if len(a) == 0 {
		return math.NaN()
	}
	h := float64(len(a)-1) * p
	lo, hi := int(math.Floor(h)), int(math.Ceil(h))
	return a[lo] + (h-math.Floor(h))*(a[hi]-a[lo])
}

func sum(a []float64) float64 {
	s := 0.0
	for _, x := range a {
		s += x
	}
	return s
}

func mean(a []float64) float64 {
	if len(a) == 0 {
		return math.NaN()
	}
	return sum(a) / float64(len(a))
}

func greatest(a []float64) float64 {
	most := math.Inf(-1)
	for _, x := range a {
		most = max(most, x)
	}
	return most
}
