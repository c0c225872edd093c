package run

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

func TestManifestRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if _, err := ReadManifest(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error %v", err)
	}
	m, err := NewManifest(dir, "quick")
	if err != nil {
		t.Fatal(err)
	}
	m.Experiment = "name: quick\n"
	s := synthetic{numbers: upTo(10), pause: time.Millisecond, before: func(_ context.Context, n int, _, _ any) error {
		if n == 4 {
			return errors.New("diverged")
		}
		return nil
	}}
	m.Add(execute(t, s, Options{Dir: dir, Workers: 2, Unit: "things"}))
	if err := WriteManifest(dir, m); err != nil {
		t.Fatal(err)
	}
	got, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	stage := got.Stages[0]
	if stage.Name != "synthetic" || stage.Tasks != 10 || stage.Done != 9 || stage.Failed != 1 || stage.Workers != 2 ||
		stage.Rows["squares"] != 9 || stage.UnitsPerSecond <= 0 || stage.TasksPerSecond <= 0 || stage.WeightPerWorkerSecond <= 0 {
		t.Errorf("%+v", stage)
	}
	if got.Experiment != m.Experiment || len(got.Failures) != 1 || got.Failures[0].Error != "diverged" || !got.Finished.IsZero() {
		t.Errorf("%+v", got)
	}
	if got.Build.Go == "" || !strings.Contains(got.Build.Target, "/") || got.Machine.Cores < 1 {
		t.Errorf("%+v %+v", got.Build, got.Machine)
	}
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if strings.HasSuffix(n.Name(), ".tmp") {
			t.Errorf("%s is left over", n.Name())
		}
	}

	// A run with nothing to do keeps the rates, and drops failures that are over.
	s.before = nil
	again, err := NewManifest(dir, "quick")
	if err != nil {
		t.Fatal(err)
	}
	again.Add(execute(t, s, Options{Dir: dir}))
	rate := again.Stages[0].WeightPerWorkerSecond
	again.Add(execute(t, s, Options{Dir: dir}))
	if again.Stages[0].WeightPerWorkerSecond != rate || again.Stages[0].Skipped != 10 || len(again.Stages) != 1 || len(again.Failures) != 0 {
		t.Errorf("%+v", again)
	}
}

func TestUnreadableManifestIsReplaced(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"", "{", `{"stages": 3}`} {
		if err := os.WriteFile(filepath.Join(dir, manifestName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		m, err := NewManifest(dir, "x")
		if err != nil || len(m.Warnings) != 1 {
			t.Fatalf("%q: %v, warnings %q", text, err, m.Warnings)
		}
		if err := WriteManifest(dir, m); err != nil {
			t.Fatal(err)
		}
		if m, err = NewManifest(dir, "x"); err != nil || len(m.Warnings) != 0 {
			t.Fatalf("%q: %v, warnings %q", text, err, m.Warnings)
		}
	}
}

func TestManifestThatCannotBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteManifest(path, Manifest{}); !errors.Is(err, ErrStorage) {
		t.Errorf("error %v", err)
	}
}

func TestBuildStamp(t *testing.T) {
	var b Build
	b.read(&debug.BuildInfo{
		Main: debug.Module{Path: "switchyard"},
		Deps: []*debug.Module{{Path: "a", Version: "v1"}, {Path: "b", Version: "v2", Replace: &debug.Module{Path: "c", Version: "v3"}}},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}, {Key: "GOAMD64", Value: "v1"},
		},
	})
	dirty := true
	want := Build{
		Module: "switchyard", Target: " v1", Commit: "abc", CommitFrom: "build", Dirty: &dirty,
		Modules: map[string]string{"a": "v1", "c": "v3"},
	}
	if !reflect.DeepEqual(b, want) {
		t.Errorf("%+v, expected %+v", b, want)
	}
	data, err := json.Marshal(b)
	if err != nil || !strings.Contains(string(data), `"dirty":true`) {
		t.Errorf("%s, %v", data, err)
	}
}

func TestInspect(t *testing.T) {
	s := synthetic{numbers: upTo(10)}
	missing := filepath.Join(t.TempDir(), "missing")
	e, err := Inspect(s.job(), missing, 2)
	if err != nil || e.Tasks != 10 || e.Todo != 10 || e.Done != 0 || e.Known {
		t.Fatalf("%+v, %v", e, err)
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a look made the folder")
	}

	dir := straight(t, synthetic{numbers: upTo(6)})
	if err := WriteManifest(dir, Manifest{Stages: []Stage{{Name: "synthetic", WeightPerWorkerSecond: 0.5}}}); err != nil {
		t.Fatal(err)
	}
	// Numbers 6 to 9 weigh 1, 2, 3 and 1.
	for workers, want := range map[int]time.Duration{1: 14 * time.Second, 2: 7 * time.Second, 64: 3500 * time.Millisecond} {
		e, err := Inspect(s.job(), dir, workers)
		if err != nil || e.Done != 6 || e.Todo != 4 || e.TodoWeight != 7 || !e.Known || e.Time != want {
			t.Errorf("%d workers: %+v, %v, expected %v", workers, e, err, want)
		}
	}
	e, _ = Inspect(s.job(), dir, 2)
	if text, want := e.String(), "synthetic: 10 tasks, 6 done, 4 to do, about 7s"; text != want {
		t.Errorf("%q, expected %q", text, want)
	}
	lock, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if _, err := Inspect(s.job(), dir, 2); err != nil {
		t.Errorf("a look at a running experiment: %v", err)
	}
	followed, err := Inspect(chain(synthetic{numbers: []int{0}}), dir, 1)
	if err != nil || followed.Done != 6 || followed.Todo != 3 {
		t.Errorf("%+v, %v: expected 0 to 5 done, and 6, 100, 103 to do", followed, err)
	}
}
