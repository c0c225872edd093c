package main

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"switchyard/pipeline/experiments"
	"switchyard/stages/experiment"
	"switchyard/stages/query"
)

// The scripts ask the program itself, by its hidden command complete, so that
// completion knows what this build knows.
var (
	//go:embed completion.bash
	bashScript string
	//go:embed completion.zsh
	zshScript string
	//go:embed completion.fish
	fishScript string
)

func completionCommand() *cli.Command {
	scripts := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the completion script of a shell",
		ArgsUsage: "bash|zsh|fish",
		UsageText: `switchyard completion bash|zsh|fish

  source <(switchyard completion bash)
  switchyard completion zsh > "${fpath[1]}/_switchyard"
  switchyard completion fish > ~/.config/fish/completions/switchyard.fish`,
		Action: func(c *cli.Context) error {
			if err := exactly(c, 1, 1); err != nil {
				return err
			}
			shell := c.Args().First()
			script, ok := scripts[shell]
			if !ok {
				return fmt.Errorf("completion: unknown shell %q; expected bash, zsh or fish", shell)
			}
			_, err := io.WriteString(c.App.Writer, script)
			return err
		},
	}
}

func completeCommand() *cli.Command {
	return &cli.Command{
		Name:            "complete",
		Usage:           "print what may stand in the place of the last word, name and summary by a tab",
		Hidden:          true,
		SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			words := c.Args().Slice()
			if len(words) > 0 && words[0] == "--" {
				words = words[1:]
			}
			if len(words) == 0 {
				words = []string{""}
			}
			for _, s := range complete(c.App, words[:len(words)-1], words[len(words)-1]) {
				if _, err := fmt.Fprintf(c.App.Writer, "%s\t%s\n", s.name, s.summary); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// complete returns what may stand after the words before and begins with
// prefix. Nothing means: a file name, or nothing that the program knows.
func complete(app *cli.App, before []string, prefix string) (fitting []named) {
	for _, s := range candidates(app, before, prefix) {
		if strings.HasPrefix(s.name, prefix) {
			fitting = append(fitting, s)
		}
	}
	return fitting
}

func candidates(app *cli.App, before []string, prefix string) []named {
	if len(before) == 0 {
		return commandNames(app)
	}
	command := app.Command(before[0])
	if command == nil {
		return nil
	}
	words := before[1:]
	if n := len(words); n > 0 && isFlag(words[n-1]) && !strings.Contains(words[n-1], "=") {
		if flag := flagOf(command, words[n-1]); flag != nil && takesValue(flag) {
			return flagValues(flag.Names()[0], words[:n-1])
		}
	}
	if strings.HasPrefix(prefix, "-") {
		return flagNames(command)
	}
	placed, err := split(command.Name, append(command.Flags, cli.HelpFlag), words)
	if err != nil {
		return nil
	}
	return argumentValues(app, command.Name, placed.arguments)
}

func commandNames(app *cli.App) (names []named) {
	for _, c := range app.Commands {
		if !c.Hidden {
			names = append(names, named{c.Name, c.Usage})
		}
	}
	return names
}

func flagNames(command *cli.Command) (names []named) {
	for _, f := range command.Flags {
		summary := ""
		if doc, ok := f.(cli.DocGenerationFlag); ok {
			summary = doc.GetUsage()
		}
		for _, name := range f.Names() {
			if len(name) > 1 {
				names = append(names, named{"--" + name, summary})
			}
		}
	}
	return append(names, named{"--help", "print the help of this command"})
}

func flagOf(command *cli.Command, word string) cli.Flag {
	for _, f := range command.Flags {
		for _, name := range f.Names() {
			if name == strings.TrimLeft(word, "-") {
				return f
			}
		}
	}
	return nil
}

func takesValue(f cli.Flag) bool {
	doc, ok := f.(cli.DocGenerationFlag)
	return ok && doc.TakesValue()
}

// flagValues are the known values of a flag, by its name, behind the words.
func flagValues(flag string, words []string) []named {
	switch flag {
	case "set":
		return settings(words)
	case "baseline":
		return slices.Concat(catalogue("routers"), catalogue("policies"), catalogue("optimisers"))
	case "job":
		return plain([]string{experiment.Balls, experiment.Dispatch})
	case "format":
		return plain(query.Formats())
	}
	return nil
}

// settings are the paths that --set can take in the experiment among the words.
func settings(words []string) (paths []named) {
	for _, word := range words {
		file, data, err := readExperiment(word)
		if err != nil {
			continue
		}
		s := study{}
		if s.experiment, _ = experiment.Load(file, data, experiment.Options{BuiltIn: word}); s.experiment == nil {
			continue
		}
		_ = s.makePlans() // which decodes what it can, and so knows the defaults
		for _, path := range s.experiment.Paths() {
			paths = append(paths, named{name: path + "="})
		}
	}
	return paths
}

// argumentValues are the known values of a command's next argument.
func argumentValues(app *cli.App, command string, before []string) (names []named) {
	if command == "list" {
		switch len(before) {
		case 0:
			return catalogueKinds()
		case 1:
			return catalogue(before[0])
		}
		return nil
	}
	if command == "reproduce" {
		for _, e := range catalogue("experiments") {
			if experiments.Expects(e.name) && !slices.Contains(before, e.name) {
				names = append(names, e)
			}
		}
		return names
	}
	if len(before) > 0 {
		return nil
	}
	switch command {
	case "run", "generate", "simulate", "queue", "choose", "serve", "capacity", "config":
		return catalogue("experiments")
	case "aggregate", "status", "query":
		return finished()
	case "schema":
		return tableNames()
	case "completion":
		return plain([]string{"bash", "zsh", "fish"})
	case "help":
		return commandNames(app)
	}
	return nil
}

// finished are the result folders under out.
func finished() (dirs []named) {
	found, err := filepath.Glob(filepath.Join("out", "*"))
	if err != nil {
		return nil
	}
	for _, dir := range found {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			dirs = append(dirs, named{name: dir})
		}
	}
	return dirs
}

func plain(names []string) (out []named) {
	for _, n := range names {
		out = append(out, named{name: n})
	}
	return out
}
