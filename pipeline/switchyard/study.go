package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"switchyard/pipeline/experiments"
	"switchyard/stages/choose"
	"switchyard/stages/expect"
	"switchyard/stages/experiment"
	"switchyard/stages/queueing"
	"switchyard/stages/run"
	"switchyard/stages/serve"
	"switchyard/stages/simulate"
	"switchyard/stages/table"
)

// study is an experiment on its way through the stages.
type study struct {
	argument     string // as the user named it: a file or a built-in name
	replications string // in place of the file's; "" leaves them
	again        string // the command that goes on after an interrupt; "" for this one
	file         string // the experiment file, absolute; "" for a built-in one
	experiment   *experiment.Experiment
	plan         *simulate.Plan
	queueing     *queueing.Plan
	choices      *choose.Plan
	serving      *serve.Plan
	expectations *expect.Plan
	dir          string
}

// openStudy reads the experiment that the command's argument names and plans
// it, so that all that is wrong with it is known before anything runs. One that
// asks for none of the jobs is an error; no jobs stand for all.
func openStudy(c *cli.Context, jobs ...string) (*study, error) {
	if err := exactly(c, 1, 1); err != nil {
		return nil, err
	}
	if c.Bool("fail-fast") && c.Bool("keep-going") {
		return nil, fmt.Errorf("%s: --fail-fast and --keep-going exclude each other", c.Command.Name)
	}
	s := &study{argument: c.Args().First(), replications: c.String("replications"), dir: c.String("out")}
	return s, s.open(c, jobs...)
}

// open is openStudy for what the study's argument names.
func (s *study) open(c *cli.Context, jobs ...string) error {
	file, data, err := readExperiment(s.argument)
	if err != nil {
		return &coded{run.ExitInput, err}
	}
	options := experiment.Options{BuiltIn: s.argument, Set: c.StringSlice("set"), Replications: s.replications}
	s.experiment, err = experiment.Load(file, data, options)
	if s.experiment != nil {
		err = experiment.Join(err, s.makePlans())
	}
	if err == nil {
		err = s.expectations.Try(c.Context, s.written(), s.factors())
	}
	if err != nil {
		return &coded{run.ExitInput, s.withNeeds(c, file, err)}
	}
	s.note(c)
	if file != "" {
		if s.file, err = filepath.Abs(file); err != nil {
			return err
		}
	}
	if s.dir == "" {
		s.dir = filepath.Join("out", s.experiment.Name)
	}
	if len(jobs) > 0 && !slices.ContainsFunc(jobs, s.experiment.Has) {
		return &coded{run.ExitInput, fmt.Errorf("%s: experiment %s asks for %s alone; run it by: %s",
			c.Command.Name, s.experiment.Name, strings.Join(s.experiment.Jobs(), " and "), s.command(c, "run"))}
	}
	return nil
}

// withNeeds adds to what is wrong with a built-in experiment the flags that it
// needs, where they are not given.
func (s *study) withNeeds(c *cli.Context, file string, err error) error {
	needs := experiments.Needs(s.argument)
	path, _, _ := strings.Cut(strings.TrimPrefix(needs, "--set "), "=")
	given := slices.ContainsFunc(c.StringSlice("set"), func(set string) bool { return strings.HasPrefix(set, path+"=") })
	if file != "" || needs == "" || given {
		return err
	}
	return fmt.Errorf("%w\n%s: experiment %s needs a file that is not part of the program; say where it is: %s %s", err,
		programName, s.argument, s.command(c, c.Command.Name), needs)
}

// note says what is not as it looks: records of a trace that were left out or
// moved, and replications that would all be the same.
func (s *study) note(c *cli.Context) {
	for _, text := range s.plan.Notes() {
		say(c, "note: %s", text)
	}
}

// reopenStudy opens the experiment whose tables lie in a folder, as the
// folder's manifest has it. Its plan needs what the experiment was made from,
// such as a trace's file; without that the study has none, and why says so.
func reopenStudy(dir string) (s *study, why error, err error) {
	m, err := run.ReadManifest(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("%s holds no experiment that has run: %w", dir, err)
	}
	s = &study{argument: dir, file: m.File, dir: dir}
	if s.experiment, err = experiment.Load(m.File, []byte(m.Experiment), experiment.Options{BuiltIn: m.Name}); err != nil {
		return nil, nil, fmt.Errorf("the experiment in the manifest of %s cannot be read: %w", dir, err)
	}
	return s, s.makePlans(), nil
}

// makePlans decodes what the experiment asks for. After an error there is no
// plan: what is there is not all of it.
func (s *study) makePlans() error {
	plan, err := simulate.NewPlan(s.experiment)
	models, wrong := queueing.NewPlan(s.experiment)
	choices, bad := choose.NewPlan(s.experiment)
	expectations, unfit := expect.NewPlan(s.experiment)
	serving, worse := serve.NewPlan(s.experiment, choices)
	if err := experiment.Join(err, wrong, bad, unfit, worse); err != nil {
		return err
	}
	s.plan, s.queueing, s.choices, s.serving, s.expectations = plan, models, choices, serving, expectations
	return nil
}

// readExperiment reads a file or, where there is none of that name, a
// built-in experiment, whose file is "".
func readExperiment(argument string) (file string, data []byte, err error) {
	data, err = experiment.ReadFile(argument)
	if !errors.Is(err, fs.ErrNotExist) {
		return argument, data, err
	}
	if data, ok := experiments.Read(argument); ok {
		return "", data, nil
	}
	known := experiments.Names()
	return "", nil, fmt.Errorf("no experiment %q: expected a file, or one of the built-in %s%s",
		argument, strings.Join(known, ", "), didYouMean(argument, known, ""))
}

// options are those of every job of the study.
func (s *study) options(c *cli.Context, lock *run.Lock) run.Options {
	return run.Options{
		Dir: s.dir, Workers: c.Int("workers"), FailFast: c.Bool("fail-fast"), FlushEvery: c.Duration("commit-every"),
		Progress: c.App.ErrWriter, Resume: s.resume(c), Lock: lock,
		Provenance: table.Provenance{Experiment: s.experiment.Name},
	}
}

// command is the command line that names this experiment with these changes,
// for another command: ".bin/switchyard simulate my.yaml --set a.b=v".
func (s *study) command(c *cli.Context, command string) string {
	return invoked() + " " + s.words(c, command)
}

// words are the same without the program.
func (s *study) words(c *cli.Context, command string) string {
	words := []string{command, s.argument}
	if r := s.replications; r != "" {
		words = append(words, "--replications", r)
	}
	for _, set := range c.StringSlice("set") {
		words = append(words, "--set", set)
	}
	return quoteAll(words)
}

// resume is the command that goes on after an interrupt.
func (s *study) resume(c *cli.Context) string {
	if s.again != "" {
		return s.again
	}
	words := s.command(c, c.Command.Name)
	if out := c.String("out"); out != "" {
		words += " --out " + quote(out)
	}
	if n := c.Int("workers"); n != 0 {
		words += fmt.Sprint(" --workers ", n)
	}
	if c.IsSet("commit-every") {
		words += fmt.Sprint(" --commit-every ", c.Duration("commit-every"))
	}
	for _, name := range []string{"slo", "tolerance"} {
		if c.IsSet(name) {
			words += fmt.Sprintf(" --%s %v", name, c.Float64(name))
		}
	}
	for _, name := range []string{"fail-fast", "allow-missing", "strict"} {
		if c.Bool(name) {
			words += " --" + name
		}
	}
	return words
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}

// quote makes a word safe to paste into a shell.
func quote(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:+@%") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
