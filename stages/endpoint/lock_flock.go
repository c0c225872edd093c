//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package endpoint

import (
	"os"
	"syscall"
)

// lock waits until no other process writes to the file. The kernel gives the
// lock up with the process.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }

func unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
