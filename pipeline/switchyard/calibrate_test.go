package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is wrong with the input is told with exit code 2, and a fit that
// describes nothing with 1.
func TestCalibrateExitCodes(t *testing.T) {
	t.Chdir(t.TempDir())
	good := measuredRun(500)
	lines := strings.Split(strings.TrimSpace(good), "\n")
	for i, line := range lines[1:] { // latencies in milliseconds
		cells := strings.Split(line, ",")
		cells[3], cells[4] = cells[3]+"e3", cells[4]+"e3"
		lines[i+1] = strings.Join(cells, ",")
	}
	for name, text := range map[string]string{"a.csv": good, "copy.csv": good, "ms.csv": strings.Join(lines, "\n") + "\n", filepath.Join("experiment", "manifest.json"): "{}"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		words, want string
		code        int
	}{
		{"a.csv --hold-out copy.csv", "copy.csv, held out, has the same requests as a.csv", 2},
		{"a.csv copy.csv", "a.csv and copy.csv have the same requests", 2},
		{"--hold-out a.csv", "every run is held out", 2},
		{"a.csv --out copy.csv", "--out is copy.csv, which is a file", 2},
		{"a.csv --out copy.csv/x", "--out is copy.csv/x, expected a folder", 2},
		{"a.csv --out experiment", "the folder of an experiment", 2},
		{"a.csv --engine-set max_num_seqs=x", `value "x", expected a whole number`, 2},
		{"a.csv --engine-set num_blocks=5", "is rejected in the simulation and was served in reality", 2},
		{"a.csv --weight-dtype int4", `--weight-dtype is "int4"`, 2},
		{"a.csv --tensor-parallel 0", "--tensor-parallel is 0, expected at least 1", 2},
		{"ms.csv", "are the units seconds?", 1},
	} {
		var stdout, stderr bytes.Buffer
		words := append([]string{"calibrate", "--step", "linear"}, strings.Fields(c.words)...)
		if code := execute(words, &stdout, &stderr); code != c.code || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("calibrate %s: exit code %d, want %d with %q in\n%s", c.words, code, c.code, c.want, stderr.String())
		}
		if strings.Contains(stdout.String(), "clusters:") {
			t.Errorf("calibrate %s offers something to paste", c.words)
		}
	}
}
