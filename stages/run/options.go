package run

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"switchyard/stages/table"
)

// Options say how a job is run. Only Dir is required.
type Options struct {
	// Dir is the experiment's folder; it is made when it does not exist.
	Dir string
	// Workers is the number of tasks at a time; 0 means one a core
	// (GOMAXPROCS). Results do not depend on it.
	Workers int
	// FailFast stops after the first task that fails, as an interrupt does.
	// By default the other tasks run to the end.
	FailFast bool
	// Progress gets a progress bar when it is a terminal, and nothing
	// otherwise; nil is quiet.
	Progress io.Writer
	// Unit names what Sink.Count counts, in the plural ("requests"); empty
	// when the tasks count nothing.
	Unit string
	// Resume is the command that continues after an interrupt, for the error.
	Resume string
	// Later counts the tasks of the jobs that come after this one, and those of
	// them that are to do, for the same error; nil where there are none.
	Later func() (tasks, todo int)
	// Signals stops the run: the first value ends it after the tasks in
	// flight, the second at once. See Signals; nil means no signals.
	Signals <-chan os.Signal
	// Lock is the folder's lock when the caller holds it already, over several
	// jobs; nil lets Execute take it.
	Lock *Lock
	// Provenance goes into the footer of every file.
	Provenance table.Provenance
	// FlushEvery and FlushBytes bound the results that a kill can cost: a
	// worker commits when its oldest result is that old, 0 meaning 30 s, or
	// its parts are that large, 0 meaning 64 MB.
	FlushEvery time.Duration
	FlushBytes int64
	// Grace is how long the second interrupt waits for tasks to notice that
	// their context has ended before Execute returns without them; 0 means 1 s.
	Grace time.Duration
}

// Validate reports the first option that is out of bounds.
func (o *Options) Validate() error {
	switch {
	case o.Dir == "":
		return errors.New("options: dir is empty, expected the experiment's folder")
	case o.Workers < 0 || o.Workers > 4096:
		return fmt.Errorf("options: workers is %d, expected 0 (one a core) to 4096", o.Workers)
	case o.FlushEvery < 0 || o.FlushBytes < 0 || o.Grace < 0:
		return fmt.Errorf("options: flush after %v or %d bytes, grace %v: expected 0 (the default) or more", o.FlushEvery, o.FlushBytes, o.Grace)
	}
	return nil
}

// withDefaults fills what was left at zero.
func (o Options) withDefaults() Options {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.FlushEvery == 0 {
		o.FlushEvery = 30 * time.Second
	}
	if o.FlushBytes == 0 {
		o.FlushBytes = 64 << 20
	}
	if o.Grace == 0 {
		o.Grace = time.Second
	}
	return o
}

// Report says what a run did.
type Report struct {
	Stage       string        // Job.Name
	Done        int           // tasks that this run finished
	Skipped     int           // tasks that an earlier run had finished
	Failed      int           // tasks that failed; their rows are in table `failures`
	Left        int           // tasks never tried, after an interrupt or a fatal error
	Interrupted bool          // stopped by a signal or by the caller's context
	Started     time.Time     // when Execute was called
	Elapsed     time.Duration // of wall time, compaction included
	Compaction  time.Duration // the part of Elapsed that compaction took
	Workers     int
	Weight      float64          // summed over Done
	Busy        time.Duration    // summed over the workers: opening inputs, running tasks, committing
	Units       int64            // summed over Sink.Count
	Unit        string           // Options.Unit
	Rows        map[string]int64 // rows of each finished table; nil without compaction
	Failures    []Failure        // in order of index
	Corrupt     []string         // files that could not be used and were moved aside, with the reason
}

// Errors that Execute's errors wrap.
var (
	// ErrInterrupted: a signal or the caller's context ended the run early.
	ErrInterrupted = errors.New("interrupted")
	// ErrStorage: results could not be written or read back.
	ErrStorage = errors.New("cannot store results")
	// ErrLocked: another process works in the folder.
	ErrLocked = errors.New("folder is in use")
)

// Exit codes of the program.
const (
	ExitOK          = 0
	ExitInternal    = 1   // wrong use, a full disk, a defect
	ExitInput       = 2   // bad experiment file
	ExitFailed      = 3   // some tasks failed, or are missing
	ExitInterrupted = 130 // 128 + SIGINT, as shells have it
)

// ExitCode returns the exit code for an error and the reports of the jobs
// that led to it. An error with a method ExitCode() int brings its own.
func ExitCode(err error, reports ...Report) int {
	var own interface{ ExitCode() int }
	switch {
	case errors.Is(err, ErrInterrupted):
		return ExitInterrupted
	case errors.As(err, &own):
		return own.ExitCode()
	case err != nil:
		return ExitInternal
	}
	for _, r := range reports {
		if r.Interrupted {
			return ExitInterrupted
		}
	}
	for _, r := range reports {
		if r.Failed > 0 || r.Left > 0 {
			return ExitFailed
		}
	}
	return ExitOK
}
