package calibrate

import (
	"context"
	"fmt"
	"math"

	"switchyard/sim/cluster"
	"switchyard/sim/workload"
)

// Range is what was measured.
type Range struct {
	RateLo, RateHi     float64 // requests a second
	CrowdLo, CrowdHi   float64 // requests that an arrival finds in the system, on average
	PromptLo, PromptHi int32
	OutputLo, OutputHi int32
}

// Outlook is what the server would do elsewhere, and how sure that is.
type Outlook struct {
	Name    string
	Rate    float64
	Crowd   float64 // requests that an arrival finds in the system, on average
	Outside string  // of what was measured; "" within
	Mean    [3]float64
	Half    [3]float64 // half the width of the 95 % interval of the mean, in shares
}

func (s *study) measure() Range {
	m := Range{RateLo: math.Inf(1), CrowdLo: math.Inf(1), PromptLo: math.MaxInt32, OutputLo: math.MaxInt32}
	for _, r := range s.runs {
		m.RateLo, m.RateHi = min(m.RateLo, r.rate()), max(m.RateHi, r.rate())
		m.CrowdLo, m.CrowdHi = min(m.CrowdLo, r.crowd()), max(m.CrowdHi, r.crowd())
		lo, hi, _ := lengths(r.work.Prompt)
		m.PromptLo, m.PromptHi = min(m.PromptLo, lo), max(m.PromptHi, hi)
		lo, hi, _ = lengths(r.work.Output)
		m.OutputLo, m.OutputHi = min(m.OutputLo, lo), max(m.OutputHi, hi)
	}
	return m
}

// look asks all fits that might be right about loads and lengths beyond the
// recordings: where the data say nothing, they part.
func (s *study) look(ctx context.Context) error {
	s.say("look further")
	s.result.Measured = s.measure()
	busiest := s.runs[0]
	for _, r := range s.runs {
		if r.crowd() > busiest.crowd() {
			busiest = r
		}
	}
	_, _, typical := lengths(busiest.work.Prompt)
	same := func(int) int32 { return 0 }
	short, long := int32(max(1, typical/4)), int32(4*typical)
	for _, c := range []struct {
		name   string
		speed  float64
		prompt func(i int) int32 // 0 for the recorded one
	}{
		{"as measured", 1, same},
		{"twice the load", 2, same},
		{"three times the load", 3, same},
		{fmt.Sprintf("prompts of %d", short), 1, func(int) int32 { return short }},
		{fmt.Sprintf("prompts of %d at a quarter of the rate", long), .25, func(int) int32 { return long }},
		{fmt.Sprintf("prompts of %d and %d mixed at half the rate", short, long), .5, func(i int) int32 {
			if i%2 == 0 {
				return short
			}
			return long
		}},
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := busiest.altered(func(i int, q *workload.Request) {
			q.ArrivalUs = int64(float64(q.ArrivalUs) / c.speed)
			if n := c.prompt(i); n > 0 {
				q.Prompt, q.Segments = n, nil
			}
		})
		if err != nil {
			return err
		}
		o, err := s.outlook(c.name, r)
		if err != nil {
			// A load that the server cannot hold, or memory cannot: nothing to say.
			continue
		}
		s.result.Outlook = append(s.result.Outlook, o)
	}
	return nil
}

func (s *study) outlook(name string, r *recording) (Outlook, error) {
	sim := new(cluster.Sim)
	all, err := simulateAll(sim, s.all.form, s.all.x, []*recording{r})
	if err != nil {
		return Outlook{}, err
	}
	r.measured = all[0] // for what is asked of measured latencies
	r.found = r.finds()
	spread, err := s.spread(sim, r)
	if err != nil {
		return Outlook{}, err
	}
	o := Outlook{Name: name, Rate: r.rate(), Crowd: r.crowd()}
	for k := range o.Mean {
		e := newError(k, pairs(r, all[0], k, func(int) bool { return true }), 0)
		o.Mean[k] = e.Measured
		o.Half[k] = math.Hypot(1.96*spread[k], s.inside(k))
	}
	lo, hi, _ := lengths(r.work.Prompt)
	m := s.result.Measured
	if o.Crowd > 1.05*m.CrowdHi {
		o.Outside = fmt.Sprintf("load: %.0f in the system, measured up to %.0f", o.Crowd, m.CrowdHi)
	}
	if lo < m.PromptLo || hi > m.PromptHi {
		if o.Outside != "" {
			o.Outside += "; "
		}
		o.Outside += fmt.Sprintf("prompts: %d to %d, measured %d to %d", lo, hi, m.PromptLo, m.PromptHi)
	}
	return o, nil
}

// inside returns the greatest error that a metric's mean, predicted without the
// part that is predicted, had within the measured range.
func (s *study) inside(metric int) float64 {
	worst := 0.0
	for _, c := range s.result.Comparisons {
		if c.Set == "all" {
			continue
		}
		for _, e := range c.Errors {
			if e.Metric == metricNames[metric] {
				worst = max(worst, math.Abs(e.Mean))
			}
		}
	}
	return worst
}
