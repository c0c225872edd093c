package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"switchyard/stages/simulate"
)

// kills is how many times the program is killed before the test is content.
const kills = 20

// program is the real program on testdata/kill.yaml, in a process of its own.
func program(t *testing.T, stderr *bytes.Buffer, words ...string) *exec.Cmd {
	t.Helper()
	file, err := filepath.Abs("testdata/kill.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(programName, append([]string{"run", file, "--commit-every", "20ms"}, words...)...)
	cmd.Stderr = stderr
	return cmd
}

// straight runs the experiment without disturbance and returns its folder and
// how long it took.
func straight(t *testing.T, words ...string) (dir string, took time.Duration) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "straight")
	var stderr bytes.Buffer
	start := time.Now()
	if err := program(t, &stderr, append(words, "--out", dir)...).Run(); err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	return dir, time.Since(start)
}

// TestKilledAndResumedIsTheSame kills the program with SIGKILL at random
// points, gives the same command again until it ends, and wants the bytes of a
// run without kills. Points lie anywhere from the start of the process to a
// half of a whole run, so that a run is killed several times on its way.
func TestKilledAndResumedIsTheSame(t *testing.T) {
	want, took := straight(t)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	killed, rounds := 0, 0
	for ; killed < kills; rounds++ {
		dir := filepath.Join(t.TempDir(), fmt.Sprint("round", rounds))
		for ended := false; !ended; {
			var stderr bytes.Buffer
			cmd := program(t, &stderr, "--out", dir, "--workers", fmt.Sprint(1+random.IntN(2)))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			after := time.Duration(random.Int64N(int64(took / 2)))
			timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
			err := cmd.Wait()
			timer.Stop()
			switch {
			case err == nil:
				ended = true
			case cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
				killed++
			default:
				t.Fatalf("seed %d, after %d kills: %v: %s", seed, killed, err, &stderr)
			}
			if killed > 20*kills {
				t.Fatalf("%d kills, and no run has come to its end", killed)
			}
		}
		if difference := compareTables(want, dir); difference != "" {
			t.Fatalf("seed %d, after %d kills: differs in %s", seed, killed, difference)
		}
	}
	t.Logf("%d kills in %d runs of %v", killed, rounds, took)
}

var resumeCommand = regexp.MustCompile(`resume with: switchyard (.*)`)

// TestInterruptSaysHowToResume sends one SIGINT when the first results of a
// stage are on disk: exit code 130, and the command that it prints completes
// the run to the same bytes.
func TestInterruptSaysHowToResume(t *testing.T) {
	longer := []string{"--set", "workloads.tool.requests=4000"}
	want, _ := straight(t, longer...)
	for _, parts := range []string{"*.parquet", "cells-*.parquet"} {
		dir := filepath.Join(t.TempDir(), "interrupted")
		printed := interrupted(t, dir, parts, longer)
		if parts != "*.parquet" {
			wantPartial(t, dir)
		}
		wantLeft(t, dir, printed)
		found := resumeCommand.FindStringSubmatch(printed)
		if found == nil {
			t.Fatalf("no command to resume with in %q", printed)
		}
		resume := exec.Command(programName, strings.Fields(found[1])...)
		if out, err := resume.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", found[0], err, out)
		}
		if difference := compareTables(want, dir); difference != "" {
			t.Fatalf("resumed: differs in %s", difference)
		}
	}
}

// interrupted runs the program until some part is on disk, interrupts it and
// returns what it printed.
func interrupted(t *testing.T, dir, part string, words []string) (printed string) {
	t.Helper()
	var stderr bytes.Buffer
	cmd := program(t, &stderr, append(words, "--out", dir)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, filepath.Join(dir, "parts", part))
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Fatalf("interrupted: %v, expected exit code 130: %s", err, &stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "views.sql")); err != nil {
		t.Error(err)
	}
	return stderr.String()
}

var statusLine = regexp.MustCompile(`: (\d+) tasks, \d+ done, (\d+) to do`)

// wantLeft compares what an interrupt says is left, of the stage that it met
// and those after it, with what status says.
func wantLeft(t *testing.T, dir, printed string) {
	t.Helper()
	status, err := exec.Command(programName, "status", dir).CombinedOutput()
	left, tasks := 0, 0
	var allowed []string // the stage may be any of them
	stages := statusLine.FindAllStringSubmatch(string(status), -1)
	for i := len(stages) - 1; i >= 0; i-- {
		of, _ := strconv.Atoi(stages[i][1])
		todo, _ := strconv.Atoi(stages[i][2])
		left, tasks = left+todo, tasks+of
		allowed = append(allowed, fmt.Sprintf("interrupted with %d of %d tasks left", left, tasks))
	}
	if err != nil || !slices.ContainsFunc(allowed, func(text string) bool { return strings.Contains(printed, text) }) {
		t.Errorf("printed %s, expected one of %q, as in %s: %v", printed, allowed, status, err)
	}
}

// wantPartial wants what was done before an interrupt to be tables, and whoever
// concludes something from them to be warned.
func wantPartial(t *testing.T, dir string) {
	t.Helper()
	if cells, err := simulate.Cells.Read(dir); err != nil || len(cells) == 0 {
		t.Errorf("%d cells can be read: %v", len(cells), err)
	}
	if views, err := os.ReadFile(filepath.Join(dir, "views.sql")); err != nil || !strings.Contains(string(views), `VIEW "cells"`) {
		t.Errorf("no view of cells in views.sql: %v\n%s", err, views)
	}
	out, err := exec.Command(programName, "aggregate", dir, "--allow-missing").CombinedOutput()
	for _, want := range []string{"incomplete: ", "did not finish; it was killed, interrupted, or is running; complete it by: switchyard run "} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("aggregate: %v: %s, expected %q", err, out, want)
		}
	}
}

// waitFor waits until some file matches.
func waitFor(t *testing.T, pattern string) {
	t.Helper()
	for range 3000 {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("nothing matches %s after 30 s", pattern)
}

// TestPatientCountsOneSignal: one signal is noticed and the next given back.
func TestPatientCountsOneSignal(t *testing.T) {
	signals := make(chan os.Signal, 1)
	if patient(signals, func() { t.Error("given back without a signal") })() {
		t.Error("an interrupt without a signal")
	}
	signals <- os.Interrupt
	given := make(chan struct{})
	interrupted := patient(signals, func() { close(given) })
	<-given
	if !interrupted() {
		t.Error("the signal was lost")
	}
}

// TestSecondInterruptAborts: another signal ends the program without waiting
// for cells that take a minute, with 130 too.
func TestSecondInterruptAborts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "aborted")
	var stderr bytes.Buffer
	cmd := program(t, &stderr, "--out", dir, "--set", "workloads.tool.requests=3000000", "--seeds", "1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, filepath.Join(dir, "manifest.json"))
	time.Sleep(200 * time.Millisecond) // into the first tasks, which make 3 million requests each
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	// A signal that comes before the one ahead of it was noticed is lost, so
	// they are repeated as an impatient person would.
	for running := true; running; {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case err = <-ended:
			running = false
		case <-time.After(300 * time.Millisecond):
		}
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Fatalf("aborted: %v, expected exit code 130: %s", err, &stderr)
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "parts", "*.parquet")); len(found) > 0 {
		t.Errorf("%v: tasks in flight came to their end", found)
	}
}
