package experiments

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"switchyard/stages/experiment"
	"switchyard/stages/queueing"
	"switchyard/stages/simulate"
)

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
			if Needs(name) == "--set workloads.conversation.trace=PATH" {
				traces := os.Getenv("SWITCHYARD_DATA")
				if traces == "" {
					t.Skip("it needs the Mooncake conversation trace: set SWITCHYARD_DATA to the folder that has traces/mooncake-conversation.jsonl")
				}
				options.Set = []string{"workloads.conversation.trace=" + filepath.Join(traces, "traces", "mooncake-conversation.jsonl")}
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
			cells, cellsAgain := append(models.Balls, models.Dispatch...), append(modelsAgain.Balls, modelsAgain.Dispatch...)
			if len(cells)+len(plan.Runs) == 0 || len(cells) != len(cellsAgain) {
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
