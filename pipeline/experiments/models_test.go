package experiments

import (
	"path/filepath"
	"strings"
	"testing"

	"switchyard/stages/aggregate"
	"switchyard/stages/experiment"
	"switchyard/stages/queueing"
	"switchyard/stages/run"
	"switchyard/stages/table"
)

// found is what an experiment concluded: means of a metric by "system / policy".
type found struct {
	t     *testing.T
	means map[string]aggregate.Summary
}

// load reads a built-in experiment with some values set.
func load(t testing.TB, name string, set []string) *experiment.Experiment {
	t.Helper()
	data, ok := Read(name)
	if !ok {
		t.Fatalf("no experiment %s", name)
	}
	e, err := experiment.Load("", data, experiment.Options{Set: set})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// models runs a built-in experiment of the classic models as the program does.
func models(t *testing.T, name string, set ...string) found {
	t.Helper()
	e := load(t, name, set)
	plan, err := queueing.NewPlan(e)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), name)
	for _, job := range queueing.Jobs(plan, queueing.Options{}) {
		report, err := run.Execute(t.Context(), job, run.Options{Dir: dir, Provenance: table.Provenance{Experiment: e.Name}})
		if err != nil || report.Failed > 0 {
			t.Fatal(err, report.Failures)
		}
		t.Logf("%s: %d cells in %v", name, report.Done, report.Elapsed)
	}
	if _, err := aggregate.Run(dir, aggregate.Options{Queueing: plan, Baseline: e.Baseline}); err != nil {
		t.Fatal(err)
	}
	rows, err := aggregate.SummaryTable.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	f := found{t, map[string]aggregate.Summary{}}
	for _, row := range rows {
		_, system, _ := strings.Cut(row.WorkloadPoint, " ")
		f.means[strings.Trim(system+" / "+row.RouterPoint, " /")+" "+row.Metric] = row
	}
	return f
}

func (f found) mean(of string) float64 {
	f.t.Helper()
	row, ok := f.means[of]
	if !ok || row.Mean == nil {
		f.t.Fatalf("summary has no mean of %q", of)
	}
	return *row.Mean
}

// within fails unless a mean is within share of want.
func (f found) within(of string, want, share float64) {
	f.t.Helper()
	f.between(of, want*(1-share), want*(1+share))
}

func (f found) between(of string, lo, hi float64) {
	f.t.Helper()
	got := f.mean(of)
	if !(got >= lo && got <= hi) {
		f.t.Errorf("%s is %.4g, expected %.4g to %.4g", of, got, lo, hi)
	}
}

// TestLectureBalls: the lecture's means are over a few runs; the ranges are
// those of a reference over 40 to 200.
func TestLectureBalls(t *testing.T) {
	f := models(t, "lecture-balls", "balls.lecture.bins={sweep: [1000, 100000]}")
	for of, want := range map[string][2]float64{
		"bins=1000 choices=1 maximum":   {5.50 - .25, 5.50 + .25},
		"bins=1000 choices=2 maximum":   {3.01 - .1, 3.01 + .1},
		"bins=100000 choices=1 maximum": {7.88 - .5, 7.88 + .5},
		"bins=100000 choices=2 maximum": {3.5 - .3, 3.5 + .3},
		// e^-1, and 1 - tanh 1 of the fluid limit s' = 1 - s^2.
		"bins=100000 choices=1 empty_share": {.3679 - .001, .3679 + .001},
		"bins=100000 choices=2 empty_share": {.2384 - .001, .2384 + .001},
	} {
		f.between(of, want[0], want[1])
	}
}

// TestLectureDispatch holds the experiment's tables against the lecture and a
// reference of 24 to 400 seeds.
func TestLectureDispatch(t *testing.T) {
	f := models(t, "lecture-dispatch", "policies=[random, round-robin, {name: two-choices, policy: jsq-d}, jsq, lwl, central-queue]")
	f.between("sizes=exponential / random response_mean", 9.3, 10.2)
	f.within("sizes=exponential / jsq response_mean", 1.573, .03)
	f.within("sizes=exponential / two-choices response_mean", 2.82, .03)
	f.within("sizes=exponential / lwl response_mean", 1.366, .03)
	ratio := func(sizes, a, b, metric string) float64 {
		return f.mean("sizes="+sizes+" / "+a+" "+metric) / f.mean("sizes="+sizes+" / "+b+" "+metric)
	}
	if r := ratio("exponential", "round-robin", "random", "response_mean"); !(r >= .50 && r <= .62) {
		t.Errorf("exponential: round robin over random is %.3f, expected .50 to .62", r)
	}
	heavy := []string{"lognormal-1.5", "lognormal-2", "bounded-pareto-1.5", "bounded-pareto-1.1", "hyperexponential", "pareto-1.5"}
	for _, sizes := range heavy {
		if r := ratio(sizes, "round-robin", "random", "response_mean"); !(r >= .8 && r < 1.1) {
			t.Errorf("%s: round robin over random is %.3f, expected .8 to 1.1", sizes, r)
		}
		if r := ratio(sizes, "jsq", "lwl", "response_p99"); !(r >= 1.4) {
			t.Errorf("%s: p99 of shortest queue over least work left is %.3f, expected at least 1.4", sizes, r)
		}
		if a, b := f.mean("sizes="+sizes+" / lwl response_mean"), f.mean("sizes="+sizes+" / central-queue response_mean"); a != b {
			t.Errorf("%s: least work left has %v and the central queue, which is the same, %v", sizes, a, b)
		}
	}
	for policy, model := range map[string]struct {
		name string
		mean float64
	}{"random": {"M/M/1", 10}, "round-robin": {"E16/M/1", 5.480}, "lwl": {"M/M/16", 1.36959}, "central-queue": {"M/M/16", 1.36959}} {
		row := f.means["sizes=exponential / "+policy+" response_mean"]
		if row.Theory == nil || *row.TheoryModel != model.name || *row.TheoryKind != "exact" || row.Deviation == nil {
			t.Errorf("%s has no theory: %+v", policy, row)
			continue
		}
		if d := *row.Theory/model.mean - 1; !(d < 1e-3 && d > -1e-3) {
			t.Errorf("%s: theory is %v, expected %v", policy, *row.Theory, model.mean)
		}
		if d := *row.Deviation; !(d > -4 && d < 4) {
			t.Errorf("%s: %v standard errors from theory", policy, d)
		}
	}
}

// TestLectureStale: the reference's means on a board that is T old, ties
// included.
func TestLectureStale(t *testing.T) {
	f := models(t, "lecture-stale")
	for _, c := range []struct {
		age             string
		jsq, first, two float64
	}{
		{"0", 1.59, 1.59, 2.84}, {"0.25", 2.28, 3.13, 2.93}, {"0.5", 3.09, 4.77, 3.00}, {"1", 4.67, 8.10, 3.15},
		{"2", 7.59, 14.8, 3.44}, {"4", 12.95, 28.2, 3.98}, {"8", 23.5, 54.9, 4.94}, {"16", 46.2, 108.5, 6.68},
	} {
		at := "information=board age=" + c.age + " / "
		f.within(at+"jsq response_mean", c.jsq, .05)
		f.within(at+"jsq-first response_mean", c.first, .05)
		f.within(at+"two-choices response_mean", c.two, .05)
		f.between(at+"random response_mean", 9.2, 10.2)
	}
	random := f.mean("information=board age=16 / random response_mean")
	if two := f.mean("information=board age=16 / two-choices response_mean"); !(two < random) {
		t.Errorf("two choices take %v at T = 16, random %v", two, random)
	}
	if two := f.mean("information=board age=50 / two-choices response_mean"); !(two > random) {
		t.Errorf("two choices take %v at T = 50, random %v", two, random)
	}
	// Corrections keep shortest queue below two choices and far below random.
	for _, age := range []string{"1", "4", "16"} {
		jsq, two := f.mean("information=corrected age="+age+" / jsq response_mean"), f.mean("information=corrected age="+age+" / two-choices response_mean")
		if !(jsq < two && jsq < random/2) {
			t.Errorf("T = %s: with corrections shortest queue takes %v, two choices %v, random %v", age, jsq, two, random)
		}
	}
}
