package main

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"switchyard/pipeline/experiments"
	"switchyard/stages/aggregate"
	"switchyard/stages/expect"
	"switchyard/stages/query"
	"switchyard/stages/run"
)

// quickReplications is how many of an experiment's replications --quick runs.
const quickReplications = 5

func reproduceCommand() *cli.Command {
	flags := slices.DeleteFunc(executionFlags(), func(f cli.Flag) bool { return f.Names()[0] == "out" })
	flags = append(flags,
		&cli.StringFlag{Name: "dir", Value: "out", Usage: "`DIR` in which each experiment has its folder"},
		&cli.BoolFlag{Name: "quick", DisableDefaultText: true, Usage: fmt.Sprintf("only the first %d replications of each, into folders NAME-quick", quickReplications)},
	)
	flags = append(flags, experimentFlags()...)
	return &cli.Command{
		Name:      "reproduce",
		Usage:     "run experiments that have expectations and print all verdicts",
		ArgsUsage: "[NAME|PATTERN|FILE]...",
		UsageText: `switchyard reproduce [NAME|PATTERN|FILE]... [FLAGS]

  switchyard reproduce lecture-balls --quick
  switchyard reproduce lecture-documents 'lecture-ca*' --quick --dir out/check
  switchyard reproduce lecture-balls lecture-stale --dry-run

Without a name: all built-in experiments that have expectations and need no
further files. Results are those of run, kept in DIR/NAME, so that a second
call only checks. Verdicts: agrees, differs, cannot be judged (with why). A
verdict is a result and no failure: the exit code is 0 whatever they are; with
--strict it is 1 where one differs. It needs DuckDB in the program.`,
		Flags:  append(flags, strictFlag()),
		Action: reproduce,
	}
}

// reproduced is an experiment with its verdicts; nil where there are none.
type reproduced struct {
	*study
	verdicts []expect.Row
}

func reproduce(c *cli.Context) error {
	if !query.Available() {
		return fmt.Errorf("reproduce: expectations cannot be checked: %w", query.ErrNoDuckDB)
	}
	all, err := openAll(c)
	if err != nil {
		return err
	}
	if c.Bool("dry-run") {
		for _, r := range all {
			fmt.Fprintf(c.App.Writer, "%s: %d expectations\n", r.experiment.Name, len(r.expectations.Expectations))
			if err := r.dryRun(c, r.jobs(c)); err != nil {
				return err
			}
		}
		return nil
	}
	var failed []error
	for i, r := range all {
		say(c, "%s (%d of %d)", r.experiment.Name, i+1, len(all))
		err := r.execute(c, r.jobs(c), func() (err error) {
			if _, err = r.aggregate(c, aggregate.Options{}); err != nil {
				return err
			}
			r.verdicts, err = r.check(c)
			return err
		})
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", r.experiment.Name, err))
		}
		if r.verdicts != nil {
			say(c, "%s: %s", r.experiment.Name, expect.Count(r.verdicts))
		}
		if errors.Is(err, run.ErrInterrupted) || err != nil && c.Bool("fail-fast") {
			break
		}
	}
	tally, err := printVerdicts(c, all)
	return errors.Join(errors.Join(failed...), err, strictly(c, tally))
}

// openAll opens what the arguments name before anything runs.
func openAll(c *cli.Context) (all []*reproduced, err error) {
	names, err := reproducible(c.Args().Slice())
	if err != nil {
		return nil, &coded{run.ExitInput, err}
	}
	given := len(c.Args().Slice()) > 0
	dirs := map[string]string{}
	for _, name := range names {
		r := &reproduced{study: &study{argument: name, replications: c.String("replications")}}
		r.again = resumeReproduce(c)
		if err := r.open(c); err != nil {
			return nil, err
		}
		if len(r.expectations.Expectations) == 0 {
			if !given {
				continue
			}
			return nil, &coded{run.ExitInput, fmt.Errorf("reproduce: experiment %s has no expectations; run it by: %s", name, r.command(c, "run"))}
		}
		r.dir = filepath.Join(c.String("dir"), r.experiment.Name)
		if c.Bool("quick") {
			r.dir += "-quick"
			if list := r.experiment.Replications; len(list) > quickReplications && r.replications == "" {
				r.replications = strings.Trim(strings.ReplaceAll(fmt.Sprint(list[:quickReplications]), " ", ","), "[]")
				dir := r.dir
				if err := r.open(c); err != nil {
					return nil, err
				}
				r.dir = dir
			}
		}
		if other, taken := dirs[r.dir]; taken {
			return nil, &coded{run.ExitInput, fmt.Errorf("reproduce: %s and %s both go to %s; give one of them another name inside", other, name, r.dir)}
		}
		dirs[r.dir] = name
		all = append(all, r)
	}
	return all, nil
}

// reproducible returns the experiments that the arguments name, each once, in
// their order; without arguments all built-in ones that need no flags.
func reproducible(arguments []string) (names []string, err error) {
	built := experiments.Names()
	if len(arguments) == 0 {
		return slices.DeleteFunc(built, func(name string) bool { return experiments.Needs(name) != "" }), nil
	}
	for _, argument := range arguments {
		matching := []string{argument}
		if strings.ContainsAny(argument, "*?[") {
			matching = slices.DeleteFunc(withExpectations(), func(name string) bool { ok, _ := path.Match(argument, name); return !ok })
			if len(matching) == 0 {
				return nil, fmt.Errorf("reproduce: no experiment with expectations matches %q, expected one of %s", argument, strings.Join(withExpectations(), ", "))
			}
		}
		for _, name := range matching {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// withExpectations are the built-in experiments that have some.
func withExpectations() []string {
	return slices.DeleteFunc(experiments.Names(), func(name string) bool { return !experiments.Expects(name) })
}

// resumeReproduce is the same command again.
func resumeReproduce(c *cli.Context) string {
	words := append([]string{c.Command.Name}, c.Args().Slice()...)
	for _, name := range []string{"quick", "strict", "fail-fast"} {
		if c.Bool(name) {
			words = append(words, "--"+name)
		}
	}
	for _, name := range []string{"dir", "replications", "workers", "commit-every"} {
		if c.IsSet(name) {
			words = append(words, "--"+name, fmt.Sprint(c.Value(name)))
		}
	}
	for _, set := range c.StringSlice("set") {
		words = append(words, "--set", set)
	}
	return invoked() + " " + quoteAll(words)
}

// printVerdicts writes those of all experiments, and the counts.
func printVerdicts(c *cli.Context, all []*reproduced) (total expect.Tally, err error) {
	checked := 0
	for _, r := range all {
		if r.verdicts == nil {
			continue
		}
		checked++
		total.Add(expect.Count(r.verdicts))
		fmt.Fprintf(c.App.Writer, "%s, replications %s\n", r.experiment.Name, spoken(r.experiment.Replications))
		if err := expect.Print(c.App.Writer, r.verdicts); err != nil {
			return total, err
		}
		fmt.Fprintln(c.App.Writer)
	}
	_, err = fmt.Fprintf(c.App.Writer, "%d experiment%s: %s\n", checked, plural(checked), total)
	return total, err
}

// spoken prints replications: 1..30 where they follow each other.
func spoken(list []int) string {
	n := len(list)
	if n > 2 && list[n-1]-list[0] == n-1 && slices.IsSorted(list) {
		return fmt.Sprintf("%d..%d", list[0], list[n-1])
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
}
