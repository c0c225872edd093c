package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"
)

const programName = "switchyard"

// invoked is the program as it was started, .bin/switchyard or ./run.sh, so
// that the commands that it prints work when they are pasted.
func invoked() string { return quote(os.Args[0]) }

// pasted is a command that tables hold, as it is for this user.
func pasted(command string) string {
	if words, ok := strings.CutPrefix(command, programName+" "); ok {
		return invoked() + " " + words
	}
	return command
}

// newApp is the program: its commands in the order that help shows them.
func newApp(stdout, stderr io.Writer) *cli.App {
	app := &cli.App{
		Name:      programName,
		Usage:     "request routing and model selection in LLM serving, by experiment",
		UsageText: "switchyard COMMAND [ARGUMENTS] [FLAGS]",
		Description: `A first run:

  switchyard run quickstart
  switchyard query out/quickstart "from comparisons"

Exit codes: 0 done, 1 error, 2 bad experiment file, 3 some cells failed or are
missing, 130 interrupted (the same command resumes).`,
		Version:   version().String(),
		Writer:    stdout,
		ErrWriter: stderr,
		Commands: []*cli.Command{
			runCommand(), reproduceCommand(), generateCommand(), simulateCommand(), queueCommand(), chooseCommand(), diagnoseCommand(), serveCommand(), aggregateCommand(), capacityCommand(), timelineCommand(), calibrateCommand(),
			listCommand(), configCommand(), statusCommand(), queryCommand(), schemaCommand(),
			completionCommand(), completeCommand(), versionCommand(),
		},
		// A list in a value, --set a.b=[1,2], is not two flags.
		DisableSliceFlagSeparator: true,
		// Errors come back to main, which prints them and picks the exit code.
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   usageError,
	}
	for _, c := range app.Commands {
		c.HideHelpCommand = true
		c.OnUsageError = usageError
	}
	return app
}

var invalidValue = regexp.MustCompile(`^invalid (?:boolean )?value (".*") for (?:flag )?-([a-z-]+): `)

// usageError is what a flag's value of the wrong type becomes, in place of
// the whole help text.
func usageError(c *cli.Context, err error, _ bool) error {
	if found := invalidValue.FindStringSubmatch(err.Error()); found != nil {
		err = fmt.Errorf("--%s is %s, expected %s", found[2], found[1], expectedOf(flagOf(c.Command, found[2])))
	}
	return fmt.Errorf("%s: %w; see %s", c.Command.Name, err, helpOf(c.Command.Name))
}

// expectedOf says what a flag's value may be.
func expectedOf(f cli.Flag) string {
	switch f.(type) {
	case *cli.IntFlag:
		return "a whole number"
	case *cli.Float64Flag:
		return "a number such as 0.2"
	case *cli.DurationFlag:
		return "a time with its unit, such as 30s or 5m"
	case *cli.BoolFlag:
		return "true or false, or no value"
	}
	return "another value"
}

// exactly checks the number of a command's arguments.
func exactly(c *cli.Context, least, most int) error {
	if n := c.NArg(); n < least || n > most {
		takes := c.Command.ArgsUsage
		if takes == "" {
			takes = "no arguments"
		}
		return fmt.Errorf("%s takes %s, got %d argument%s; see %s",
			c.Command.Name, takes, n, plural(n), helpOf(c.Command.Name))
	}
	return nil
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
