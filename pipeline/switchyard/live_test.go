package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"switchyard/sim/compound"
	"switchyard/sim/param"
	"switchyard/stages/choose"
	"switchyard/stages/endpoint/toyserver"
	"switchyard/stages/run"

	"github.com/rogpeppe/go-internal/testscript"
)

// toyKey is the key that servers of live tests ask for, and echo wherever they
// can.
const toyKey = "sk-live-0123456789abcdef"

// toyBehind is the lecture's case study behind a server that wants toyKey.
type toyBehind struct {
	*httptest.Server
	toy      *toyserver.Server
	calls    atomic.Int64
	answered atomic.Int64
	delay    time.Duration
	broken   atomic.Bool // it refuses, and echoes what it was sent
}

func startToy(t interface{ Fatal(...any) }) *toyBehind {
	g, err := func() (*compound.Graph, error) {
		p := new(compound.LocateSolve)
		param.Defaults(p)
		return p.Graph()
	}()
	if err != nil {
		t.Fatal(err)
	}
	split, err := new(compound.CaseStudy).Build(g, compound.Env{})
	if err != nil {
		t.Fatal(err)
	}
	b := new(toyBehind)
	if b.toy, err = toyserver.New(split); err != nil {
		t.Fatal(err)
	}
	b.Server = httptest.NewServer(http.HandlerFunc(b.serve))
	return b
}

func (b *toyBehind) serve(w http.ResponseWriter, r *http.Request) {
	b.calls.Add(1)
	if r.Header.Get("Authorization") != "Bearer "+toyKey || b.broken.Load() {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error": {"message": "wrong key: Authorization: %s"}}`, r.Header.Get("Authorization"))
		return
	}
	time.Sleep(b.delay)
	b.toy.ServeHTTP(w, r)
	b.answered.Add(1)
}

// experiment is a file that asks the server, in the case study's own split:
// the same questions to choose on and to test on.
func (b *toyBehind) experiment() string {
	prompts := b.toy.Prompts()
	return fmt.Sprintf(`name: live
replications: 1
systems: [locate-solve]
worlds:
  - name: toy
    world: live
    start: [C, C]
    endpoints: {toy: {base_url: "${TOY_URL}/v1", key_env: TOY_KEY, concurrency: 4, retry_wait_s: 0.01}}
    models: {A: {input_price: 5, temperature: 0}, B: {input_price: 3, temperature: 0}, C: {input_price: 1, temperature: 0}, D: {temperature: 0}, E: {temperature: 0}}
    prompts:
      locate: %q
      solve: %q
    questions: questions.csv
    train: 100
    split: file
    metric: numeric_match
    answers: answers.jsonl
    diagnoser: {model: A}
optimisers: [single, llmselector, {name: steepest, optimiser: greedy, ascent: steepest}]
`, prompts["locate"], prompts["solve"])
}

// toyCommands are what scripts have beside the commands of testscript:
//
//	toyserver       starts a server, sets TOY_URL, and writes live.yaml and questions.csv
//	toycalls N      fails unless the server has had N calls since it was asked last
func toyCommands() map[string]func(*testscript.TestScript, bool, []string) {
	servers := sync.Map{} // by working folder
	return map[string]func(*testscript.TestScript, bool, []string){
		"toyserver": func(ts *testscript.TestScript, _ bool, _ []string) {
			b := startToy(fatal{ts})
			ts.Defer(b.Close)
			servers.Store(ts.MkAbs("."), b)
			ts.Setenv("TOY_URL", b.URL)
			ts.Check(os.WriteFile(ts.MkAbs("live.yaml"), []byte(b.experiment()), 0o666))
			ts.Check(os.WriteFile(ts.MkAbs("questions.csv"), []byte(b.toy.Questions()), 0o666))
		},
		"toycalls": func(ts *testscript.TestScript, neg bool, args []string) {
			b, ok := servers.Load(ts.MkAbs("."))
			if !ok || len(args) != 1 {
				ts.Fatalf("usage: toycalls N, behind toyserver")
			}
			want, err := strconv.Atoi(args[0])
			ts.Check(err)
			if got := int(b.(*toyBehind).calls.Swap(0)); (got == want) == neg {
				ts.Fatalf("%d calls, expected %d", got, want)
			}
		},
	}
}

type fatal struct{ ts *testscript.TestScript }

func (f fatal) Fatal(values ...any) { f.ts.Fatalf("%v", values) }

// liveFolder is a folder with a live experiment.
func liveFolder(t *testing.T, b *toyBehind) string {
	dir := t.TempDir()
	for name, text := range map[string]string{"live.yaml": b.experiment(), "questions.csv": b.toy.Questions()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func liveCommand(dir string, b *toyBehind, words ...string) *exec.Cmd {
	cmd := exec.Command(programName, words...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TOY_URL="+b.URL, "TOY_KEY="+toyKey)
	return cmd
}

// TestKilledLiveRunLosesWhatWasInFlight kills a live run again and again: all
// that the server had answered is kept, but for the calls in flight, is not
// asked again, and the tables are those of a run without kills on the same
// answers.
func TestKilledLiveRunLosesWhatWasInFlight(t *testing.T) {
	b := startToy(t)
	defer b.Close()
	dir := liveFolder(t, b)
	b.delay = 2 * time.Millisecond
	const inFlight = 4
	kills, distinct := 0, int64(0)
	for ended := false; !ended; {
		cmd := liveCommand(dir, b, "choose", "live.yaml")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(150+150*kills)*time.Millisecond, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		timer.Stop()
		time.Sleep(10 * b.delay) // the server's own end
		kept, _ := os.ReadFile(filepath.Join(dir, "answers.jsonl"))
		lines, answered := int64(bytes.Count(kept, []byte("\n"))), b.answered.Load()
		if ended = err == nil; !ended {
			kills++
		}
		distinct = lines
		if lost := answered - lines; lost > int64(inFlight*kills) || lost < 0 {
			t.Fatalf("after %d kills: %d answers and %d lines", kills, answered, lines)
		}
		if kills > 100 {
			t.Fatal("no run comes to its end")
		}
	}
	calls := b.calls.Load()
	if kills < 2 || calls > distinct+int64(inFlight*kills) {
		t.Errorf("%d calls with %d kills for %d answers", calls, kills, distinct)
	}
	// Other answers take another time: a run without kills on these answers.
	straight := liveFolder(t, b)
	if err := os.Rename(filepath.Join(dir, "answers.jsonl"), filepath.Join(straight, "answers.jsonl")); err != nil {
		t.Fatal(err)
	}
	if out, err := liveCommand(straight, b, "choose", "live.yaml").CombinedOutput(); err != nil || b.calls.Load() != calls {
		t.Fatalf("%d calls more: %v: %s", b.calls.Load()-calls, err, out)
	}
	if difference := compareTables(filepath.Join(straight, "out/live"), filepath.Join(dir, "out/live")); difference != "" {
		t.Errorf("after %d kills: differs in %s", kills, difference)
	}
	t.Logf("%d kills, %d calls for %d answers", kills, calls, distinct)
}

// TestKeysStayOut: the key of an endpoint that echoes it is in nothing that the
// program writes or prints, whether it works or fails.
func TestKeysStayOut(t *testing.T) {
	b := startToy(t)
	defer b.Close()
	for _, broken := range []bool{false, true} {
		b.broken.Store(broken)
		dir := liveFolder(t, b)
		out, err := liveCommand(dir, b, "run", "live.yaml").CombinedOutput()
		if (err != nil) != broken {
			t.Fatalf("%v: %s", err, out)
		}
		if broken && !strings.Contains(string(out), "wrong key: Authorization: Bearer (not shown); check the key in TOY_KEY") {
			t.Errorf("printed %s", out)
		}
		files := 0
		err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			out = append(append(out, '\n'), data...)
			files++
			return err
		})
		if err != nil || files < 6 {
			t.Fatalf("%d files: %v", files, err)
		}
		// Tables are compressed: their rows too.
		if broken {
			rows, err := run.Failures.Read(filepath.Join(dir, "out/live"))
			if err != nil || len(rows) == 0 {
				t.Fatalf("%d failures: %v", len(rows), err)
			}
			out = fmt.Appendf(out, "%+v", rows)
		} else {
			rows, err := choose.Selections.Read(filepath.Join(dir, "out/live"))
			if err != nil {
				t.Fatal(err)
			}
			out = fmt.Appendf(out, "%+v", rows)
		}
		if at := bytes.Index(out, []byte(toyKey)); at >= 0 {
			t.Errorf("broken %v: the key is in %q", broken, out[max(0, at-100):at+len(toyKey)])
		}
	}
}

// What README.md's live experiment asks about, and a failure to diagnose.
const (
	rowQuestions = "question,answer,table\n1,2,1: 1+1; 2: 2+3\n2,5,1: 1+1; 2: 2+3\n1,9,1: 4+5; 2: 7+8\n2,15,1: 4+5; 2: 7+8\n"

	labelledFailures = "run,question,answer,module,output,mistaken\nr1,1,2,locate,2+3,1\nr1,1,2,solve,final answer: 5,0\n"
)

// serveArithmetic answers README.md's prompts: the small model adds one too
// many, the large one copies another row.
func serveArithmetic(w http.ResponseWriter, r *http.Request) {
	var call struct {
		Model    string
		Messages []struct{ Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil || len(call.Messages) != 1 {
		http.Error(w, "no call", http.StatusBadRequest)
		return
	}
	text, reply := call.Messages[0].Content, "[[verdict: no]]"
	small := strings.Contains(call.Model, "-7b")
	var row, x, y int
	switch {
	case strings.Contains(text, "Judge module 1 (locate)"):
		reply = "It copied another row. [[verdict: yes]]"
	case strings.HasPrefix(text, "Copy the task of row "):
		_, table, _ := strings.Cut(text, ": ")
		_, _ = fmt.Sscanf(text, "Copy the task of row %d", &row)
		if !small {
			row = 3 - row
		}
		_, task, _ := strings.Cut(table, fmt.Sprintf("%d: ", row))
		reply, _, _ = strings.Cut(task, ";")
	case strings.HasPrefix(text, "Solve"):
		_, task, _ := strings.Cut(text, ": ")
		_, _ = fmt.Sscanf(task, "%d+%d", &x, &y)
		if small {
			x++
		}
		reply = fmt.Sprintf("final answer: %d", x+y)
	}
	quoted, _ := json.Marshal(reply)
	fmt.Fprintf(w, `{"choices": [{"message": {"content": %s}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 4}}`, quoted)
}
