package table

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// tempSuffix marks a file that is being written. No reader's pattern matches
// it, and OpenParts removes what a killed process left of it.
const tempSuffix = ".tmp"

// disk performs the operations that change a folder. Its zero value is the
// file system; tests set before to stop at an operation, as a kill would, and
// to learn what was made durable.
type disk struct {
	before func(op, path string) error
}

func (d disk) step(op, path string) error {
	if d.before == nil {
		return nil
	}
	return d.before(op, path)
}

// create starts a file under its temporary name, making its folder.
func (d disk) create(path string) (*tempFile, error) {
	if err := d.step("create", path); err != nil {
		return nil, err
	}
	if err := d.makeDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	f, err := os.Create(path + tempSuffix)
	if err != nil {
		return nil, err
	}
	t := &tempFile{disk: d, path: path, file: f}
	t.buffer = bufio.NewWriterSize(countingWriter{t}, 1<<16)
	return t, nil
}

// makeDir makes a folder and its parents, and its own entry durable.
func (d disk) makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return d.syncDir(filepath.Dir(dir))
}

func (d disk) rename(from, to string) error {
	if err := d.step("rename", to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// remove deletes a file; one that is gone already is no error.
func (d disk) remove(path string) error {
	if err := d.step("remove", path); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// syncDir makes the renames and removals inside a folder durable.
func (d disk) syncDir(dir string) error {
	if err := d.step("syncdir", dir); err != nil {
		return err
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// writeFile puts a whole small file in place, atomically and durably.
func (d disk) writeFile(path string, data []byte) error {
	f, err := d.create(path)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return errors.Join(err, f.abort())
	}
	if err := f.finish(); err != nil {
		return errors.Join(err, f.abort())
	}
	return f.publish()
}

// tempFile is a file that is being written beside its final name.
type tempFile struct {
	disk   disk
	path   string // the final name
	file   *os.File
	buffer *bufio.Writer
	size   int64
}

type countingWriter struct{ t *tempFile }

func (w countingWriter) Write(b []byte) (int, error) {
	if err := w.t.disk.step("write", w.t.path); err != nil {
		return 0, err
	}
	return w.t.file.Write(b)
}

func (t *tempFile) Write(b []byte) (int, error) {
	n, err := t.buffer.Write(b)
	t.size += int64(n)
	return n, err
}

// finish makes the contents durable under the temporary name.
func (t *tempFile) finish() error {
	if err := t.buffer.Flush(); err != nil {
		return err
	}
	if err := t.disk.step("sync", t.path); err != nil {
		return err
	}
	if err := t.file.Sync(); err != nil {
		return err
	}
	err := t.file.Close()
	t.file = nil
	return err
}

// publish gives the finished file its name.
func (t *tempFile) publish() error {
	if err := t.disk.rename(t.path+tempSuffix, t.path); err != nil {
		return err
	}
	return t.disk.syncDir(filepath.Dir(t.path))
}

// abort closes and removes the temporary file.
func (t *tempFile) abort() error {
	var err error
	if t.file != nil {
		err = t.file.Close()
		t.file = nil
	}
	return errors.Join(err, t.disk.remove(t.path+tempSuffix))
}

var _ io.Writer = (*tempFile)(nil)

// list returns the files of a folder that match a pattern, sorted; none if the
// folder is not there. Unlike filepath.Glob it takes the folder's name as it is.
func list(dir, pattern string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		if ok, _ := filepath.Match(pattern, e.Name()); ok && !e.IsDir() {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(paths)
	return paths, nil
}
