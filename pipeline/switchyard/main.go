package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"switchyard/stages/experiment"
)

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

// The exit codes, which scripts may rely on.
const (
	exitDone        = 0
	exitError       = 1
	exitExperiment  = 2 // the experiment file is missing or wrong
	exitFailed      = 3 // some cells failed; the others are in the tables
	exitInterrupted = 130
)

// coded is an error with an exit code of its own. A nil err prints nothing:
// whoever returned it has said what there was to say.
type coded struct {
	code int
	err  error
}

func (c *coded) Error() string {
	if c.err == nil {
		return fmt.Sprintf("exit code %d", c.code)
	}
	return c.err.Error()
}

func (c *coded) Unwrap() error { return c.err }

// execute runs the program with the words after its name and returns the exit
// code.
func execute(words []string, stdout, stderr io.Writer) int {
	ctx, stop := withSignals(context.Background(), stderr)
	defer stop()
	app := newApp(stdout, stderr)
	words, err := arrange(app, words)
	if err == nil {
		err = app.RunContext(ctx, append([]string{app.Name}, words...))
	}
	if err == nil {
		return exitDone
	}
	code := exitCode(err)
	var c *coded
	if !errors.As(err, &c) || c.err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", app.Name, err)
	}
	return code
}

func exitCode(err error) int {
	var c *coded
	if errors.As(err, &c) {
		return c.code
	}
	var bad *experiment.Error
	if errors.As(err, &bad) {
		return exitExperiment
	}
	return exitError
}
