package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// demo is a program with one command that records what it was called with.
func demo(got *[]string) *cli.App {
	app := newApp(io.Discard, io.Discard)
	app.Commands = []*cli.Command{{
		Name: "demo",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}},
			&cli.StringSliceFlag{Name: "set"},
			&cli.Float64Flag{Name: "warm-up"},
			&cli.BoolFlag{Name: "dry-run"},
		},
		HideHelpCommand: true,
		Action: func(c *cli.Context) error {
			*got = append([]string{c.String("out"), strings.Join(c.StringSlice("set"), "+")}, c.Args().Slice()...)
			if c.Bool("dry-run") {
				*got = append(*got, "dry")
			}
			return nil
		},
	}}
	return app
}

func TestArrangeTakesCommentsForArguments(t *testing.T) {
	for _, sql := range []string{"-- all\nfrom cells", "--all\nfrom cells", "-- a = b\nfrom cells"} {
		var got []string
		app := demo(&got)
		words, err := arrange(app, []string{"demo", "--out", "x y", sql})
		if err == nil {
			err = app.Run(append([]string{programName}, words...))
		}
		if want := []string{"x y", "", sql}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%q gives %q, %v", sql, got, err)
		}
	}
}

func TestArrangeLetsFlagsStandAnywhere(t *testing.T) {
	for _, c := range []struct{ words, want string }{
		{"demo a b", "||a|b"},
		{"demo a --out x b", "x||a|b"},
		{"demo --out x a b", "x||a|b"},
		{"demo a b -o x", "x||a|b"},
		{"demo a --out=x=y b", "x=y||a|b"},
		{"demo a --set p=1,2 --set q=3", "|p=1,2+q=3|a"},
		{"demo a --dry-run b", "||a|b|dry"},
		{"demo a --dry-run=false b", "||a|b"},
		{"demo a -- --out x", "||a|--out|x"},
		{"demo -- -o", "||-o"},
		{"demo -5 -0.25 -", "||-5|-0.25|-"},
		{"demo a -o -5", "-5||a"},
		{"demo -warm-up 0.5 a", "||a"},
		{"demo help h", "||help|h"},
	} {
		var got []string
		app := demo(&got)
		words, err := arrange(app, strings.Fields(c.words))
		if err != nil {
			t.Errorf("%s: %v", c.words, err)
			continue
		}
		if err := app.Run(append([]string{programName}, words...)); err != nil {
			t.Errorf("%s: %v", c.words, err)
		}
		if s := strings.Join(got, "|"); s != c.want {
			t.Errorf("%s: got %s, want %s", c.words, s, c.want)
		}
	}
}

func TestArrangeNamesTheNearest(t *testing.T) {
	for words, want := range map[string]string{
		"dmeo":           `unknown command "dmeo"; did you mean demo?`,
		"zzzzzz":         `unknown command "zzzzzz"; ` + invoked() + " help",
		"demo --ouy x":   `demo: unknown flag --ouy; did you mean --out?`,
		"demo --ouy=x":   `demo: unknown flag --ouy; did you mean --out?`,
		"demo a -x":      "demo: unknown flag -x; see " + invoked() + " demo --help",
		"demo a --out":   `demo: flag --out needs a value`,
		"--hlep":         `switchyard: unknown flag --hlep; did you mean --help?`,
		"help dem":       `unknown command "dem"; did you mean demo?`,
		"demo --dryrun":  `did you mean --dry-run?`,
		"demo --warm_up": `did you mean --warm-up?`,
	} {
		var got []string
		_, err := arrange(demo(&got), strings.Fields(words))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", words, err, want)
		}
	}
}

func TestArrangeKeepsEveryWord(t *testing.T) {
	words := []string{"demo", "a", "--set", "x", "--dry-run", "b", "-o", "c", "--", "d"}
	var got []string
	out, err := arrange(demo(&got), words)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(words)
	slices.Sort(out)
	if !slices.Equal(words, out) {
		t.Errorf("arranged words %q are not a permutation of %q", out, words)
	}
}
