package serve

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"switchyard/stages/choose"
	"switchyard/stages/experiment"
	"switchyard/stages/run/runtest"
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
systems: [{name: refine, system: self-refine, prompt_tokens: [400], output_tokens: [30, 10, 30]}]
worlds: [{name: toy, world: toy, models: 2, pools: 2, train: 70, test: 90, input_prices: [3, 1], output_prices: [9, 2], contexts: 0}]
optimisers: [single, llmselector]
serving:
  - name: four
    gpu: a100-80gb
    gpus: 4
    models:
      A: {model: qwen2.5-14b, tensor_parallel: 2}
      B: {model: llama-3.2-3b}
    questions: 100
    arrivals: {process: poisson, rate_rps: 6}
    lengths: {spread: 0.4, question_tokens: 50}
    slo: {latency_ms: 1500, share: 0.9}
    rules:
      refine: {rule: cascade, models: [B, A]}
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
	choices, err := choose.NewPlan(e)
	if err != nil {
		return nil, err
	}
	return NewPlan(e, choices)
}

// served runs a plan and reads what it leaves.
func served(t testing.TB, p *Plan) (rows []Row, splits []SplitRow) {
	t.Helper()
	dir := t.TempDir()
	execute(t, p, dir, 2)
	rows, err := Served.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if splits, err = Splits.Read(dir); err != nil {
		t.Fatal(err)
	}
	return rows, splits
}

func TestWorkersResumeAndNamesLeaveTheSameBytes(t *testing.T) {
	one, many, grown := t.TempDir(), t.TempDir(), t.TempDir()
	execute(t, mustPlan(t), one, 1)
	execute(t, mustPlan(t), many, 4)
	sameFiles(t, "one and four workers", one, many)
	execute(t, mustPlan(t, "1..3", "[2]"), grown, 2)
	if done, kept := execute(t, mustPlan(t), grown, 2); done != 2 || kept != 1 {
		t.Errorf("after one of three replications %d tasks ran and %d were kept, want 2 and 1", done, kept)
	}
	sameFiles(t, "all at once and in two goes", one, grown)
	renamed := []string{"name: toy,", "name: game,", "name: four", "name: vier"}
	if done, _ := execute(t, mustPlan(t, renamed...), grown, 2); done != 0 {
		t.Errorf("%d tasks ran again under new names", done)
	}
	execute(t, mustPlan(t, renamed...), many, 2)
	sameFiles(t, "renamed and named so from the start", many, grown)
}

// TestRows holds the tables against each other and against the world.
func TestRows(t *testing.T) {
	p := mustPlan(t)
	rows, splits := served(t, p)
	// Eight assignments, and the cascade in the four of the other modules where
	// it calls both models.
	rules := 0
	for _, r := range rows {
		if r.Rule != "" {
			rules++
		}
	}
	if len(rows) != 3*2*8+rules || rules < 12 || rules > 24 {
		t.Fatalf("%d rows, %d of them with a rule, want 8 without and up to 4 with for each of six pools", len(rows), rules)
	}
	type at struct {
		replication, pool int32
		assignment        string
	}
	tried := map[at][]SplitRow{}
	for _, s := range splits {
		k := at{s.Replication, s.Pool, s.Assignment}
		tried[k] = append(tried[k], s)
	}
	for _, r := range rows {
		list := tried[at{r.Replication, r.Pool, r.Assignment}]
		if len(list) != int(r.Tried) || !r.AllTried || !r.Fits || r.Used != 4 {
			t.Errorf("%s: %d splits of %d, %d GPUs", r.Assignment, len(list), r.Tried, r.Used)
		}
		best := slices.MinFunc(list, func(a, b SplitRow) int {
			return int(math.Copysign(1, *a.P99-*b.P99))
		})
		if i := slices.IndexFunc(list, func(s SplitRow) bool { return s.Best }); i < 0 || list[i].Split != r.Split || *list[i].P99 != *best.P99 || *r.PlannedP99 != *best.P99 {
			t.Errorf("%s keeps %s, the best of its splits is %s", r.Assignment, r.Split, best.Split)
		}
		if *r.P50 > *r.P95 || *r.P95 > *r.P99 || r.Questions != 80 || r.Failed != 0 || *r.Within < 0 || *r.Within > 1 || *r.Meets != (*r.Within >= .9) {
			t.Errorf("row %+v", r)
		}
		if strings.Contains(r.Assignment, "cascade") != (r.Rule != "") || r.Rule == "" && r.Calls != 3 || r.Calls < 3 || r.Calls > 4 {
			t.Errorf("%s by %q makes %v calls a question", r.Assignment, r.Rule, r.Calls)
		}
	}
	checkMarks(t, rows)
	checkWorld(t, p, rows)
}

// checkMarks finds what is best in each pool again.
func checkMarks(t *testing.T, rows []Row) {
	t.Helper()
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Replication == rows[0].Replication && rows[n].Pool == rows[0].Pool {
			n++
		}
		var accuracy, slo, single, front int
		most, inSLO, alone := 0.0, -1.0, 0.0
		for _, r := range rows[:n] {
			most = max(most, r.AccuracyTrain)
			if *r.PlannedWithin >= .9 {
				inSLO = max(inSLO, r.AccuracyTrain)
			}
			if r.Single {
				alone = max(alone, r.AccuracyTrain)
			}
		}
		for _, r := range rows[:n] {
			if r.BestAccuracy {
				accuracy++
			}
			if r.BestSLO {
				slo++
			}
			if r.BestSingle {
				single++
			}
			if r.Front {
				front++
			}
			beaten := slices.ContainsFunc(rows[:n], func(q Row) bool {
				as := q.AccuracyTest >= r.AccuracyTest && *q.Dollars <= *r.Dollars && *q.P99 <= *r.P99
				return as && (q.AccuracyTest > r.AccuracyTest || *q.Dollars < *r.Dollars || *q.P99 < *r.P99)
			})
			if beaten == r.Front || r.BestAccuracy && r.AccuracyTrain != most || r.BestSingle && (r.AccuracyTrain != alone || len(r.Models) != 1) ||
				r.BestSLO && (r.AccuracyTrain != inSLO || *r.PlannedWithin < .9) {
				t.Errorf("marks of %+v: beaten %v", r, beaten)
			}
		}
		want := 1
		if inSLO < 0 {
			want = 0
		}
		if accuracy != 1 || single != 1 || slo != want || front == 0 {
			t.Errorf("pool %d/%d: %d, %d, %d and %d marks", rows[0].Replication, rows[0].Pool, accuracy, single, slo, front)
		}
		rows = rows[n:]
	}
}

// checkWorld asks the world itself: for accuracy and dollars of assignments, and
// question by question for those of the cascade. Its judge makes no error, so it
// calls A where B fails at the module.
func checkWorld(t *testing.T, p *Plan, rows []Row) {
	t.Helper()
	for _, r := range rows {
		s, err := p.Runs[0].Config.ground.Stand(int(r.Replication), int(r.Pool)-1)
		if err != nil {
			t.Fatal(err)
		}
		var alloc []int32
		for _, part := range strings.Fields(r.Assignment) {
			alloc = append(alloc, int32(strings.IndexByte("AB", part[len(part)-1])))
		}
		if r.Rule == "" {
			cost, err := s.Test.Cost(alloc)
			accuracy, wrong := choose.Judge(s.Test)(alloc)
			if err != nil || wrong != nil || accuracy != r.AccuracyTest || cost != *r.Dollars {
				t.Errorf("%s has %v at %v, the world says %v at %v", r.Assignment, r.AccuracyTest, *r.Dollars, accuracy, cost)
			}
			continue
		}
		w := s.Test.(interface {
			Failures(alloc []int32, module int, dst []uint64) error
			CostOf(module int, candidate int32) float64
		})
		n := s.Test.Questions()
		a, b, fails := make([]float32, n), make([]float32, n), make([]uint64, (n+63)/64)
		withA, withB := slices.Clone(alloc), slices.Clone(alloc)
		withA[2], withB[2] = 0, 1
		if s.Test.Scores(withA, a) != nil || s.Test.Scores(withB, b) != nil || w.Failures(withB, 2, fails) != nil {
			t.Fatal("scores")
		}
		dollars, _ := s.Test.Cost(withB)
		sum, more := 0.0, 0.0
		for q := range n {
			if fails[q>>6]>>(q&63)&1 == 1 {
				sum += float64(a[q])
				more += w.CostOf(2, 0)
			} else {
				sum += float64(b[q])
			}
		}
		if strings.Contains(r.Rule, "<1>") && (math.Abs(r.AccuracyTest-sum/float64(n)) > 1e-12 || math.Abs(*r.Dollars-dollars-more/float64(n)) > 1e-9) {
			t.Errorf("%s (%s) has %v at %v, question by question %v at %v", r.Assignment, r.Rule, r.AccuracyTest, *r.Dollars, sum/float64(n), dollars+more/float64(n))
		}
	}
}

// TestMoreGPUs: a larger budget never makes the best split slower, but for what
// it draws otherwise.
func TestMoreGPUs(t *testing.T) {
	planned := map[string][]float64{}
	for _, gpus := range []int{3, 4, 6, 9} {
		rows, _ := served(t, mustPlan(t, "1..3", "1", "pools: 2", "pools: 1", "gpus: 4", fmt.Sprintf("gpus: %d", gpus), "slo:", "objective: mean\n    slo:"))
		for _, r := range rows {
			if !r.Fits {
				t.Errorf("%s does not fit into %d GPUs", r.Assignment, gpus)
				continue
			}
			planned[r.Assignment] = append(planned[r.Assignment], *r.PlannedMean)
		}
	}
	for assignment, means := range planned {
		for i := 1; i < len(means); i++ {
			if means[i] > 1.02*means[i-1] {
				t.Errorf("%s takes %v us on ever more GPUs", assignment, means)
			}
		}
	}
	// Too few GPUs: what does not fit is there, and not served.
	rows, splits := served(t, mustPlan(t, "1..3", "1", "pools: 2", "pools: 1", "gpus: 4", "gpus: 1"))
	for _, r := range rows {
		if r.Fits != (r.Assignment == "generate=B critic=B refine=B") || r.Fits == (r.P99 == nil) {
			t.Errorf("on one GPU: %+v", r)
		}
	}
	if len(splits) != 1 {
		t.Errorf("%d splits of one GPU", len(splits))
	}
}

// TestSomeAssignments: where there are too many, what the optimisers chose, the
// front and single models are served, each once.
func TestSomeAssignments(t *testing.T) {
	rows, _ := served(t, mustPlan(t, "1..3", "1", "pools: 2", "pools: 1", "questions: 100", "questions: 50\n    assignments: 5"))
	seen := map[string]bool{}
	singles, rules := 0, 0
	for _, r := range rows {
		if seen[r.Assignment] {
			t.Errorf("%s twice", r.Assignment)
		}
		seen[r.Assignment] = true
		if r.Single {
			singles++
		}
		if r.Rule != "" {
			rules++
		}
	}
	if singles != 2 || len(rows) >= 12 || rules == 0 || rules > len(rows)-rules {
		t.Errorf("%d rows, %d of single models, %d of rules", len(rows), singles, rules)
	}
}

// TestRecorded: a learned router over recorded answers stands at the one module.
func TestRecorded(t *testing.T) {
	dir := t.TempDir()
	var csv strings.Builder
	csv.WriteString("question,hard_score,weak,strong\n")
	for q := range 200 {
		hard := q % 4
		csv.WriteString(fmt.Sprintf("%d,%d,%d,1\n", q, hard, 1-min(1, hard/2)))
	}
	if err := os.WriteFile(filepath.Join(dir, "o.csv"), []byte(csv.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(
		"{name: refine, system: self-refine, prompt_tokens: [400], output_tokens: [30, 10, 30]}", "direct",
		"{name: toy, world: toy, models: 2, pools: 2, train: 70, test: 90, input_prices: [3, 1], output_prices: [9, 2], contexts: 0}",
		"{name: csv, world: recorded, file: "+filepath.Join(dir, "o.csv")+", format: plain, prices: [weak=1, strong=10], contexts: 0}",
		"A: {model", "strong: {model", "B: {model", "weak: {model",
		"refine: {rule: cascade, models: [B, A]}", "answer: {rule: logistic, ridge: 0.01}", "[single, llmselector]", "[single]",
	).Replace(small)
	p, err := planOf(text)
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := served(t, p)
	for _, r := range rows {
		// What is hard is known, and half of the questions are.
		if strings.HasSuffix(r.Assignment, "logistic") && (r.AccuracyTest != 1 || *r.Dollars > 7 || r.Calls != 1 || len(r.Models) != 2) {
			t.Errorf("a router that sees what is hard: %+v", r)
		}
	}
	if len(rows) != 9 {
		t.Errorf("%d rows, want three assignments in three replications", len(rows))
	}
}
