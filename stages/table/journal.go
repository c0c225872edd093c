package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// A finished table is replaced by a redo journal, because its files cannot be
// renamed all at once:
//
//  1. the new files are written in full under temporary names and synced;
//  2. the journal, which lists them, gets its name: from here on the new table
//     is the table;
//  3. the new files are renamed over the old ones, surplus old ones removed;
//  4. the journal is removed.
//
// A process that finds a journal repeats steps 3 and 4, one that finds
// temporary files without a journal removes them. The parts that went into
// the new table are deleted last; a part that is left over holds rows that the
// table has already, and the next compaction deletes it.
const journalName = "commit.json"

// journal lists the files of the table that is taking its place, in order.
type journal struct {
	Files []string `json:"files"`
}

const finishedPattern = "part-*.parquet"

func finishedName(i int) string { return fmt.Sprintf("part-%04d.parquet", i) }

func joinPath(dir, name string) string { return filepath.Join(dir, name) }

// commit makes the finished writer's files the table.
func (w *finishedWriter[T]) commit() error {
	data, err := json.Marshal(journal{Files: w.names})
	if err != nil {
		return err
	}
	if err := w.disk.syncDir(w.dir); err != nil {
		return err
	}
	if err := w.disk.writeFile(joinPath(w.dir, journalName), data); err != nil {
		return err
	}
	return recoverTable(w.disk, w.dir)
}

// readJournal returns the journal of a table's folder, or nil.
func readJournal(dir string) (*journal, error) {
	data, err := os.ReadFile(joinPath(dir, journalName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	j := new(journal)
	if err := json.Unmarshal(data, j); err != nil {
		return nil, fmt.Errorf("%s: %w; if the file is not from this program, remove it", joinPath(dir, journalName), err)
	}
	for _, name := range j.Files {
		if ok, _ := filepath.Match(finishedPattern, name); !ok {
			return nil, fmt.Errorf("%s names the file %q, expected %s", joinPath(dir, journalName), name, finishedPattern)
		}
	}
	return j, nil
}

// recoverTable completes a replacement that was committed, and removes what
// is left of one that was not.
func recoverTable(d disk, dir string) error {
	j, err := readJournal(dir)
	if err != nil {
		return err
	}
	if j != nil {
		if err := j.redo(d, dir); err != nil {
			return err
		}
	}
	return removeTemps(d, dir)
}

func (j *journal) redo(d disk, dir string) error {
	for _, name := range j.Files {
		path := joinPath(dir, name)
		if _, err := os.Stat(path + tempSuffix); errors.Is(err, os.ErrNotExist) {
			continue // renamed before
		}
		if err := d.rename(path+tempSuffix, path); err != nil {
			return err
		}
	}
	old, err := list(dir, finishedPattern)
	if err != nil {
		return err
	}
	for _, path := range old {
		if !slices.Contains(j.Files, filepath.Base(path)) {
			if err := d.remove(path); err != nil {
				return err
			}
		}
	}
	if err := d.syncDir(dir); err != nil {
		return err
	}
	if err := d.remove(joinPath(dir, journalName)); err != nil {
		return err
	}
	return d.syncDir(dir)
}

func removeTemps(d disk, dir string) error {
	temps, err := list(dir, "*"+tempSuffix)
	if err != nil {
		return err
	}
	for _, path := range temps {
		if err := d.remove(path); err != nil {
			return err
		}
	}
	return nil
}

// finishedPaths returns the files of a table's folder in order, seen as
// recovery would leave them; it changes nothing.
func finishedPaths(dir string) ([]string, error) {
	j, err := readJournal(dir)
	if err != nil {
		return nil, err
	}
	if j == nil {
		return list(dir, finishedPattern)
	}
	var paths []string
	for _, name := range j.Files {
		path := joinPath(dir, name)
		if _, err := os.Stat(path + tempSuffix); err == nil {
			path += tempSuffix
		}
		paths = append(paths, path)
	}
	return paths, nil
}
