package calibrate

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"switchyard/sim/cluster"
	"switchyard/sim/engine"
	"switchyard/sim/hardware"
	"switchyard/sim/rng"
	"switchyard/sim/workload"
	"switchyard/stages/trace"
)

// truth are the coefficients of the server that the tests measure, in the order
// of the form.
var truth = map[string][]float64{
	"max-linear": {1500, 60, 35, 9000, 0.08, 900, 4200}, // overhead, request, prefill, weights, context, idle, front end
	"linear":     {8000, 60, 35, 0.08, 900, 4200},
	"roofline":   {0.5, 0.7, 2000, 900, 4200},
}

// made measures a server of known coefficients, with noise of 0.5 % in each
// latency. Lengths differ, so that all coefficients can be told apart.
func made(t *testing.T, name string, e Engine, seed uint64, n int, gapUs float64) *trace.Measured {
	t.Helper()
	s := rng.New(seed, 1, "made")
	m := &trace.Measured{File: fmt.Sprintf("made-%d.csv", seed), Records: n}
	at := 0.0
	for range n {
		m.Requests = append(m.Requests, workload.Request{ArrivalUs: int64(at), After: workload.None, Session: workload.None, OutputID: workload.None,
			Prompt: int32(200 + s.IntN(2500)), Output: int32(20 + s.IntN(100))})
		m.Latency = append(m.Latency, trace.Latency{TTFTUs: 1, E2EUs: 2, Cached: -1})
		at += gapUs * s.Exp()
	}
	r, err := newRecording(m)
	if err != nil {
		t.Fatal(err)
	}
	f, err := newForm(name, e, []*recording{r})
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, len(f.coef))
	for i, v := range truth[name] {
		x[i] = v / f.coef[i].start
	}
	l, err := simulateAll(new(cluster.Sim), f, x, []*recording{r})
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Latency {
		ttft := l[0].ttft[i] * (1 + .005*s.Normal())
		m.Latency[i].TTFTUs, m.Latency[i].E2EUs = int64(ttft), int64(ttft+(l[0].e2e[i]-l[0].ttft[i])*(1+.005*s.Normal()))
	}
	return m
}

func with(e Engine, set string) Engine {
	e.Set = append(slices.Clone(e.Set), set)
	return e
}

// Coefficients come back from what a server of that form was measured to do,
// and what was left out is predicted.
func TestRecovery(t *testing.T) {
	for name, want := range truth {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := with(qwen(), "async_scheduling=true")
			runs := []*trace.Measured{made(t, name, e, 1, 800, 400_000), made(t, name, e, 2, 800, 150_000)}
			recordings := make([]*recording, 2)
			for i := range runs {
				recordings[i], _ = newRecording(runs[i])
			}
			f, err := newForm(name, e, recordings)
			if err != nil {
				t.Fatal(err)
			}
			got, err := fit(t.Context(), f, data{recordings, -1}, f.begin(), fromAfar)
			if err != nil {
				t.Fatal(err)
			}
			curve, err := identify(got, recordings)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range f.values(got.x) {
				if off := math.Abs(v/want[i] - 1); off > max(.05, 4*curve.together[i]) {
					t.Errorf("%s is %v, want %v; the data notice a change of %.3f", f.coef[i].name, v, want[i], curve.together[i])
				}
			}
			for what, batch := range map[string]engine.Batch{
				"a prefill of 2,000": {Tokens: 2000, Prefill: 2000, Requests: 1, Attention2: 2000 * 2000},
				"ten decodes":        {Tokens: 10, Requests: 10, Context: 14000, DecodeContext: 14000, Attention2: 28010},
			} {
				x := f.begin()
				for i, v := range want {
					x[i] = v / f.coef[i].start
				}
				right, err := f.server(x)
				if err != nil {
					t.Fatal(err)
				}
				s, err := f.server(got.x)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := float64(s.step.StepNs(batch)), float64(right.step.StepNs(batch)); math.Abs(got/want-1) > .02 {
					t.Errorf("%s takes %.0f us, want %.0f", what, got/1e3, want/1e3)
				}
			}
			if got.loss > 2 {
				t.Errorf("loss is %v, want no more than noise and chance make", got.loss)
			}
		})
	}
}

// The whole of it: scheduling is found to be asynchronous, the errors on what
// was left out are small, everything is said the same twice, and the block has
// the coefficients.
func TestRun(t *testing.T) {
	runs := []*trace.Measured{made(t, "max-linear", with(qwen(), "async_scheduling=true"), 1, 90, 400_000), made(t, "max-linear", with(qwen(), "async_scheduling=true"), 2, 90, 150_000)}
	held := []*trace.Measured{made(t, "max-linear", with(qwen(), "async_scheduling=true"), 3, 90, 120_000)}
	var printed [2]string
	for k := range printed {
		r, err := Run(t.Context(), runs, held, Options{Step: "max-linear", Engine: qwen()})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := r.Print(&b); err != nil {
			t.Fatal(err)
		}
		printed[k] = b.String()
		if k == 1 {
			break
		}
		if r.Async == nil || r.Async.With >= r.Async.Without || !strings.Contains(r.Block, "async_scheduling: true") {
			t.Errorf("asynchronous scheduling is not found: %+v\n%s", r.Async, r.Block)
		}
		sets := map[string]int{}
		for _, c := range r.Comparisons {
			sets[c.Set]++
			for _, e := range c.Errors {
				if math.Abs(e.Mean) > .06 || e.Lo > e.Mean || e.Mean > e.Hi {
					t.Errorf("%s of %s: %s is off by %+v", c.Set, c.File, e.Metric, e)
				}
			}
		}
		if sets["all"] != 2 || sets["tenths"] != 2 || sets["runs"] != 2 || sets["held-out"] != 1 {
			t.Errorf("compared %v", sets)
		}
		if want := 3*2*90 + 90; len(r.Rows) != want {
			t.Errorf("%d rows, want %d", len(r.Rows), want)
		}
		inside, outside := r.Outlook[0], r.Outlook[len(r.Outlook)-1]
		if inside.Outside != "" || outside.Outside == "" {
			t.Errorf("outlook is %+v", r.Outlook)
		}
		dir := t.TempDir()
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
		if back, err := Calibration.Read(dir); err != nil || len(back) != len(r.Rows) {
			t.Errorf("%d rows come back, %v", len(back), err)
		}
	}
	if printed[0] != printed[1] {
		t.Errorf("said\n%s\nthen\n%s", printed[0], printed[1])
	}
}

// Where nothing was measured the interval is wider: at four times the length
// and the load.
func TestIntervalsWiden(t *testing.T) {
	e := with(qwen(), "async_scheduling=true")
	m := made(t, "max-linear", e, 1, 150, 500_000)
	for i := range m.Requests { // one length
		m.Requests[i].Prompt, m.Requests[i].Output = 1000, 60
	}
	r, _ := newRecording(m)
	f, _ := newForm("max-linear", e, []*recording{r})
	x := f.begin()
	l, err := simulateAll(new(cluster.Sim), f, x, []*recording{r})
	if err != nil {
		t.Fatal(err)
	}
	s := rng.New(1, 1, "noise")
	for i := range m.Latency {
		m.Latency[i].TTFTUs, m.Latency[i].E2EUs = int64(l[0].ttft[i]*(1+.01*s.Normal())), int64(l[0].e2e[i]*(1+.01*s.Normal()))
	}
	result, err := Run(t.Context(), []*trace.Measured{m}, nil, Options{Step: "max-linear", Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	base := result.Outlook[0].Half
	for _, o := range result.Outlook[3:] { // other lengths
		if o.Outside == "" || o.Half[0] <= base[0] {
			t.Errorf("%s: TTFT within %.3f, as measured within %.3f", o.Name, o.Half[0], base[0])
		}
	}
}

// The curvature of a known Jacobian: a column that repeats another is not
// identified, though each alone is.
func TestCurve(t *testing.T) {
	c := newCurve(mat.NewSymDense(2, []float64{25, 0, 0, 4})) // of columns (3, 4, 0) and (0, 0, 2)
	if math.Abs(c.singular[0]-5) > 1e-9 || math.Abs(c.singular[1]-2) > 1e-9 ||
		math.Abs(c.alone[0]-.2) > 1e-9 || math.Abs(c.together[1]-.5) > 1e-9 || math.Abs(math.Abs(c.weakest[1])-1) > 1e-9 {
		t.Errorf("curve is %+v", c)
	}
	c = newCurve(mat.NewSymDense(2, []float64{25, 25, 25, 25}))
	if math.Abs(c.alone[0]-.2) > 1e-9 || c.together[0] < 5 || c.weakest[0]*c.weakest[1] > -.49 {
		t.Errorf("curve of equal columns is %+v", c)
	}
}

func TestError(t *testing.T) {
	var p pair
	for i := range 200 {
		p.measured = append(p.measured, 100+float64(i%10))
		p.simulated = append(p.simulated, 1.1*(100+float64(i%10)))
	}
	e := newError(2, p, 0)
	for what, got := range map[string]float64{"mean": e.Mean, "lower end": e.Lo, "upper end": e.Hi, "median": e.Median, "P99": e.P99, "each": e.Each} {
		if math.Abs(got-.1) > 1e-9 {
			t.Errorf("%s is %v, want 0.1", what, got)
		}
	}
	if wide := newError(2, p, .02); math.Abs(wide.Hi-.1-1.96*.02) > 1e-9 || math.Abs(.1-wide.P99Lo-1.96*.02) > 1e-9 {
		t.Errorf("with a spread of 2 %%: %+v", wide)
	}
}

// Cached tokens are hit in the simulation as they were measured, and recorded
// replicas serve what they served.
func TestRecording(t *testing.T) {
	m := &trace.Measured{File: "f"}
	for i := range 40 {
		m.Requests = append(m.Requests, workload.Request{ArrivalUs: int64(i) * 1e6, After: workload.None, Session: workload.None, OutputID: workload.None,
			Prompt: 500, Output: 5, Served: int32(1 + i%2)})
		m.Latency = append(m.Latency, trace.Latency{TTFTUs: 1, E2EUs: 2, Cached: 320 * int32(min(1, i/2))})
	}
	r, err := newRecording(m)
	if err != nil {
		t.Fatal(err)
	}
	f, err := newForm("linear", qwen(), []*recording{r})
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.server(f.begin())
	if err != nil {
		t.Fatal(err)
	}
	sim := new(cluster.Sim)
	l, err := r.simulate(sim, s)
	if err != nil {
		t.Fatal(err)
	}
	// The first two have nothing cached, the next two find less than they did.
	if r.replicas != 2 || !r.recorded || l.ttft[10] >= l.ttft[0] || l.ttft[39] != l.ttft[10] {
		t.Errorf("%d replicas, times to first token %v, %v, %v", r.replicas, l.ttft[0], l.ttft[10], l.ttft[39])
	}
}

func TestEngineErrors(t *testing.T) {
	h100, _ := hardware.FindGPU("h100")
	for _, c := range []struct {
		e    Engine
		step string
		want string
	}{
		{Engine{Scheduler: "vllm-v1"}, "max-linear", "needs the model and the GPU"},
		{with(qwen(), "max_num_seq=3"), "linear", "did you mean max_num_seqs?"},
		{with(qwen(), "max_num_seqs=many"), "linear", `value "many", expected`},
		{with(qwen(), "max_num_seqs=0"), "linear", "max_num_seqs"},
		{Engine{Scheduler: "vllm", GPU: h100}, "linear", `scheduler is "vllm", expected one of`},
		{qwen(), "table", "expected one of max-linear, linear, roofline"},
	} {
		m := made(t, "linear", qwen(), 1, 20, 1e5)
		if _, err := Run(t.Context(), []*trace.Measured{m}, nil, Options{Step: c.step, Engine: c.e}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: want an error with %q", err, c.want)
		}
	}
	// Without hardware, the linear form starts from the recordings.
	m := made(t, "linear", qwen(), 1, 60, 4e5)
	e := Engine{Scheduler: "vllm-v1", TensorParallel: 1, Set: []string{"async_scheduling=false"}}
	if r, err := Run(t.Context(), []*trace.Measured{m}, nil, Options{Step: "linear", Engine: e}); err != nil || len(r.Coefficients) != 6 {
		t.Errorf("linear without hardware: %v", err)
	}
}
