package simulate

// Statuses of a request, the values of column status of `requests`.
const (
	finished = iota
	rejected
	failed // its replica failed
	timedOut
)

var statusNames = [...]string{"finished", "rejected", "failed", "timed-out"}

// Meter holds what happened to the requests of one cell and measures it. It is
// scratch for one worker: filled anew for each cell, by load from a run or by
// Rows from table `requests`, without allocating once it has grown. The zero
// value is ready.
//
//	var m simulate.Meter
//	m.Rows(rows, cell.Replicas)
//	again := m.Measure(0.5, slo) // another warm-up cut
//
// Instants are whole microseconds, as in the tables: what Measure says of a
// run and of the run's rows is the same to the bit.
type Meter struct {
	// One entry a request; an instant that never came is -1. The slices of int32
	// and int16 may be another's: the workload's, the run's, or own's.
	arrival, start, first, finish           []int64
	prompt, output, cached, best            []int32
	host                                    []int32
	ceiling, unlimited, dispatched, replica []int32
	believed                                []int32 // -1 without a belief
	preemptions                             []int16
	status                                  []uint8
	in                                      []bool // arrived in the window of the last Measure
	ordered                                 bool   // the requests arrived in order of index

	own struct {
		prompt, output, cached, host, best, ceiling, unlimited, dispatched, replica, believed []int32
		preemptions                                                                           []int16
	}

	ttft, e2e, queue []int64 // of the requests measured
	tpot             []float64
	tokens, routed   []int64 // a replica
	backlog          backlog

	toFirst, toEnd []int64 // what the rows' ttft_us and e2e_us point to
}

// Rows fills the meter from all rows of one cell in order of request; a cell
// of which `requests` keeps a sample cannot be measured anew.
func (m *Meter) Rows(rows []Request, replicas int32) {
	n := len(rows)
	m.size(n, int(replicas))
	o := &m.own
	for _, s := range []*[]int32{&o.prompt, &o.output, &o.cached, &o.host, &o.best, &o.ceiling, &o.unlimited, &o.dispatched, &o.replica, &o.believed} {
		*s = grow(*s, n)
	}
	o.preemptions = grow(o.preemptions, n)
	m.prompt, m.output, m.cached, m.host, m.best = o.prompt, o.output, o.cached, o.host, o.best
	m.ceiling, m.unlimited, m.dispatched, m.replica = o.ceiling, o.unlimited, o.dispatched, o.replica
	m.preemptions, m.believed = o.preemptions, o.believed
	for i := range rows {
		r := &rows[i]
		m.arrival[i], m.start[i] = r.ArrivalUs, instant(r.StartedUs)
		m.first[i], m.finish[i] = instant(r.FirstTokenUs), instant(r.FinishedUs)
		m.prompt[i], m.output[i] = r.PromptTokens, r.OutputTokens
		m.cached[i], m.best[i], m.ceiling[i] = r.CachedTokens, r.BestCachedTokens, r.CeilingTokens
		m.host[i] = r.HostTokens
		m.unlimited[i], m.dispatched[i] = r.UnlimitedTokens, r.DispatchedTokens
		m.replica[i], m.believed[i] = r.Replica, -1
		if r.BelievedTokens != nil {
			m.believed[i] = *r.BelievedTokens
		}
		m.preemptions[i] = int16(r.Preemptions)
		m.status[i] = failed
		for s, name := range statusNames {
			if r.Status == name {
				m.status[i] = uint8(s)
			}
		}
	}
	m.order()
}

// Measured reports whether the last Measure took the latencies of request i:
// it arrived in the window and finished.
func (m *Meter) Measured(i int) bool { return m.in[i] && m.status[i] == finished }

// Samples returns the latencies that the last Measure took, in no particular
// order, as many as Metrics.Measured; tpot has those of more than one output
// token. They last until the meter's next call.
func (m *Meter) Samples() (ttft, e2e, queue []int64, tpot []float64) {
	return m.ttft, m.e2e, m.queue, m.tpot
}

// size makes room for n requests on so many replicas.
func (m *Meter) size(n, replicas int) {
	m.arrival, m.start = grow(m.arrival, n), grow(m.start, n)
	m.first, m.finish = grow(m.first, n), grow(m.finish, n)
	m.status = grow(m.status, n)
	m.tokens, m.routed = grow(m.tokens, replicas), grow(m.routed, replicas)
}

// order notes whether the index is the order of arrival.
func (m *Meter) order() {
	m.ordered = true
	for i := 1; i < len(m.arrival); i++ {
		if m.arrival[i] < m.arrival[i-1] {
			m.ordered = false
			return
		}
	}
}

// grow returns a slice of length n, s itself where it is large enough; its
// contents are undefined.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

func instant(us *int64) int64 {
	if us == nil {
		return -1
	}
	return *us
}

// moment is the inverse of instant; it points at us itself.
func moment(us *int64) *int64 {
	if *us < 0 {
		return nil
	}
	return us
}
