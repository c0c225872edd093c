package workload

import (
	"fmt"
	"math"
	"testing"

	"switchyard/sim/rng"
)

// memory is a Log in memory.
type memory []Request

func (m memory) Len() int { return len(m) }
func (m memory) At(i int, r *Request) {
	segments := append(r.Segments[:0], m[i].Segments...)
	*r = m[i]
	r.Segments = segments
}

func resample(t *testing.T, log memory, windowUs int64, replication int) []Request {
	t.Helper()
	var out []Request
	var b Builder
	err := NewResampler(log, windowUs).Each(rng.New(1, replication, "resample"), func(r *Request) error {
		c := *r
		c.Segments = append([]Segment(nil), r.Segments...)
		out = append(out, c)
		return b.Add(r)
	})
	if err != nil {
		t.Fatal(err)
	}
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	checkForest(t, w)
	return out
}

func TestResampleSessions(t *testing.T) {
	for _, name := range []string{"chat", "embodied-agent", "mixture"} {
		log := memory(collect(t, spec(t, name, 1500, 1)))
		sessions := map[int64][]Request{}
		firsts := map[int64]bool{}
		for _, r := range log {
			sessions[r.Session] = append(sessions[r.Session], r)
			if r.After == None {
				firsts[r.ArrivalUs] = true
			}
		}
		var n float64
		const replications = 30
		for replication := 1; replication <= replications; replication++ {
			drawn := map[int64][]Request{}
			for _, r := range resample(t, log, 1, replication) {
				drawn[r.Session] = append(drawn[r.Session], r)
				n++
			}
			if name != "mixture" && len(drawn) != len(sessions) {
				t.Fatalf("%s: drew %d sessions, expected %d", name, len(drawn), len(sessions))
			}
			for s, turns := range drawn {
				if s == None {
					continue
				}
				if !firsts[turns[0].ArrivalUs] {
					t.Fatalf("%s: a session starts at %d, when none of the log does", name, turns[0].ArrivalUs)
				}
				for k, r := range turns {
					if int(r.Turn) != k {
						t.Fatalf("%s: turn %d stands where turn %d is expected", name, r.Turn, k)
					}
				}
			}
		}
		if mean := n / replications; math.Abs(mean/float64(len(log))-1) > .1 {
			t.Errorf("%s: resamples have %.0f requests on average, expected about %d", name, mean, len(log))
		}
	}
}

// A session drawn twice shares with its twin what it shares with others, and
// no more.
func TestResampleCopies(t *testing.T) {
	var log memory
	for s := range int64(3) {
		first := Request{ArrivalUs: 10 * s, After: None, Session: s, Prompt: 150, Output: 5, OutputID: 900 + s, Segments: []Segment{{1, 100}, {10 + s, 50}}}
		second := Request{ArrivalUs: None, After: int32(2 * s), Session: s, Turn: 1, Prompt: 165, Output: 5, OutputID: None,
			Segments: []Segment{{1, 100}, {10 + s, 50}, {900 + s, 5}, {20 + s, 10}}}
		log = append(log, first, second)
	}
	twins := 0
	for replication := range 40 {
		out := resample(t, log, 1, replication)
		seen := map[string]int64{}
		for _, r := range out {
			if r.Segments[0].ID != 1 {
				t.Fatalf("the system prompt has the id %d in a copy, expected 1", r.Segments[0].ID)
			}
			if r.Turn == 1 {
				continue
			}
			key := fmt.Sprint(r.Segments, r.OutputID)
			if other, ok := seen[key]; ok {
				t.Fatalf("sessions %d and %d have the same prompt", other, r.Session)
			}
			seen[key] = r.Session
			if r.Segments[1].ID < 10 || r.Segments[1].ID > 12 {
				twins++
			}
		}
		for _, r := range out {
			if r.Turn == 1 {
				before := out[r.After]
				if before.Session != r.Session || before.Segments[1] != r.Segments[1] || before.OutputID != r.Segments[2].ID {
					t.Fatalf("second turn %v does not continue the first, %v with output %d", r.Segments, before.Segments, before.OutputID)
				}
			}
		}
	}
	if twins == 0 {
		t.Error("no session was drawn twice in 40 replications")
	}
}

func TestResampleWindows(t *testing.T) {
	log := memory(collect(t, spec(t, "tool-use", 2000, 1)))
	const window = 20e6
	offsets := map[[2]int64]bool{} // offset in the window, prompt
	for _, r := range log {
		offsets[[2]int64{r.ArrivalUs % window, int64(r.Prompt)}] = true
	}
	a, b := resample(t, log, window, 1), resample(t, log, window, 2)
	if len(a) == len(b) && a[0].ArrivalUs == b[0].ArrivalUs {
		t.Error("replications 1 and 2 look alike")
	}
	for _, r := range a {
		if !offsets[[2]int64{r.ArrivalUs % window, int64(r.Prompt)}] {
			t.Fatalf("a request arrives %d us into its window, as none of the log does", r.ArrivalUs%window)
		}
	}
	var ceilings [2]float64
	for i, requests := range [][]Request{log, a} {
		p := build(t, requests).Profile()
		ceilings[i] = float64(p.CeilingTokens) / float64(p.PromptTokens)
	}
	if math.Abs(ceilings[0]-ceilings[1]) > .05 {
		t.Errorf("hit ceiling is %.3f in the log and %.3f in a resample", ceilings[0], ceilings[1])
	}
}
