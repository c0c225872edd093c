package table

import (
	"fmt"
	"slices"
	"testing"
)

func TestReadKey(t *testing.T) {
	dir := t.TempDir()
	if _, ok, err := narrows.ReadKey(dir, "a"); ok || err != nil {
		t.Fatalf("a folder without the table gave a task, or %v", err)
	}
	place := map[string]int32{}
	want := map[string][]narrow{}
	w := narrows.NewPart(dir, 0, 0, testProvenance)
	for i := range 40 {
		key := fmt.Sprint("task-", i)
		place[key] = int32(40 - i) // the finished order is not the written one
		var rows []narrow
		for k := range i * 137 % 3000 {
			rows = append(rows, narrow{Cell: place[key], Index: int64(k), Value: int64(i*k) % 97})
		}
		want[key] = rows
		if err := w.Append(key, narrows.Rows(rows)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := narrows.Compact(dir, place, testProvenance); err != nil {
		t.Fatal(err)
	}
	for key, rows := range want {
		got, ok, err := narrows.ReadKey(dir, key)
		if err != nil || !ok {
			t.Fatalf("%s: found %v, %v", key, ok, err)
		}
		if !slices.Equal(got, rows) {
			t.Fatalf("%s: got %d rows, expected other %d", key, len(got), len(rows))
		}
	}
	if _, ok, err := narrows.ReadKey(dir, "task-40"); ok || err != nil {
		t.Errorf("a task that was never written was found, or %v", err)
	}
}
