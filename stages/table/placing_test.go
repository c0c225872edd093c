package table

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestPlacing: the hook reaches rows on their way into the table and rows that
// lie in it already, and costs nothing where it changes nothing.
func TestPlacing(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(5, 6))
	s := makeStudy(r, 6, 20)
	for _, rows := range s.rows {
		for i := range rows {
			rows[i].Ratio, rows[i].Small = 1, 1 // NaN is not equal to itself
		}
	}
	s.scatter(t, r, dir, 0, s.keys)
	compact := func(prefix string) Compaction {
		t.Helper()
		labelled := samples.Placing(func(row *sample, index int32) { row.Label = fmt.Sprint(prefix, index) })
		c, err := labelled.Compact(dir, s.place, testProvenance)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := samples.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			if want := fmt.Sprint(prefix, row.Cell); row.Label != want {
				t.Fatalf("row %d has label %q, expected %q", i, row.Label, want)
			}
		}
		return c
	}
	for _, step := range []struct {
		prefix  string
		changed bool
	}{{"old ", true}, {"old ", false}, {"new ", true}, {"new ", false}} {
		if got := compact(step.prefix).Changed; got != step.changed {
			t.Errorf("compaction with labels %q changed the table: %v, expected %v", step.prefix, got, step.changed)
		}
	}
}
