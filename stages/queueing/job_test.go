package queueing

import (
	"math"
	"testing"

	"switchyard/sim/queueing"
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

func TestWorkersAndResumeLeaveTheSameBytes(t *testing.T) {
	one, two, grown := t.TempDir(), t.TempDir(), t.TempDir()
	execute(t, mustPlan(t), one, 1)
	execute(t, mustPlan(t), two, 2)
	sameFiles(t, "one and two workers", one, two)

	execute(t, mustPlan(t, "1..3", "[2]"), grown, 2)
	if done, kept := execute(t, mustPlan(t), grown, 2); done != 20 || kept != 10 {
		t.Errorf("after one of three replications %d cells ran and %d were kept, want 20 and 10", done, kept)
	}
	sameFiles(t, "all at once and in two goes", one, grown)
}

// TestRenamed: rows taken over from an earlier run read as the file stands now.
func TestRenamed(t *testing.T) {
	renamed := []string{"name: pair", "name: couple", "name: fair", "name: just", "- jsq\n", "- {name: shortest, policy: jsq}\n", "1..3", "1..2"}
	old, fresh := t.TempDir(), t.TempDir()
	execute(t, mustPlan(t), old, 2)
	if done, _ := execute(t, mustPlan(t, renamed...), old, 2); done != 0 {
		t.Errorf("%d cells ran again under new names", done)
	}
	execute(t, mustPlan(t, renamed...), fresh, 2)
	for i, row := range read(t, Dispatch, old) {
		if want := read(t, Dispatch, fresh)[i]; row.RouterPoint != want.RouterPoint || row.WorkloadPoint != want.WorkloadPoint || row.Cell != want.Cell || row.CellKey != want.CellKey {
			t.Errorf("row %d is %s / %s, want %s / %s", i, row.WorkloadPoint, row.RouterPoint, want.WorkloadPoint, want.RouterPoint)
		}
	}
	for i, row := range read(t, Balls, old) {
		if want := read(t, Balls, fresh)[i]; row.WorkloadPoint != want.WorkloadPoint || row.CellKey != want.CellKey {
			t.Errorf("row %d is %s, want %s", i, row.WorkloadPoint, want.WorkloadPoint)
		}
	}
}

func read[T any](t *testing.T, of *table.Table[T], dir string) []T {
	t.Helper()
	rows, err := of.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestRows holds rows against the models called by themselves.
func TestRows(t *testing.T) {
	dir := t.TempDir()
	execute(t, mustPlan(t), dir, 2)
	balls := read(t, Balls, dir)
	if len(balls) != 12 {
		t.Fatalf("balls has %d rows, want 12", len(balls))
	}
	for _, row := range balls {
		setting := queueing.Balls{Bins: row.Bins, Choices: int(row.Choices), Replacement: true}
		want, err := setting.Run(7, int(row.Replication))
		if err != nil {
			t.Fatal(err)
		}
		var bins, thrown int64
		for k, n := range row.Loads {
			bins, thrown = bins+n, thrown+int64(k)*n
		}
		if int(row.Maximum) != want.Max || len(row.Loads) != want.Max+1 || bins != row.Bins || thrown != row.Balls || row.Balls != row.Bins {
			t.Errorf("%s, replication %d: maximum %d of %v, want %d", row.WorkloadPoint, row.Replication, row.Maximum, row.Loads, want.Max)
		}
	}
	dispatch := read(t, Dispatch, dir)
	if len(dispatch) != 18 {
		t.Fatalf("dispatch has %d rows, want 18", len(dispatch))
	}
	var sim queueing.Sim
	for _, row := range dispatch {
		c := queueing.NewConfig()
		c.System.Servers, c.Traffic.Load, c.Traffic.Requests, c.WarmUp = 2, row.Load, 500, 0.1
		c.Sizes = &queueing.LognormalSizes{Scale: queueing.Scale{Mean: 1}, C2: 2}
		c.Information = queueing.Information{Model: "periodic", Age: 1}
		switch row.Router {
		case "jsq":
			c.Policy = &queueing.JSQ{Ties: queueing.Ties{Rule: "random"}}
		case "first":
			c.Policy = &queueing.JSQ{Ties: queueing.Ties{Rule: "first"}}
		}
		want, err := sim.Run(c, 7, int(row.Replication))
		if err != nil {
			t.Fatal(err)
		}
		if *row.ResponseMean != want.Mean || *row.ResponseP99 != want.P99 || *row.WaitMean != want.Wait || row.Measured != 450 || row.QuantileError != 0 {
			t.Errorf("%s / %s: mean %v, p99 %v, wait %v of %d; want %v, %v, %v of 450", row.WorkloadPoint, row.RouterPoint,
				*row.ResponseMean, *row.ResponseP99, *row.WaitMean, row.Measured, want.Mean, want.P99, want.Wait)
		}
		var byClass, byServer int64
		for i, n := range row.ClassRequests {
			byClass += n
			if i > 0 && !(row.ClassUpTo[i] > row.ClassUpTo[i-1]) {
				t.Errorf("classes end at %v", row.ClassUpTo)
			}
		}
		for _, n := range row.ServerCount {
			byServer += n
		}
		if byClass != 450 || byServer < 449 || byServer > 450 || len(row.ServerUsage) != 2 {
			t.Errorf("%d requests by class, %d by server, want 450", byClass, byServer)
		}
		if row.Policy == "random" {
			if theory := 1 + row.Load*3/2/(1-row.Load); math.Abs(*row.TheoryMean-theory) > 1e-9 || *row.Theory != "M/G/1" {
				t.Errorf("theory is %v %s, want %v of Pollaczek and Khinchine", *row.TheoryMean, *row.Theory, theory)
			}
		} else if row.Theory != nil {
			t.Errorf("%s on stale information has theory %s", row.Policy, *row.Theory)
		}
	}
}
