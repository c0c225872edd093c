package endpoint

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func record(n int) Record {
	return Record{Key: fmt.Sprint("key", n), Endpoint: "http://h/v1", Model: "m", Parameters: []byte(`{}`), Messages: say(fmt.Sprint(n)),
		Answer: fmt.Sprintf("answer <%d> ☂", n), Finish: "stop", InputTokens: n, OutputTokens: 2, LatencyUs: 3, Attempts: 1, Dollars: 0.5}
}

func mustOpen(t testing.TB, path string, offline bool) *Answers {
	t.Helper()
	a, err := OpenAnswers(path, offline)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// TestTornLine: whatever part of the last line a crash has left, the lines
// before it are kept, the next one stands on a line of its own, and offline
// nothing is written.
func TestTornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	a := mustOpen(t, path, false)
	for n := range 2 {
		if _, err := a.Keep(record(n)); err != nil {
			t.Fatal(err)
		}
	}
	a.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(whole, '\n') + 1
	for cut := first; cut <= len(whole); cut++ {
		if err := os.WriteFile(path, whole[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		if off := mustOpen(t, path, true); off.Len() != 1 && cut < len(whole) {
			t.Fatalf("cut at %d: %d answers offline", cut, off.Len())
		}
		a := mustOpen(t, path, false)
		if _, err := a.Keep(record(2)); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		a.Close()
		got := mustOpen(t, path, false)
		_, second := got.Find("key1")
		if complete := cut >= len(whole)-1; second != complete {
			t.Fatalf("cut at %d of %d: the second answer is there: %v", cut, len(whole), second)
		}
		if answer, ok := got.Find("key2"); !ok || answer.Text != "answer <2> ☂" {
			t.Fatalf("cut at %d: the third answer is %+v", cut, answer)
		}
		got.Close()
	}
}

// TestSharedFile: several users of one file, as several processes are, lose
// nothing, see what others wrote, and agree on the answer that was first.
func TestSharedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	const users, each = 4, 50
	var wait sync.WaitGroup
	given := make([][]Answer, users)
	for u := range users {
		a := mustOpen(t, path, false)
		given[u] = make([]Answer, each)
		wait.Add(1)
		go func() {
			defer wait.Done()
			for n := range each {
				r := record(n)
				r.Answer = fmt.Sprint("of user ", u)
				var err error
				if given[u][n], err = a.Keep(r); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wait.Wait()
	a := mustOpen(t, path, false)
	if a.Len() != each || a.lines != each {
		t.Fatalf("%d answers in %d lines, expected %d", a.Len(), a.lines, each)
	}
	for n := range each {
		want, _ := a.Find(record(n).Key)
		for u := range users {
			if given[u][n] != want {
				t.Errorf("answer %d: user %d has %+v, the file %+v", n, u, given[u][n], want)
			}
		}
	}
}

func TestAnswersErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "answers.jsonl")
	good, err := encode(record(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(good, "{\"half\n"...), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenAnswers(path, false); err == nil || !strings.Contains(err.Error(), "answers.jsonl:2: the line is no record of an answer") {
		t.Error(err)
	}
	for _, damage := range []string{"input_tokens", "output_tokens", "latency_us", "dollars"} {
		bad := bytes.Replace(good, []byte(`"`+damage+`":`), []byte(`"`+damage+`":-`), 1)
		if err := os.WriteFile(path, bad, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenAnswers(path, false); err == nil || !strings.Contains(err.Error(), "answers.jsonl:1: the line is no record of an answer") {
			t.Errorf("%s below 0: %v", damage, err)
		}
	}
	if a, err := OpenAnswers(filepath.Join(dir, "none"), true); err != nil || a.Len() != 0 {
		t.Errorf("offline without a file: %v", err)
	}
	if _, err := OpenAnswers(filepath.Join(dir, "no", "folder"), false); err == nil {
		t.Error("a file in a folder that is not there was opened")
	}
}

// FuzzAnswers: no file makes a reader panic, and one that can be read can be
// added to and read again.
func FuzzAnswers(f *testing.F) {
	good, err := encode(record(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte("\n\n{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "a")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		a, err := OpenAnswers(path, false)
		if err != nil {
			return
		}
		defer a.Close()
		n := a.Len()
		_, known := a.Find("key7")
		if _, err := a.Keep(record(7)); err != nil {
			t.Fatal(err)
		}
		b, err := OpenAnswers(path, true)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if _, ok := b.Find("key7"); !ok || b.Len() < n || known && b.Len() > n+1 {
			t.Errorf("%d answers before, %d after", n, b.Len())
		}
	})
}
