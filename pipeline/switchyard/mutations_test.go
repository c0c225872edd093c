package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// mutations are engines and routers with one rule wrong, and for each figure
// that depends on the rule a verdict that it turns. Figures that do not depend
// on a rule are not there: no cache is full under the hot tool, so that eviction
// changes nothing of it.
var mutations = []struct {
	rule, experiment string
	set              []string
	turns            string // an expectation that agrees without the mutation
	long             bool
}{
	{"nothing is evicted", "lecture-documents", []string{"clusters.a6000x4.engine.evict=none"}, "round-robin-hits", false},
	{"nothing is evicted", "lecture-scale", []string{"clusters.a6000.engine.evict=none"}, "affinity-hits-of-4", true},
	{"nothing is evicted", "lecture-threshold", []string{"clusters.a6000x4.engine.evict=none"}, "documents-worse-at-09", true},
	{"nothing is evicted", "lecture-preble", []string{"clusters.a6000x4.engine.fcfs.evict=none", "clusters.a6000x4.engine.groups.evict=none"}, "documents-full", true},

	{"leaves are evicted at random", "lecture-documents", []string{"clusters.a6000x4.engine.evict=random"}, "threshold-hits", false},
	{"leaves are evicted at random", "lecture-scale", []string{"clusters.a6000.engine.evict=random"}, "affinity-hits-of-4", true},
	{"leaves are evicted at random", "lecture-preble", []string{"clusters.a6000x4.engine.fcfs.evict=random", "clusters.a6000x4.engine.groups.evict=random"}, "documents-full", true},
	{"leaves are evicted at random", "lecture-window", []string{"clusters.a6000x4.engine.evict=random"}, "longer-is-better", true},

	{"no guard", "lecture-hot-tool", []string{"routers.cache-aware.balance_abs=1000000"}, "cache-aware-against-load-only", false},
	{"no guard", "lecture-hotspot", []string{"routers.cache-aware.balance_abs=1000000"}, "guard-cures", true},

	{"prefill first", "lecture-documents", []string{"clusters.a6000x4.engine.batch=prefill-first"}, "round-robin-mean", false},
	{"prefill first", "lecture-scale", []string{"clusters.a6000.engine.batch=prefill-first"}, "affinity-gains-more-with-scale", true},
	{"prefill first", "lecture-pairing", []string{"clusters.a6000x4.engine.batch=prefill-first"}, "tool-decode-requests", true},
	{"prefill first", "lecture-preble", []string{"clusters.a6000x4.engine.fcfs.batch=prefill-first", "clusters.a6000x4.engine.groups.batch=prefill-first"}, "documents-full", true},
	{"prefill first", "lecture-rebalance", []string{"clusters.a6000x8.engine.batch=prefill-first"}, "rebalanced-1-5", true},

	{"insertion at the end", "lecture-documents", []string{"routers.prefix-threshold.belief=ready", "routers.prefix-affinity.belief=ready"}, "threshold-duplication", false},
	{"insertion at the end", "lecture-hot-tool", []string{"routers.prefix-threshold.belief=ready"}, "threshold-collapses", false},
	{"insertion at the end", "lecture-hotspot", []string{"routers.prefix-threshold.belief=ready"}, "threshold-collapses", true},
	{"insertion at the end", "lecture-threshold", []string{"routers.prefix-threshold.belief=ready"}, "tool-collapses-at-01", true},
	{"insertion at the end", "lecture-scale", []string{"routers.prefix-threshold.belief=ready"}, "affinity-hits-of-4", true},
	{"insertion at the end", "lecture-rebalance", []string{"routers.e2.belief=ready", "routers.rebalanced.belief=ready"}, "e2-collapses", true},
}

// verdicts runs an experiment and returns its verdicts by expectation.
func verdicts(t *testing.T, experiment string, set []string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	words := []string{"reproduce", experiment, "--dir", dir}
	for _, s := range set {
		words = append(words, "--set", s)
	}
	var out, stderr bytes.Buffer
	if code := execute(words, &out, &stderr); code != 0 {
		t.Fatalf("%v: exit code %d: %s", words, code, &stderr)
	}
	out.Reset()
	if code := execute([]string{"query", filepath.Join(dir, experiment), "select name, verdict from expectations", "--format", "json"}, &out, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	var rows []struct{ Name, Verdict string }
	if err := json.Unmarshal(out.Bytes(), &rows); err != nil {
		t.Fatalf("%v in %s", err, &out)
	}
	by := map[string]string{}
	for _, r := range rows {
		by[r.Name] = r.Verdict
	}
	return by
}

// TestMutationsTurnVerdicts: each wrong rule changes a verdict of each figure
// that depends on it.
func TestMutationsTurnVerdicts(t *testing.T) {
	if !version().DuckDB {
		t.Skip("built without the tag duckdb, with which run.sh test builds where a C compiler is present")
	}
	right := map[string]map[string]string{}
	for _, m := range mutations {
		if m.long && os.Getenv("SWITCHYARD_LONG") == "" {
			continue
		}
		if right[m.experiment] == nil {
			right[m.experiment] = verdicts(t, m.experiment, nil)
		}
		if got := right[m.experiment][m.turns]; got != "agrees" {
			t.Errorf("%s: %s is %q without a mutation, expected that it agrees", m.experiment, m.turns, got)
		}
		if got := verdicts(t, m.experiment, m.set)[m.turns]; got == "agrees" || got == "" {
			t.Errorf("%s, %s: %s is %q, expected another verdict", m.experiment, m.rule, m.turns, got)
		}
	}
}
