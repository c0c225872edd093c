package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"switchyard/sim/param"
)

// arrange puts a command's flags before its arguments, so that flags may stand
// anywhere: cli/v2 stops at the first argument and silently takes the flags
// after it for arguments. Words after "--" are arguments whatever they look
// like, and so are "-" and negative numbers. An unknown command or flag, and a
// flag without its value, is an error that names the nearest known one.
func arrange(app *cli.App, words []string) ([]string, error) {
	if len(words) == 0 {
		return words, nil
	}
	if strings.HasPrefix(words[0], "-") {
		_, err := split(app.Name, globalFlags(), words)
		return words, err
	}
	if words[0] == "help" || words[0] == "h" {
		if len(words) == 1 || words[1] == "help" || words[1] == "h" {
			return words[:1], nil
		}
		_, err := findCommand(app, words[1])
		return words, err
	}
	command, err := findCommand(app, words[0])
	if err != nil {
		return nil, err
	}
	if command.SkipFlagParsing {
		return words, nil
	}
	parts, err := split(command.Name, append(command.Flags, cli.HelpFlag), words[1:])
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(parts.flags, func(f string) bool { return slices.Contains(cli.HelpFlag.Names(), strings.TrimLeft(f, "-")) }) {
		return []string{words[0], "--help"}, nil // whatever else is there
	}
	out := append([]string{words[0]}, parts.flags...)
	return append(append(out, "--"), parts.arguments...), nil
}

// globalFlags are the flags that may stand in the place of a command.
func globalFlags() []cli.Flag { return []cli.Flag{cli.HelpFlag, cli.VersionFlag} }

func findCommand(app *cli.App, name string) (*cli.Command, error) {
	if c := app.Command(name); c != nil {
		return c, nil
	}
	var known []string
	for _, c := range app.Commands {
		if !c.Hidden {
			known = append(known, c.Name)
		}
	}
	return nil, fmt.Errorf("unknown command %q%s; %s help lists the commands", name, didYouMean(name, known, ""), invoked())
}

// didYouMean returns `; did you mean "x"?`, or nothing when no name is near.
func didYouMean(name string, known []string, prefix string) string {
	if near := param.Nearest(name, known); near != "" {
		return fmt.Sprintf("; did you mean %s%s?", prefix, near)
	}
	return ""
}

type parts struct{ flags, arguments []string }

// split parts the words of one command into flags with their values, and
// arguments.
func split(command string, flags []cli.Flag, words []string) (parts, error) {
	takesValue := map[string]bool{}
	var long []string
	for _, f := range flags {
		doc, ok := f.(cli.DocGenerationFlag)
		for _, name := range f.Names() {
			takesValue[name] = ok && doc.TakesValue()
			if len(name) > 1 {
				long = append(long, name)
			}
		}
	}
	var p parts
	for i := 0; i < len(words); i++ {
		word := words[i]
		if word == "--" {
			p.arguments = append(p.arguments, words[i+1:]...)
			break
		}
		if !isFlag(word) {
			p.arguments = append(p.arguments, word)
			continue
		}
		name, text, inline := strings.Cut(strings.TrimLeft(word, "-"), "=")
		value, known := takesValue[name]
		if !known {
			return p, fmt.Errorf("%s: unknown flag %s%s; see %s", command,
				strings.SplitN(word, "=", 2)[0], didYouMean(name, long, "--"), helpOf(command))
		}
		p.flags = append(p.flags, word)
		if value && !inline {
			if i++; i == len(words) {
				return p, fmt.Errorf("%s: flag %s needs a value; see %s", command, word, helpOf(command))
			}
			text = words[i]
			p.flags = append(p.flags, text)
		}
		if value && text == "" { // of an unset variable, as a rule
			return p, fmt.Errorf("%s: the value of flag --%s is empty; leave the flag out for its default; see %s", command, name, helpOf(command))
		}
	}
	return p, nil
}

func helpOf(command string) string {
	if command == programName {
		return invoked() + " help"
	}
	return invoked() + " " + command + " --help"
}

// isFlag tells a flag from an argument: "-", negative numbers and what begins
// with an SQL comment are none. No flag has a space before its value.
func isFlag(word string) bool {
	if len(word) < 2 || word[0] != '-' {
		return false
	}
	name, _, _ := strings.Cut(word, "=")
	_, err := strconv.ParseFloat(word, 64)
	return err != nil && !strings.ContainsAny(name, " \t\n")
}
