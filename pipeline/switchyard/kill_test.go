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
	"strings"
	"syscall"
	"testing"
	"time"
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
func straight(t *testing.T) (dir string, took time.Duration) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "straight")
	var stderr bytes.Buffer
	start := time.Now()
	if err := program(t, &stderr, "--out", dir).Run(); err != nil {
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

// TestInterruptSaysHowToResume sends one SIGINT: exit code 130, and the
// command that it prints completes the run to the same bytes.
func TestInterruptSaysHowToResume(t *testing.T) {
	want, took := straight(t)
	dir := filepath.Join(t.TempDir(), "interrupted")
	var stderr bytes.Buffer
	cmd := program(t, &stderr, "--out", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(took / 2)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Fatalf("interrupted: %v, expected exit code 130: %s", err, &stderr)
	}
	found := resumeCommand.FindStringSubmatch(stderr.String())
	if found == nil {
		t.Fatalf("no command to resume with in %q", &stderr)
	}
	resume := exec.Command(programName, strings.Fields(found[1])...)
	if out, err := resume.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", found[0], err, out)
	}
	if difference := compareTables(want, dir); difference != "" {
		t.Fatalf("resumed: differs in %s", difference)
	}
}

// TestSecondInterruptAborts: two signals end the program at once, with 130 too.
func TestSecondInterruptAborts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "aborted")
	var stderr bytes.Buffer
	cmd := program(t, &stderr, "--out", dir, "--set", "workloads.tool.requests=3000000", "--seeds", "1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	start := time.Now()
	for range 2 {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Fatalf("aborted: %v, expected exit code 130: %s", err, &stderr)
	}
	t.Logf("ended %v after the first signal", time.Since(start))
}
