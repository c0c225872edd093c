package run

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// smoothing is the time constant T of the rates on the progress line: long
// enough to even out tasks of a few seconds, short enough to follow a sweep
// from light to heavy cells.
const smoothing = 30 * time.Second

// rate is an exponentially weighted rate. With work w_i ended at times t_i,
// started at 0 and now t, it is
//
//	sum w_i exp(-(t-t_i)/T) / integral from 0 to t of exp(-(t-s)/T) ds
//
// which is the plain average at first and forgets what is older than T later.
type rate struct {
	work float64 // the numerator, as of the last call
	span float64 // the denominator, in seconds
	last time.Time
}

// add moves the rate to now and adds work.
func (r *rate) add(now time.Time, work float64) {
	elapsed := max(0, now.Sub(r.last).Seconds())
	keep := math.Exp(-elapsed / smoothing.Seconds())
	r.work = r.work*keep + work
	r.span = r.span*keep + (1-keep)*smoothing.Seconds()
	r.last = now
}

// perSecond is the rate, 0 before any time has passed.
func (r *rate) perSecond() float64 {
	if r.span <= 0 {
		return 0
	}
	return r.work / r.span
}

// Phases of a run.
const (
	opening int32 = iota
	running
	compacting
)

// meter counts the work of one run, for the progress line, the report and the
// estimate of the time that is left.
type meter struct {
	units    atomic.Int64
	stopping atomic.Bool
	phase    atomic.Int32
	now      func() time.Time

	mu        sync.Mutex
	tasks     int // to do in this run
	skipped   int // done before
	ended     int
	failed    int
	weight    float64 // of all tasks to do in this run
	gone      float64 // of those that ended
	done      float64 // of those that ended well
	busy      time.Duration
	taskRate  rate
	weighed   rate // weight a second
	unitRate  rate
	unitsSeen int64
}

func newMeter(now func() time.Time) *meter {
	start := rate{last: now()}
	return &meter{now: now, taskRate: start, weighed: start, unitRate: start}
}

// add enters a task to do.
func (m *meter) add(weight float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tasks++
	m.weight += weight
}

// skip notes a task that was done before.
func (m *meter) skip() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.skipped++
}

// finish notes a task that ended.
func (m *meter) finish(weight float64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	m.ended++
	m.gone += weight
	m.taskRate.add(now, 1)
	m.weighed.add(now, weight)
	if ok {
		m.done += weight
	} else {
		m.failed++
	}
}

// work adds to the time that workers were busy.
func (m *meter) work(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy += d
}

// total returns the weight of the tasks that ended well and the workers' time.
func (m *meter) total() (weight float64, busy time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.done, m.busy
}

// progress is the meter at one moment.
type progress struct {
	Tasks, Ended, Failed, Skipped int
	Share                         float64 // of the weight that is done, 0 to 1
	TaskRate, UnitRate            float64 // a second
	Left                          time.Duration
	Known                         bool // Left means something
	Stopping                      bool
	Phase                         int32
}

// read moves the rates to now.
func (m *meter) read() progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, units := m.now(), m.units.Load()
	m.taskRate.add(now, 0)
	m.weighed.add(now, 0)
	m.unitRate.add(now, float64(units-m.unitsSeen))
	m.unitsSeen = units
	p := progress{
		Tasks: m.tasks, Ended: m.ended, Failed: m.failed, Skipped: m.skipped,
		TaskRate: m.taskRate.perSecond(), UnitRate: m.unitRate.perSecond(),
		Stopping: m.stopping.Load(), Phase: m.phase.Load(),
	}
	if m.weight > 0 {
		p.Share = m.gone / m.weight
	}
	if speed := m.weighed.perSecond(); speed > 0 {
		p.Left, p.Known = seconds((m.weight-m.gone)/speed), true
	}
	return p
}

// line is the text beside the bar.
func (p progress) line(unit string) string {
	if p.Phase == opening {
		return "looking at earlier results"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%d tasks", p.Ended, p.Tasks)
	if p.Skipped > 0 {
		fmt.Fprintf(&b, " (and %d done before)", p.Skipped)
	}
	if p.Failed > 0 {
		fmt.Fprintf(&b, ", %d failed", p.Failed)
	}
	fmt.Fprintf(&b, "  %s/s", short(p.TaskRate))
	if unit != "" {
		fmt.Fprintf(&b, "  %s %s/s", short(p.UnitRate), unit)
	}
	switch {
	case p.Phase == compacting:
		b.WriteString("  writing tables")
	case p.Stopping:
		b.WriteString("  stopping; again to abort")
	case p.Known:
		fmt.Fprintf(&b, "  %s left", round(p.Left))
	}
	return b.String()
}

// short prints three digits and a suffix: 12.3, 456, 1.23k, 7.89M.
func short(x float64) string {
	suffix := ""
	for _, s := range []string{"k", "M", "G"} {
		if x < 999.5 {
			break
		}
		x, suffix = x/1000, s
	}
	digits := 2
	switch {
	case x >= 99.95:
		digits = 0
	case x >= 9.995:
		digits = 1
	}
	return fmt.Sprintf("%.*f%s", digits, x, suffix)
}

// seconds converts, without overflow for estimates of centuries.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, 1e9) * float64(time.Second))
}

// round drops digits that an estimate cannot have.
func round(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
