package query

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Available reports whether DuckDB is inside this program.
func Available() bool { return available }

// Session is a database in memory that answers many queries, for stages that
// read what they ask. It is one goroutine's.
type Session struct {
	session
	unlink func()
}

type session interface {
	do(ctx context.Context, statements string) error
	ask(ctx context.Context, query string, most int) (*Answer, error)
	reads(ctx context.Context, query string) (bool, error)
	close() error
}

// Answer is the result of a query. A value is nil, bool, float64 (any number)
// or string (all else, as Run prints it).
type Answer struct {
	Columns []string
	Rows    [][]any
}

// Open returns a session with the views of the experiment in dir.
func Open(ctx context.Context, dir string) (*Session, error) {
	views, err := os.ReadFile(filepath.Join(dir, viewsName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s: expected the folder of an experiment that has run, such as out/quickstart", dir, viewsName)
	}
	if err != nil {
		return nil, err
	}
	root, unlink, err := searchPath(dir)
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, root, string(views))
	if err != nil {
		unlink()
		return nil, err
	}
	return &Session{s, unlink}, nil
}

// OpenEmpty returns a session that has only what the statements make.
func OpenEmpty(ctx context.Context, statements string) (*Session, error) {
	s, err := open(ctx, ".", statements)
	if err != nil {
		return nil, err
	}
	return &Session{s, func() {}}, nil
}

// Do runs statements without an answer.
func (s *Session) Do(ctx context.Context, statements string) error { return s.do(ctx, statements) }

// Ask returns the first rows of a query's answer, at most so many.
func (s *Session) Ask(ctx context.Context, query string, most int) (*Answer, error) {
	return s.ask(ctx, query, most)
}

// Reads reports whether a query is one SELECT, in any of its forms, which
// changes nothing. What is no SQL counts as one: Ask says what is wrong with it
// and does nothing.
func (s *Session) Reads(ctx context.Context, query string) (bool, error) {
	return s.reads(ctx, query)
}

// Close ends the session.
func (s *Session) Close() error {
	defer s.unlink()
	return s.close()
}

// simple returns the value as an Answer has it.
func (v value) simple() any {
	switch v.kind {
	case null:
		return nil
	case boolean:
		return v.text == "true"
	case integer:
		x, err := strconv.ParseFloat(v.text, 64)
		if err != nil {
			return v.text
		}
		return x
	case float:
		return v.float
	}
	return v.plain(value.digits)
}
