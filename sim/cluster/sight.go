package cluster

import "switchyard/sim/router"

// prepare brings a router's view up to what it may know at now.
func (s *Sim) prepare(in *instance, now int64) {
	f := &s.front
	v := &in.view
	v.NowNs = now
	f.follow.tell(now)
	if v.Gauges == nil {
		return
	}
	switch {
	case f.loads == "local":
		v.Reads++
		for i := range v.Gauges {
			n := in.requests[i]
			v.Gauges[i] = router.Gauge{
				Waiting: n - in.started[i], Running: in.started[i], KVTokens: in.tokens[i],
				Prefill: in.prefill[i], Requests: n, Tokens: in.tokens[i], Read: true,
			}
		}
	case f.reading.PeriodNs == 0:
		v.Reads++
		s.readGauges(v.Gauges, now)
	}
}

// readGauges reads what the replicas' metrics say at a time.
func (s *Sim) readGauges(to []router.Gauge, at int64) {
	f := &s.front
	for i, rp := range s.engine {
		g := rp.Gauges(at)
		to[i] = router.Gauge{
			Waiting: g.Waiting, Running: g.Running, KVTokens: g.KVTokens,
			Prefill: f.prefill[i], Requests: f.requests[i], Tokens: f.tokens[i], Read: true,
		}
	}
}

// poll reads the metrics for all routers at the time of the last poll that is
// not after until.
func (s *Sim) poll(until int64) {
	f := &s.front
	period := f.reading.PeriodNs
	at := until / period * period
	f.pollNs = at + period
	s.readGauges(f.polled, at)
	for _, in := range f.routers {
		copy(in.view.Gauges, f.polled)
		in.view.Reads++
		if f.loads != "policy" {
			for i, g := range f.polled {
				in.view.Requests[i], in.view.Tokens[i] = g.Requests, g.Tokens
			}
		}
	}
}
