package run

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary runs itself as a child process for what a process cannot
// survive: kills, signals, limits on files. The child executes the synthetic
// job as the environment says and exits with the program's codes.
const (
	childDir   = "SWITCHYARD_RUN_CHILD_DIR"
	childTasks = "SWITCHYARD_RUN_CHILD_TASKS"
	childPause = "SWITCHYARD_RUN_CHILD_PAUSE"
	childLimit = "SWITCHYARD_RUN_CHILD_FILE_LIMIT"
	childHang  = "SWITCHYARD_RUN_CHILD_HANG"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(childMain(dir))
	}
	os.Exit(m.Run())
}

func childMain(dir string) int {
	tasks, _ := strconv.Atoi(os.Getenv(childTasks))
	pause, _ := time.ParseDuration(os.Getenv(childPause))
	s := synthetic{numbers: upTo(tasks), groups: 1 + tasks/10, pause: pause}
	if limit, err := strconv.ParseUint(os.Getenv(childLimit), 10, 64); err == nil {
		s.before = limitFiles(tasks/2, limit)
	}
	if os.Getenv(childHang) != "" {
		s.before = func(context.Context, int, any, any) error { select {} }
	}
	signals, stop := Signals()
	defer stop()
	fmt.Println("ready")
	r, err := Execute(context.Background(), s.job(), Options{
		Dir: dir, Workers: 2, FlushEvery: 5 * time.Millisecond, Signals: signals, Progress: os.Stderr, Unit: "things",
		Resume: "switchyard run synthetic", Grace: 100 * time.Millisecond,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return ExitCode(err, r)
}

// limitFiles lets no file grow past the limit once a task has begun. Without
// the signal a write past it is an error, as on a full disk.
func limitFiles(at int, limit uint64) func(context.Context, int, any, any) error {
	signal.Ignore(syscall.SIGXFSZ)
	return func(_ context.Context, number int, _, _ any) error {
		if number != at {
			return nil
		}
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit})
	}
}

// child is the command of a child process.
type child struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
}

func newChild(t *testing.T, dir string, tasks int, pause time.Duration, environment ...string) *child {
	t.Helper()
	c := &child{Cmd: exec.Command(os.Args[0])}
	c.Env = append(os.Environ(), childDir+"="+dir, fmt.Sprint(childTasks, "=", tasks), fmt.Sprint(childPause, "=", pause))
	c.Env = append(c.Env, environment...)
	c.Stdout, c.Stderr = &c.stdout, &c.stderr
	return c
}

// code waits for the child and returns its exit code, -1 after a signal.
func (c *child) code() int {
	c.Wait()
	return c.ProcessState.ExitCode()
}

// until polls for a condition.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out before %s", what)
		}
	}
}

// hasPart says whether a part has been committed in the folder.
func hasPart(t *testing.T, dir string) bool {
	for _, name := range partsOf(t, dir) {
		if strings.HasPrefix(name, "squares-") && strings.HasSuffix(name, ".parquet") {
			return true
		}
	}
	return false
}
