package simulate

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"switchyard/stages/experiment"
	"switchyard/stages/generate"
	"switchyard/stages/run"
	"switchyard/stages/table"
)

func execute(t testing.TB, p *Plan, o Options, dir string, workers int) run.Report {
	t.Helper()
	return executeJob(t, Job(p, o), dir, workers)
}

func executeJob(t testing.TB, job run.Job, dir string, workers int) run.Report {
	t.Helper()
	report, err := run.Execute(context.Background(), job, run.Options{
		Dir: dir, Workers: workers, Provenance: table.Provenance{Experiment: "small"},
	})
	if err != nil || report.Failed > 0 {
		t.Fatalf("run failed: %v, %+v", err, report.Failures)
	}
	return report
}

// files returns the finished tables' bytes by path.
func files(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, d := range Tables() {
		paths, err := filepath.Glob(filepath.Join(dir, d.Schema().Name, "*.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			rel, _ := filepath.Rel(dir, path)
			all[rel] = data
		}
	}
	return all
}

func equalFiles(t *testing.T, what string, a, b map[string][]byte) {
	t.Helper()
	if len(a) != len(b) {
		t.Errorf("%s: %d and %d files", what, len(a), len(b))
	}
	for path, data := range a {
		if !bytes.Equal(data, b[path]) {
			t.Errorf("%s: %s differs", what, path)
		}
	}
}

func TestJob(t *testing.T) {
	p := mustPlan(t)
	one, two := t.TempDir(), t.TempDir()
	execute(t, p, Options{}, one, 1)
	execute(t, mustPlan(t), Options{}, two, 2)
	equalFiles(t, "1 and 2 workers", files(t, one), files(t, two))
	checkTables(t, p, one)

	again := execute(t, mustPlan(t), Options{}, one, 2)
	if again.Done != 0 || again.Skipped != len(p.Runs) {
		t.Errorf("the second run did %d cells and skipped %d, expected 0 and %d", again.Done, again.Skipped, len(p.Runs))
	}
	grown := t.TempDir()
	execute(t, mustPlan(t, "1..2", "2..2"), Options{}, grown, 1)
	report := execute(t, mustPlan(t), Options{}, grown, 2)
	if report.Done != len(p.Runs)/2 {
		t.Errorf("with one more replication %d cells ran, expected %d", report.Done, len(p.Runs)/2)
	}
	equalFiles(t, "at once and grown", files(t, one), files(t, grown))
}

// checkTables reads the tables of a finished job.
func checkTables(t *testing.T, p *Plan, dir string) {
	t.Helper()
	cells, err := Cells.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	requests, err := Requests.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	replicas, err := Replicas.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(cells) != len(p.Runs) || len(requests) != 60*len(p.Runs) || len(replicas) != 2*len(p.Runs) {
		t.Fatalf("%d cells, %d requests, %d replicas; expected %d, %d, %d", len(cells), len(requests), len(replicas), len(p.Runs), 60*len(p.Runs), 2*len(p.Runs))
	}
	var m Meter
	for i, c := range cells {
		r := p.Runs[i]
		if c.Cell != int32(i) || c.CellKey != r.Key || c.Config != r.Config.Index || int(c.Replication) != r.Replication || c.RouterPoint != r.Config.RouterPoint {
			t.Errorf("row %d is of cell %d, %s, %s", i, c.Cell, c.CellKey, c.RouterPoint)
		}
		if !reflect.DeepEqual(c.Factors, r.Config.Factors) {
			t.Errorf("cell %d: factors are %v, expected %v", i, c.Factors, r.Config.Factors)
		}
		rows := requests[60*i : 60*(i+1)]
		m.Rows(rows, c.Replicas)
		metrics := m.Measure(c.WarmUp, experiment.SLO{TTFTMs: c.SLOTTFTMs, TPOTMs: c.SLOTPOTMs, E2EMs: c.SLOE2EMs})
		recut := c
		recut.SetMetrics(&metrics)
		if len(recut.Warnings) == 0 {
			recut.Warnings = c.Warnings // an empty list is read as such
		}
		if !reflect.DeepEqual(recut, c) {
			t.Errorf("cell %d: measured from its rows it is\n%+v\nexpected\n%+v", i, recut, c)
		}
		var computed, cached int64
		for _, rep := range replicas[2*i : 2*i+2] {
			if rep.Cell != c.Cell {
				t.Errorf("a replica of cell %d is at the place of cell %d's", rep.Cell, i)
			}
			computed += rep.ComputedTokens - rep.OutputTokens
			cached += rep.CachedTokens
		}
		var prompts, hits int64
		for _, q := range rows {
			prompts += int64(q.PromptTokens)
			hits += int64(q.CachedTokens)
		}
		if computed+cached != prompts || cached != hits {
			t.Errorf("cell %d: %d computed and %d cached tokens of %d, %d hits", i, computed, cached, prompts, hits)
		}
	}
	// All routers see the same requests.
	for i := range 60 {
		a, b := requests[i], requests[60*2+i]
		if a.ArrivalUs != b.ArrivalUs || a.PromptTokens != b.PromptTokens || a.CeilingTokens != b.CeilingTokens {
			t.Fatalf("request %d differs between routers", i)
		}
	}
}

// TestStaged: cells from table `workload` are those from the generator.
func TestStaged(t *testing.T) {
	p := mustPlan(t)
	direct, staged := t.TempDir(), t.TempDir()
	execute(t, p, Options{}, direct, 2)
	_, err := run.Execute(context.Background(), generate.Job(p.Workloads, p.Experiment.Replications),
		run.Options{Dir: staged, Workers: 1, Provenance: table.Provenance{Experiment: "small"}})
	if err != nil {
		t.Fatal(err)
	}
	execute(t, p, Options{Dir: staged}, staged, 2)
	equalFiles(t, "direct and staged", files(t, direct), files(t, staged))
}

// TestRenamed: rows of an earlier run read as the file stands now.
func TestRenamed(t *testing.T) {
	fresh, kept := t.TempDir(), t.TempDir()
	edits := []string{"name: sticky", "name: glued", "name: docs", "name: papers", "  - round-robin\n", "  - random\n  - round-robin\n"}
	execute(t, mustPlan(t), Options{}, kept, 2)
	report := execute(t, mustPlan(t, edits...), Options{}, kept, 2)
	if report.Done != 4 { // random, at two rates, in two replications
		t.Errorf("%d cells ran, expected the 4 of the new router", report.Done)
	}
	execute(t, mustPlan(t, edits...), Options{}, fresh, 2)
	equalFiles(t, "renamed and fresh", files(t, kept), files(t, fresh))

	// Names alone, with every cell in its place.
	report = execute(t, mustPlan(t), Options{}, fresh, 1)
	if report.Done != 0 {
		t.Errorf("%d cells ran after a change of names, expected none", report.Done)
	}
	plain := t.TempDir()
	execute(t, mustPlan(t), Options{}, plain, 1)
	cells, err := Cells.Read(fresh)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Cells.Read(plain)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(cells, want) {
		t.Error("cells keep the old names")
	}
}

func TestTablesKept(t *testing.T) {
	for _, c := range []struct {
		tables string
		want   []string
	}{
		{"{requests: all}", []string{"cells", "requests", "replicas"}},
		{"{requests: sample, sample: 0.1, replicas: false}", []string{"cells", "requests"}},
		{"{requests: none, replicas: false}", []string{"cells"}},
	} {
		p := mustPlan(t, "{requests: all}", c.tables)
		task := Job(p, Options{Repro: func(r *Run) string { return r.Key[:8] }}).Tasks[0]
		if !reflect.DeepEqual(task.Tables, c.want) {
			t.Errorf("tables %s keeps %v, expected %v", c.tables, task.Tables, c.want)
		}
		if !strings.HasPrefix(task.Key, p.Runs[0].Key+" ") {
			t.Errorf("tables %s: the task's key is %s", c.tables, task.Key)
		}
		if task.Repro != p.Runs[0].Key[:8] || task.Weight < 60 {
			t.Errorf("task is %+v", task)
		}
	}
	same := Job(mustPlan(t), Options{}).Tasks[0].Key
	for name, other := range map[string]*Plan{
		"objective": mustPlan(t, "ttft_ms: 2000", "ttft_ms: 10"),
		"sample":    mustPlan(t, "{requests: all}", "{requests: none}"),
	} {
		if Job(other, Options{}).Tasks[0].Key == same {
			t.Errorf("another %s does not run a cell again", name)
		}
	}
}

// TestSampleAndNone: the tables say what was kept.
func TestSampleAndNone(t *testing.T) {
	p := mustPlan(t, "{requests: all}", "{requests: sample, sample: 0.5, replicas: false}")
	dir := t.TempDir()
	execute(t, p, Options{}, dir, 1)
	cells, err := Cells.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	requests, err := Requests.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for i := range 60 {
		if uniform(uint64(i)) < 0.5 {
			kept++
		}
	}
	if cells[0].RequestsShare != 0.5 || len(requests) != kept*len(p.Runs) {
		t.Errorf("share %v and %d requests, expected 0.5 and %d", cells[0].RequestsShare, len(requests), kept*len(p.Runs))
	}
}
