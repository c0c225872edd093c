package generate

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"switchyard/stages/run"
)

// A trace is what was recorded unless the file asks for more, and whoever asks
// is told what it costs.
func TestResampleIsAskedFor(t *testing.T) {
	dir := t.TempDir()
	small(t, dir)
	for _, c := range []struct {
		keys, source string
		fixed        bool
		doubts       []string
	}{
		{"trace: small.jsonl", "recorded", true, nil},
		{"trace: small.jsonl, speed: 2, limit: 20", "recorded", true, nil},
		{"trace: small.jsonl, resample: auto", "resampled 1 windows of 900 s", false, []string{"bootstrap of 900 s windows: reuse across windows is broken", "bootstrap of so few windows as 1"}},
		{"trace: small.jsonl, resample: auto, resample_window_s: 5.5, speed: 9", "resampled 11 windows of 5.5 s", false, []string{"bootstrap of 5.5 s windows"}},
		{"trace: talk.jsonl, resample: auto", "resampled sessions", false, []string{"bootstrap of whole sessions"}},
		{"generator: chat, requests: 10, arrivals: {process: trace, trace: small.jsonl}", "generated", false, nil},
	} {
		talk := `{"chat_id": 1, "parent_chat_id": -1, "timestamp": 0, "input_length": 20, "output_length": 3, "type": "text", "turn": 1, "hash_ids": [1, 2]}` + "\n" +
			`{"chat_id": 2, "parent_chat_id": 1, "timestamp": 3.5, "input_length": 40, "output_length": 3, "type": "text", "turn": 2, "hash_ids": [1, 2, 3]}` + "\n"
		if err := os.WriteFile(filepath.Join(dir, "talk.jsonl"), []byte(talk), 0o666); err != nil {
			t.Fatal(err)
		}
		v := decode(t, dir, "  - {name: a, "+c.keys+"}\n")[0]
		if v.Source() != c.source || v.Fixed() != c.fixed {
			t.Errorf("%s: the source is %q, fixed %v; expected %q, %v", c.keys, v.Source(), v.Fixed(), c.source, c.fixed)
		}
		if doubts := Doubts(v.Source()); len(doubts) != len(c.doubts) {
			t.Fatalf("%s: doubts are %q, expected such as %q", c.keys, doubts, c.doubts)
		}
		for i, want := range c.doubts {
			if got := Doubts(v.Source())[i]; !strings.HasPrefix(got, want) {
				t.Errorf("%s: doubt %d is %q, expected %q", c.keys, i, got, want)
			}
		}
		if wanted := []int{3, 4, 5}; c.fixed != reflect.DeepEqual(v.Replications(wanted), []int{3}) || !c.fixed && !slices.Equal(v.Replications(wanted), wanted) {
			t.Errorf("%s: of replications %v it has %v", c.keys, wanted, v.Replications(wanted))
		}
	}
}

// What a reader leaves out or sorts is said, also where a trace gives times
// alone.
func TestNotes(t *testing.T) {
	dir := t.TempDir()
	const lines = `{"timestamp": 2000, "input_length": 5, "output_length": 1, "hash_ids": [1]}
{"timestamp": 0, "input_length": 5, "output_length": 1, "hash_ids": [1]}
{"timestamp": 1, "input_length": 0, "output_length": 1, "hash_ids": []}
`
	if err := os.WriteFile(filepath.Join(dir, "messy.jsonl"), []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, item := range []string{
		"  - {name: a, trace: messy.jsonl, format: mooncake}\n",
		"  - {name: a, generator: chat, requests: 2, arrivals: {process: trace, trace: messy.jsonl, format: mooncake}}\n",
	} {
		notes := strings.Join(decode(t, dir, item)[0].Notes(), "\n")
		for _, want := range []string{"messy.jsonl: 1 of 3 records left out: no prompt tokens", "messy.jsonl: 1 of 3 records stood behind a later one: sorted by time"} {
			if !strings.Contains(notes, want) {
				t.Errorf("%s: notes are\n%s\nexpected %q among them", item, notes, want)
			}
		}
	}
	small(t, dir)
	if notes := decode(t, dir, "  - {name: a, trace: small.jsonl}\n")[0].Notes(); notes != nil {
		t.Errorf("notes on a trace that is taken as it stands: %q", notes)
	}
}

// The profile's rows follow the file where it gives a workload another label.
func TestProfileLabels(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	for _, point := range []string{"tool", "tool rate_rps=2"} {
		v := decode(t, dir, "  - {name: tool, generator: tool-use, requests: 10, arrivals: {process: poisson, rate_rps: 2}}\n")
		if v[0].Point != "tool" {
			t.Errorf("without a label a workload is %q, expected its name", v[0].Point)
		}
		v[0].Point = point
		if _, err := run.Execute(context.Background(), Job(v, []int{1}), run.Options{Dir: out}); err != nil {
			t.Fatal(err)
		}
		rows, err := Profiles.Read(out)
		if err != nil || len(rows) != 1 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		if rows[0].WorkloadPoint != point || *rows[0].RateRps != 2 {
			t.Errorf("the row is of %q at %v, expected %q at 2", rows[0].WorkloadPoint, *rows[0].RateRps, point)
		}
	}
}

// A file with every default written out is the file.
func TestDefaultsOfATraceCanBeWritten(t *testing.T) {
	dir := t.TempDir()
	small(t, dir)
	v := decode(t, dir, "  - {name: a, trace: small.jsonl}\n  - {name: b, trace: small.jsonl, format: \"\", block_tokens: 0, resample: none, resample_window_s: 900, limit: 0, speed: 1, window: []}\n")
	if v[0].Key() != v[1].Key() {
		t.Errorf("keys are %q and %q, expected them to be equal", v[0].Key(), v[1].Key())
	}
}
