package table

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
)

const (
	// windowBytes bounds the rows that compaction holds in memory, estimated
	// from the size of a row and the files' uncompressed bytes. Readers,
	// writer and garbage come to about four times as much.
	windowBytes = 32 << 20
	// openReaders bounds the files that are open at once.
	openReaders = 24
	// skipRows is the gap between two pieces of one file that is read over
	// rather than jumped: a jump decodes a page of each column anew.
	skipRows = 1_024
	// smallTask is the mean number of rows of a task below which most windows
	// read most of every file. The window then is wider by smallFactor, so that
	// there are fewer of them.
	smallTask, smallFactor = 256, 4
	// leastWindow is the window of the widest rows.
	leastWindow = 512
)

// gatherer reads segments of many files in an order that is not theirs. It
// fills one window of the output after the other: the pieces of a window are
// read file by file, in each file's own order, and put where they belong.
// Whatever the order, a file is passed through at most once a window.
type gatherer[T any] struct {
	files   []inputFile
	rows    int // of the window
	window  []T
	readers []*segmentReader[T] // open ones, the last used at the end
	scratch []T
}

func newGatherer[T any](files []inputFile, bytes int64) *gatherer[T] {
	var rows, size, tasks int64
	for _, f := range files {
		rows += f.rows
		size += f.bytes
		tasks += int64(len(f.tasks))
	}
	if rows < tasks*smallTask {
		bytes *= smallFactor
	}
	row := rowBytes[T]()
	if rows > 0 {
		row += 2 * size / rows // strings and slices, with their headers and slack
	}
	fit := min(max(bytes/row, leastWindow), rows)
	return &gatherer[T]{files: files, rows: int(max(fit, 1))}
}

// piece is the part of a segment that lies in one window.
type piece struct {
	segment int   // index
	start   int64 // first row in the file
	rows    int
	at      int // first row in the window
	first   bool
}

// each calls f with the rows of each segment, in order; a segment may come in
// several calls, an empty one comes once without rows. f may change the rows
// but not keep them.
func (g *gatherer[T]) each(segments []segment, f func(s segment, first bool, rows []T) error) error {
	next, done := 0, int64(0) // segment, and rows of it that are through
	for next < len(segments) {
		var pieces []piece
		used := 0
		for next < len(segments) {
			s := segments[next]
			n := int(min(s.rows-done, int64(g.rows-used)))
			if n == 0 && s.rows > 0 {
				break // full
			}
			pieces = append(pieces, piece{segment: next, start: s.start + done, rows: n, at: used, first: done == 0})
			used += n
			if done += int64(n); done == s.rows {
				next, done = next+1, 0
			}
		}
		if err := g.fill(segments, pieces, used); err != nil {
			return err
		}
		for _, p := range pieces {
			if err := f(segments[p.segment], p.first, g.window[p.at:p.at+p.rows]); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill reads the pieces into the window.
func (g *gatherer[T]) fill(segments []segment, pieces []piece, used int) error {
	if g.window == nil {
		g.window = make([]T, g.rows)
	}
	clear(g.window) // decoding must not write into rows that were passed on
	byFile := slices.Clone(pieces)
	slices.SortFunc(byFile, func(a, b piece) int {
		return cmp.Or(cmp.Compare(segments[a.segment].file, segments[b.segment].file), cmp.Compare(a.start, b.start))
	})
	for _, p := range byFile {
		if p.rows == 0 {
			continue
		}
		r, err := g.reader(segments[p.segment].file)
		if err == nil {
			err = r.read(p.start, g.window[p.at:p.at+p.rows], &g.scratch)
		}
		if err != nil {
			return &unreadable{path: g.files[segments[p.segment].file].path, err: err}
		}
	}
	return nil
}

// reader returns the open reader of a file, closing the one that was not used
// for the longest time if there are too many.
func (g *gatherer[T]) reader(file int) (*segmentReader[T], error) {
	if i := slices.IndexFunc(g.readers, func(r *segmentReader[T]) bool { return r.index == file }); i >= 0 {
		r := g.readers[i]
		g.readers = append(slices.Delete(g.readers, i, i+1), r)
		return r, nil
	}
	if len(g.readers) == openReaders {
		if err := g.readers[0].close(); err != nil {
			return nil, err
		}
		g.readers = slices.Delete(g.readers, 0, 1)
	}
	f, err := open(g.files[file].path)
	if err != nil {
		return nil, err
	}
	r := &segmentReader[T]{index: file, file: f, rows: parquet.NewGenericReader[T](f.File)}
	g.readers = append(g.readers, r)
	return r, nil
}

func (g *gatherer[T]) close() error {
	var errs []error
	for _, r := range g.readers {
		errs = append(errs, r.close())
	}
	g.readers = nil
	return errors.Join(errs...)
}

// segmentReader reads rows at increasing positions of one file.
type segmentReader[T any] struct {
	index int
	file  *openFile
	rows  *parquet.GenericReader[T]
	at    int64
}

func (r *segmentReader[T]) close() error { return errors.Join(r.rows.Close(), r.file.close()) }

// read fills rows from position start on. Nothing in a file makes it panic.
func (r *segmentReader[T]) read(start int64, rows []T, scratch *[]T) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("unreadable rows from %d on: %v", start, p)
		}
	}()
	switch gap := start - r.at; {
	case gap == 0:
	case gap > 0 && gap <= skipRows:
		*scratch = slices.Grow((*scratch)[:0], int(gap))[:gap]
		clear(*scratch)
		if err := r.full(*scratch); err != nil {
			return err
		}
	default:
		if err := r.rows.SeekToRow(start); err != nil {
			return err
		}
		r.at = start
	}
	return r.full(rows)
}

// full reads exactly len(rows) rows, in calls of a bounded size: the decoder
// boxes each value of a call.
func (r *segmentReader[T]) full(rows []T) error {
	for len(rows) > 0 {
		n, err := r.rows.Read(rows[:min(len(rows), 512)])
		r.at += int64(n)
		rows = rows[n:]
		if n == 0 {
			if err == nil || err == io.EOF {
				err = fmt.Errorf("ends at row %d, %d rows early", r.at, len(rows))
			}
			return err
		}
	}
	return nil
}
