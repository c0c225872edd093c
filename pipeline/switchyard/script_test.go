package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the wanted outputs inside testdata/script")

// TestMain makes this test binary the program as well: scripts, and tests that
// start processes, find it on their path under its name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){programName: main})
}

// TestScripts runs the cases of testdata/script, one behaviour a file. They
// begin with the folder's tiny.yaml beside them and have more commands than
// testscript: same DIR DIR compares all table files byte by byte; see toyCommands
// for those of live models.
func TestScripts(t *testing.T) {
	tiny, err := filepath.Abs("testdata/tiny.yaml")
	if err != nil {
		t.Fatal(err)
	}
	commands := toyCommands()
	commands["same"] = func(ts *testscript.TestScript, neg bool, dirs []string) {
		if len(dirs) != 2 {
			ts.Fatalf("usage: same DIR DIR")
		}
		difference := compareTables(ts.MkAbs(dirs[0]), ts.MkAbs(dirs[1]))
		if neg == (difference == "") {
			ts.Fatalf("tables of %s: difference %q", strings.Join(dirs, " and "), difference)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			data, err := os.ReadFile(tiny)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(env.WorkDir, "tiny.yaml"), data, 0o666)
		},
		Condition: func(condition string) (bool, error) { return condition == "duckdb" && version().DuckDB, nil },
		Cmds:      commands,
	})
}

// compareTables says in what the table files of two results differ; "" when
// they are the same files to the byte, and there are some.
func compareTables(a, b string) string {
	files := func(dir string) []string {
		found, _ := filepath.Glob(filepath.Join(dir, "*", "part-*.parquet"))
		for i, f := range found {
			found[i], _ = filepath.Rel(dir, f)
		}
		return found
	}
	in, other := files(a), files(b)
	if len(in) == 0 {
		return "no tables in " + a
	}
	if strings.Join(in, " ") != strings.Join(other, " ") {
		return strings.Join(in, " ") + " against " + strings.Join(other, " ")
	}
	for _, f := range in {
		x, errX := os.ReadFile(filepath.Join(a, f))
		y, errY := os.ReadFile(filepath.Join(b, f))
		if errX != nil || errY != nil || string(x) != string(y) {
			return f
		}
	}
	return ""
}
