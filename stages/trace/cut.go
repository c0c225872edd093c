package trace

import (
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strconv"

	"switchyard/sim/workload"
)

// Options say which part of a trace is played, and how fast. The zero value
// plays all of it as recorded.
type Options struct {
	// Window is [from, to] in seconds of the recording, since its first
	// request; to is exclusive, and 0 means to the end. The window's start
	// becomes the time 0, so that what is silent at its start stays so.
	Window []float64 `yaml:"window" unit:"s" doc:"from and to in seconds since the first request, before speed; to = 0: to the end"`
	// Limit counts after the window.
	Limit int `yaml:"limit" default:"0" min:"0" doc:"requests kept, the first in time; 0: all"`
	// Speed divides arrivals and think times; 0 means 1.
	Speed float64 `yaml:"speed" default:"1" min:"0.000001" max:"1000000" doc:"times faster than recorded"`
}

const (
	slowest = 1e-6
	fastest = 1e6
	// longestUs bounds the played time, 285 years.
	longestUs = exactUs
)

// Validate names the field, its value and what was expected.
func (o Options) Validate() error {
	switch w := o.Window; {
	case o.Limit < 0:
		return fmt.Errorf("limit is %d, expected at least 0 (0 for all)", o.Limit)
	case o.Speed != 0 && !(o.Speed >= slowest && o.Speed <= fastest):
		return fmt.Errorf("speed is %v, expected %v to %v", o.Speed, slowest, fastest)
	case len(w) != 0 && len(w) != 2:
		return fmt.Errorf("window is %v, expected two numbers: from and to in seconds", w)
	case len(w) == 2 && !(w[0] >= 0 && w[0] < math.Inf(1) && (w[1] == 0 || w[1] > w[0])):
		return fmt.Errorf("window is %v, expected 0 <= from < to in seconds (to = 0 for the end)", w)
	}
	return nil
}

// Requests is the part of a trace that the options leave, in order of time. It
// is safe for concurrent use.
type Requests struct {
	t      *Trace
	lo, hi int
	start  int64 // recorded time that becomes 0
	speed  float64
}

// Cut applies the options: window, then limit, then speed. Requests that wait
// for another share its fate. The trace stays as it is and can be cut again.
func (t *Trace) Cut(o Options) (*Requests, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", t.File, err)
	}
	c := &Requests{t: t, hi: t.Len(), speed: 1}
	if len(o.Window) == 2 {
		c.start = seconds(o.Window[0])
		c.lo = t.search(c.start)
		if o.Window[1] != 0 {
			c.hi = t.search(seconds(o.Window[1]))
		}
		if c.lo >= c.hi {
			return nil, fmt.Errorf("%s: window %v holds no request, expected a part of the trace's %s seconds", t.File, o.Window,
				strconv.FormatFloat(float64(t.c.timeUs[t.Len()-1])/1e6, 'f', 1, 64))
		}
	}
	if o.Limit > 0 {
		c.hi = min(c.hi, c.lo+o.Limit)
	}
	if o.Speed != 0 {
		c.speed = o.Speed
	}
	if last := float64(t.c.timeUs[c.hi-1]-c.start) / c.speed; last >= longestUs {
		return nil, fmt.Errorf("%s: speed is %v, expected more: the trace would last %.3g years", t.File, c.speed, last/3.156e13)
	}
	for _, think := range t.c.thinkUs {
		if us := float64(think) / c.speed; us >= longestUs {
			return nil, fmt.Errorf("%s: speed is %v, expected more: a think time would last %.3g years", t.File, c.speed, us/3.156e13)
		}
	}
	return c, nil
}

// seconds converts to whole microseconds; times beyond any trace's end are
// cut, which changes nothing.
func seconds(s float64) int64 { return int64(math.Round(min(s*1e6, exactUs))) }

// search returns the index of the first request at or after a recorded time.
func (t *Trace) search(us int64) int {
	return sort.Search(t.Len(), func(i int) bool { return t.c.timeUs[i] >= us })
}

// Len returns the number of requests.
func (c *Requests) Len() int { return c.hi - c.lo }

// BlockTokens returns the tokens that a hash id stands for; 0 without blocks.
func (c *Requests) BlockTokens() int32 { return c.t.c.blockTokens }

// Sessions reports whether some request belongs to a session or waits for
// another one.
func (c *Requests) Sessions() bool {
	some := func(column []int64) bool {
		return column != nil && slices.ContainsFunc(column[c.lo:c.hi], func(v int64) bool { return v != workload.None })
	}
	return some(c.t.c.session) || some(c.t.c.after)
}

// Line returns the line, in the parquet format the row, of request i.
func (c *Requests) Line(i int) int { return int(c.t.c.line[c.lo+i]) }

// At fills r with request i, reusing its Segments; Tags are shared.
func (c *Requests) At(i int, r *workload.Request) {
	c.t.c.at(c.lo+i, r)
	if r.After != workload.None {
		r.After -= int32(c.lo)
	} else {
		r.ArrivalUs = c.scale(r.ArrivalUs - c.start)
	}
	r.ThinkUs = c.scale(r.ThinkUs)
}

func (c *Requests) scale(us int64) int64 {
	if c.speed == 1 {
		return us
	}
	return int64(math.Round(float64(us) / c.speed))
}

// Each calls f for every request in order of time. The request and its
// segments are valid during the call.
func (c *Requests) Each(f func(i int, r *workload.Request) error) error {
	var r workload.Request
	for i := range c.Len() {
		c.At(i, &r)
		if err := f(i, &r); err != nil {
			return err
		}
	}
	return nil
}

// Load reads a trace and cuts it. Where several cuts of one file are needed,
// Read it once.
func Load(file string, r io.Reader, s Source, o Options) (*Requests, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	t, err := Read(file, r, s)
	if err != nil {
		return nil, err
	}
	return t.Cut(o)
}
