package experiment

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestErrors holds the text of every error that Load makes.
func TestErrors(t *testing.T) {
	workloads := "workloads: [{name: w, generator: g}]\n"
	clusters := "clusters: [{name: c}]\n"
	routers := "routers: [random, round-robin]\n"
	rest := workloads + clusters + routers // three lines
	for _, c := range []struct {
		text string
		set  []string
		want string
	}{
		{text: "", want: "f.yaml:1:1: workloads: missing: expected an experiment: workloads, clusters, routers; or balls; or dispatch, policies; or systems, worlds, optimisers"},
		{text: "# nothing\n", want: "f.yaml:1:1: workloads: missing: expected an experiment: workloads, clusters, routers; or balls; or dispatch, policies; or systems, worlds, optimisers"},
		{text: "text\n", want: `f.yaml:1:1: value "text": expected an experiment: workloads, clusters, routers; or balls; or dispatch, policies; or systems, worlds, optimisers`},
		{text: "- a\n", want: `f.yaml:1:1: value "[a]": expected an experiment: workloads, clusters, routers; or balls; or dispatch, policies; or systems, worlds, optimisers`},
		{text: "name: a\n" + workloads + routers, want: "f.yaml:1:1: clusters: missing: expected a list of one or more clusters, each a mapping with a name"},
		{text: rest + "a: [1\n", want: "f.yaml:4:4: not YAML: sequence end token ']' not found: expected valid YAML"},
		{text: rest + "name: b: c\n", want: "f.yaml:4:7: not YAML: mapping value is not allowed in this context: expected valid YAML"},
		{text: rest + "slo:\n\tttft_ms: 1\n", want: "f.yaml:5:1: not YAML: found character '\t' that cannot start any token: expected valid YAML"},
		{text: rest + "---\na: 1\n", want: "f.yaml:4:1: a second document: expected one document a file"},
		{text: rest + "...\na: 1\n", want: "f.yaml:5:1: a second document: expected one document a file"},
		{text: "%YAML 1.2\n---\n" + rest, want: "f.yaml:1:1: a directive: expected none"},
		{text: rest + "name: \xff\n", want: "f.yaml:4:1: the line is no UTF-8: expected UTF-8"},
		{text: rest + "a: " + strings.Repeat("[", 100), want: "f.yaml:4:1: the line nests too deep: expected at most 64 levels"},
		{text: rest + "# " + strings.Repeat("x", 20000), want: "f.yaml:4:1: the line has 20002 bytes: expected at most 16384"},
		{text: rest + strings.Repeat("#\n", 140000), want: "f.yaml:1:1: the text has 280090 bytes: expected at most 131072"},
		{text: rest + strings.Repeat("#\n", 10000), want: "f.yaml:1:1: the text has 10004 lines: expected at most 10000"},
		{text: rest + "seed: 1\nname: a\nseed: 2\n", want: "f.yaml:6:1: seed: duplicate key: expected each key once"},
		{text: "workloads: [{name: w, a: {b: 1, b: 2}}]\n" + clusters + routers, want: "f.yaml:1:33: workloads[0].a.b: duplicate key: expected each key once"},
		{text: rest + "seed: &x 1\nname: *x\nbaseline: !!str a\n<<: {}\n", want: `f.yaml:4:7: seed: an anchor (&), which experiment files do not use: expected a plain value
f.yaml:5:7: name: an alias (*), which experiment files do not use: expected a plain value
f.yaml:6:11: baseline: a tag (!), which experiment files do not use: expected a plain value
f.yaml:7:1: a complex or merge key, which experiment files do not use: expected a plain key`},

		{text: rest + "sed: 1\n", want: `f.yaml:4:1: sed: unknown key: expected one of replications, expectations, workloads, clusters, routers, balls, dispatch, policies, systems, worlds, optimisers, serving, name, seed, warm_up, baseline, slo, tables; did you mean "seed"?`},
		{text: rest + "slo: {ttft: 1}\n", want: `f.yaml:4:7: slo.ttft: unknown key: expected one of ttft_ms, tpot_ms, e2e_ms; did you mean "ttft_ms"?`},
		{text: rest + "slo: 5\n", want: `f.yaml:4:6: slo: value "5": expected a section of keys and values`},
		{text: rest + "slo: {ttft_ms: 1s}\n", want: `f.yaml:4:16: slo.ttft_ms: value "1s": expected a number of at least 0 (ms)`},
		{text: rest + "slo: {ttft_ms: -1}\n", want: `f.yaml:4:16: slo.ttft_ms: value "-1": expected a number of at least 0 (ms)`},
		{text: rest + "seed: -1\n", want: `f.yaml:4:7: seed: value "-1": expected a whole number from 0 to 9223372036854775807`},
		{text: rest + "seed: 1.5\n", want: `f.yaml:4:7: seed: value "1.5": expected a whole number from 0 to 9223372036854775807`},
		{text: rest + "seed: 99999999999999999999\n", want: `f.yaml:4:7: seed: value "99999999999999999999": expected a whole number from 0 to 9223372036854775807`},
		{text: rest + "seed: 9223372036854775808\n", want: `f.yaml:4:7: seed: value "9223372036854775808": expected a whole number from 0 to 9223372036854775807`},
		{text: rest + "seed: \"2\"\n", want: `f.yaml:4:7: seed: value "2": expected a whole number from 0 to 9223372036854775807, without quotes`},
		{text: rest + "tables: {replicas: 'true'}\n", want: `f.yaml:4:20: tables.replicas: value "true": expected true or false, without quotes`},
		{text: rest + "seed: {sweep: [1, 2]}\n", want: `f.yaml:4:7: seed: value "{sweep: [1, 2]}": expected a value: axes and variants stand in workloads, clusters, routers, balls, dispatch, policies, systems, worlds, optimisers, serving`},
		{text: rest + "seed:\n", want: `f.yaml:4:1: seed: value "": expected a whole number from 0 to 9223372036854775807`},
		{text: rest + "warm_up: .95\n", want: `f.yaml:4:10: warm_up: value ".95": expected a number from 0 to 0.9 (share)`},
		{text: rest + "warm_up: .nan\n", want: `f.yaml:4:10: warm_up: value ".nan": expected a number from 0 to 0.9 (share)`},
		{text: rest + "name: Quick\n", want: `f.yaml:4:7: name: value "Quick": expected a name of a-z, 0-9, . _ - that begins with a letter or a digit, at most 100 characters`},
		{text: rest + "name: 4\n", want: `f.yaml:4:7: name: value "4": expected text`},
		{text: rest + "name: ../up\n", want: `f.yaml:4:7: name: value "../up": expected a name of a-z, 0-9, . _ - that begins with a letter or a digit, at most 100 characters`},
		{text: rest + "baseline: round_robin\n", want: `f.yaml:4:11: baseline: value "round_robin": expected the name of a router: random, round-robin; did you mean "round-robin"?`},
		{text: workloads + clusters + "routers: [{name: s, t: {sweep: [.1, .2, .3, .4, .5, .6]}}, random]\nbaseline: s\n", want: `f.yaml:4:11: baseline: value "s": expected one of the 6 that it sweeps over: "s t=0.1", "s t=0.2", "s t=0.3", "s t=0.4", "s t=0.5" and so on`},
		{text: workloads + clusters + "routers: [{name: s, t: {sweep: [.1, .2]}}, random]\nbaseline: s t=.3\n", want: `f.yaml:4:11: baseline: value "s t=.3": expected the name of a router: s, random; or one with its swept values, such as "s t=0.1"; did you mean "s t=0.1"?`},
		{text: rest + "replications: 3..1\n", want: `f.yaml:4:15: replications: value "3..1": expected a number n for 1..n, a range such as 1..30, or a list of numbers from 1 to 1000000 without repetition, at most 100000 of them`},
		{text: rest + "replications: [1, 1]\n", want: `f.yaml:4:15: replications: value "[1, 1]": expected a number n for 1..n, a range such as 1..30, or a list of numbers from 1 to 1000000 without repetition, at most 100000 of them`},
		{text: rest + "tables: {requests: some}\n", want: `f.yaml:4:20: tables.requests: value "some": expected one of all, sample, none`},
		{text: rest + "tables: {requests: sampel}\n", want: `f.yaml:4:20: tables.requests: value "sampel": expected one of all, sample, none; did you mean "sample"?`},
		{text: rest + "tables: {replicas: yes}\n", want: `f.yaml:4:20: tables.replicas: value "yes": expected true or false`},
		{text: rest + "tables: {replicas: 1}\n", want: `f.yaml:4:20: tables.replicas: value "1": expected true or false`},

		{text: "name: a\n", want: "f.yaml:1:1: workloads: missing: expected an experiment: workloads, clusters, routers; or balls; or dispatch, policies; or systems, worlds, optimisers"},
		{text: "policies: [random]\n", want: "f.yaml:1:1: dispatch: missing: expected a list of one or more systems of servers, each a mapping with a name"},
		{text: "balls: []\n", want: `f.yaml:1:8: balls: value "[]": expected a list of one or more settings of balls and bins, each a mapping with a name`},
		{text: "balls: [{name: b}]\n" + clusters + routers, want: "f.yaml:1:1: workloads: missing: expected a list of one or more workloads, each a mapping with a name"},
		{text: "dispatch: [{name: d}]\npolicies: [random]\nbaseline: rondom\n", want: `f.yaml:3:11: baseline: value "rondom": expected the name of a policy: random; did you mean "random"?`},
		{text: "systems: [direct]\nworlds: [toy]\noptimisers: [single]\nbaseline: x\n", want: `f.yaml:4:11: baseline: value "x": expected the name of an optimiser: single`},
		{text: rest + "dispatch: [{name: d}]\npolicies: [jsq]\nbaseline: x\n", want: `f.yaml:6:11: baseline: value "x": expected the name of a router or policy: random, round-robin, jsq`},

		{text: "workloads: []\n" + clusters + "routers: x\n", want: `f.yaml:1:12: workloads: value "[]": expected a list of one or more workloads, each a mapping with a name
f.yaml:3:10: routers: value "x": expected a list of one or more routers, each a mapping with a name`},
		{text: "workloads: {name: w}\n" + clusters + routers, want: `f.yaml:1:12: workloads: value "{name: w}": expected a list of one or more workloads, each a mapping with a name`},
		{text: "workloads: [w]\n" + clusters + routers, want: `f.yaml:1:13: workloads[0]: value "w": expected a mapping with a name, as the list has others`},
		{text: workloads + clusters + "routers: [random, Random, 3, ~]\n", want: `f.yaml:3:19: routers[1].name: value "Random": expected a name of a-z, 0-9, . _ - that begins with a letter or a digit, at most 100 characters
f.yaml:3:30: routers[3]: value "~": expected a mapping with a name, as the list has others`},
		{text: workloads + clusters + "routers: [random, {policy: x}]\n", want: `f.yaml:3:19: routers[1].name: missing: expected a name of a-z, 0-9, . _ - that begins with a letter or a digit, at most 100 characters`},
		{text: workloads + clusters + "routers:\n  - random\n  - {name: random, policy: p}\n", want: `f.yaml:5:12: routers[1].name: value "random": expected a name that no other has; line 4 has it too`},
		{text: "workloads: [{name: {sweep: [a, b]}}]\n" + clusters + routers, want: `f.yaml:1:20: workloads[0].name: value "{sweep: [a, b]}": expected a name of a-z, 0-9, . _ - that begins with a letter or a digit, at most 100 characters`},
		{text: "workloads: [{name: w, e: [{share: 1}]}]\n" + clusters + routers, want: `f.yaml:1:27: workloads[0].e[0].name: missing: expected a name of a-z, 0-9, . _ - that begins with a letter or a digit, at most 100 characters; a list of mappings is a list of variants, of which each configuration takes one (parts of one thing are a mapping by name)`},
		{text: "workloads: [{name: w, e: [{name: a}, {name: a}, 3]}]\n" + clusters + routers, want: `f.yaml:1:45: workloads[0].e[1].name: value "a": expected a name that no other has; line 1 has it too
f.yaml:1:49: workloads[0].e[2]: value "3": expected a mapping with a name, as the list has others`},

		{text: workloads + "clusters: [{name: c, n: {sweep: []}}]\n" + routers, want: `f.yaml:2:33: clusters[0].n.sweep: value "[]": expected a list of one or more values`},
		{text: workloads + "clusters: [{name: c, n: {sweep: 3}}]\n" + routers, want: `f.yaml:2:33: clusters[0].n.sweep: value "3": expected a list of one or more values`},
		{text: workloads + "clusters: [{name: c, n: {sweep: [1, 2.0, 1.0]}}]\n" + routers, want: `f.yaml:2:42: clusters[0].n.sweep[2]: value "1.0": expected each value once`},
		{text: workloads + "clusters: [{name: c, n: {sweep: [{sweep: [1]}, 2]}}]\n" + routers, want: `f.yaml:2:34: clusters[0].n.sweep[0]: value "{sweep: [1]}": expected a plain value: no mapping and no axis stands inside a sweep or a list of lists`},
		{text: workloads + "clusters: [{name: c, n: {sweep: [1], by: 2}}]\n" + routers, want: `f.yaml:2:38: clusters[0].n.by: unknown key: expected one of sweep, value, zip, per_replica`},
		{text: workloads + "clusters: [{name: c, n: {swep: [1], per_replica: true}}]\n" + routers, want: `f.yaml:2:26: clusters[0].n.swep: unknown key: expected one of sweep, value, zip, per_replica; did you mean "sweep"?`},
		{text: "workloads: [{name: w, a: {process: p, rate_rps: 5, per_replica: true}}]\n" + clusters + routers, want: `f.yaml:1:65: workloads[0].a.per_replica: value "true": expected it inside the one value that it is about, such as rate_rps: {value: 5, per_replica: true}`},
		{text: "workloads: [{name: w, a: {process: p, rate_rps: 5, zip: z}}]\n" + clusters + routers, want: `f.yaml:1:57: workloads[0].a.zip: value "z": expected it inside the sweep that it is about, such as rate_rps: {sweep: [5], zip: z}`},
		{text: workloads + "clusters: [{name: c, n: {sweep: [1], value: 2}}]\n" + routers, want: `f.yaml:2:45: clusters[0].n.value: value "2": expected either value or sweep`},
		{text: workloads + "clusters: [{name: c, n: {zip: z, value: 2}}]\n" + routers, want: `f.yaml:2:31: clusters[0].n.zip: value "z": expected no zip without a sweep`},
		{text: workloads + "clusters: [{name: c, n: {zip: [z], sweep: [2]}}]\n" + routers, want: `f.yaml:2:31: clusters[0].n.zip: value "[z]": expected a name of a-z, 0-9, . _ - that begins with a letter or a digit, at most 100 characters`},
		{text: workloads + "clusters: [{name: c, n: {per_replica: true}}]\n" + routers, want: `f.yaml:2:25: clusters[0].n.sweep: missing: expected sweep: [...], or value beside per_replica`},
		{text: workloads + "clusters: [{name: c, n: {value: 1, per_replica: on}}]\n" + routers, want: `f.yaml:2:49: clusters[0].n.per_replica: value "on": expected true or false`},
		{text: workloads + "clusters: [{name: c, n: {sweep: [1, 2], zip: z}, m: {sweep: [1, 2, 3], zip: z}}]\n" + routers, want: `f.yaml:2:61: clusters[0].m.sweep: value "[1, 2, 3]": expected 2 values, as many as clusters[0].n, which has the same zip`},
		{text: workloads + "clusters: [{name: c, n: {sweep: [.inf]}, m: .nan}]\n" + routers, want: `f.yaml:2:34: clusters[0].n.sweep[0]: value ".inf": expected a finite number
f.yaml:2:45: clusters[0].m: value ".nan": expected a finite number`},
		{text: workloads + "clusters: [{name: c, m: [[{a: 1}]]}]\n" + routers, want: `f.yaml:2:27: clusters[0].m[0][0]: value "{a: 1}": expected a plain value: no mapping and no axis stands inside a sweep or a list of lists`},
		{text: workloads + "clusters: [{name: c, m: " + strings.Repeat("x", 1001) + "}]\n" + routers, want: `f.yaml:2:25: clusters[0].m: value "` + strings.Repeat("x", 57) + `...": expected at most 1000 bytes of text`},
		{text: workloads + "clusters: [{name: c" + axes(6, 8) + "}]\n" + routers, want: `f.yaml:1:12: workloads: value "[{name: w, generator: g}]": expected a grid of at most 100000 configurations, not 524288`},

		{text: rest, set: []string{"seed"}, want: "--set seed: not an override: expected path=value, such as seed=2"},
		{text: rest, set: []string{"=1"}, want: "--set =1: not an override: expected path=value, such as seed=2"},
		{text: rest, set: []string{"seed=a: b: c"}, want: "--set seed=a: b: c: not YAML: mapping value is not allowed in this context: expected valid YAML"},
		{text: rest, set: []string{"seed=x"}, want: `--set seed=x: seed: value "x": expected a whole number from 0 to 9223372036854775807`},
		{text: rest, set: []string{"seed="}, want: `--set seed=: seed: value "": expected a whole number from 0 to 9223372036854775807`},
		{text: rest, set: []string{"seed.x=1"}, want: `--set seed.x=1: seed: value "{x: 1}": expected a whole number from 0 to 9223372036854775807`},
		{text: rest + "seed: 3\n", set: []string{"seed.x=1"}, want: `--set seed.x=1: seed: value "3" has nothing below it: expected a path that ends here`},
		{text: rest, set: []string{"slo..x=1"}, want: `--set slo..x=1: slo: an empty item in the path: expected path=value, such as seed=2`},
		{text: rest, set: []string{"routers.randon.x=1"}, want: `--set routers.randon.x=1: routers.randon: no such item: expected one of random, round-robin, * or an index below 2; did you mean "random"?`},
		{text: rest, set: []string{"routers.2.x=1"}, want: `--set routers.2.x=1: routers.2: no such item: expected one of random, round-robin, * or an index below 2`},
		{text: rest, set: []string{"workloads.w.r={sweep: []}"}, want: `--set workloads.w.r={sweep: []}: workloads[0].r.sweep: value "[]": expected a list of one or more values`},
		{text: rest + "wram_up: 3\n", set: []string{"slo.e2e=1", "warm_up=2"}, want: `f.yaml:4:1: wram_up: unknown key: expected one of replications, expectations, workloads, clusters, routers, balls, dispatch, policies, systems, worlds, optimisers, serving, name, seed, warm_up, baseline, slo, tables; did you mean "warm_up"?
--set slo.e2e=1: slo.e2e: unknown key: expected one of ttft_ms, tpot_ms, e2e_ms; did you mean "e2e_ms"?
--set warm_up=2: warm_up: value "2": expected a number from 0 to 0.9 (share)`},
	} {
		_, err := Load("f.yaml", []byte(c.text), Options{Set: c.set})
		if err == nil {
			t.Errorf("%q %q is accepted, want %s", c.text, c.set, c.want)
			continue
		}
		if err.Error() != c.want {
			t.Errorf("%.200q %q: error is\n%v\nwant\n%s", c.text, c.set, err, c.want)
		}
		positioned(t, err, c.text)
	}
	_, err := Load("", []byte(rest+"name: n\n"), Options{Replications: "x"})
	if want := `--replications x: replications: value "x": expected ` + replicationsExpected; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	_, err = Load("", []byte(rest+"seed: x\n"), Options{BuiltIn: "quick"})
	if want := "quick:1:1: name: missing: expected " + nameExpected + "\nquick:4:7: seed: value \"x\": expected a whole number from 0 to 9223372036854775807"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	_, err = Load("", []byte(rest), Options{})
	if want := `experiment:1:1: name: missing: expected ` + nameExpected; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// axes returns n axes of size values.
func axes(n, size int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ", a%d: {sweep: [", i)
		for v := range size {
			fmt.Fprintf(&b, "%d, ", v)
		}
		b.WriteString("]}")
	}
	return b.String()
}

// placed returns the parts of an error that have a line, and fails where one
// has neither a place in the text nor an option.
func placed(t *testing.T, err error, text string) (parts []*Error, lines [][]rune) {
	t.Helper()
	errs := []error{err}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		errs = many.Unwrap()
	}
	for _, line := range strings.Split(text, "\n") {
		lines = append(lines, []rune(line))
	}
	for _, part := range errs {
		var e *Error
		switch {
		case !errors.As(part, &e):
			t.Errorf("%v is no *Error", part)
		case strings.HasPrefix(e.File, "--") && e.Line == 0:
		case e.Line < 1 || e.Column < 1 || e.Line > len(lines) || e.Column > 1+len(lines[e.Line-1]):
			t.Errorf("%v has no place", e)
		default:
			parts = append(parts, e)
		}
	}
	return parts, lines
}

// positioned fails as well where the value or the key of an error does not
// stand at its place in the text.
func positioned(t *testing.T, err error, text string) {
	t.Helper()
	parts, lines := placed(t, err, text)
	for _, e := range parts {
		here := strings.TrimLeft(string(lines[e.Line-1][e.Column-1:]), `'"`)
		key := e.Path[strings.LastIndexAny(e.Path, ".]")+1:]
		plain := e.Problem == "" && !strings.ContainsAny(e.Value, "{}[]\n") && !strings.HasSuffix(e.Value, "...")
		if plain && !strings.HasPrefix(here, e.Value) ||
			strings.HasSuffix(e.Problem, " key") && !strings.HasPrefix(here, key) {
			t.Errorf("%v: there stands %q", e, here)
		}
	}
}

// TestLoadInSpiteOfErrors: what is wrong in the head or an option does not keep
// the stages from their part of the file; what is wrong in a section does.
func TestLoadInSpiteOfErrors(t *testing.T) {
	sections := "workloads: [{name: w, r: {sweep: [1, 2]}}]\nclusters: [{name: c}]\nrouters: [random]\n"
	for _, wrong := range []string{"warm_up: 2\n", "replications: 0..3\n", "slo: {ttft: 3}\n", "baseline: rnd\n", "sed: 3\n"} {
		e, err := Load("f.yaml", []byte(sections+wrong), Options{})
		if err == nil || e == nil || len(e.Points[Simulate]) != 2 || len(e.Replications) == 0 {
			t.Errorf("%s: %+v, %v; expected two points and an error", wrong, e, err)
		}
	}
	if e, err := Load("f.yaml", []byte(sections), Options{Set: []string{"x.y"}}); err == nil || e == nil {
		t.Errorf("%v, %v; expected an experiment and an error", e, err)
	}
	for _, text := range []string{"warm_up: 2\n", "a: [", "x", sections + "balls: []\n"} {
		if e, err := Load("f.yaml", []byte(text), Options{}); err == nil || e != nil {
			t.Errorf("%s: %v, %v; expected an error alone", text, e, err)
		}
	}
}

// TestPaths: every path can be overridden, and the axes are among them.
func TestPaths(t *testing.T) {
	e := load(t, manual(t), Options{})
	paths := e.Paths()
	for _, want := range []string{"seed", "slo.ttft_ms", "workloads.tool.arrivals.rate_rps", "clusters.a6000x4.engine.small.chunk_tokens", "routers.sticky.threshold"} {
		if !slices.Contains(paths, want) {
			t.Errorf("%s is not among %s", want, paths)
		}
	}
	for _, path := range paths {
		if err := Join(override(e.resolved(), path+"=1")...); err != nil {
			t.Error(err)
		}
	}
}
