package house

import (
	"strings"
	"testing"
)

// TestRulesBite breaks every rule once: a rule that nothing can break is none.
func TestRulesBite(t *testing.T) {
	for _, c := range []struct {
		rule             func(*source) []string
		path, text, want string
	}{
		{importRules, "sim/a/a.go", `package a; import _ "switchyard/stages/b"`, "never back"},
		{importRules, "sim/a/a_test.go", `package a; import _ "switchyard/stages/b"`, "never back"},
		{importRules, "stages/a/a.go", `package a; import _ "switchyard/pipeline/b"`, "never back"},
		{importRules, "sim/a/a.go", `package a; import _ "time"`, "clock"},
		{importRules, "sim/a/a.go", `package a; import _ "math/rand/v2"`, "named stream"},
		{importRules, "stages/a/a.go", `package a; import _ "math/rand"`, "named stream"},
		{importRules, "stages/a/a.go", `package a; import _ "net/http"`, "has its place"},
		{importRules, "stages/table/a.go", `package a; import _ "github.com/apache/arrow/go/v17/parquet/file"`, "cold build"},
		{purityRules, "sim/a/a.go", `package a; func f() { go f() }`, "goroutine"},
		{purityRules, "sim/a/a.go", `package a; var c chan int`, "channel"},
		{purityRules, "sim/a/a.go", `package a; import "fmt"; func f() { fmt.Println() }`, "printing"},
		{purityRules, "sim/a/a.go", `package a; func f() { println() }`, "printing"},
		{purityRules, "sim/rng/a.go", `package a; import "math/rand/v2"; var x = rand.IntN(3)`, "only the bare generator"},
		{wiringRules, "stages/a/a.go", `package a; func init() {}`, "init function"},
		{wiringRules, "stages/a/a.go", `package a; import . "fmt"`, "dot import"},
		{wiringRules, "stages/a/a.go", `package a; import "os"; func f() { os.Exit(1) }`, "only main"},
		{lengthRule, "stages/a/a.go", "package a\n" + strings.Repeat("\n", longest), "one subject"},
	} {
		s, err := parse(c.path, c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(c.rule(s), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s\n%s\ngot %q, want a complaint with %q", c.path, c.text, got, c.want)
		}
	}
}

func TestRulesAllowWhatIsMeant(t *testing.T) {
	for _, c := range []struct {
		rule       func(*source) []string
		path, text string
	}{
		{importRules, "pipeline/a/a.go", `package a; import (_ "switchyard/stages/b"; _ "switchyard/sim/c")`},
		{importRules, "sim/rng/rng.go", `package rng; import _ "math/rand/v2"`},
		{importRules, "sim/a/a_test.go", `package a; import (_ "os"; _ "time")`},
		{purityRules, "sim/rng/rng.go", `package rng; import "math/rand/v2"; var p rand.PCG`},
		{purityRules, "stages/a/a.go", `package a; func f() { go f() }`},
		{wiringRules, "pipeline/switchyard/main.go", `package main; import "os"; func main() { os.Exit(1) }`},
	} {
		s, err := parse(c.path, c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.rule(s); len(got) != 0 {
			t.Errorf("%s\n%s\ncomplaint %q", c.path, c.text, got)
		}
	}
}

func TestWordRuleBites(t *testing.T) {
	for _, line := range []string{"// TO" + "DO later", "see issue" + " #12", "open /wor" + "k/main", "not" + " implemented"} {
		if len(wordRule("a.go", line)) == 0 {
			t.Errorf("%q has no place in the tree and passes", line)
		}
	}
	for _, line := range []string{"the network/ folder", "an issue of taste", "hackney"} {
		if got := wordRule("a.go", line); len(got) != 0 {
			t.Errorf("%q: complaint %q", line, got)
		}
	}
}

func TestDocRuleBites(t *testing.T) {
	for doc, ok := range map[string]bool{
		"": false, "Package b is short.": false, "Package other\n\nis\nlong\n": false,
		"Package b is\none\n\nwith an example\n": true,
	} {
		if got := docRule("stages/b", doc); (got == "") != ok {
			t.Errorf("doc %q: %q", doc, got)
		}
	}
}
