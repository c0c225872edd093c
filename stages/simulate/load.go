package simulate

import (
	"switchyard/sim/cluster"
	"switchyard/sim/workload"
)

// load fills the meter from a run; it keeps slices of both arguments until it
// is filled again.
func (m *Meter) load(w *workload.Workload, r *cluster.Result) {
	n := w.Len()
	m.size(n, len(r.Replicas))
	micros(m.arrival, r.ArrivalNs)
	micros(m.start, r.StartNs)
	micros(m.first, r.FirstNs)
	micros(m.finish, r.FinishNs)
	m.prompt, m.output, m.ceiling = w.Prompt, w.Output, r.Ceiling
	m.cached, m.host, m.best, m.unlimited, m.dispatched = r.Cached, r.Host, r.Best, r.Unlimited, r.Dispatched
	m.replica, m.preemptions, m.believed = r.Replica, r.Preemptions, r.Believed
	for i, s := range r.Status {
		switch s {
		case cluster.Finished:
			m.status[i] = finished
		case cluster.Rejected:
			m.status[i] = rejected
			m.finish[i] = -1 // the run notes when it was turned away
		case cluster.TimedOut:
			m.status[i] = timedOut
		default:
			m.status[i] = failed
		}
	}
	m.order()
}

// micros converts instants to whole microseconds, down; -1 stays.
func micros(us, ns []int64) {
	for i, t := range ns {
		us[i] = t / 1000
		if t < 0 {
			us[i] = -1
		}
	}
}
