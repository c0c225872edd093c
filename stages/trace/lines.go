package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	bom = "\xef\xbb\xbf"
	// lineLimit bounds a line, so that a file that is no text at all does not
	// fill the memory: a prompt of a million tokens in blocks of 16 takes about
	// half a megabyte.
	lineLimit = 64 << 20
)

// lines yields the lines of a text file without their ends (LF or CRLF),
// without a byte order mark and without blank lines.
type lines struct {
	file string
	r    *bufio.Reader
	n    int // number of the line that next returned
	long []byte
}

func newLines(in *input) *lines {
	return &lines{file: in.file, r: bufio.NewReaderSize(in.r, 256<<10)}
}

// next returns the next line, valid until the following call, or io.EOF.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.read()
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
			return nil, err
		}
		l.n++
		if l.n == 1 {
			line = bytes.TrimPrefix(line, []byte(bom))
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (l *lines) read() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if err == nil || errors.Is(err, io.EOF) {
		return line, err
	}
	l.long = l.long[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		if l.long = append(l.long, line...); len(l.long) > lineLimit {
			return nil, &Error{File: l.file, Line: l.n + 1, Problem: fmt.Sprintf("line is longer than %d MiB", lineLimit>>20),
				Expected: "one record a line", Text: lineText(l.long)}
		}
		line, err = l.r.ReadSlice('\n')
	}
	l.long = append(l.long, line...)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, l.failed(err)
	}
	return l.long, err
}

// failed describes a read that broke off.
func (l *lines) failed(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return brokenOff(fmt.Sprintf("%s:%d", l.file, l.n+1), err)
	}
	return fmt.Errorf("%s:%d: read: %w", l.file, l.n+1, err)
}

// brokenOff describes a file that lacks its end.
func brokenOff(place string, err error) error {
	return fmt.Errorf("%s: the gzip stream breaks off, fetch the file again: %w", place, err)
}

// at completes an error about the line that next returned.
func (l *lines) at(err error, line []byte) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	e.File, e.Line, e.Text = l.file, l.n, lineText(line)
	return e
}
