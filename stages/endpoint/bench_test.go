package endpoint

import (
	"fmt"
	"path/filepath"
	"testing"
)

// BenchmarkKept is a call whose answer is kept: what a second run makes of.
func BenchmarkKept(b *testing.B) {
	f := newFake(b, echo)
	c := aClient(b, f.aServer())
	m := aModel()
	prompt := say("a prompt of some two hundred characters, as a module of a compound system would have it after the question and the outputs of the modules that it reads were filled in, and some more words for good measure")
	for b.Loop() {
		if _, err := c.Ask(b.Context(), &m, prompt, 0); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "answers/s")
}

// BenchmarkOpen reads a file of 10,000 answers.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "answers.jsonl")
	a := mustOpen(b, path, false)
	for n := range 10_000 {
		if _, err := a.Keep(record(n)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		a, err := OpenAnswers(path, true)
		if err != nil || a.Len() != 10_000 {
			b.Fatal(fmt.Sprint(a.Len()), err)
		}
		a.Close()
	}
}
