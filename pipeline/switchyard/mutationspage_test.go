package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var updateMutations = flag.Bool("update-mutations", false, "write the table of pipeline/experiments/MUTATIONS.md anew")

const mutationsPage = "../experiments/MUTATIONS.md"

// figure is an experiment with what wrong rules are set in.
type figure struct {
	experiment string
	engines    []string // paths below clusters
	guarded    []string // routers with the guard of cache-aware
	believing  []string // routers that count prefixes from their dispatch on
}

func engines(cluster string, names ...string) (paths []string) {
	if names == nil {
		return []string{cluster + ".engine"}
	}
	for _, name := range names {
		paths = append(paths, cluster+".engine."+name)
	}
	return paths
}

var figures = []figure{
	{"lecture-documents", engines("a6000x4"), []string{"cache-aware"}, []string{"prefix-affinity", "prefix-threshold", "cache-aware"}},
	{"lecture-capacity", engines("a6000x4"), nil, []string{"prefix-threshold"}},
	{"lecture-scale", engines("a6000"), nil, []string{"prefix-threshold"}},
	{"lecture-dilemma", engines("a6000x4"), nil, []string{"prefix-affinity", "prefix-threshold"}},
	{"lecture-threshold", engines("a6000x4"), nil, []string{"prefix-threshold"}},
	{"lecture-hot-tool", engines("a6000x8"), []string{"cache-aware"}, []string{"prefix-affinity", "prefix-threshold", "cache-aware"}},
	{"lecture-hotspot", engines("a6000x8"), []string{"cache-aware"}, []string{"prefix-threshold", "cache-aware"}},
	{"lecture-rebalance", engines("a6000x8"), nil, []string{"prefix-threshold", "e2", "rebalanced"}},
	{"lecture-preble", engines("a6000x4", "fcfs", "groups"), []string{"cache-aware"}, []string{"prefix-threshold", "cache-aware", "e2-rebalanced", "full"}},
	{"lecture-pairing", engines("a6000x4"), nil, []string{"none", "hit-ratio", "sent-hit-ratio", "decode-time", "decode-requests"}},
	{"lecture-cost-terms", engines("a6000x4"), nil, []string{"lone", "marginal", "fewest-dispatches"}},
	{"lecture-window", engines("a6000x4"), nil, []string{"e2"}},
	{"lecture-local", engines("a6000x4", "fcfs", "groups", "longest"), []string{"cache-aware"}, []string{"cache-aware", "e2", "full"}},
	{"lecture-lessons", engines("a6000x4", "fcfs", "groups"), []string{"cache-aware"}, []string{"prefix-affinity", "prefix-threshold", "cache-aware", "e2", "e2-counting", "e2-pairing"}},
	{"lecture-differences", slices.Concat(engines("one-at-a-time"), engines("batching"), engines("tight")), []string{"cache-aware"}, []string{"cache-aware"}},
}

// wrongRules are the mutations, by what they set in a figure.
var wrongRules = []struct {
	name string
	sets func(f figure) []string
}{
	{"nothing is evicted", func(f figure) []string { return each("clusters.", f.engines, ".evict=none") }},
	{"leaves are evicted at random", func(f figure) []string { return each("clusters.", f.engines, ".evict=random") }},
	{"no guard", func(f figure) []string { return each("routers.", f.guarded, ".balance_abs=1000000") }},
	{"prefill first", func(f figure) []string { return each("clusters.", f.engines, ".batch=prefill-first") }},
	{"insertion at the end", func(f figure) []string { return each("routers.", f.believing, ".belief=ready") }},
}

func each(before string, names []string, after string) (sets []string) {
	for _, name := range names {
		sets = append(sets, before+name+after)
	}
	return sets
}

// TestMutationsPage: MUTATIONS.md says which verdicts each wrong rule turns, in
// every figure of the lecture that has the rule.
// `SWITCHYARD_LONG=1 go test -tags duckdb ./pipeline/switchyard -run MutationsPage -update-mutations` writes its table.
func TestMutationsPage(t *testing.T) {
	if os.Getenv("SWITCHYARD_LONG") == "" && !*updateMutations {
		t.Skip("it runs most of the lecture six times: set SWITCHYARD_LONG, or run.sh test --long")
	}
	if !version().DuckDB {
		t.Skip("built without the tag duckdb, with which run.sh test builds where a C compiler is present")
	}
	var rows bytes.Buffer
	rows.WriteString("| experiment | rule | verdicts that turn |\n| --- | --- | --- |\n")
	for _, f := range figures {
		right := verdicts(t, f.experiment, nil)
		for _, rule := range wrongRules {
			sets := rule.sets(f)
			if sets == nil {
				continue
			}
			wrong := verdicts(t, f.experiment, sets)
			var turned []string
			for name, verdict := range right {
				if verdict == "agrees" && wrong[name] != "agrees" {
					turned = append(turned, name)
				}
			}
			slices.Sort(turned)
			what := "none"
			if turned != nil {
				what = strings.Join(turned, ", ")
			}
			fmt.Fprintf(&rows, "| %s | %s | %d of %d: %s |\n", f.experiment, rule.name, len(turned), len(right), what)
		}
	}
	page, err := os.ReadFile(mutationsPage)
	if err != nil {
		t.Fatal(err)
	}
	start := bytes.Index(page, []byte("| experiment |"))
	if start < 0 {
		t.Fatalf("%s has no table", mutationsPage)
	}
	end := start + bytes.Index(page[start:], []byte("\n\n")) + 1 // prose follows
	if *updateMutations {
		if err := os.WriteFile(mutationsPage, slices.Concat(page[:start], rows.Bytes(), page[end:]), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(page[start:end], rows.Bytes()) {
		t.Errorf("%s is not what the mutations turn:\n%s", mutationsPage, &rows)
	}
}
