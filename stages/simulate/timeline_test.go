package simulate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// The timeline has a row an interval and replica, consistent with the replicas'
// own figures, and asking for it changes no other table.
func TestTimeline(t *testing.T) {
	without, with := t.TempDir(), t.TempDir()
	execute(t, mustPlan(t), Options{}, without, 1)
	p := mustPlan(t, "{requests: all}", "{requests: all, timeline: true, timeline_interval: 0.05}")
	execute(t, p, Options{}, with, 2)
	plain, watched := files(t, without), files(t, with)
	for path, data := range plain {
		if !bytes.Equal(watched[path], data) && !bytes.Contains([]byte(path), []byte("part-")) {
			t.Errorf("%s differs", path)
		}
	}
	a, err := Requests.Read(without)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Requests.Read(with)
	if err != nil {
		t.Fatal(err)
	}
	if len(a) != len(b) {
		t.Fatalf("%d and %d requests", len(a), len(b))
	}
	for i := range a {
		if *a[i].FinishedUs != *b[i].FinishedUs || *a[i].FirstTokenUs != *b[i].FirstTokenUs {
			t.Fatalf("request %d of cell %d ends at another time", a[i].Request, a[i].Cell)
		}
	}
	rows, err := Timeline.Read(with)
	if err != nil {
		t.Fatal(err)
	}
	replicas, err := Replicas.Read(with)
	if err != nil {
		t.Fatal(err)
	}
	type key struct{ cell, replica int32 }
	busy, all, last := map[key]int64{}, map[key]int64{}, map[key]int64{}
	for _, r := range rows {
		k := key{r.Cell, r.Replica}
		if want := all[k] * 50_000; r.TimeUs != want {
			t.Fatalf("cell %d, replica %d: row at %d, want %d", r.Cell, r.Replica, r.TimeUs, want)
		}
		all[k]++
		last[k] = r.TimeUs
		if !r.Busy {
			if r.StepUs != nil || r.Running != 0 || r.KVTokens != nil {
				t.Fatalf("an idle replica has %+v", r)
			}
			continue
		}
		busy[k]++
		if *r.StepStartUs > r.TimeUs || r.TimeUs > *r.StepStartUs+*r.StepUs+1 || r.Running < max(1, r.Decodes) || r.Waiting < 0 ||
			*r.KVShare < 0 || *r.KVShare > 1 || r.Decodes == r.Running && r.PrefillTokens != 0 {
			t.Fatalf("row is %+v", r)
		}
	}
	for _, r := range replicas {
		k := key{r.Cell, r.Replica}
		// Samples of busy time estimate it.
		if share, want := float64(busy[k])/float64(all[k]), float64(r.BusyUs)/float64(last[k]+50_000); math.Abs(share-want) > .1 {
			t.Errorf("cell %d, replica %d: busy in %.2f of the rows, %.2f of the time", r.Cell, r.Replica, share, want)
		}
	}
	if len(rows) == 0 || len(all) != len(replicas) {
		t.Errorf("%d rows of %d replicas, want %d", len(rows), len(all), len(replicas))
	}
	other := mustPlan(t, "{requests: all}", "{requests: all, timeline: true, timeline_interval: 0.1}")
	if Job(p, Options{}).Tasks[0].Key == Job(other, Options{}).Tasks[0].Key {
		t.Error("another interval does not run a cell again")
	}
}

// checkTrace holds a file against the trace event format: an object with a list
// of events, each with a known phase and what this phase needs; complete events
// of one track do not overlap; asynchronous events of one id nest.
func checkTrace(t *testing.T, data []byte) (steps, requests int) {
	t.Helper()
	var file struct {
		DisplayTimeUnit string
		TraceEvents     []map[string]any
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if file.DisplayTimeUnit != "ms" && file.DisplayTimeUnit != "ns" {
		t.Errorf("displayTimeUnit is %q", file.DisplayTimeUnit)
	}
	end := map[any]float64{}
	open := map[any][]string{}
	times := map[any]float64{}
	for i, e := range file.TraceEvents {
		name, named := e["name"].(string)
		ts, timed := e["ts"].(float64)
		_, process := e["pid"].(float64)
		tid, thread := e["tid"].(float64)
		if !named || name == "" || !timed || ts < 0 || !process || !thread {
			t.Fatalf("event %d lacks name, ts, pid or tid: %v", i, e)
		}
		args, _ := e["args"].(map[string]any)
		switch e["ph"] {
		case "M":
			if _, ok := args["name"].(string); !ok || name != "process_name" && name != "thread_name" {
				t.Fatalf("metadata %v", e)
			}
		case "X":
			duration, ok := e["dur"].(float64)
			if !ok || duration <= 0 || ts < end[tid]-1e-6 {
				t.Fatalf("event %d, %v, overlaps what ends at %v", i, e, end[tid])
			}
			end[tid] = ts + duration
			steps++
		case "C":
			for series, value := range args {
				if v, ok := value.(float64); !ok || v < 0 {
					t.Fatalf("counter %s is %v", series, value)
				}
			}
			if len(args) == 0 {
				t.Fatalf("counter %v", e)
			}
		case "b", "e":
			id, ok := e["id"].(string)
			if _, cat := e["cat"].(string); !ok || !cat {
				t.Fatalf("asynchronous event %v has no id or cat", e)
			}
			if ts < times[id] {
				t.Fatalf("event %d, %v, comes before what it follows", i, e)
			}
			times[id] = ts
			if e["ph"] == "b" {
				open[id] = append(open[id], name)
				break
			}
			stack := open[id]
			if len(stack) == 0 || stack[len(stack)-1] != name {
				t.Fatalf("event %d ends %q, open are %v", i, name, stack)
			}
			if open[id] = stack[:len(stack)-1]; len(open[id]) == 0 {
				requests++
			}
		default:
			t.Fatalf("event %d has phase %v", i, e["ph"])
		}
	}
	for id, stack := range open {
		if len(stack) > 0 {
			t.Errorf("%v of %v never end", stack, id)
		}
	}
	return steps, requests
}

func TestChromeTrace(t *testing.T) {
	p := mustPlan(t)
	dir := t.TempDir()
	execute(t, p, Options{}, dir, 1)
	replicas, err := Replicas.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	requests, err := Requests.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(replicas, func(r Replica) bool { return r.Cell == 1 && r.Replica == 1 })
	served := 0
	for _, r := range requests {
		if r.Cell == 1 && r.Replica == 1 {
			served++
		}
	}
	var b bytes.Buffer
	if err := p.Trace(&p.Runs[1], 1, Span{}, "", &b); err != nil {
		t.Fatal(err)
	}
	if steps, got := checkTrace(t, b.Bytes()); int64(steps) != replicas[at].Steps || got != served {
		t.Errorf("%d steps and %d requests, want %d and %d", steps, got, replicas[at].Steps, served)
	}
	var part bytes.Buffer
	if err := p.Trace(&p.Runs[1], 1, Span{From: .5, To: 1.5}, "", &part); err != nil {
		t.Fatal(err)
	}
	if steps, got := checkTrace(t, part.Bytes()); steps == 0 || got == 0 || part.Len() >= b.Len() {
		t.Errorf("a second has %d steps and %d requests", steps, got)
	}
	if err := p.Trace(&p.Runs[1], 99, Span{}, "", &b); err == nil || fmt.Sprint(err) != "replica is 99, expected 0 to 1" {
		t.Errorf("replica 99: %v", err)
	}
	for span, want := range map[Span]string{
		{From: 2, To: 1}: "the window is from 2 to 1 seconds, expected its end after its start",
		{From: -1}:       "neither below 0",
		{From: 1e6}:      "replica 1 has no step in the window: its last one of the run ends at ",
	} {
		if err := p.Trace(&p.Runs[1], 1, span, "", &b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", span, err, want)
		}
	}
}
