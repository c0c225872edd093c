package generate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"switchyard/stages/experiment"
	"switchyard/stages/run"
)

// instances loads an experiment around workload items and returns its
// workloads.
func instances(t testing.TB, dir, items string) []experiment.Instance {
	t.Helper()
	text := "name: test\nworkloads:\n" + items + `
clusters:
  - {name: one, replicas: 2, model: mistral-7b, gpu: a6000}
routers: [random]
`
	e, err := experiment.Load(filepath.Join(dir, "test.yaml"), []byte(text), experiment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out []experiment.Instance
	for _, p := range e.Points[experiment.Simulate] {
		out = append(out, p.Part("workload"))
	}
	return out
}

func decode(t testing.TB, dir, items string) []*Variant {
	t.Helper()
	d := &Decoder{Seed: 1}
	var out []*Variant
	for _, in := range instances(t, dir, items) {
		v, err := d.Decode(in, 2)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

const items = `
  - {name: tool, generator: tool-use, requests: {value: 150, per_replica: true}, arrivals: {process: poisson, rate_rps: {sweep: [2, 4]}}}
  - {name: talk, generator: chat, think_s: 1, requests: 200, arrivals: {process: gamma, rate_rps: 3, burstiness: 1.5}}
  - {name: users, generator: lecture-video, requests: 100, arrivals: {process: closed-loop, users: 7, think_s: 2}}
  - name: mixed
    generator: mixture
    components:
      tool: {generator: tool-use, share: 0.75, question_tokens: 99}
      agent: {generator: embodied-agent, share: 0.25, tags: [slow, agent]}
    requests: 200
    arrivals: {process: deterministic, rate_rps: 8}
  - {name: replay, trace: small.jsonl, format: mooncake, resample: auto, resample_window_s: 6}
  - {name: same, trace: small.jsonl, speed: 2}
  - {name: timed, generator: programming, requests: 20, arrivals: {process: trace, trace: small.jsonl, resample: none}}
`

// small writes a trace of 40 records.
func small(t testing.TB, dir string) {
	t.Helper()
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, `{"timestamp": %d, "input_length": %d, "output_length": %d, "hash_ids": [0, %d, %d]}`+"\n", 1500*i, 1100+i, 10+i, 1+i%5, 10+i)
	}
	if err := os.WriteFile(filepath.Join(dir, "small.jsonl"), []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestDecode(t *testing.T) {
	dir := t.TempDir()
	small(t, dir)
	variants := decode(t, dir, items)
	type want struct {
		name     string
		requests int
		rate     float64
		fixed    bool
	}
	wants := []want{{"tool", 300, 2, false}, {"tool", 300, 4, false}, {"talk", 200, 3, false}, {"users", 100, 0, false},
		{"mixed", 200, 8, false}, {"replay", 40, 0, false}, {"same", 40, 0, true}, {"timed", 20, 0, false}}
	ids := map[string]bool{}
	for i, v := range variants {
		if got := (want{v.Name, v.Requests(), v.RateRps(), v.Fixed()}); got != wants[i] {
			t.Errorf("variant %d is %+v, expected %+v", i, got, wants[i])
		}
		if ids[v.ID()] || len(v.ID()) != 12 {
			t.Errorf("variant %s has the identity %q, expected 12 digits of its own", v.Name, v.ID())
		}
		ids[v.ID()] = true
		w, err := v.Build(1)
		if err != nil {
			t.Fatal(err)
		}
		if v.Name != "replay" && w.Len() != v.Requests() {
			t.Errorf("%s has %d requests, expected %d", v.Name, w.Len(), v.Requests())
		}
	}
}

// Keys leave out what is at its default, and names.
func TestKeys(t *testing.T) {
	const arrivals = "requests: 10, arrivals: {process: poisson, rate_rps: 1}"
	v := decode(t, t.TempDir(), `
  - {name: a, generator: tool-use, `+arrivals+`}
  - {name: b, generator: tool-use, sharers: 39, `+arrivals+`}
  - {name: c, generator: tool-use, sharers: 40, `+arrivals+`}
`)
	if v[0].Key() != v[1].Key() || v[0].Key() == v[2].Key() {
		t.Errorf("keys are %q, %q and %q, expected the first two to be equal and the third to differ", v[0].Key(), v[1].Key(), v[2].Key())
	}
	if v[0].taskKey(1) == v[1].taskKey(1) || v[0].taskKey(1) == v[0].taskKey(2) {
		t.Error("tasks of different names or replications share a key")
	}
}

func TestDecodeErrors(t *testing.T) {
	dir := t.TempDir()
	small(t, dir)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	const arrivals = "arrivals: {process: poisson, rate_rps: 1}"
	for _, c := range []struct{ item, want string }{
		{"{name: a, generator: tool-us, requests: 5, " + arrivals + "}", `did you mean "tool-use"`},
		{"{name: a, requests: 5, " + arrivals + "}", "generator"},
		{"{name: a, generator: tool-use, " + arrivals + "}", "requests"},
		{"{name: a, generator: tool-use, requests: 5}", "arrivals"},
		{"{name: a, generator: tool-use, requests: 5, arrivals: {process: poison, rate_rps: 1}}", `did you mean "poisson"`},
		{"{name: a, generator: tool-use, requests: 5, arrivals: {process: poisson}}", "rate_rps"},
		{"{name: a, generator: tool-use, requests: 0, " + arrivals + "}", "requests"},
		{"{name: a, generator: tool-use, question: 5, requests: 5, " + arrivals + "}", "question_tokens"},
		{"{name: a, generator: tool-use, trace: small.jsonl, requests: 5, " + arrivals + "}", "trace"},
		{"{name: a, trace: none.jsonl}", "none.jsonl"},
		{"{name: a, trace: small.jsonl, resample_window_s: 5}", "resample: auto beside it"},
		{"{name: a, trace: small.jsonl, sped: 2}", `did you mean "speed"`},
		{"{name: a, trace: small.jsonl, format: moncake}", "mooncake"},
		{"{name: a, generator: mixture, requests: 5, " + arrivals + "}", "component"},
		{"{name: a, generator: mixture, components: {x: {generator: tool-us}}, requests: 5, " + arrivals + "}", `did you mean "tool-use"`},
		{"{name: a, generator: mixture, components: {x: {generator: chat, share: 0}}, requests: 5, " + arrivals + "}", "share"},
		{"{name: a, generator: tool-use, requests: 5, arrivals: {process: trace, trace: none.jsonl}}", "none.jsonl"},
		{"{name: a, generator: tool-use, requests: 41, arrivals: {process: trace, trace: small.jsonl}}", "has 40, expected the 41"},
		{"{name: a, generator: chat, pace: open, requests: 5, arrivals: {process: closed-loop, users: 2}}", `.pace: value "open": expected closed`},
		{"{name: a, generator: mixture, components: {x: {generator: chat, pace: open}}, requests: 5, arrivals: {process: closed-loop, users: 2}}", `.components.x.pace: value "open": expected closed`},
		{"{name: a, trace: .}", "is a folder"},
		{"{name: a, trace: pipe}", "is a pipe, expected a regular file"},
		{"{name: a, trace: small.jsonl, format: moncake}", `.format: value "moncake": expected one of`},
		{"{name: a, generator: mixture, requests: 5, " + arrivals + "}", ".components: missing: expected one component or more, such as tools:"},
		{"{name: a, generator: mixture, components: {}, requests: 5, " + arrivals + "}", "expected one component or more, such as tools:"},
	} {
		in := instances(t, dir, "  - "+c.item+"\n")
		_, err := Decode(in[0], 2, 1)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "test.yaml:3") {
			t.Errorf("%s: got error %v, expected one at test.yaml:3 with %q", c.item, err, c.want)
		}
	}
	in := instances(t, dir, "  - {name: a, generator: tool-us, requests: 5, arrivals: {process: poison}}\n")
	if _, err := Decode(in[0], 2, 1); err == nil || strings.Count(err.Error(), "did you mean") != 2 {
		t.Errorf("got error %v, expected the generator's and the process's", err)
	}
}

// A trace that is not resampled is played as it is, and another replication
// of a resampled one differs.
func TestTrace(t *testing.T) {
	dir := t.TempDir()
	small(t, dir)
	v := decode(t, dir, items)
	replay, same := v[5], v[6]
	w, err := same.Build(3)
	if err != nil {
		t.Fatal(err)
	}
	if w.Len() != 40 || w.ArrivalUs[39] != 39*1500*1000/2 || w.BlockTokens != 512 {
		t.Errorf("trace has %d requests, the last at %d us, blocks of %d; expected 40, %d, 512", w.Len(), w.ArrivalUs[39], w.BlockTokens, 39*1500*1000/2)
	}
	fast := decode(t, dir, "  - {name: fast, trace: small.jsonl, resample: auto, resample_window_s: 6, speed: 4}\n")[0]
	a, err := replay.Build(1)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := replay.Build(1)
	b, _ := replay.Build(2)
	if !reflect.DeepEqual(a, again) || reflect.DeepEqual(a, b) {
		t.Error("resamples of one replication differ or those of two agree")
	}
	sped, err := fast.Build(1)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(sped.Prompt, a.Prompt) {
		t.Error("speeds 1 and 4 play other resamples")
	}
	for i := range sped.ArrivalUs {
		if d := a.ArrivalUs[i] - 4*sped.ArrivalUs[i]; d < -2 || d > 2 {
			t.Fatalf("request %d arrives at %d us and, at four times the speed, at %d us", i, a.ArrivalUs[i], sped.ArrivalUs[i])
		}
	}
}

// What the stage writes reads back as the workload that is built in memory.
func TestTablesReadBack(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	small(t, dir)
	variants := decode(t, dir, items)
	replications := []int{1, 2}
	if _, ok, err := FromTable(out, variants[0], 1); ok || err != nil {
		t.Fatalf("a folder without tables gave a workload, or %v", err)
	}
	report, err := run.Execute(context.Background(), Job(variants, replications), run.Options{Dir: out, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	const tasks = 2*8 - 1 // the recorded trace has one
	if report.Done != tasks {
		t.Fatalf("report is %+v, expected %d tasks done", report, tasks)
	}
	profiles, err := Profiles.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(profiles) != tasks {
		t.Fatalf("table profile has %d rows, expected %d", len(profiles), tasks)
	}
	row := 0
	for _, v := range variants {
		for _, r := range v.Replications(replications) {
			want, err := v.Build(r)
			if err != nil {
				t.Fatal(err)
			}
			got, ok, err := FromTable(out, v, r)
			if err != nil || !ok {
				t.Fatalf("%s: read back: %v, %v", v.Name, ok, err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, replication %d: the table gives another workload than Build", v.Name, r)
			}
			p := profiles[row]
			row++
			if p.Workload != v.Name || p.Replication != int32(r) || p.Variant != v.ID() ||
				p.Requests != int32(want.Len()) || p.CeilingTokens != want.Profile().CeilingTokens || !slices.Equal(p.Parameters, v.parameters) {
				t.Errorf("row %d of table profile is %+v, expected that of %s, replication %d", row-1, p, v.Name, r)
			}
			if rate := v.RateRps(); (p.RateRps == nil) != (rate == 0) || p.RateRps != nil && *p.RateRps != rate {
				t.Errorf("row %d of table profile has the rate %v, expected %v (NULL for 0)", row-1, p.RateRps, rate)
			}
			if _, ok, _ := FromTable(out, v, 99); ok {
				t.Error("the table holds a replication that was never made")
			}
		}
	}
	other := *variants[0]
	other.seed++
	if _, ok, _ := FromTable(out, &other, 1); ok {
		t.Error("the table gave a workload of another seed")
	}
}

// The hit ceiling of Mooncake's conversation trace, which is published with
// it in blocks of 512 tokens.
func TestMooncake(t *testing.T) {
	data := os.Getenv("SWITCHYARD_DATA")
	if data == "" {
		t.Skip("SWITCHYARD_DATA is not set: it names the folder that holds traces/mooncake-conversation.jsonl")
	}
	v := decode(t, t.TempDir(), `
  - {name: conversation, trace: "${SWITCHYARD_DATA}/traces/mooncake-conversation.jsonl"}
  - {name: resampled, trace: "${SWITCHYARD_DATA}/traces/mooncake-conversation.jsonl", resample: auto}
`)
	w, err := v[0].Build(1)
	if err != nil {
		t.Fatal(err)
	}
	p := v[0].profile(1, w)
	t.Logf("%d requests, ceiling %d of %d blocks, %d of %d tokens", p.Requests, p.CeilingBlocks, p.PromptBlocks, p.CeilingTokens, p.PromptTokens)
	if p.Requests != 12031 || p.CeilingBlocks != 105710 || p.PromptBlocks != 288500 || p.CeilingTokens != 54098411 || p.PromptTokens != 144793823 {
		t.Error("expected 12031 requests, 105710 of 288500 blocks and 54098411 of 144793823 tokens")
	}
	for r := 1; r <= 3; r++ {
		w, err := v[1].Build(r)
		if err != nil {
			t.Fatal(err)
		}
		p := w.Profile()
		t.Logf("resample %d: %d requests, ceiling %.3f of the tokens", r, p.Requests, float64(p.CeilingTokens)/float64(p.PromptTokens))
		if share := float64(p.CeilingTokens) / float64(p.PromptTokens); share > float64(54098411)/144793823+.02 {
			t.Errorf("resample %d has a ceiling of %.3f, expected no more than the trace's .374", r, share)
		}
	}
}

func TestColumns(t *testing.T) {
	var names []string
	for _, c := range Requests.Schema().Columns {
		names = append(names, c.Name)
	}
	const want = "variant workload replication request arrival_us after think_us session turn tags prompt_tokens output_tokens segment_ids segment_tokens replica output_segment"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("table workload has the columns %s, expected %s", got, want)
	}
}
