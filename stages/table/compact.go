package table

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
)

// Compaction tells what Compact did.
type Compaction struct {
	Rows    int64   // in the finished table
	Files   int     // of the finished table
	Changed bool    // false if everything was in place already
	Kept    int64   // rows of tasks that are not in the experiment, left in parts
	Moved   []Moved // files that could not be read
}

// Compact merges the finished table and all parts into a new finished table,
// ordered by the tasks' places and, within a task, as the rows were written.
// place gives the position of every task of the experiment; row types that
// implement Placer learn it. Of a task that is there twice the newest part
// wins. Tasks that are not in place leave the finished table and stay in a
// part: an experiment that is cut down for a look and then restored finds
// them again.
//
// The bytes of the result depend on the rows, the places and the provenance,
// and not on how the parts came about. At any instant a kill leaves the old
// table with its parts or the new one; OpenParts tells which. Memory is
// bounded by a window of rows (windowBytes), not by the table. A file whose
// rows cannot be decoded is moved aside, as OpenParts does it, and its tasks
// are missing.
//
// The caller must hold the folder's lock, and have no part open.
func (t *Table[T]) Compact(dir string, place map[string]int32, p Provenance) (Compaction, error) {
	return compactor[T]{table: t, dir: dir, place: place, prov: p, shape: finishedShape, window: windowBytes}.run()
}

// compactor is one compaction; tests set its limits and its disk.
type compactor[T any] struct {
	table  *Table[T]
	disk   disk
	dir    string
	place  map[string]int32
	prov   Provenance
	shape  shape
	window int64 // bytes of rows in memory
}

func (c compactor[T]) folder() string { return filepath.Join(c.dir, c.table.Name) }

func (c compactor[T]) run() (Compaction, error) {
	var moved []Moved
	for {
		result, err := c.merge()
		moved = append(moved, result.Moved...)
		if bad := new(unreadable); errors.As(err, &bad) {
			var m Moved
			if m, err = moveAside(c.disk, bad.path, bad.err); err == nil {
				moved = append(moved, m)
				continue // without that file
			}
		}
		result.Moved = moved
		if err != nil {
			return result, fmt.Errorf("compact table %s: %w", c.table.Name, err)
		}
		return result, nil
	}
}

// unreadable is a file with a sound footer whose rows cannot be decoded.
type unreadable struct {
	path string
	err  error
}

func (u *unreadable) Error() string { return u.path + ": " + u.err.Error() }
func (u *unreadable) Unwrap() error { return u.err }

func (c compactor[T]) merge() (result Compaction, err error) {
	if err := recoverTable(c.disk, c.folder()); err != nil {
		return result, err
	}
	in, err := c.table.openAll(c.dir, opening{disk: c.disk})
	if err != nil {
		return result, err
	}
	result.Moved = in.moved
	m, err := planMerge(in.files, c.place)
	if err != nil {
		return result, err
	}
	result.Rows, result.Kept = rowsOf(m.placed), rowsOf(m.kept)
	same := m.settled(c.place) && c.sameProvenance(in.files)
	if same {
		if same, err = c.current(m); err != nil {
			return result, err
		}
	}
	if same {
		for _, f := range in.files {
			if !f.part {
				result.Files++
			}
		}
		return result, nil
	}
	result.Changed = true
	if err := c.keep(m); err != nil {
		return result, err
	}
	w := &finishedWriter[T]{table: c.table, disk: c.disk, dir: c.folder(), prov: c.prov, shape: c.shape, tasked: true}
	if err := c.write(w, m); err != nil {
		w.abort()
		return result, err
	}
	result.Files = len(w.names)
	if err := w.commit(); err != nil {
		return result, err
	}
	return result, c.removeParts(m)
}

func (c compactor[T]) write(w *finishedWriter[T], m *merge) error {
	g := newGatherer[T](m.files, c.window)
	defer g.close()
	err := g.each(m.placed, func(s segment, first bool, rows []T) error {
		if first {
			if err := w.begin(task{key: s.key, rows: s.rows, place: s.place}); err != nil {
				return err
			}
		}
		for i := range rows {
			c.table.settle(&rows[i], s.place)
		}
		return w.write(rows)
	})
	if err != nil {
		return err
	}
	return w.close()
}

// keep copies the rows of tasks without a place out of files that are about
// to go. Parts that hold nothing else are left alone.
func (c compactor[T]) keep(m *merge) error {
	copied := slices.DeleteFunc(slices.Clone(m.kept), func(s segment) bool { return m.untouched(s.file) })
	if len(copied) == 0 {
		return nil
	}
	seq, err := nextSeq(c.dir)
	if err != nil {
		return err
	}
	part := c.table.newPart(c.disk, c.dir, keptWorker, seq, c.prov)
	g := newGatherer[T](m.files, c.window)
	defer g.close()
	err = g.each(copied, func(s segment, first bool, rows []T) error {
		return part.Append(s.key, c.table.Rows(rows))
	})
	if err != nil {
		part.Abort()
		return err
	}
	return part.Close()
}

// removeParts deletes the parts whose rows are in the finished table now.
func (c compactor[T]) removeParts(m *merge) error {
	removed := false
	for i, f := range m.files {
		if !f.part || m.untouched(i) {
			continue
		}
		if err := c.disk.remove(f.path); err != nil {
			return err
		}
		removed = true
	}
	if !removed {
		return nil
	}
	return c.disk.syncDir(filepath.Join(c.dir, partsFolder))
}

func (c compactor[T]) sameProvenance(files []inputFile) bool {
	for _, f := range files {
		if !f.part && (f.experiment != c.prov.Experiment || f.tool != c.prov.tool()) {
			return false
		}
	}
	return true
}

// segment is a task's rows in one of the input files.
type segment struct {
	file  int   // index in merge.files
	start int64 // first row in the file
	rows  int64
	key   string
	place int32 // -1 if the experiment does not have the task
}

func rowsOf(segments []segment) int64 {
	var n int64
	for _, s := range segments {
		n += s.rows
	}
	return n
}

// merge says which rows go where.
type merge struct {
	files    []inputFile
	placed   []segment // by place
	kept     []segment // by key
	finished []segment // of the finished table as it is, in its order, file by file
	live     []int     // a file's segments in placed
	spare    []int     // a file's segments in kept
}

// planMerge chooses a segment for each key: the one in the last file that has
// it, files being ordered from the finished table to the newest part.
func planMerge(files []inputFile, place map[string]int32) (*merge, error) {
	m := &merge{files: files, live: make([]int, len(files)), spare: make([]int, len(files))}
	last := map[string]segment{}
	for i, f := range files {
		if !f.tasked {
			return nil, fmt.Errorf("%s was written whole, not by tasks; remove it if its tasks are to run again", f.path)
		}
		var start int64
		for _, t := range f.tasks {
			s := segment{file: i, start: start, rows: t.rows, key: t.key, place: t.place}
			start += t.rows
			last[t.key] = s
			if !f.part {
				m.finished = append(m.finished, s)
			}
		}
	}
	for key, s := range last {
		var ok bool
		if s.place, ok = place[key]; ok {
			m.placed = append(m.placed, s)
			m.live[s.file]++
		} else {
			s.place = -1
			m.kept = append(m.kept, s)
			m.spare[s.file]++
		}
	}
	order := func(a, b segment) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.key, b.key)) }
	slices.SortFunc(m.placed, order)
	slices.SortFunc(m.kept, order)
	return m, nil
}

// untouched reports whether a file is a part with nothing but kept rows.
func (m *merge) untouched(file int) bool {
	return m.files[file].part && m.live[file] == 0 && m.spare[file] > 0
}

// settled reports whether the finished table already is what the merge would
// make, and no part would be removed.
func (m *merge) settled(place map[string]int32) bool {
	have := false
	for i, f := range m.files {
		if f.part && !m.untouched(i) {
			return false
		}
		have = have || !f.part
	}
	return have && slices.EqualFunc(m.finished, m.placed, func(a, b segment) bool {
		return a.key == b.key && a.place == b.place
	})
}
