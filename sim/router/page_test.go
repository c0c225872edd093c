package router

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"switchyard/sim/param"
)

var update = flag.Bool("update", false, "write README.md anew")

// TestPageIsCurrent: README.md of this folder is what the table of policies
// says. `go test ./sim/router -run Page -update` writes it.
func TestPageIsCurrent(t *testing.T) {
	var page bytes.Buffer
	writePage(&page)
	if *update {
		if err := os.WriteFile("README.md", page.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, page.Bytes()) {
		t.Error("README.md is not what the table of policies says; write it by: go test ./sim/router -run Page -update")
	}
	for _, p := range Policies() {
		for what, text := range map[string]string{"summary": p.Summary, "needs": p.Needs, "ties": p.TieBreak, "source": p.Source} {
			if text == "" {
				t.Errorf("policy %s has no %s", p.Name, what)
			}
		}
	}
}

func writePage(b *bytes.Buffer) {
	b.WriteString("# Routing policies\n\n" +
		"Written from the table of policies by `go test ./sim/router -run Page -update`;\n" +
		"`switchyard list routers NAME` says the same. What \"not verified against code\" is\n" +
		"said of is known from documentation or a paper only. Section `view` of a router in\n" +
		"an experiment changes what a policy sees, see `switchyard list view`.\n\n" +
		"| policy | formula | must know | ties |\n| --- | --- | --- | --- |\n")
	for _, p := range Policies() {
		fmt.Fprintf(b, "| [%s](#%s) | %s | %s | %s |\n", p.Name, anchor(p.Name), cell(cmp.Or(p.Formula, p.Summary)), cell(p.Needs), cell(p.TieBreak))
	}
	for _, p := range Policies() {
		fmt.Fprintf(b, "\n## %s\n\n%s.\n\n", p.Name, upper(p.Summary))
		for _, fact := range [][2]string{
			{"formula", p.Formula}, {"must know", p.Needs}, {"believes of caches", p.Belief}, {"how fresh", p.Staleness},
			{"terms in table `decisions`", strings.Join(p.Terms, ", ")}, {"ties", p.TieBreak}, {"source", p.Source},
		} {
			if fact[1] != "" {
				fmt.Fprintf(b, "- %s: %s\n", fact[0], fact[1])
			}
		}
		fields := param.Fields(p.New())
		if len(fields) == 0 {
			continue
		}
		b.WriteString("\n| parameter | default | unit | meaning |\n| --- | --- | --- | --- |\n")
		for _, f := range fields {
			standard := f.Default
			if f.Required {
				standard = "(required)"
			}
			if f.Enum != nil {
				standard += " of " + strings.Join(f.Enum, ", ")
			}
			fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", f.Name, cell(standard), cell(f.Unit), cell(f.Doc))
		}
	}
}

// anchor is what a heading is linked by.
func anchor(heading string) string { return strings.ReplaceAll(heading, ".", "") }

// cell makes a text fit for a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
