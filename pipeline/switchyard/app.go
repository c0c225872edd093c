package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"
)

const programName = "switchyard"

// newApp is the program: its commands in the order that help shows them.
func newApp(stdout, stderr io.Writer) *cli.App {
	app := &cli.App{
		Name:      programName,
		Usage:     "request routing in LLM serving, by experiment",
		UsageText: "switchyard COMMAND [ARGUMENTS] [FLAGS]",
		Description: `A first run:

  switchyard run quickstart
  switchyard query out/quickstart "from comparisons"

Exit codes: 0 done, 1 error, 2 bad experiment file, 3 some cells failed,
130 interrupted (the same command resumes).`,
		Version:   version().String(),
		Writer:    stdout,
		ErrWriter: stderr,
		Commands: []*cli.Command{
			runCommand(), generateCommand(), simulateCommand(), queueCommand(), aggregateCommand(),
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

// usageError is what a flag's value of the wrong type becomes, in place of
// the whole help text.
func usageError(c *cli.Context, err error, _ bool) error {
	return fmt.Errorf("%s: %w; see %s", c.Command.Name, err, helpOf(c.Command.Name))
}

// exactly checks the number of a command's arguments.
func exactly(c *cli.Context, least, most int) error {
	if n := c.NArg(); n < least || n > most {
		return fmt.Errorf("%s takes %s, got %d argument%s; see %s",
			c.Command.Name, c.Command.ArgsUsage, n, plural(n), helpOf(c.Command.Name))
	}
	return nil
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
