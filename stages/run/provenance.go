package run

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// Build says which program wrote the results.
type Build struct {
	Module string `json:"module"`
	Go     string `json:"go"`
	Target string `json:"target"` // GOOS/GOARCH, and the level of GOAMD64 and the like: other levels may give other last bits
	// Commit and Dirty are those of the source the program was built from, as
	// the Go command stamped them; a build without the stamp (go run, a build
	// outside the tree) has those of the working folder's tree instead, and
	// then CommitFrom says so.
	Commit     string            `json:"commit,omitempty"`
	Dirty      *bool             `json:"dirty,omitempty"`
	CommitFrom string            `json:"commit_from,omitempty"` // "build" or "working folder"
	Modules    map[string]string `json:"modules,omitempty"`     // dependency -> version
}

// Machine says where.
type Machine struct {
	Host       string `json:"host"`
	CPU        string `json:"cpu,omitempty"`
	Cores      int    `json:"cores"`
	GOMAXPROCS int    `json:"gomaxprocs"`
}

func thisBuild() Build {
	b := Build{Go: runtime.Version(), Target: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.read(info)
	}
	if b.Commit == "" {
		b.askGit()
	}
	return b
}

// read takes over what the Go command stamped.
func (b *Build) read(info *debug.BuildInfo) {
	b.Module = info.Main.Path
	b.Modules = make(map[string]string, len(info.Deps))
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		b.Modules[d.Path] = d.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit, b.CommitFrom = s.Value, "build"
		case "vcs.modified":
			dirty := s.Value == "true"
			b.Dirty = &dirty
		case "GOAMD64", "GOARM64":
			b.Target += " " + s.Value
		}
	}
}

// gitPatience keeps a slow network file system from holding up a run for the
// sake of a note.
const gitPatience = 5 * time.Second

// askGit asks the tree around the working folder, if git and a tree are there.
func (b *Build) askGit() {
	commit, err := git("rev-parse", "HEAD")
	if err != nil {
		return
	}
	b.Commit, b.CommitFrom = commit, "working folder"
	if changes, err := git("status", "--porcelain", "--untracked-files=no"); err == nil {
		dirty := changes != ""
		b.Dirty = &dirty
	}
}

func git(arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), gitPatience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", arguments...).Output()
	return strings.TrimSpace(string(out)), err
}

func thisMachine() Machine {
	host, _ := os.Hostname()
	return Machine{Host: host, CPU: cpuModel(), Cores: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0)}
}

// cpuModel is the processor's name where Linux tells it.
func cpuModel() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(data) {
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && string(bytes.TrimSpace(name)) == "model name" {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}

// replaceFile writes a file whole or not at all: temporary name, fsync,
// rename, fsync of the folder. The name is fixed, so that a kill leaves at most
// one such file, which the next call writes over.
func replaceFile(path string, data []byte) error {
	if err := placeFile(path, data); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

func placeFile(path string, data []byte) (err error) {
	f, err := os.Create(path + ".tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// syncFolder makes a rename inside a folder durable.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
