package experiment

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// least is the shortest experiment.
const least = `workloads: [{name: w, generator: g}]
clusters: [{name: c}]
routers: [random]
`

func load(t *testing.T, text string, options Options) *Experiment {
	t.Helper()
	e, err := Load("x.yaml", []byte(text), options)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func labels(e *Experiment) []string {
	out := make([]string, len(e.Points[Simulate]))
	for i, p := range e.Points[Simulate] {
		out[i] = p.Label()
	}
	return out
}

// manual returns the example of the package doc.
func manual(t *testing.T) string {
	data, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(data), "//\tname: example")
	text, _, end := strings.Cut("//\tname: example"+text, "//\n// # The head")
	if !ok || !end {
		t.Fatal("the package doc has lost its example")
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "//\t", ""), "//\n", "\n")
}

func TestManual(t *testing.T) {
	e := load(t, manual(t), Options{})
	if e.Name != "example" || e.Seed != 1 || len(e.Replications) != 10 || e.WarmUp != .2 || e.Baseline != "round-robin" ||
		e.SLO != (SLO{1000, 100, 0}) || e.Tables != (Tables{Workload: true, Requests: "all", Sample: .01, Replicas: true, Interval: 1, Rounds: true, Assignments: "small"}) {
		t.Errorf("the head is %+v", e)
	}
	if len(e.Points[Simulate]) != 72 {
		t.Errorf("the grid has %d configurations, want the 72 of the manual", len(e.Points[Simulate]))
	}
	for i, want := range map[int]string{
		0:  "tool rate_rps=4 / a6000x4 engine=small / random",
		2:  "tool rate_rps=4 / a6000x4 engine=small / sticky threshold=0.25",
		4:  "tool rate_rps=4 / a6000x4 engine=large chunk_tokens=1024 / random",
		36: "mine speed=1 / a6000x4 engine=small / random",
		71: "mine speed=4 / a6000x4 engine=large chunk_tokens=2048 / sticky threshold=0.5",
	} {
		if got := e.Points[Simulate][i].Label(); got != want || e.Points[Simulate][i].Index != i {
			t.Errorf("point %d is %s (index %d), want %s", i, got, e.Points[Simulate][i].Index, want)
		}
	}
	if e.Points[Simulate][0].Part("workload").Section != e.Points[Simulate][11].Part("workload").Section {
		t.Error("points with the same choices do not share their workload's section")
	}
}

func TestDefaults(t *testing.T) {
	e := load(t, least, Options{})
	want := &Experiment{Name: "x", Seed: 1, Replications: span(1, 10), WarmUp: .2, Baseline: "random", File: "x.yaml",
		Tables: Tables{Workload: true, Requests: "all", Sample: .01, Replicas: true, Interval: 1, Rounds: true, Assignments: "small"}}
	got := *e
	got.Points, got.doc, got.parts = nil, nil, nil
	if !reflect.DeepEqual(&got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if policy, ok := e.Points[Simulate][0].Part("router").Section.String("policy"); !ok || policy != "random" {
		t.Errorf("a bare router has policy %q", policy)
	}
}

func TestReplications(t *testing.T) {
	for text, want := range map[string][]int{
		"1..3": {1, 2, 3}, "4": {1, 2, 3, 4}, "[5, 2]": {5, 2}, "[1..3, 7]": {1, 2, 3, 7}, "7..7": {7}, `"1,4..5"`: {1, 4, 5}, "[9]": {9},
	} {
		e := load(t, least+"replications: "+text, Options{})
		if !slices.Equal(e.Replications, want) {
			t.Errorf("%s gives %v, want %v", text, e.Replications, want)
		}
		again := load(t, least+"replications: "+printReplications(want), Options{})
		if !slices.Equal(again.Replications, want) {
			t.Errorf("%v prints as %s, which gives %v", want, printReplications(want), again.Replications)
		}
	}
	for _, text := range []string{"0", "-1", "1.5", "3..1", "0..2", "1..", "..3", "[]", "[1, 1]", "[1..3, 2]", "a", "1..1e9", "true", "~",
		"[true]", "1..2000000", "{sweep: [1]}", "[[1]]", "[1000001]"} {
		if _, err := Load("x.yaml", []byte(least+"replications: "+text), Options{}); err == nil {
			t.Errorf("replications: %s is accepted", text)
		}
	}
	e := load(t, least+"replications: 2", Options{Replications: "1,4..5"})
	if want := []int{1, 4, 5}; !slices.Equal(e.Replications, want) {
		t.Errorf("the option gives %v, want %v", e.Replications, want)
	}
}

func TestScalars(t *testing.T) {
	for text, want := range map[string]any{
		"1": int64(1), "+1": int64(1), "-3": int64(-3), "1_000": int64(1000), "0x1f": int64(31), "0o17": int64(15),
		"9223372036854775808": uint64(1) << 63, "99999999999999999999": 1e20, "1e3": 1000.0, "1E-3": .001, ".25": .25, "2.": 2.0, "-.5": -.5,
		"1_0.5": 10.5, "010": "010", "1_": "1_", "_1": "_1", "0b11": "0b11", "1..5": "1..5", "yes": "yes", "True": true, "~": nil,
		"2024-01-01": "2024-01-01", "1:30": "1:30", ".": ".", "e3": "e3", "1e": "1e", "0": int64(0), "0.50": .5, "-": "-",
	} {
		if got := resolve(text); got != want {
			t.Errorf("%s is %#v, want %#v", text, got, want)
		}
	}
}

func TestOverrides(t *testing.T) {
	base := `
workloads:
  - {name: tool, generator: g, arrivals: {rate_rps: {sweep: [1, 2], per_replica: true}}}
  - {name: v0.1, generator: g}
clusters:
  - name: c
    engine: [{name: small, chunk: 1}, {name: large, chunk: 2}]
routers: [random, {name: p, policy: q}]
`
	for _, c := range []struct {
		set  []string
		want []string
	}{
		{set: []string{"workloads.tool.arrivals.rate_rps=3", "clusters.c.engine=~", "routers=[a]"},
			want: []string{"tool / c / a", "v0.1 / c / a"}},
		{set: []string{"workloads.v0.1.limit={sweep: [5, 6]}", "workloads.tool.arrivals.rate_rps.sweep=[9]", "clusters[0].engine.1.chunk={sweep: [3, .5]}", "routers=[a]"},
			want: []string{
				"tool rate_rps=9 / c engine=small / a", "tool rate_rps=9 / c engine=large chunk=3 / a", "tool rate_rps=9 / c engine=large chunk=0.5 / a",
				"v0.1 limit=5 / c engine=small / a", "v0.1 limit=5 / c engine=large chunk=3 / a", "v0.1 limit=5 / c engine=large chunk=0.5 / a",
				"v0.1 limit=6 / c engine=small / a", "v0.1 limit=6 / c engine=large chunk=3 / a", "v0.1 limit=6 / c engine=large chunk=0.5 / a"}},
		{set: []string{"workloads.*.arrivals={}", "clusters.*.engine={chunk: 7}", "routers.random.seed={sweep: [1]}", "routers.1=b", "routers.b.deep.er=1"},
			want: []string{"tool / c / random seed=1", "tool / c / b", "v0.1 / c / random seed=1", "v0.1 / c / b"}},
		{set: []string{"workloads=[{name: only}]", "clusters=[{name: c}]", "routers=[x]", "name=other", "seed=9"}, want: []string{"only / c / x"}},
	} {
		e := load(t, base, Options{Set: c.set})
		if got := labels(e); !slices.Equal(got, c.want) {
			t.Errorf("%q gives\n%s\nwant\n%s", c.set, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func TestFactorNames(t *testing.T) {
	e := load(t, `
workloads: [{name: w, a: {rate: {sweep: [1]}}, b: {rate: {sweep: [2]}}, limit: {sweep: [3]}}, {name: x, limit: {sweep: [9]}}]
clusters: [{name: c, limit: {sweep: [4]}, engine: [{name: small, size: {sweep: [5]}}]}]
routers: [{name: r, policy: p, cluster: {limit: {sweep: [6]}}}]
`, Options{})
	var got []string
	for _, f := range e.Points[Simulate][0].Factors {
		got = append(got, f.Part+" "+f.Name+"="+f.Value)
	}
	want := []string{"workload a.rate=1", "workload b.rate=2", "workload workload.limit=3", "cluster cluster.limit=4",
		"cluster engine=small", "cluster size=5", "router router.cluster.limit=6"}
	if !slices.Equal(got, want) {
		t.Errorf("factors are\n%q, want\n%q", got, want)
	}
}
