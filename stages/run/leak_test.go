package run

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

// After Execute returns no goroutine of it is left, however it ended.
func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	dir := t.TempDir()
	s := synthetic{numbers: upTo(20), groups: 4}
	execute(t, s, Options{Dir: dir, Workers: 3})
	signals := make(chan os.Signal, 2)
	signals <- os.Interrupt
	if r, err := Execute(t.Context(), synthetic{numbers: upTo(30)}.job(), Options{Dir: dir, Signals: signals}); err == nil || r.Left+r.Done != 10 {
		t.Fatalf("%+v, %v", r, err)
	}
	ours := func() bool {
		stacks := make([]byte, 1<<20)
		return strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "run.(*execution)")
	}
	until(t, "goroutines are gone", func() bool { return runtime.NumGoroutine() <= before && !ours() })
}
