package experiments

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"switchyard/stages/choose"
	"switchyard/stages/experiment"
	"switchyard/stages/queueing"
	"switchyard/stages/simulate"
)

// published are the files that built-in experiments need, in the order of the
// flags that say so.
var published = map[string][]string{
	"mooncake":          {"traces/mooncake-conversation.jsonl"},
	"all-routers":       {"traces/mooncake-conversation.jsonl"},
	"failure-one-key":   {"traces/mooncake-conversation.jsonl"},
	"preble-azure":      {"traces/azure-2023-conversation.csv"},
	"recorded-agentopt": {"outcomes/agentopt_hotpotqa_81.csv"},
	"recorded-routellm": {"outcomes/routellm_outcomes.csv"},
	"recorded-nine":     {"outcomes/llmrouter9_train.csv", "outcomes/llmrouter9_test.csv"},
}

// given are the settings that an experiment needs, with the published files or
// others of their kind.
func given(t *testing.T, name string, files ...string) (set []string) {
	t.Helper()
	if files == nil {
		files = published[name]
	}
	data := os.Getenv("SWITCHYARD_DATA")
	if data == "" {
		t.Skipf("it needs %v: set SWITCHYARD_DATA to the folder that has them", files)
	}
	flags := strings.Split(Needs(name), "--set ")[1:]
	if len(flags) != len(files) {
		t.Fatalf("it needs %q, and %v are known", flags, files)
	}
	for i, flag := range flags {
		path, _, _ := strings.Cut(flag, "=")
		set = append(set, path+"="+filepath.Join(data, filepath.FromSlash(files[i])))
	}
	return set
}

// TestBuiltIns plans every built-in experiment: names, parameters and keys all
// fit.
func TestBuiltIns(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			data, ok := Read(name)
			if summary := Summary(name); !ok || !strings.HasSuffix(summary, ".") || len(summary) > 110 {
				t.Errorf("its summary %q is no sentence of at most 110 characters", summary)
			}
			var options experiment.Options
			if Needs(name) != "" {
				options.Set = given(t, name)
			}
			e, err := experiment.Load("", data, options)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := simulate.NewPlan(e)
			if err != nil {
				t.Fatal(err)
			}
			models, err := queueing.NewPlan(e)
			if err != nil {
				t.Fatal(err)
			}
			if e.Name != name {
				t.Errorf("its name inside is %s", e.Name)
			}
			// What config prints is the same experiment.
			again, err := experiment.Load("", e.Resolved(), experiment.Options{})
			if err != nil {
				t.Fatalf("%v in\n%s", err, e.Resolved())
			}
			second, err := simulate.NewPlan(again)
			if err != nil {
				t.Fatalf("%v in\n%s", err, e.Resolved())
			}
			for i := range plan.Runs {
				if plan.Runs[i].Key != second.Runs[i].Key || plan.Runs[i].Name() != second.Runs[i].Name() {
					t.Fatalf("resolved, %s becomes %s", plan.Runs[i].Name(), second.Runs[i].Name())
				}
			}
			modelsAgain, err := queueing.NewPlan(again)
			if err != nil {
				t.Fatalf("%v in\n%s", err, e.Resolved())
			}
			choices, err := choose.NewPlan(e)
			if err != nil {
				t.Fatal(err)
			}
			choicesAgain, err := choose.NewPlan(again)
			if err != nil {
				t.Fatalf("%v in\n%s", err, e.Resolved())
			}
			for i, r := range choices.Runs {
				if r.Key != choicesAgain.Runs[i].Key || r.Name() != choicesAgain.Runs[i].Name() {
					t.Fatalf("resolved, %s becomes %s", r.Name(), choicesAgain.Runs[i].Name())
				}
			}
			cells, cellsAgain := append(models.Balls, models.Dispatch...), append(modelsAgain.Balls, modelsAgain.Dispatch...)
			if len(cells)+len(plan.Runs)+len(choices.Runs) == 0 || len(cells) != len(cellsAgain) {
				t.Fatalf("%d cells, resolved %d", len(cells), len(cellsAgain))
			}
			for i := range cells {
				if cells[i].Key != cellsAgain[i].Key || cells[i].Name() != cellsAgain[i].Name() {
					t.Fatalf("resolved, %s becomes %s", cells[i].Name(), cellsAgain[i].Name())
				}
			}
		})
	}
}
