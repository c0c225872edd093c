package trace

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"switchyard/sim/workload"
)

// recorded returns a file of the published traces.
func recorded(tb testing.TB, name string) []byte {
	tb.Helper()
	dir := os.Getenv("SWITCHYARD_DATA")
	if dir == "" {
		tb.Skip("set SWITCHYARD_DATA to the folder that holds traces/" + name)
	}
	data, err := os.ReadFile(filepath.Join(dir, "traces", name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// build makes the workload of a cut.
func build(tb testing.TB, c *Requests) *workload.Workload {
	tb.Helper()
	b := workload.Builder{BlockTokens: c.BlockTokens()}
	if err := c.Each(func(_ int, r *workload.Request) error { return b.Add(r) }); err != nil {
		tb.Fatal(err)
	}
	w, err := b.Build()
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

func sum(s []int32) (n int64) {
	for _, x := range s {
		n += int64(x)
	}
	return n
}

// The published Mooncake conversation trace, counted by an independent program.
func TestMooncakeConversation(t *testing.T) {
	c, err := Load("conversation.jsonl", bytes.NewReader(recorded(t, "mooncake-conversation.jsonl")), Source{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	blocks, hitBlocks := 0, 0
	c.Each(func(i int, r *workload.Request) error {
		blocks += len(r.Segments)
		if want := (int(r.Prompt) + 511) / 512; len(r.Segments) != want {
			t.Fatalf("line %d: %d blocks, expected %d", c.Line(i), len(r.Segments), want)
		}
		return nil
	})
	w := build(t, c)
	for _, n := range w.Ceiling {
		hitBlocks += (int(n) + 511) / 512
	}
	for _, x := range []struct {
		what      string
		got, want int64
	}{
		{"rows", int64(w.Len()), 12031},
		{"blocks", int64(blocks), 288500},
		{"prompt tokens", sum(w.Prompt), 144793823},
		{"hit ceiling in tokens", sum(w.Ceiling), 54098411},
		{"hit ceiling in blocks", int64(hitBlocks), 105710},
		{"last arrival", w.ArrivalUs[w.Len()-1], 3536999000},
		{"block", int64(w.BlockTokens), 512},
	} {
		if x.got != x.want {
			t.Errorf("%s: %d, expected %d", x.what, x.got, x.want)
		}
	}
}

// The published Azure conversation trace of 2023; figures of the file itself.
func TestAzure2023Conversation(t *testing.T) {
	tr, err := Read("azure.csv", bytes.NewReader(recorded(t, "azure-2023-conversation.csv")), Source{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := tr.Cut(Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := build(t, c)
	if w.Len() != 19366 || tr.NoPrompt+tr.NoOutput+tr.Moved != 0 || w.Forest.Nodes() != 0 {
		t.Errorf("%d requests, %d and %d left out, %d moved, %d nodes, expected 19366 and none", w.Len(), tr.NoPrompt, tr.NoOutput, tr.Moved, w.Forest.Nodes())
	}
	var gaps, prompts, outputs []float64
	for i := range w.Prompt {
		prompts, outputs = append(prompts, float64(w.Prompt[i])), append(outputs, float64(w.Output[i]))
		if i > 0 {
			gaps = append(gaps, float64(w.ArrivalUs[i]-w.ArrivalUs[i-1])/1e3)
		}
	}
	gapMean, gapSD := moments(gaps)
	promptMean, promptSD := moments(prompts)
	outputMean, outputSD := moments(outputs)
	slices.Sort(gaps)
	for _, x := range []struct {
		what              string
		got, want, within float64
	}{
		{"span in s", float64(w.ArrivalUs[w.Len()-1]) / 1e6, 3501.7, 0.05},
		{"mean gap in ms", gapMean, 180.8, 0.05},
		{"median gap in ms", gaps[len(gaps)/2], 118.4, 0.05},
		{"least gap in ms", gaps[0], 0.002, 0.0011},
		{"greatest gap in ms", gaps[len(gaps)-1], 4300, 50},
		{"CV of gaps", gapSD / gapMean, 1.09, 0.005},
		{"mean prompt", promptMean, 1154.70, 0.005},
		{"sd of prompts", promptSD, 1109, 0.5},
		{"mean output", outputMean, 211.13, 0.005},
		{"sd of outputs", outputSD, 163, 0.5},
	} {
		if math.Abs(x.got-x.want) > x.within {
			t.Errorf("%s: %v, expected %v within %v", x.what, x.got, x.want, x.within)
		}
	}
}

func moments(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, math.Sqrt(sd)
}
