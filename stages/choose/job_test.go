package choose

import (
	"strings"
	"testing"

	"switchyard/stages/experiment"
	"switchyard/stages/run/runtest"
	"switchyard/stages/table"
)

func execute(t testing.TB, p *Plan, dir string, workers int) (done, kept int) {
	t.Helper()
	return runtest.Execute(t, Jobs(p, Options{}), dir, workers)
}

func sameFiles(t *testing.T, what, a, b string) {
	t.Helper()
	runtest.SameFiles(t, what, Tables(), a, b)
}

const small = `name: small
seed: 7
replications: 1..3
systems: [locate-solve, {name: pair, system: debate, generators: 2, debaters: 1}]
worlds: [{name: toy, world: toy, models: 3, pools: 2, starts: 2, train: 70, test: 90, prices: [3, 2, 1], contexts: 5}]
optimisers:
  - single
  - llmselector
  - {name: guess, optimiser: random, budget: 4}
  - {name: unsure, optimiser: llmselector, diagnoser: {accuracy: {sweep: [0.9, 0.6]}}, rounds: 12}
  - exhaustive
`

// mustPlan plans the experiment above with changes to its text.
func mustPlan(t testing.TB, changes ...string) *Plan {
	t.Helper()
	p, err := planOf(strings.NewReplacer(changes...).Replace(small))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func planOf(text string) (*Plan, error) {
	e, err := experiment.Load("f.yaml", []byte(text), experiment.Options{})
	if err != nil {
		return nil, err
	}
	return NewPlan(e)
}

func read[T any](t testing.TB, of *table.Table[T], dir string) []T {
	t.Helper()
	rows, err := of.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestWorkersAndResumeLeaveTheSameBytes(t *testing.T) {
	one, many, grown := t.TempDir(), t.TempDir(), t.TempDir()
	execute(t, mustPlan(t), one, 1)
	execute(t, mustPlan(t), many, 5)
	sameFiles(t, "one and five workers", one, many)

	execute(t, mustPlan(t, "1..3", "[2]"), grown, 2)
	// Two settings, two pieces of spaces and twelve cells a replication.
	if done, kept := execute(t, mustPlan(t), grown, 2); done != 32 || kept != 16 {
		t.Errorf("after one of three replications %d tasks ran and %d were kept, want 32 and 16", done, kept)
	}
	sameFiles(t, "all at once and in two goes", one, grown)
}

// TestRenamed: rows taken over from an earlier run read as the file stands now.
func TestRenamed(t *testing.T) {
	renamed := []string{"name: pair", "name: couple", "name: toy,", "name: game,", "name: guess", "name: luck"}
	old, fresh := t.TempDir(), t.TempDir()
	execute(t, mustPlan(t), old, 2)
	if done, _ := execute(t, mustPlan(t, renamed...), old, 2); done != 0 {
		t.Errorf("%d tasks ran again under new names", done)
	}
	execute(t, mustPlan(t, renamed...), fresh, 2)
	sameFiles(t, "renamed and named so from the start", old, fresh)
}

// TestSelections holds rows against what can be known of them.
func TestSelections(t *testing.T) {
	dir := t.TempDir()
	p := mustPlan(t)
	execute(t, p, dir, 2)
	rows := read(t, Selections, dir)
	// A run for each pool and start; rules without chance run once a pool.
	if want := 2 * 3 * 2 * (4*2 + 2); len(rows) != want {
		t.Fatalf("selections has %d rows, want %d", len(rows), want)
	}
	worlds := map[string]WorldRow{}
	for _, w := range read(t, Worlds, dir) {
		worlds[key(w.SystemPoint, w.Replication, w.Pool)] = w
		if *w.OracleTest < *w.OptimumTest || w.Space != 27 && w.Space != 9 || *w.Within < 0 || *w.Within > 1 {
			t.Errorf("world %+v", w)
		}
	}
	starts := map[string]string{}
	for i, r := range rows {
		w := worlds[key(r.SystemPoint, r.Replication, r.Pool)]
		if *r.Single != *w.Single || *r.OptimumTest != *w.OptimumTest {
			t.Errorf("row %d has another best single or optimum than table worlds", i)
		}
		if r.AccuracyTrain > *r.OptimumTrain || *r.AtOptimum != (r.AccuracyTrain == *r.OptimumTrain) {
			t.Errorf("row %d is better than the best: %+v", i, r)
		}
		at := key(r.SystemPoint, r.Replication, r.Pool) + string(rune('0'+r.Start))
		switch {
		case r.Rule == "single" && (*r.Gain != 0 || r.Models != 1 || r.Start != 0 || r.Evaluations != 3):
			t.Errorf("single: %+v", r)
		case r.Rule == "exhaustive" && (!*r.AtOptimum || r.Assignment != *r.Optimum || int64(r.Evaluations) != r.Space || *r.Regret != 0):
			t.Errorf("exhaustive: %+v", r)
		case r.Rule == "random" && (r.Evaluations != 4 || r.From != ""):
			t.Errorf("random: %+v", r)
		case r.Rule == "llmselector":
			if starts[at] == "" {
				starts[at] = r.From
			}
			if r.From == "" || starts[at] != r.From {
				t.Errorf("start %d of one pool is %q and %q", r.Start, starts[at], r.From)
			}
		}
		if r.Cost == nil || *r.SelectUncach < *r.SelectCost {
			t.Errorf("row %d costs %v, selection %v and without a cache %v", i, r.Cost, *r.SelectCost, *r.SelectUncach)
		}
	}
}

func key(system string, replication, pool int32) string {
	return system + string(rune('a'+replication)) + string(rune('a'+pool))
}

// TestAssignments: the space that is kept whole has the optimum and the best
// single model as the other tables have them, and the front of pareto.
func TestAssignments(t *testing.T) {
	dir := t.TempDir()
	execute(t, mustPlan(t, "1..3", "1"), dir, 2)
	all := read(t, Assignments, dir)
	if len(all) != 2*(9+27) {
		t.Fatalf("%d assignments, want two pools of 9 and of 27", len(all))
	}
	for _, w := range read(t, Worlds, dir) {
		best, tied := 0.0, int64(0)
		for _, a := range all {
			if a.Setting != w.Setting.Setting || a.Pool != w.Pool {
				continue
			}
			switch {
			case a.AccuracyTrain > best:
				best, tied = a.AccuracyTrain, 1
			case a.AccuracyTrain == best:
				tied++
			}
		}
		if best != *w.OptimumTrain || tied != *w.OptimumTied {
			t.Errorf("%s, pool %d: the optimum is %v (%d), by the assignments %v (%d)", w.SystemPoint, w.Pool, *w.OptimumTrain, *w.OptimumTied, best, tied)
		}
	}
	for _, p := range read(t, Pareto, dir) {
		for _, a := range all {
			if a.Pool == p.Pool && (a.Setting == 0) == (p.System == "locate-solve") && a.Cost < p.CostTrain && a.AccuracyTrain >= p.AccuracyTrain {
				t.Errorf("%s at %v $ has %v, assignment %d at %v $ has %v", p.Label, p.CostTrain, p.AccuracyTrain, a.Assignment, a.Cost, a.AccuracyTrain)
			}
		}
	}
	if rounds := read(t, Rounds, dir); len(rounds) < 100 || rounds[0].Module == nil && rounds[0].Votes != nil {
		t.Errorf("%d rounds, the first %+v", len(rounds), rounds[0])
	}
}
