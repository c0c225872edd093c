package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"switchyard/stages/experiment"
	"switchyard/stages/run"
)

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

// coded is an error with an exit code of its own.
type coded struct {
	code int
	err  error
}

func (c *coded) Error() string { return c.err.Error() }
func (c *coded) Unwrap() error { return c.err }
func (c *coded) ExitCode() int { return c.code }

// execute runs the program with the words after its name and returns the exit
// code.
func execute(words []string, stdout, stderr io.Writer) int {
	app := newApp(stdout, stderr)
	words, err := arrange(app, words)
	if err == nil {
		err = app.Run(append([]string{app.Name}, words...))
	}
	var placed *experiment.Error
	switch {
	case errors.As(err, &placed): // one a line, each with its place first
		fmt.Fprintln(stderr, err)
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v\n", app.Name, err)
	}
	return run.ExitCode(err)
}
