package run

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"switchyard/stages/table"
)

// Failure is one row of table `failures`: a task that did not succeed.
type Failure struct {
	Stage     string  `parquet:"stage,dict" doc:"job that the task belongs to"`
	Index     int32   `parquet:"task,delta" doc:"position of the task in its job: the cell, for tasks of the simulation"`
	TaskKey   string  `parquet:"task_key" doc:"identity of the task"`
	Name      string  `parquet:"name" doc:"the task as a person calls it"`
	Error     string  `parquet:"error" doc:"what went wrong"`
	StackHash *string `parquet:"stack_hash" doc:"hash of the place of a panic, equal for equal places in one binary; NULL when the task returned an error"`
	Stack     *string `parquet:"stack" doc:"functions and lines down to a panic, innermost first; NULL when the task returned an error"`
	Repro     string  `parquet:"repro" doc:"command that runs the task again by itself"`
}

// Failures is the table of tasks that failed in the last run of each stage.
var Failures = table.New[Failure]("failures", "tasks that failed, one row a task; the next run tries them again")

// panicked is a panic that became an error.
type panicked struct {
	value any
	stack string
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// Unwrap lets errors.Is see an error that was thrown.
func (p *panicked) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

// recovered makes an error of a recovered value; it is called by the deferred
// function itself, whose caller is the panic.
func recovered(value any) error {
	return &panicked{value: value, stack: trace()}
}

// maxFrames is enough to tell two places apart without holding a runaway
// recursion's whole stack.
const maxFrames = 24

// trace lists functions and lines between the panic and this package. It
// holds no addresses and no folders, so that it is the same in every run of a
// binary.
func trace() string {
	pcs := make([]uintptr, 128)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs)])
	var b strings.Builder
	for n, more := 0, true; more && n < maxFrames; {
		var f runtime.Frame
		f, more = frames.Next()
		if strings.HasSuffix(f.Function, "run.(*worker).call") || strings.HasSuffix(f.Function, "run.openGroup") {
			break
		}
		if strings.HasPrefix(f.Function, "runtime.") {
			continue
		}
		fmt.Fprintf(&b, "%s %s:%d\n", f.Function, filepath.Base(f.File), f.Line)
		n++
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// newFailure describes a task's error.
func newFailure(stage string, t *Task, err error) Failure {
	f := Failure{Stage: stage, Index: t.Index, TaskKey: t.Key, Name: t.Name, Error: err.Error(), Repro: t.Repro}
	if p, ok := errors.AsType[*panicked](err); ok {
		sum := sha256.Sum256([]byte(p.stack))
		hash := hex.EncodeToString(sum[:6])
		f.Stack, f.StackHash = &p.stack, &hash
	}
	return f
}

// sortFailures puts failures in the order of the table.
func sortFailures(rows []Failure) {
	slices.SortFunc(rows, func(a, b Failure) int {
		return cmp.Or(strings.Compare(a.Stage, b.Stage), cmp.Compare(a.Index, b.Index), strings.Compare(a.TaskKey, b.TaskKey))
	})
}

// writeFailures replaces the stage's rows of table `failures`. A task that was
// never tried keeps the row it had, because nothing says that it would
// succeed. A table that cannot be read is replaced too, and told in lost: it
// only says what to try again, so it must not stand in the way.
func writeFailures(dir, stage string, failed []Failure, untried map[string]bool, p table.Provenance) (lost, err error) {
	rows := slices.Clone(failed)
	before, lost := Failures.Read(dir)
	if errors.Is(lost, fs.ErrNotExist) {
		lost = nil
	}
	for _, f := range before {
		if f.Stage != stage || untried[f.TaskKey] {
			rows = append(rows, f)
		}
	}
	sortFailures(rows)
	if err := Failures.Write(dir, rows, p); err != nil {
		return lost, storageError("write", Failures.Name, err)
	}
	return lost, nil
}
