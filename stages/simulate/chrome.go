package simulate

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"switchyard/sim/cluster"
	"switchyard/sim/workload"
)

// Span is the part of a run that is exported, in seconds since the first
// arrival.
type Span struct {
	From, To float64 // To 0 means to the end
}

// check refuses a span that is none.
func (s Span) check() error {
	if s.From < 0 || s.To < 0 || s.To > 0 && s.To <= s.From {
		return fmt.Errorf("the window is from %v to %v seconds, expected its end after its start and neither below 0", s.From, s.To)
	}
	return nil
}

// Trace runs one cell again and writes the steps of one replica, and its
// requests, in the trace event format of Chrome and Perfetto (ui.perfetto.dev).
// The workload is read from its table in dir, where that holds it, and made
// anew otherwise. A span in which the replica has no step is an error.
//
// The file is a JSON object with the list traceEvents. Times are microseconds.
// Each step is a complete event (ph X) on one track, named by what it computes;
// queue, batch and KV cache are counters (ph C); each request is a nested
// asynchronous event (ph b and e) from its arrival to its last token, with one
// for each of its phases: queued, prefill, decode.
func (p *Plan) Trace(r *Run, replica int, span Span, dir string, w io.Writer) error {
	c := r.Config.Cluster
	if replica < 0 || replica >= c.Params.Replicas {
		return fmt.Errorf("replica is %d, expected 0 to %d", replica, c.Params.Replicas-1)
	}
	if err := span.check(); err != nil {
		return err
	}
	requests, err := open(input{r.Config.Workload, r.Replication}, dir)
	if err != nil {
		return err
	}
	t := &chromeTrace{w: bufio.NewWriter(w), replica: replica, from: int64(span.From * 1e9), to: math.MaxInt64}
	if span.To > 0 {
		t.to = int64(span.To * 1e9)
	}
	t.start(r.Name())
	config := c.Config
	config.Watch = t
	result, err := new(cluster.Sim).Run(config, requests, r.Config.Router.Policy.Name, r.Config.Router.Params, p.Experiment.Seed, r.Replication)
	if err != nil {
		return err
	}
	if t.steps == 0 {
		return t.empty()
	}
	t.requests(requests, result)
	return t.finish()
}

// chromeEvent is one event.
type chromeEvent struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Phase string         `json:"ph"`
	Us    float64        `json:"ts"`
	Dur   *float64       `json:"dur,omitempty"`
	Pid   int            `json:"pid"`
	Tid   int            `json:"tid"`
	ID    string         `json:"id,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// chromeTrace writes events as they come. It implements cluster.Watcher.
type chromeTrace struct {
	w        *bufio.Writer
	replica  int
	from, to int64
	any      bool
	err      error
	steps    int   // in the span
	last     int64 // end of the replica's last step, 0 without one
}

// The tracks.
const (
	stepTrack = iota + 1
	requestTrack
)

func (t *chromeTrace) start(name string) {
	t.w.WriteString(`{"displayTimeUnit":"ms","traceEvents":[`)
	for _, e := range []chromeEvent{
		{Name: "process_name", Args: map[string]any{"name": fmt.Sprintf("replica %d: %s", t.replica, name)}},
		{Name: "thread_name", Tid: stepTrack, Args: map[string]any{"name": "steps"}},
		{Name: "thread_name", Tid: requestTrack, Args: map[string]any{"name": "requests"}},
	} {
		e.Phase = "M"
		t.write(e)
	}
}

func (t *chromeTrace) write(e chromeEvent) {
	if t.err != nil {
		return
	}
	data, err := json.Marshal(e)
	if err != nil {
		t.err = err
		return
	}
	if t.any {
		t.w.WriteByte(',')
	}
	t.any = true
	t.w.WriteByte('\n')
	_, t.err = t.w.Write(data)
}

func (t *chromeTrace) finish() error {
	t.w.WriteString("\n]}\n")
	if t.err != nil {
		return t.err
	}
	return t.w.Flush()
}

// Step implements cluster.Watcher.
func (t *chromeTrace) Step(s cluster.Step) {
	if s.Replica != t.replica {
		return
	}
	t.last = s.EndNs
	if s.EndNs <= t.from || s.StartNs >= t.to {
		return
	}
	t.steps++
	duration := float64(s.EndNs-s.StartNs) / 1e3
	at := float64(s.StartNs) / 1e3
	t.write(chromeEvent{Name: stepName(s), Cat: "step", Phase: "X", Us: at, Dur: &duration, Tid: stepTrack, Args: map[string]any{
		"prefill_tokens": s.Prefill, "prefills": s.Requests - s.Decodes, "decodes": s.Decodes, "context_tokens": s.Context,
		"waiting": s.Waiting, "kv_tokens": s.KVTokens,
	}})
	t.write(chromeEvent{Name: "requests", Phase: "C", Us: at, Args: map[string]any{"waiting": s.Waiting, "batch": s.Requests}})
	t.write(chromeEvent{Name: "kv_tokens", Phase: "C", Us: at, Args: map[string]any{"in use": s.KVTokens}})
}

// empty says why there is nothing to show.
func (t *chromeTrace) empty() error {
	if t.last == 0 {
		return fmt.Errorf("replica %d has no steps: no request was served on it", t.replica)
	}
	return fmt.Errorf("replica %d has no step in the window: its last one of the run ends at %.6g seconds", t.replica, float64(t.last)/1e9)
}

// stepName says what a step computes.
func stepName(s cluster.Step) string {
	switch {
	case s.Prefill == 0:
		return fmt.Sprintf("decode %d", s.Decodes)
	case s.Decodes == 0:
		return fmt.Sprintf("prefill %d", s.Prefill)
	}
	return fmt.Sprintf("prefill %d, decode %d", s.Prefill, s.Decodes)
}

// requests writes the requests that the replica served within the span.
func (t *chromeTrace) requests(w *workload.Workload, r *cluster.Result) {
	for i, status := range r.Status {
		if int(r.Replica[i]) != t.replica || status != cluster.Finished || r.FinishNs[i] <= t.from || r.ArrivalNs[i] >= t.to {
			continue
		}
		id := fmt.Sprint(i)
		event := func(name, phase string, ns int64, args map[string]any) {
			t.write(chromeEvent{Name: name, Cat: "request", Phase: phase, Us: float64(ns) / 1e3, Tid: requestTrack, ID: id, Args: args})
		}
		whole := fmt.Sprintf("request %d", i)
		event(whole, "b", r.ArrivalNs[i], map[string]any{
			"prompt_tokens": w.Prompt[i], "output_tokens": w.Output[i], "cached_tokens": r.Cached[i], "preemptions": r.Preemptions[i],
		})
		times := []int64{r.ArrivalNs[i], r.StartNs[i], r.FirstNs[i], r.FinishNs[i]}
		for k, phase := range []string{"queued", "prefill", "decode"} {
			if times[k+1] > times[k] {
				event(phase, "b", times[k], nil)
				event(phase, "e", times[k+1], nil)
			}
		}
		event(whole, "e", r.FinishNs[i], nil)
	}
}
