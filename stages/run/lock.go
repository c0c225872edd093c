package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Lock is the right to write into an experiment's folder. The kernel gives it
// up with the process, so a killed run leaves no stale lock; the file `.lock`
// stays and holds the number of the last process that had it.
type Lock struct{ file *os.File }

// Acquire takes the folder's lock, and makes the folder if need be. The error
// wraps ErrLocked and names the process when another one has it.
func Acquire(dir string) (*Lock, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStorage, err)
	}
	file, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStorage, err)
	}
	if err := waitLock(file); err != nil {
		holder := holderOf(file)
		file.Close()
		if errors.Is(err, errHeld) {
			return nil, fmt.Errorf("%s: %w by %s; wait for it or stop it", dir, ErrLocked, holder)
		}
		return nil, fmt.Errorf("lock %s: %w; the file system must support flock", dir, err)
	}
	host, _ := os.Hostname()
	if err := writeHolder(file, fmt.Sprintf("%d %s\n", os.Getpid(), host)); err != nil {
		file.Close()
		return nil, fmt.Errorf("%w: lock %s: %w", ErrStorage, dir, err)
	}
	return &Lock{file}, nil
}

// lockPatience is how long a lock that another process has is tried again. A
// process that was killed while it started another one (git, for the manifest)
// leaves it to the child until that runs its own program.
const lockPatience = 250 * time.Millisecond

func waitLock(file *os.File) error {
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if err := tryLock(file); !errors.Is(err, errHeld) || time.Since(begin) > lockPatience {
			return err
		}
	}
}

// Release gives the lock up.
func (l *Lock) Release() error { return l.file.Close() }

var errHeld = errors.New("held by another process")

func writeHolder(file *os.File, text string) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(text), 0)
	return err
}

// holderOf names the process that has the lock, as far as the file tells.
func holderOf(file *os.File) string {
	text := make([]byte, 256)
	n, _ := file.ReadAt(text, 0)
	pid, host, _ := strings.Cut(strings.TrimSpace(string(text[:n])), " ")
	if pid == "" {
		return "another process"
	}
	if here, _ := os.Hostname(); host != "" && host != here {
		return fmt.Sprintf("process %s on %s", pid, host)
	}
	return "process " + pid
}
