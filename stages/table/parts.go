package table

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Parts is what OpenParts found: which tasks have rows on disk, and where.
type Parts struct {
	// Keys counts the rows of each task: table -> task key -> rows, over the
	// finished table and the parts. A task without rows is there with 0.
	Keys map[string]map[string]int64
	// Files are the parts, by name.
	Files []PartFile
	// Next is a sequence number that no part has used; a run numbers its parts
	// from it.
	Next int
	// Reports name the files that were moved aside.
	Reports []Moved
}

// PartFile is one sound part.
type PartFile struct {
	Path   string
	Table  string
	Worker int // -1 for the part that keeps rows of tasks no longer in the experiment
	Seq    int
	Keys   map[string]int64
}

// Moved is a file that could not be used and now has another name beside its
// old one. Its tasks count as not done.
type Moved struct {
	Path, To string
	Err      error
}

func (m Moved) String() string {
	if m.To == "" {
		return fmt.Sprintf("%s: %v; its tasks will run again", m.Path, m.Err)
	}
	return fmt.Sprintf("%s: %v; moved to %s, its tasks will run again", m.Path, m.Err, filepath.Base(m.To))
}

// OpenParts brings the folder of an experiment into order and tells what it
// holds: it completes or undoes an interrupted compaction, removes temporary
// files, and reads every file of the given tables, each page against its
// checksum. A file that is corrupt, cut short or empty is renamed to
// *.corrupt, one of another version of its table to *.outdated; all others are
// left as they are.
//
// The caller must hold the folder's lock, and have no part open.
func OpenParts(dir string, tables ...Definition) (*Parts, error) {
	return openParts(disk{}, dir, tables)
}

func openParts(d disk, dir string, tables []Definition) (*Parts, error) {
	p := &Parts{Keys: map[string]map[string]int64{}}
	if err := removeTemps(d, filepath.Join(dir, partsFolder)); err != nil {
		return nil, err
	}
	for _, t := range tables {
		if err := recoverTable(d, filepath.Join(dir, t.Schema().Name)); err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Schema().Name, err)
		}
		in, err := t.openAll(dir, opening{disk: d, deep: true})
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Schema().Name, err)
		}
		p.add(t.Schema().Name, in)
	}
	var err error
	p.Next, err = nextSeq(dir)
	return p, err
}

// InspectParts tells what OpenParts would find, and changes nothing: it may be
// called without the lock, while a run goes on. It trusts the footers and does
// not read the pages; files that it cannot use are in Reports, with To empty.
func InspectParts(dir string, tables ...Definition) (*Parts, error) {
	p := &Parts{Keys: map[string]map[string]int64{}}
	for _, t := range tables {
		in, err := t.openAll(dir, opening{look: true})
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Schema().Name, err)
		}
		p.add(t.Schema().Name, in)
	}
	var err error
	p.Next, err = nextSeq(dir)
	return p, err
}

func (p *Parts) add(name string, in *inputs) {
	keys := map[string]int64{}
	for _, f := range in.files {
		for _, t := range f.tasks {
			keys[t.key] = t.rows
		}
		if f.part {
			file := PartFile{Path: f.path, Table: name, Worker: f.worker, Seq: f.seq, Keys: map[string]int64{}}
			for _, t := range f.tasks {
				file.Keys[t.key] = t.rows
			}
			p.Files = append(p.Files, file)
		}
	}
	p.Keys[name] = keys
	p.Reports = append(p.Reports, in.moved...)
}

// inputs are the sound files of one table: the finished ones in order, then
// the parts from the oldest to the newest.
type inputs struct {
	files []inputFile
	moved []Moved
}

type inputFile struct {
	path        string
	part        bool
	worker, seq int  // of a part
	tasked      bool // false in a table that Write made
	experiment  string
	tool        string
	tasks       taskList
	rows, bytes int64 // bytes uncompressed
}

// partsOf lists the parts of a table from the oldest to the newest.
func partsOf(dir, table string) ([]inputFile, error) {
	paths, err := list(filepath.Join(dir, partsFolder), table+"-*.parquet")
	if err != nil {
		return nil, err
	}
	var parts []inputFile
	for _, path := range paths {
		if name, worker, seq, ok := parsePartName(filepath.Base(path)); ok && name == table {
			parts = append(parts, inputFile{path: path, part: true, worker: worker, seq: seq})
		}
	}
	slices.SortStableFunc(parts, func(a, b inputFile) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.worker, b.worker))
	})
	return parts, nil
}

// nextSeq returns a number that no part of any table has used, sound or not.
func nextSeq(dir string) (int, error) {
	paths, err := list(filepath.Join(dir, partsFolder), "*.parquet*")
	next := 0
	for _, path := range paths {
		name, _, _ := strings.Cut(filepath.Base(path), ".parquet")
		if _, _, seq, ok := parsePartName(name + ".parquet"); ok {
			next = max(next, seq+1)
		}
	}
	return next, err
}

// opening says how files are opened.
type opening struct {
	disk disk
	deep bool // read every page
	look bool // change nothing
}

// openAll implements Definition. Unless it only looks, the table's journal has
// been dealt with.
func (t *Table[T]) openAll(dir string, o opening) (*inputs, error) {
	in := new(inputs)
	finished, err := finishedPaths(filepath.Join(dir, t.Name))
	if err != nil {
		return nil, err
	}
	for _, path := range finished {
		if err := t.openOne(in, inputFile{path: path}, o); err != nil {
			return nil, err
		}
	}
	parts, err := partsOf(dir, t.Name)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		if err := t.openOne(in, part, o); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// openOne adds a file to the inputs, or moves it aside.
func (t *Table[T]) openOne(in *inputs, file inputFile, o opening) error {
	reason := t.inspect(&file, o.deep)
	if reason == nil {
		in.files = append(in.files, file)
		return nil
	}
	if o.look {
		if !errors.Is(reason, os.ErrNotExist) { // gone since it was listed: into the finished table
			in.moved = append(in.moved, Moved{Path: file.path, Err: reason})
		}
		return nil
	}
	moved, err := moveAside(o.disk, file.path, reason)
	if err == nil {
		in.moved = append(in.moved, moved)
	}
	return err
}

// moveAside gives a file that could not be used another name. If the reason is
// the disk or the permissions rather than the contents, it stays and the
// reason comes back.
func moveAside(d disk, path string, reason error) (Moved, error) {
	if system := syscall.Errno(0); errors.As(reason, &system) {
		return Moved{}, fmt.Errorf("%s: %w", path, reason)
	}
	suffix := ".corrupt"
	if errors.Is(reason, errOutdated) {
		suffix = ".outdated"
	}
	to := freeName(path + suffix)
	if err := d.rename(path, to); err != nil {
		return Moved{}, fmt.Errorf("%w, while moving a file aside: %w", err, reason)
	}
	return Moved{Path: path, To: to, Err: reason}, d.syncDir(filepath.Dir(to))
}

func (t *Table[T]) inspect(file *inputFile, deep bool) error {
	f, err := open(file.path)
	if err != nil {
		return err
	}
	defer f.close()
	if err := f.checkSchema(t.Schema().ID(), t.layout); err != nil {
		return err
	}
	if deep {
		if err := f.checkPages(); err != nil {
			return err
		}
	}
	if !f.tasked && file.part {
		return errors.New("the footer has no list of tasks")
	}
	file.tasked = f.tasked
	file.experiment, _ = f.Lookup(keyExperiment)
	file.tool, _ = f.Lookup(keyTool)
	file.tasks, file.rows = f.tasks, f.NumRows()
	for _, g := range f.Metadata().RowGroups {
		file.bytes += g.TotalByteSize
	}
	return nil
}

// freeName returns the path, numbered if it is taken.
func freeName(path string) string {
	name := path
	for i := 2; ; i++ {
		if _, err := os.Lstat(name); errors.Is(err, os.ErrNotExist) {
			return name
		}
		name = fmt.Sprintf("%s-%d", path, i)
	}
}
