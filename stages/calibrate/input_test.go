package calibrate

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"switchyard/sim/hardware"
	"switchyard/stages/trace"
)

func TestRefusedRuns(t *testing.T) {
	e := with(qwen(), "async_scheduling=true")
	a, b, few := made(t, "linear", e, 1, 30, 4e5), made(t, "linear", e, 2, 30, 4e5), made(t, "linear", e, 3, enough-1, 4e5)
	copied := *a
	copied.File = "copy.csv"
	for _, c := range []struct {
		runs, held []*trace.Measured
		want       string
	}{
		{[]*trace.Measured{a}, []*trace.Measured{&copied}, "copy.csv, held out, has the same requests as made-1.csv"},
		{[]*trace.Measured{a, b, &copied}, nil, "made-1.csv and copy.csv have the same requests"},
		{[]*trace.Measured{a}, []*trace.Measured{b, b}, "give each run once"},
		{[]*trace.Measured{few}, nil, "made-3.csv has 19 measured requests, expected at least 20"},
		{nil, nil, "no measured runs"},
	} {
		_, err := Run(t.Context(), c.runs, c.held, Options{Step: "linear", Engine: e})
		var wrong *InputError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an input error with %q", err, c.want)
		}
	}
	small := e
	small.GPU, _ = hardware.FindGPU("h100")
	small.GPU.Memory = 16e9
	if _, err := Run(t.Context(), []*trace.Measured{a}, nil, Options{Step: "linear", Engine: with(small, "num_blocks=0")}); err == nil || !strings.Contains(err.Error(), "h100 has no memory for the") {
		t.Errorf("on a GPU that is too small: %v", err)
	}
}

// Latencies in another unit than the arrivals are not described by any server:
// that is said, and nothing is offered to paste. Outputs of one token have no
// time per output token.
func TestHopeless(t *testing.T) {
	e := with(qwen(), "async_scheduling=true")
	m := made(t, "linear", e, 1, 40, 4e5)
	for i := range m.Requests {
		m.Requests[i].Output = 1
		m.Latency[i].TTFTUs = max(1, m.Latency[i].TTFTUs/100_000)
		m.Latency[i].E2EUs = m.Latency[i].TTFTUs
	}
	r, err := Run(t.Context(), []*trace.Measured{m}, nil, Options{Step: "linear", Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	if r.Block != "" || !strings.Contains(b.String(), "nothing to paste: this model does not describe these data; are the units seconds?") {
		t.Errorf("said\n%s", b.String())
	}
	r.printOutlook(&b) // what else is said of such outputs
	if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "1 to 1 ") {
		t.Errorf("said\n%s", b.String())
	}
	bound := slices.ContainsFunc(r.Coefficients, func(c Coefficient) bool { return c.AtBound && c.Error == nil })
	if !bound || !strings.Contains(b.String(), "at the search's bound") {
		t.Errorf("no coefficient at a bound in\n%s", b.String())
	}
}
