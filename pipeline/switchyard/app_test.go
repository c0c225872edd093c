package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommandsAreAsTheProgramWasStarted: what the program tells to type works
// where it is not on the path.
func TestCommandsAreAsTheProgramWasStarted(t *testing.T) {
	defer func(name string) { os.Args[0] = name }(os.Args[0])
	os.Args[0] = "./my tools/run.sh"
	const typed = "'./my tools/run.sh' "
	tiny, err := filepath.Abs("testdata/tiny.yaml")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, c := range []struct{ words, want string }{
		{"rnu", typed + "help lists the commands"},
		{"run --worker 3", "see " + typed + "run --help"},
		{"run mooncake", typed + "run mooncake --set"},
		{"list experiments quickstart", "run it  " + typed + "run quickstart"},
		{"run " + tiny + " --seeds 1", typed + "query out/tiny"},
	} {
		var out bytes.Buffer
		execute(strings.Fields(c.words), &out, &out)
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: printed %s, expected %s in it", c.words, &out, c.want)
		}
	}
	if got, want := pasted("switchyard simulate x --cell 3"), typed+"simulate x --cell 3"; got != want {
		t.Errorf("pasted: %s, expected %s", got, want)
	}
}
