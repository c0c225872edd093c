package trace

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"switchyard/sim/param"

	"switchyard/sim/workload"
)

// headBytes is how much of a file Detect gets to see: the names that tell the
// formats apart stand in the first line, in Mooncake's before the hash ids.
const headBytes = 64 << 10

// Source says how to read a file; the zero value tells the format itself.
type Source struct {
	Format      string `yaml:"format" doc:"format of the trace; empty: told by its first bytes"`
	BlockTokens int32  `yaml:"block_tokens" default:"0" min:"0" max:"65536" unit:"tokens" doc:"prompt tokens that a hash id stands for; 0: as the format's publisher has it"`
}

// Trace is a whole recorded trace, sorted by time.
type Trace struct {
	File     string
	Format   Format
	Records  int // in the file
	NoPrompt int // of these, left out for want of prompt tokens
	NoOutput int // left out for want of output tokens alone
	Moved    int // records that stood behind one with a later time

	c columns
}

// Len returns the number of requests.
func (t *Trace) Len() int { return t.c.len() }

// Notes says in sentences what was left out or rearranged, one an entry; it is
// nil where the trace was taken as it stands.
func (t *Trace) Notes() []string {
	var notes []string
	note := func(n int, what string) {
		if n > 0 {
			notes = append(notes, fmt.Sprintf("%s: %d of %d records %s", t.File, n, t.Records, what))
		}
	}
	note(t.NoPrompt, "left out: no prompt tokens")
	note(t.NoOutput, "left out: no output tokens")
	note(t.Moved, "stood behind a later one: sorted by time")
	return notes
}

// Read reads a whole trace; file is its name, for errors and, where the first
// bytes are not conclusive, for its ending. A source that can seek and read at
// an offset (a file) is read in place by the parquet format; any other one is
// first read into memory.
func Read(file string, r io.Reader, s Source) (*Trace, error) {
	in, head, err := unpack(file, r)
	if err != nil {
		return nil, err
	}
	f, err := choose(file, head, s.Format)
	if err != nil && in.broken != nil {
		return nil, in.broken // what there is of the first line may be too little to tell
	}
	if err != nil {
		return nil, err
	}
	in.blockTokens = f.BlockTokens
	if s.BlockTokens > 0 {
		in.blockTokens = s.BlockTokens
	}
	t := &Trace{File: file, Format: f}
	if f.BlockTokens > 0 {
		t.c.blockTokens = in.blockTokens
	}
	if err := f.read(in, t.add); err != nil {
		return nil, err
	}
	if err := t.finish(); err != nil {
		return nil, err
	}
	return t, nil
}

// unpack returns the source without compression, and its first bytes.
func unpack(file string, r io.Reader) (*input, []byte, error) {
	seeker, seekable := r.(randomAccess)
	buffered := bufio.NewReaderSize(r, headBytes)
	head, err := peek(file, buffered)
	if err != nil {
		return nil, nil, err
	}
	if len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b {
		in := &input{file: file, r: buffered}
		if seekable {
			in.whole = seeker
		}
		return in, head, nil
	}
	z, err := gzip.NewReader(buffered)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: gzip: %w", file, err)
	}
	buffered = bufio.NewReaderSize(z, headBytes)
	head, err = peek(file, buffered)
	in := &input{file: file, r: buffered}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		// Where the first lines are whole, the format's reader will say at
		// which one the stream breaks off.
		in.broken, err = err, nil
	}
	return in, head, err
}

func peek(file string, r *bufio.Reader) ([]byte, error) {
	head, err := r.Peek(headBytes)
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return head, nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return head, brokenOff(file, err)
	}
	return head, fmt.Errorf("%s: read: %w", file, err)
}

func choose(file string, head []byte, name string) (Format, error) {
	if name != "" {
		f, ok := Find(name)
		if !ok {
			problem := quote(name)
			if near := param.Nearest(name, Names()); near != "" {
				problem += " (did you mean " + near + "?)"
			}
			return f, &Error{File: file, Field: "format", Problem: problem, Expected: "one of " + strings.Join(Names(), ", ")}
		}
		return f, nil
	}
	f, ok := Detect(file, head)
	if !ok {
		return f, unknown(file, head)
	}
	return f, nil
}

// add takes a record from a format.
func (t *Trace) add(line int, seq int64, r *workload.Request) error {
	t.Records++
	if t.Records > 1<<31-2 {
		return &Error{File: t.File, Problem: "trace has more than 2147483646 records", Expected: "fewer: split the file"}
	}
	switch {
	case r.Prompt >= 1 && r.Output >= 1:
		t.c.add(line, r)
		if t.Format.rows {
			t.c.seq = append(t.c.seq, seq)
		}
	case t.Format.strict && r.Prompt < 1:
		return bad("prompt_tokens", strconv.Itoa(int(r.Prompt)), "at least 1: leave such rows out (where prompt_tokens > 0)")
	case t.Format.strict:
		return bad("output_tokens", strconv.Itoa(int(r.Output)), "at least 1: leave such rows out (where output_tokens > 0)")
	case r.Prompt < 1:
		t.NoPrompt++
	default:
		t.NoOutput++
	}
	return nil
}

// finish sorts what was read and sets the first request's time to 0.
func (t *Trace) finish() error {
	c := &t.c
	if c.len() == 0 {
		problem := "trace has no records"
		if t.Records > 0 {
			problem = fmt.Sprintf("none of the trace's %d records has both prompt and output tokens", t.Records)
		}
		return &Error{File: t.File, Problem: problem, Expected: "at least one request"}
	}
	if c.seq != nil {
		if err := t.number(); err != nil {
			return err
		}
	}
	t.Moved = c.sort(c.timeUs)
	if t.Format.turns {
		c.countTurns()
	}
	if c.after != nil {
		index := t.index()
		for i, a := range c.after {
			if a != workload.None {
				c.after[i] = int64(index[a])
			}
		}
	}
	start := c.timeUs[0]
	for i := range c.timeUs {
		c.timeUs[i] -= start
	}
	return t.check()
}

// number sorts requests by their numbers in the source, and gives each one
// that waits for another the time of the first of its predecessors, so that
// sorting by time keeps a chain behind its start.
func (t *Trace) number() error {
	c := &t.c
	c.sort(c.seq)
	for i := 1; i < c.len(); i++ {
		if c.seq[i] == c.seq[i-1] {
			return t.at(i, bad("request", strconv.FormatInt(c.seq[i], 10)+", as in another row",
				"a number that no other row has: of a table with several workloads or replications, select one"))
		}
	}
	if c.after == nil {
		return nil
	}
	index := t.index()
	for i, a := range c.after {
		if a == workload.None {
			continue
		}
		j, ok := index[a]
		if !ok || int(j) >= i {
			return t.at(i, bad("after", strconv.FormatInt(a, 10), "the number of an earlier request"))
		}
		c.timeUs[i] = c.timeUs[j]
	}
	return nil
}

// index maps numbers in the source to indexes.
func (t *Trace) index() map[int64]int32 {
	index := make(map[int64]int32, t.c.len())
	for i, s := range t.c.seq {
		index[s] = int32(i)
	}
	return index
}

// check passes requests that carry their own segment lengths through a
// Builder, which finds those that contradict each other; where blocks have
// one length, none can.
func (t *Trace) check() error {
	if t.c.length == nil && t.c.answer == nil {
		return nil
	}
	var b workload.Builder
	var r workload.Request
	for i := range t.c.len() {
		t.c.at(i, &r)
		if err := b.Add(&r); err != nil {
			return t.at(i, &Error{Problem: err.Error()})
		}
	}
	return nil
}

// at completes an error about request i.
func (t *Trace) at(i int, e *Error) error {
	e.File, e.Line, e.Row = t.File, int(t.c.line[i]), t.Format.rows
	return e
}
