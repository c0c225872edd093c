package experiments

import (
	"math"
	"path/filepath"
	"testing"

	"switchyard/stages/aggregate"
	"switchyard/stages/choose"
	"switchyard/stages/run"
	"switchyard/stages/table"
)

// choices runs a built-in experiment of model selection as the program does.
func choices(t *testing.T, name string, set ...string) (dir string, f found) {
	t.Helper()
	e := load(t, name, set)
	plan, err := choose.NewPlan(e)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), name)
	for _, job := range choose.Jobs(plan, choose.Options{}) {
		report, err := run.Execute(t.Context(), job, run.Options{Dir: dir, Provenance: table.Provenance{Experiment: e.Name}})
		if err != nil || report.Failed > 0 {
			t.Fatal(err, report.Failures)
		}
		t.Logf("%s: %d tasks in %v", job.Name, report.Done, report.Elapsed)
	}
	if _, err := aggregate.Run(dir, aggregate.Options{Choose: plan, Baseline: e.Baseline}); err != nil {
		t.Fatal(err)
	}
	rows, err := aggregate.SummaryTable.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	f = found{t, map[string]aggregate.Summary{}}
	for _, row := range rows {
		f.means[row.WorkloadPoint+" in "+row.ClusterPoint+" / "+row.RouterPoint+" "+row.Metric] = row
	}
	return dir, f
}

// exactly fails unless a mean has this value, as printed with three digits.
func (f found) exactly(of string, want float64) {
	f.t.Helper()
	if got := f.mean(of); math.Abs(got-want) > 5e-4 {
		f.t.Errorf("%s is %.4f, expected %.4f", of, got, want)
	}
}

// TestLectureCase holds the lecture's case study, all of it.
func TestLectureCase(t *testing.T) {
	dir, f := choices(t, "lecture-case")
	from := func(world, optimiser, metric string) string {
		return "locate-solve in " + world + " / " + optimiser + " " + metric
	}
	for _, greedy := range []string{"steepest", "greedy"} {
		f.exactly(from("from-cc", greedy, "accuracy_test"), .45)
	}
	f.exactly(from("from-cc", "llmselector", "accuracy_test"), .98)
	f.exactly(from("from-cc", "llmselector", "evaluations_first_hit"), 10)
	f.exactly(from("from-cc", "llmselector", "evaluations"), 20)
	f.exactly(from("from-cc", "llmselector", "evaluations_code"), 16)
	f.exactly(from("from-cc", "llmselector", "cost_question"), 8)
	f.exactly(from("all-starts", "steepest", "at_optimum"), 17./25)
	f.exactly(from("all-starts", "llmselector", "at_optimum"), 1)
	// Drawn questions: 300 times from C+C, with a diagnoser that errs as well.
	for _, optimiser := range []string{"llmselector", "diagnoser-of-80"} {
		f.exactly(from("drawn-from-cc", optimiser, "at_optimum"), 1)
		f.between(from("drawn-from-cc", optimiser, "accuracy_test"), .98, 1)
	}
	f.between(from("drawn-from-cc", "steepest", "accuracy_test"), .44, .53)
	// At .125 dollars a point A+B is worth its price, at .1 it is not.
	f.exactly(from("from-cc", "paying lambda=0.08", "cost_question"), 8)
	f.exactly(from("from-cc", "paying lambda=0.1", "cost_question"), 2)
	rows, err := choose.Selections.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for _, r := range rows {
		if r.World == "all-starts" && r.Optimiser == "steepest" && !*r.AtOptimum {
			failed++
		}
		if r.World == "from-cc" && r.Optimiser == "llmselector" && (r.Assignment != "locate=A solve=B" || r.From != "locate=C solve=C") {
			t.Errorf("from %s it chose %s", r.From, r.Assignment)
		}
	}
	if failed != 8 {
		t.Errorf("steepest ascent fails from %d of 25 starts, expected 8", failed)
	}
}

// TestLecturePools: gains of the reference's 80 pools. Its pools are others, and
// the gain differs from pool to pool by some 3 to 8 points; so these are 400.
func TestLecturePools(t *testing.T) {
	few := []string{"tables.assignments=none", "replications=1..40",
		"optimisers=[single, llmselector, {name: stays, optimiser: llmselector, ties: incumbent}, exhaustive]"}
	_, f := choices(t, "lecture-pools", append(few, "worlds=[{name: plain, world: toy, pools: 10, self_agreement: 1, contexts: 0}]")...)
	_, agreeing := choices(t, "lecture-pools", append(few, "systems=[self-refine]", "worlds=[{name: self-agreeing, world: toy, pools: 10, self_agreement: 0.3, contexts: 0}]")...)
	for of, row := range agreeing.means {
		f.means[of] = row
	}
	for of, want := range map[string]float64{
		"locate-solve in plain / llmselector": 1.0, "locate-solve in plain / exhaustive": 2.4,
		"self-refine in plain / llmselector": 5.2, "self-refine in plain / exhaustive": 5.8,
		"self-refine in self-agreeing / llmselector": 6.2,
		"debate in plain / llmselector":              3.6, "debate in plain / exhaustive": 4.0,
	} {
		f.nearPools(of+" gain_points", want, 80)
	}
	f.between("debate in plain / stays evaluations", 48, 58)
	f.between("debate in plain / exhaustive beats_single", .9, 1)
	f.between("self-refine in self-agreeing / exhaustive distinct_models", 2, 3)
}

// nearPools fails unless a mean over pools is within two standard errors of a
// published one over so many others, which are taken to vary as much.
func (f found) nearPools(of string, want float64, pools float64) {
	f.t.Helper()
	row, ok := f.means[of]
	if !ok || row.SD == nil {
		f.t.Fatalf("summary has no %q with a standard deviation", of)
	}
	se := *row.SD * math.Sqrt(1/float64(row.N)+1/pools)
	off := (*row.Mean - want) / se
	f.t.Logf("%s is %.2f, %+.1f standard errors from %.2f", of, *row.Mean, off, want)
	if math.Abs(off) > 2 {
		f.t.Errorf("%s is %.2f, %.1f standard errors from %.2f", of, *row.Mean, off, want)
	}
}

// TestLectureNoise: a diagnoser that errs costs rounds and hardly any accuracy.
func TestLectureNoise(t *testing.T) {
	_, f := choices(t, "lecture-noise")
	at := func(optimiser, metric string) string { return "debate in toy / " + optimiser + " " + metric }
	f.between(at("incumbent-redrawn accuracy=1", "evaluations"), 45, 60)
	f.between(at("inserted-redrawn accuracy=1", "evaluations"), 55, 75)
	f.exactly(at("inserted-redrawn accuracy=1", "converged"), 1)
	f.between(at("inserted-fixed accuracy=0.6", "evaluations"), 500, 850)
	f.between(at("inserted-redrawn accuracy=0.6", "converged"), .15, .6)
	if worse := f.mean(at("inserted-redrawn accuracy=1", "accuracy_test")) - f.mean(at("inserted-fixed accuracy=0.6", "accuracy_test")); worse > .02 {
		t.Errorf("a diagnoser that is right in 60 %% of the cases costs %.3f of accuracy", worse)
	}
}

// TestRecordedAgentOpt: the numbers of the published tables.
func TestRecordedAgentOpt(t *testing.T) {
	for _, c := range []struct {
		file            string
		single, optimum float64
		front           []float64
	}{
		{"agentopt_hotpotqa_81.csv", .6815, .7427, []float64{54.3, 61.5, 69.3, 71.8, 74.3}},
		{"agentopt_mathqa_81.csv", .9724, .9884, []float64{87.8, 88.15, 94.5, 94.6, 98.7, 98.82, 98.84}},
	} {
		dir, f := choices(t, "recorded-agentopt", given(t, "recorded-agentopt", "outcomes/"+c.file)...)
		at := func(optimiser, metric string) string { return "two in table / " + optimiser + " " + metric }
		f.exactly(at("single", "accuracy_test"), c.single)
		f.exactly(at("exhaustive", "accuracy_test"), c.optimum)
		f.exactly(at("greedy", "at_optimum"), 1)
		f.exactly(at("steepest", "at_optimum"), 1)
		front, err := choose.Pareto.Read(dir)
		if err != nil || len(front) != len(c.front) {
			t.Fatalf("%s: %v, a front of %d points, expected %d", c.file, err, len(front), len(c.front))
		}
		for i, p := range front {
			if math.Abs(100*p.AccuracyTrain-c.front[i]) > .06 || !p.Front {
				t.Errorf("%s: point %d of the front is %+v, expected %v %%", c.file, i, p, c.front[i])
			}
		}
	}
}

// TestRecordedQuestions: the best single models and oracles of the published
// outcomes, and rules between them.
func TestRecordedQuestions(t *testing.T) {
	_, f := choices(t, "recorded-nine", append(given(t, "recorded-nine"), "optimisers=[single, knn, oracle]")...)
	f.exactly("direct in nine / single accuracy_train", .621)
	f.between("direct in nine / single accuracy_test", .5625, .5635)
	f.exactly("direct in nine / oracle accuracy_test", .743)
	dir, f := choices(t, "recorded-routellm", append(given(t, "recorded-routellm"), "replications=1..2", "optimisers=[single, threshold, oracle]")...)
	for world, want := range map[string][2]float64{"mmlu": {.806, .859}, "gsm8k": {.857, .929}} {
		f.between("direct in "+world+" / single accuracy_test", want[0]-.015, want[0]+.015)
		f.between("direct in "+world+" / oracle accuracy_test", want[1]-.015, want[1]+.015)
		if line, router := f.mean("direct in "+world+" / single accuracy_test"), f.mean("direct in "+world+" / threshold aiq"); router > line {
			t.Errorf("%s: a router's mean quality %v is above the strong model's %v", world, router, line)
		}
	}
	points, err := choose.Pareto.Read(dir)
	if err != nil || len(points) < 100 {
		t.Errorf("%v, %d points", err, len(points))
	}
}
