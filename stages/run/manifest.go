package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Manifest is what `manifest.json` says about an experiment's folder: all that
// the tables leave out so that their bytes depend on the experiment alone.
type Manifest struct {
	Name       string    `json:"name"`
	Experiment string    `json:"experiment"`     // the experiment file with every default resolved, as YAML
	File       string    `json:"file,omitempty"` // the experiment file, absolute: paths of traces start at its folder; absent for a built-in one
	Command    []string  `json:"command,omitempty"`
	Build      Build     `json:"build"`
	Machine    Machine   `json:"machine"`
	Started    time.Time `json:"started"`            // of the last run
	Finished   time.Time `json:"finished,omitzero"`  // of the last run; absent while it runs and after a kill
	Stages     []Stage   `json:"stages"`             // in order of their first run
	Failures   []Failure `json:"failures,omitempty"` // as table `failures`, of the stages of the last run
	Warnings   []string  `json:"warnings,omitempty"`
	Notes      []string  `json:"notes,omitempty"` // what was left out of the inputs, or rearranged in them
}

// Stage is one job of the experiment.
type Stage struct {
	Name        string           `json:"name"`
	Started     time.Time        `json:"started"`
	Seconds     float64          `json:"seconds"` // wall time of the last run, compaction included
	Compaction  float64          `json:"compaction_seconds"`
	Workers     int              `json:"workers"`
	Tasks       int              `json:"tasks"`
	Done        int              `json:"done"`    // by the last run
	Skipped     int              `json:"skipped"` // done by earlier runs
	Failed      int              `json:"failed"`
	Left        int              `json:"left"`
	Interrupted bool             `json:"interrupted"`
	Rows        map[string]int64 `json:"rows,omitempty"` // of the finished tables
	// Rates of the last run that did something.
	TasksPerSecond        float64 `json:"tasks_per_second,omitempty"`
	WeightPerWorkerSecond float64 `json:"weight_per_worker_second,omitempty"`
	UnitsPerSecond        float64 `json:"units_per_second,omitempty"`
	Unit                  string  `json:"unit,omitempty"`
}

// manifestName is the file's name in the experiment's folder.
const manifestName = "manifest.json"

// NewManifest starts the manifest of a run in the folder. It carries over what
// an earlier run measured, for stages that turn out to have nothing to do. An
// unreadable earlier manifest is replaced, with a warning in the new one.
func NewManifest(dir, name string) (Manifest, error) {
	m := Manifest{Name: name, Command: os.Args, Build: thisBuild(), Machine: thisMachine(), Started: time.Now()}
	before, err := ReadManifest(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.As(err, new(*json.SyntaxError)), errors.As(err, new(*json.UnmarshalTypeError)):
		m.Warnings = append(m.Warnings, fmt.Sprintf("the earlier manifest was unreadable and is replaced: %v", err))
	case err != nil:
		return m, err
	}
	m.Stages = before.Stages
	return m, nil
}

// Add enters what a job did.
func (m *Manifest) Add(r Report) {
	at := slices.IndexFunc(m.Stages, func(s Stage) bool { return s.Name == r.Stage })
	if at < 0 {
		at = len(m.Stages)
		m.Stages = append(m.Stages, Stage{Name: r.Stage})
	}
	s := &m.Stages[at]
	s.Started, s.Seconds, s.Compaction = r.Started, r.Elapsed.Seconds(), r.Compaction.Seconds()
	s.Workers, s.Interrupted = r.Workers, r.Interrupted
	s.Done, s.Skipped, s.Failed, s.Left = r.Done, r.Skipped, r.Failed, r.Left
	s.Tasks = r.Done + r.Skipped + r.Failed + r.Left
	if r.Rows != nil {
		s.Rows = r.Rows
	}
	if working := (r.Elapsed - r.Compaction).Seconds(); r.Done > 0 && working > 0 && r.Busy > 0 {
		s.TasksPerSecond = float64(r.Done) / working
		s.UnitsPerSecond, s.Unit = float64(r.Units)/working, r.Unit
		s.WeightPerWorkerSecond = r.Weight / r.Busy.Seconds()
	}
	m.Failures = append(m.Failures, r.Failures...)
	m.Warnings = append(m.Warnings, r.Corrupt...)
}

// ReadManifest reads the folder's manifest; the error is fs.ErrNotExist when
// there is none.
func ReadManifest(dir string) (Manifest, error) {
	var m Manifest
	path := filepath.Join(dir, manifestName)
	data, err := os.ReadFile(path)
	if err != nil {
		return m, fmt.Errorf("manifest: %w", err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return Manifest{}, fmt.Errorf("manifest %s: %w", path, err)
	}
	return m, nil
}

// WriteManifest replaces the folder's manifest atomically.
func WriteManifest(dir string, m Manifest) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("%w: manifest: %w", ErrStorage, err)
	}
	if err := replaceFile(filepath.Join(dir, manifestName), append(data, '\n')); err != nil {
		return fmt.Errorf("%w: manifest: %w", ErrStorage, err)
	}
	return nil
}
