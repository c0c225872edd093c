package experiment

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"switchyard/sim/param"
)

type arrivals struct {
	Process string  `yaml:"process" default:"poisson" enum:"poisson|gamma"`
	Rate    float64 `yaml:"rate_rps" required:"true" min:"0.001" max:"1000" unit:"1/s" per_replica:"true"`
	CV      float64 `yaml:"cv" default:"1" min:"0"`
}

func (a *arrivals) Check() error {
	if a.Process == "poisson" && a.CV != 1 {
		return &param.Error{Field: "cv", Value: param.Format(a.CV), Expected: "1 with process poisson"}
	}
	return nil
}

type common struct {
	Requests int `yaml:"requests" default:"100" min:"1" max:"5000" per_replica:"true"`
}

type generator struct {
	common
	Arrivals arrivals `yaml:"arrivals"`
	Lengths  []int    `yaml:"lengths" default:"1,2" min:"1"`
	Parts    Section  `yaml:"parts"`
	Weight   float64  `yaml:"weight" default:"0.5"`
	Seed     uint64   `yaml:"seed"`
	Narrow   int32    `yaml:"narrow"`
}

type source struct {
	Generator string `yaml:"generator" required:"true"`
}

func first(t *testing.T, workload string) Section {
	t.Helper()
	return load(t, "workloads:\n"+workload+"\nclusters: [{name: c}]\nrouters: [random]\n", Options{}).Points[Simulate][0].Part("workload").Section
}

func TestDecode(t *testing.T) {
	s := first(t, `  - name: w
    generator: tool
    requests: {value: 2.5, per_replica: true}
    arrivals: {rate_rps: {sweep: [3, 4], per_replica: true}, process: gamma}
    lengths: [5, 6.0]
    parts: {b: {x: 1}, a: {y: 2}}
    seed: 0xff`)
	var g generator
	var from source
	if err := s.Decode(4, &from, &g); err != nil {
		t.Fatal(err)
	}
	if g.Requests != 10 || g.Arrivals != (arrivals{"gamma", 12, 1}) || !slices.Equal(g.Lengths, []int{5, 6}) ||
		g.Weight != .5 || g.Seed != 255 || from.Generator != "tool" {
		t.Errorf("got %+v %+v", g, from)
	}
	if keys := g.Parts.Keys(); !slices.Equal(keys, []string{"b", "a"}) {
		t.Errorf("parts have the keys %q", keys)
	}
	a, ok := g.Parts.Section("a")
	if y, has := a.String("y"); !ok || !has || y != "2" {
		t.Errorf("part a has y %q", y)
	}
	want := []string{"arrivals.process=gamma", "arrivals.rate_rps=12", "lengths=[5,6]", "requests=10", "seed=255"}
	if got := param.Canonical(&g); !slices.Equal(got, want) {
		t.Errorf("its identity is %q, want %q", got, want)
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"  - {name: w}", `x.yaml:2:5: workloads[0].generator: missing: expected text
x.yaml:2:5: workloads[0].arrivals.rate_rps: missing: expected a number from 0.001 to 1000 (1/s)`},
		{"  - {name: w, generator: g, arrivals: {rate_rps: 1, prozess: gamma}, request: 3}",
			`x.yaml:2:53: workloads[0].arrivals.prozess: unknown key: expected one of process, rate_rps, cv; did you mean "process"?
x.yaml:2:70: workloads[0].request: unknown key: expected one of generator, requests, arrivals, lengths, parts, weight, seed, narrow; did you mean "requests"?`},
		{"  - {name: w, generator: g, arrivals: 5, parts: a, weight: {a: 1}}",
			`x.yaml:2:39: workloads[0].arrivals: value "5": expected a section of keys and values
x.yaml:2:49: workloads[0].parts: value "a": expected a section of keys and values
x.yaml:2:60: workloads[0].weight: value "{a: 1}": expected a number`},
		{"  - {name: w, generator: 3, arrivals: {rate_rps: 4s, process: gama}, requests: 0, lengths: [1, 0], seed: -1, narrow: 3_000_000_000, weight: ~}",
			`x.yaml:2:26: workloads[0].generator: value "3": expected text
x.yaml:2:50: workloads[0].arrivals.rate_rps: value "4s": expected a number from 0.001 to 1000 (1/s)
x.yaml:2:63: workloads[0].arrivals.process: value "gama": expected one of poisson, gamma; did you mean "gamma"?
x.yaml:2:80: workloads[0].requests: value "0": expected a whole number from 1 to 5000
x.yaml:2:92: workloads[0].lengths: value "[1, 0]": expected a list of whole numbers of at least 1
x.yaml:2:106: workloads[0].seed: value "-1": expected a whole number
x.yaml:2:118: workloads[0].narrow: value "3_000_000_000": expected a whole number
x.yaml:2:141: workloads[0].weight: value "~": expected a number`},
		{"  - {name: w, generator: g, arrivals: {rate_rps: {value: 500, per_replica: true}}, weight: {sweep: [1], per_replica: true}}",
			`x.yaml:2:58: workloads[0].arrivals.rate_rps.value: value "500": expected a number from 0.001 to 1000 (1/s), not 2000 on 4 replicas
x.yaml:2:118: workloads[0].weight.per_replica: value "true": expected no per_replica: weight does not grow with the cluster`},
		{"  - {name: w, generator: g, arrivals: {rate_rps: 1, cv: 2}}", `x.yaml:2:57: workloads[0].arrivals.cv: value "2": expected 1 with process poisson`},
		{"  - {name: w, generator: g, arrivals: {rate_rps: 1}, requests: {value: .3, per_replica: true}}",
			`x.yaml:2:72: workloads[0].requests.value: value ".3": expected a whole number from 1 to 5000`},
		{"  - {name: w, generator: g, arrivals: {rate_rps: 1}, requests: {value: 9_223_372_036_854_775_807, per_replica: true}}",
			`x.yaml:2:72: workloads[0].requests.value: value "9_223_372_036_854_775_807": expected a whole number from 1 to 5000`},
	} {
		err := first(t, c.text).Decode(4, new(source), new(generator))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: error is\n%v\nwant\n%s", c.text, err, c.want)
			continue
		}
		positioned(t, err, "workloads:\n"+c.text)
	}
}

func TestErrorf(t *testing.T) {
	text := "  - {name: w, generator: g, e: {gpu: a600}, l: [1], d: {value: 3, per_replica: true}}"
	s := first(t, text)
	for _, c := range []struct {
		key  string
		want string
	}{
		{"e.gpu", `x.yaml:2:38: workloads[0].e.gpu: value "a600": expected a GPU; did you mean "a6000"?`},
		{"e", `x.yaml:2:32: workloads[0].e: value "{gpu: a600}": expected a GPU`},
		{"d", `x.yaml:2:64: workloads[0].d.value: value "3": expected a GPU`},
		{"model", `x.yaml:2:5: workloads[0].model: missing: expected a GPU`},
	} {
		err := s.Errorf(c.key, "a GPU", []string{"h100", "a6000"})
		if err.Error() != c.want {
			t.Errorf("%s: error is %v, want %s", c.key, err, c.want)
		}
		positioned(t, err, "workloads:\n"+text)
	}
	if _, ok := s.String("l"); ok {
		t.Error("a list has a string")
	}
	var zero Section
	if err := zero.Decode(1, new(common)); err != nil {
		t.Error(err)
	}
	if err := zero.Errorf("a", "b", nil); err.Error() != "experiment: a: missing: expected b" {
		t.Error(err)
	}
}

func TestDecodeWantsEachKeyOnce(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("two structs with one key do not panic")
		}
	}()
	first(t, "  - {name: w}").Decode(1, new(common), new(generator))
}

func TestJoin(t *testing.T) {
	a, b := &Error{File: "f", Line: 9, Column: 2, Expected: "a"}, &Error{File: "f", Line: 10, Column: 1, Expected: "b"}
	option, other := &Error{File: "--set x", Expected: "c"}, errors.New("other")
	got := Join(other, nil, errors.Join(option, b), Join(b, a), Join()).Error()
	want := errors.Join(a, b, option, other).Error()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if Join() != nil || Join(nil, errors.Join()) != nil {
		t.Error("no errors give an error")
	}
}

func TestPath(t *testing.T) {
	t.Setenv("SWITCHYARD_TEST", "/data")
	read := func(file, path string) (string, error) {
		e, err := Load(file, []byte("name: n\nworkloads: [{name: w, trace: '"+path+"'}]\nclusters: [{name: c}]\nrouters: [r]\n"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return e.Points[Simulate][0].Part("workload").Section.Path("trace")
	}
	for _, c := range []struct{ file, path, want string }{
		{"", "a.jsonl", "a.jsonl"},
		{"dir/x.yaml", "a.jsonl", filepath.Join("dir", "a.jsonl")},
		{"dir/x.yaml", "../a.jsonl", "a.jsonl"},
		{"dir/x.yaml", "/a.jsonl", "/a.jsonl"},
		{"dir/x.yaml", "${SWITCHYARD_TEST}/a.jsonl", "/data/a.jsonl"},
		{"dir/x.yaml", "$SWITCHYARD_TEST", filepath.Join("dir", "$SWITCHYARD_TEST")},
	} {
		if got, err := read(c.file, c.path); err != nil || got != c.want {
			t.Errorf("%s in %s is %s (%v), want %s", c.path, c.file, got, err, c.want)
		}
	}
	_, err := read("x.yaml", "${SWITCHYARD_NOT_THERE}/a")
	want := `x.yaml:2:30: workloads[0].trace: value "${SWITCHYARD_NOT_THERE}/a": expected the environment variable SWITCHYARD_NOT_THERE to be set`
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	if _, err = read("x.yaml", ""); err == nil {
		t.Error("an empty path is accepted")
	}
}

// TestResolved checks every default that decoding fills in, and that the
// result loads to the same parameters.
func TestResolved(t *testing.T) {
	text := `routers: [random]
workloads:
  - name: w
    generator: {sweep: [plain, timed]}
    lengths: [3]
    parts: {a: {requests: 7}}
  - name: x
    generator: timed
    weight: {value: 1e-9, per_replica: false}
    arrivals: [{name: slow, rate_rps: {sweep: [1, 2], per_replica: true}}, {name: "007", rate_rps: 9}]
clusters: [{name: c}]
replications: [1..3, 9]
`
	type plain struct {
		common
		Lengths []int   `yaml:"lengths"`
		Parts   Section `yaml:"parts"`
	}
	decode := func(e *Experiment) (out [][]string) {
		for _, p := range e.Points[Simulate] {
			s := p.Part("workload").Section
			var from source
			generator, _ := s.String("generator")
			var into any = new(plain)
			if generator == "timed" && p.Part("workload").Name == "x" {
				type timed struct {
					common
					Arrivals arrivals `yaml:"arrivals"`
					Weight   float64  `yaml:"weight" per_replica:"true"`
				}
				into = new(timed)
			} else if generator == "timed" {
				into = &struct {
					plain
					Weight float64 `yaml:"weight" default:"3"`
				}{}
			}
			if err := s.Decode(2, &from, into); err != nil {
				t.Fatal(err)
			}
			var inner common
			parts, _ := s.Section("parts")
			if a, ok := parts.Section("a"); ok {
				if err := a.Decode(2, &inner); err != nil {
					t.Fatal(err)
				}
			}
			router := struct {
				Policy string   `yaml:"policy"`
				Ties   arrivals `yaml:"-"`
				Nested struct {
					Belief string `yaml:"belief" default:"a: b"`
				} `yaml:"nested"`
			}{}
			if err := p.Part("router").Section.Decode(2, &router); err != nil {
				t.Fatal(err)
			}
			out = append(out, slices.Concat([]string{p.Label()}, param.Canonical(&from), param.Canonical(into), param.Canonical(&inner), param.Canonical(&router)))
		}
		return out
	}
	e := load(t, text, Options{})
	before := decode(e)
	want := `name: x
seed: 1
replications: [1..3, 9]
warm_up: 0.2
baseline: random
slo:
  ttft_ms: 0
  tpot_ms: 0
  e2e_ms: 0
tables:
  workload: true
  requests: all
  sample: 0.01
  replicas: true
  timeline: false
  timeline_interval: 1
  decisions: 0
  rounds: true
  assignments: small
routers:
  - name: random
    policy: random
    nested:
      belief: "a: b"
workloads:
  - name: w
    generator: {sweep: [plain, timed]}
    lengths: [3]
    parts:
      a:
        requests: 7
    requests: 100
  - name: x
    generator: timed
    weight: {value: 1e-09, per_replica: false}
    arrivals:
      - name: slow
        rate_rps: {sweep: [1, 2], per_replica: true}
        process: poisson
        cv: 1
      - name: "007"
        rate_rps: 9
        process: poisson
        cv: 1
    requests: 100
clusters:
  - name: c
`
	got := string(e.Resolved())
	if got != want {
		t.Errorf("resolved is\n%s\nwant\n%s", got, want)
	}
	again := load(t, got, Options{})
	if after := decode(again); !reflect.DeepEqual(before, after) {
		t.Errorf("it loads to\n%q, want\n%q", after, before)
	}
	if second := string(again.Resolved()); second != got {
		t.Errorf("resolved again it is\n%s", second)
	}
}
