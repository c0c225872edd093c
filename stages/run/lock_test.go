package run

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"
)

func TestLockNamesItsHolder(t *testing.T) {
	dir := t.TempDir()
	c := newChild(t, dir, 4, 0, childHang+"=1")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { c.Process.Kill(); c.code() }()
	until(t, "the child's lock", func() bool {
		data, _ := os.ReadFile(dir + "/.lock")
		return len(data) > 0
	})
	_, err := Execute(t.Context(), synthetic{numbers: upTo(1)}.job(), Options{Dir: dir})
	if !errors.Is(err, ErrLocked) {
		t.Fatalf("error %v", err)
	}
	wantText(t, err, dir, fmt.Sprint("process ", c.Process.Pid), "wait for it or stop it")

	// A killed holder leaves nothing behind.
	c.Process.Kill()
	c.code()
	until(t, "the lock is free", func() bool {
		lock, err := Acquire(dir)
		if err == nil {
			lock.Release()
		}
		return err == nil
	})
}

func TestLockHeldByTheCaller(t *testing.T) {
	dir := t.TempDir()
	lock, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := synthetic{numbers: upTo(5)}
	if _, err := Execute(t.Context(), s.job(), Options{Dir: dir}); !errors.Is(err, ErrLocked) {
		t.Fatalf("error %v, expected the lock to hold within a process as well", err)
	}
	execute(t, s, Options{Dir: dir, Lock: lock})
	execute(t, s, Options{Dir: dir, Lock: lock})
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	execute(t, s, Options{Dir: dir})
}

func TestLockOfAnotherHost(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for text, want := range map[string]string{"": "another process", "12 elsewhere\n": "process 12 on elsewhere", "12\n": "process 12"} {
		if err := writeHolder(file, text); err != nil {
			t.Fatal(err)
		}
		if got := holderOf(file); got != want {
			t.Errorf("holder %q, expected %q", got, want)
		}
	}
}

// A lock that is about to be given up is waited for: what a killed run was just
// starting holds it for a moment more.
func TestLockThatIsGivenUpSoon(t *testing.T) {
	dir := t.TempDir()
	first, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { first.Release() })
	second, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	second.Release()
}
