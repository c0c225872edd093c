package run

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// Kills strike at random moments of runs, commits and compactions; whatever
// they leave, the run that gets through ends with the bytes of a straight one.
func TestKilledAtRandomAndResumed(t *testing.T) {
	const tasks, kills = 80, 25
	want := straight(t, synthetic{numbers: upTo(tasks), groups: 1 + tasks/10})
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)

	dir, killed, through := t.TempDir(), 0, 0
	run := func(limit time.Duration) bool {
		c := newChild(t, dir, tasks, 2*time.Millisecond)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if limit > 0 {
			timer := time.AfterFunc(limit, func() { c.Process.Kill() })
			defer timer.Stop()
		}
		code := c.code()
		if code > 0 {
			t.Fatalf("after %d kills the child ended with code %d: %s", killed, code, c.stderr.String())
		}
		return code == 0
	}
	for killed < kills {
		if run(time.Duration(5+random.IntN(100)) * time.Millisecond) {
			wantSame(t, dir, want)
			through++
			dir = t.TempDir()
			continue
		}
		killed++
	}
	if !run(0) {
		t.Fatal("the last run was killed")
	}
	wantSame(t, dir, want)
	t.Logf("%d kills, %d runs got through before theirs", killed, through)
	if left := partsOf(t, dir); len(left) > 0 {
		t.Errorf("parts %v are left over", left)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Fatal(err)
	}
}
