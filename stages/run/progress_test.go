package run

import (
	"bytes"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vbauerster/mpb/v8"
)

// clock is a time that tests move.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func newClock() *clock { return &clock{time.Unix(1_000_000, 0)} }

func TestRateAgainstItsDefinition(t *testing.T) {
	c := newClock()
	start := c.t
	r := rate{last: start}
	var at, work []float64
	for i := range 200 {
		c.t = c.t.Add(time.Duration(100+37*i%900) * time.Millisecond)
		w := float64(i%7) + .5
		r.add(c.t, w)
		at, work = append(at, c.t.Sub(start).Seconds()), append(work, w)
	}
	end, decay := at[len(at)-1], smoothing.Seconds()
	var sum float64
	for i := range at {
		sum += work[i] * math.Exp(-(end-at[i])/decay)
	}
	want := sum / (decay * (1 - math.Exp(-end/decay)))
	if got := r.perSecond(); math.Abs(got-want) > 1e-9*want {
		t.Errorf("rate %v, expected %v", got, want)
	}
	if r := (rate{last: start}); r.perSecond() != 0 {
		t.Error("a rate before any time is not 0")
	}
}

// With a steady pace the estimate is exact whatever the weights.
func TestTimeLeftWeighsTasks(t *testing.T) {
	c := newClock()
	m := newMeter(c.now)
	for range 10 {
		m.add(1)
	}
	m.add(90)
	if m.read().Known {
		t.Error("an estimate before any task has ended")
	}
	for i := range 10 {
		c.t = c.t.Add(time.Second) // one unit of weight a second
		m.finish(1, i != 4)
	}
	p := m.read()
	// Work at the end of each second reads high by half a second's decay.
	if left := p.Left.Seconds(); math.Abs(left-90) > 2 {
		t.Errorf("%v left, expected about 90 s", p.Left)
	}
	if p.Ended != 10 || p.Tasks != 11 || p.Failed != 1 || math.Abs(p.Share-.1) > 1e-12 {
		t.Errorf("%+v", p)
	}
	if done, _ := m.total(); done != 9 {
		t.Errorf("weight done %v, expected 9", done)
	}
}

func TestUnitsCountWhileATaskRuns(t *testing.T) {
	c := newClock()
	m := newMeter(c.now)
	m.add(1)
	for range 10 {
		c.t = c.t.Add(time.Second)
		m.units.Add(2_500_000)
		m.read()
	}
	m.phase.Store(running)
	p := m.read()
	if math.Abs(p.UnitRate-2.5e6) > .05e6 {
		t.Errorf("%v units a second, expected about 2.5 million", p.UnitRate)
	}
	wantLine := "0/1 tasks  0.00/s  2.54M requests/s"
	if line := p.line("requests"); line != wantLine {
		t.Errorf("line %q, expected %q", line, wantLine)
	}
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		p    progress
		want string
	}{
		{progress{Phase: running, Ended: 3, Tasks: 40, TaskRate: 12.345, Left: 83 * time.Second, Known: true}, "3/40 tasks  12.3/s  1m23s left"},
		{progress{Phase: running, Ended: 3, Tasks: 40, Failed: 2, Stopping: true}, "3/40 tasks, 2 failed  0.00/s  stopping; again to abort"},
		{progress{Ended: 40, Tasks: 40, Skipped: 7, Phase: compacting, Stopping: true}, "40/40 tasks (and 7 done before)  0.00/s  writing tables"},
		{progress{}, "looking at earlier results"},
	} {
		if got := c.p.line(""); got != c.want {
			t.Errorf("line %q, expected %q", got, c.want)
		}
	}
}

func TestShortAndRound(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0.00", .456: "0.46", 9.994: "9.99", 9.996: "10.0", 99.96: "100", 999.4: "999", 999.6: "1.00k",
		12_345: "12.3k", 7.891e6: "7.89M", 3e9: "3.00G", 5e12: "5000G",
	} {
		if got := short(x); got != want {
			t.Errorf("short(%v) = %q, expected %q", x, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		1234 * time.Millisecond: "1.2s", 83400 * time.Millisecond: "1m23s", 2*time.Hour + 14*time.Minute + 31*time.Second: "2h15m",
	} {
		if got := round(d); got != want {
			t.Errorf("round(%v) = %q, expected %q", d, got, want)
		}
	}
	if d := seconds(1e300); d <= 0 {
		t.Error("an estimate of centuries overflows")
	}
}

// buffer is a writer that the bar's goroutine and the test share.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestBarShowsTheMeter(t *testing.T) {
	for _, ended := range []int{4, 3} {
		m := newMeter(time.Now)
		m.phase.Store(running)
		for range 4 {
			m.add(1)
		}
		out := new(buffer)
		b := drawBar("simulate", "requests", m, mpb.WithOutput(out), mpb.WithAutoRefresh())
		for range ended {
			m.finish(1, true)
		}
		want := map[int]string{4: "4/4 tasks", 3: "3/4 tasks"}[ended]
		until(t, "the bar shows "+want, func() bool { return strings.Contains(out.String(), want) })
		b.stop()
		wantText(t, errorText(out.String()), "simulate", "requests/s", map[int]string{4: "100%", 3: "75%"}[ended])
	}
}

type errorText string

func (e errorText) Error() string { return string(e) }

func TestNoTerminalIsQuiet(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var text bytes.Buffer
	for _, w := range []io.Writer{nil, file, &text} {
		execute(t, synthetic{numbers: upTo(5)}, Options{Dir: t.TempDir(), Progress: w})
	}
	if info, err := file.Stat(); err != nil || info.Size() != 0 || text.Len() != 0 {
		t.Errorf("%d bytes in the file, %q in the buffer, %v", info.Size(), text.String(), err)
	}
}
